"""The help texts: built from the table of options and the catalogue, in the user's language."""

from __future__ import annotations

from amlwizard.cli_options import COMMANDS, PLACES, Option
from amlwizard.core.catalogue import has_text, text
from amlwizard.terminal import columns


def help_lines(command: str, language: str) -> list[str]:
    """Return the help of a command; of the whole program where ``command`` is empty."""
    if not command:
        return [
            text("cli.help.usage", language, synopsis="amlwizard [COMMAND] [OPTIONS]"),
            "",
            *text("cli.help.program", language).splitlines(),
            "",
            text("cli.help.commands", language),
            *_indented([(name, text(f"cli.command.{name}", language)) for name in COMMANDS]),
            "",
            text("cli.help.options", language),
            *_indented(
                [(name, text(f"cli.option.{name}", language)) for name in ("--help", "--version", "--no-gui")],
            ),
            "",
            *text("cli.help.variables", language).splitlines(),
            "",
            *text("cli.help.exit_codes", language).splitlines(),
        ]
    options = [option for option in COMMANDS[command] if option.name not in {"--root", "--json"}]
    common = [option for option in COMMANDS[command] if option.name in {"--root", "--json"}]
    rows = [(_usage(option), _words(command, option, language)) for option in [*common, *options]]
    rows.append(("--help", text("cli.option.--help", language)))
    return [
        text("cli.help.usage", language, synopsis=_synopsis(command)),
        "",
        *text(f"cli.command.{command}.help", language).splitlines(),
        "",
        text("cli.help.options", language),
        *_indented(rows),
    ]


def _synopsis(command: str) -> str:
    if command == "gui":
        return "amlwizard [gui | FILE.amlbundle] [--root DIR] [--no-gui]"
    if command == "run":
        return "amlwizard run [OPTIONS] (--sample | --print-env | -- SCRIPT [ARGS])"
    if command == "diagnose":
        return "amlwizard diagnose [--root DIR] --out FILE [--json]"
    return " ".join(["amlwizard", command, *([PLACES[command]] if command in PLACES else []), "[OPTIONS]"])


def _usage(option: Option) -> str:
    return f"{option.name} {option.value}".rstrip()


def _words(command: str, option: Option, language: str) -> str:
    """Return what an option does; a command may have words of its own for it."""
    own = f"cli.option.{command}.{option.name}"
    return text(own if has_text(own) else f"cli.option.{option.name}", language, possible=", ".join(option.one_of))


def _indented(rows: list[tuple[str, str]]) -> list[str]:
    return [f"  {line}" for line in columns(rows)]
