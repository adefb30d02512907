"""What the steps of a run share."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.choices import Choices
from amlwizard.core.errors import AmlError
from amlwizard.core.events import Event, LogEvent
from amlwizard.net.fetcher import HttpFetcher
from amlwizard.net.policy import NetworkPolicy
from tests.support.run_contexts import new_run

if TYPE_CHECKING:
    from pathlib import Path


def test_b70_a_uv_that_vanishes_between_two_steps_is_named(tmp_path: Path) -> None:
    uv = tmp_path / "uv"
    uv.write_bytes(b"program")
    run = new_run(Choices(tmp_path / "aml"), tmp_path / "tmp", uv=uv)
    assert run.uv_cli().executable == uv
    uv.write_bytes(b"")
    with pytest.raises(AmlError) as emptied:
        run.uv_cli()
    uv.unlink()
    with pytest.raises(AmlError) as gone:
        run.uv_cli()
    assert emptied.value.code == gone.value.code == "AML_UV_VANISHED"
    assert gone.value.arguments["path"] == str(uv)


def test_tools_speak_english_so_that_what_they_say_is_recognised(tmp_path: Path) -> None:
    run = replace(
        new_run(Choices(tmp_path / "aml"), tmp_path / "tmp"), parent_environment={"LANGUAGE": "zh_CN", "LANG": "C"}
    )
    told = run.child_environment({"MORE": "1"})
    assert (told["LANGUAGE"], told["LANG"], told["MORE"]) == ("en", "C", "1")


def test_a_kept_login_reaches_uv_and_pip_for_an_index_that_only_the_file_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAMED", "e")
    file = tmp_path / "requirements.txt"
    file.write_text(
        "--extra-index-url https://b.example.org/simple\n--extra-index-url https://li:own@c.example.org/simple\n"
        "--extra-index-url https://${NAMED}.example.org/simple\ntinya\n"
    )
    choices = Choices(tmp_path / "aml", requirements=file, index_url="https://a.example.org/simple")
    run = new_run(choices, tmp_path / "tmp")
    assert "UV_INDEX" not in run.uv_variables()
    assert "PIP_EXTRA_INDEX_URL" not in run.pip_variables()
    policy = NetworkPolicy(_found={"https://b.example.org": ("mei", "k3pt"), "https://d.example.org": None})
    run.fetcher = HttpFetcher(policy)
    told = run.uv_variables()
    assert (
        told["UV_INDEX"]
        == "aml0=https://b.example.org/simple aml1=https://c.example.org/simple aml2=https://e.example.org/simple"
    )
    assert (told["UV_INDEX_AML0_USERNAME"], told["UV_INDEX_AML0_PASSWORD"]) == ("mei", "k3pt")
    assert told["UV_INDEX_AML1_PASSWORD"] == "own"
    assert "UV_INDEX_AMLDEFAULT_PASSWORD" not in told
    extra = run.pip_variables()["PIP_EXTRA_INDEX_URL"].split()
    assert extra == [
        *("https://mei:k3pt@b.example.org/simple", "https://li:own@c.example.org/simple"),
        "https://e.example.org/simple",
    ]
    assert {"k3pt", "own"} <= set(run.secrets)
    assert run.uv_variables(indexes=False).keys().isdisjoint({"UV_INDEX", "UV_INDEX_AML0_PASSWORD"})
    alone = run.pip_variables(indexes=False)
    assert alone["PIP_NO_INDEX"] == "1"
    assert alone.keys().isdisjoint({"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"})


def test_a_page_with_a_login_is_not_asked_where_no_index_is(tmp_path: Path) -> None:
    file = tmp_path / "requirements.txt"
    file.write_text("--find-links https://b.example.org/wheels\ntinya\n")
    run = new_run(Choices(tmp_path / "aml", requirements=file), tmp_path / "tmp")
    run.fetcher = HttpFetcher(NetworkPolicy(_found={"https://b.example.org": ("mei", "k3pt")}))
    assert run.pip_variables()["PIP_FIND_LINKS"] == "https://mei:k3pt@b.example.org/wheels"
    assert "PIP_FIND_LINKS" not in run.pip_variables(indexes=False)


async def test_a_copy_of_a_run_tells_its_commands_by_its_own_step_and_once(tmp_path: Path) -> None:
    told: list[Event] = []
    run = new_run(Choices(tmp_path / "aml"), tmp_path / "tmp")
    run.emit = told.append
    other = replace(run)
    other.step = "gather"
    await other.run_tool([sys.executable, "-I", "-c", "pass"])
    echoes = [event for event in told if isinstance(event, LogEvent) and event.line.startswith("$ ")]
    assert [event.step for event in echoes] == ["gather"]


@pytest.mark.parametrize("chosen", [False, True], ids=["the-systems", "a-file"])
def test_b46_all_that_is_decided_on_proxy_and_certificates_reaches_the_tools(tmp_path: Path, chosen: bool) -> None:
    run = new_run(Choices(tmp_path / "aml"), tmp_path / "tmp")
    policy = NetworkPolicy(
        proxies={"https": "http://p.example.org:8080"}, ca_file=tmp_path / "company.pem" if chosen else None
    )
    run.fetcher = HttpFetcher(policy)
    run.parent_environment = {"PATH": "/usr/bin", "UV_SYSTEM_CERTS": "0"}
    decided = policy.child_variables()
    assert decided["GIT_SSL_CAINFO" if chosen else "UV_SYSTEM_CERTS"]
    assert decided.items() <= run.child_environment().items()
    assert not run.not_passed_on
