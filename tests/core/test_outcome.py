"""The end of a run in words."""

from __future__ import annotations

import re

import pytest

from amlwizard.cli_options import COMMANDS
from amlwizard.core.catalogue import LANGUAGES, message_keys, placeholders, text
from amlwizard.core.errors import AmlError
from amlwizard.core.outcome import finished_event, with_command

_OF_OTHERS = ("AML_BUNDLE_", "AML_DIAGNOSE_", "AML_JOB_", "AML_STORE_CHOSEN_", "AML_USAGE_")
"""What no repair ends with, about options of other commands."""


def options(command: str) -> set[str]:
    """Return the options of a command."""
    return {option.name for option in COMMANDS[command]}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_option_in_a_hint_of_a_repair_belongs_to_the_command_before_it(language: str) -> None:
    seen = 0
    for key in sorted(message_keys()):
        if not key.endswith(".hint") or key.startswith(_OF_OTHERS):
            continue
        hint = with_command(text(key, language, **dict.fromkeys(placeholders(key), "x")), "rebuild")
        for found in re.finditer(r"--[a-z][a-z0-9-]*", hint):
            sentence = re.split(r"[;。；]|\.\s", hint[: found.start()])[-1]
            named = ["repair", *re.findall(r"amlwizard ((?:bundle )?[a-z]+)", sentence)][-1]
            if found[0] in {"--no-binary", "--only-binary", "--no-index"}:  # of a requirements file
                assert f"amlwizard rebuild {found[0]}" not in hint
                continue
            assert found[0] in options(named) | {"--help"}, (key, hint)
            seen += named != "repair"
    assert seen > 20


def test_a_command_is_put_before_options_alone() -> None:
    told = "Put it in /a/b.d/--python/c, or name one (--python PATH). Add --root. 或者：--uv PATH。"
    for option in ("--python PATH", "--uv PATH"):
        assert f"amlwizard rebuild {option}" in with_command(told, "rebuild")
    assert with_command(told, "rebuild").replace("amlwizard rebuild ", "") == told
    assert with_command(told, "rebuild").count("amlwizard rebuild") == 2


@pytest.mark.parametrize("command", ["", "rebuild"])
def test_the_end_of_a_run_without_options_names_the_command_that_has_them(command: str) -> None:
    error = AmlError("AML_PIP_MISSING", python="/p", minimum="23", package="python3-venv")
    error.options_of = command
    hint = finished_event(error, None, "en").hint
    assert ("amlwizard rebuild --python" in hint) == bool(command)
    assert "--python" in hint
