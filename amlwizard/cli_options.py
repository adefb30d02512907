"""The words of the command line: commands, options, their help, and what is refused about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NoReturn

from amlwizard.core.bundle.names import PLATFORMS, SUFFIX
from amlwizard.core.choices import IndexStrategy, UvMethod
from amlwizard.core.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Option:
    """One option; ``value`` names its value in the help and is empty for a flag, ``repeats`` collects several."""

    name: str
    value: str = ""
    repeats: bool = False
    one_of: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Return the name under which its value is kept: ``--find-links`` as ``find_links``."""
        return self.name.lstrip("-").replace("-", "_")


@dataclass(frozen=True)
class Invocation:
    """One command line that was understood.

    ``values`` holds what was given, by option key; ``script`` is what follows ``--``.
    """

    command: str
    values: dict[str, Any] = field(default_factory=dict)
    script: tuple[str, ...] = ()
    help: bool = False
    version: bool = False
    no_gui: bool = False


_ROOT: Final = Option("--root", "DIR")
_JSON: Final = Option("--json")
_HASH_DIGITS: Final = 64
_NETWORK: Final = (Option("--ca-file", "FILE"), Option("--proxy", "URL"), Option("--offline"))
_CHOICES: Final = (
    Option("--requirements", "FILE"),
    Option("--profile", "NAME"),
    Option("--python", "VERSION|PATH"),
    Option("--uv", "PATH"),
    Option("--uv-method", "METHOD", one_of=tuple(UvMethod)),
    Option("--index-url", "URL"),
    Option("--extra-index-url", "URL", repeats=True),
    Option("--index-strategy", "STRATEGY", one_of=tuple(IndexStrategy)),
    Option("--find-links", "DIR|URL", repeats=True),
    Option("--accelerator", "NAME"),
    Option("--python-downloads-json", "URL"),
    *_NETWORK,
)
_ADDED: Final = (Option("--keep-added"), Option("--drop-added"))
_BUNDLE: Final = (Option("--bundle", "FILE"), Option("--bundle-sha256", "HEX"))
COMMANDS: Final[dict[str, tuple[Option, ...]]] = {
    "gui": (_ROOT,),
    "detect": (_ROOT, _JSON),
    "plan": (_ROOT, Option("--refresh"), *_ADDED, *_CHOICES, *_BUNDLE, _JSON),
    "install": (_ROOT, Option("--refresh"), *_ADDED, *_CHOICES, *_BUNDLE, _JSON),
    "rebuild": (_ROOT, Option("--refresh"), *_ADDED, *_CHOICES, *_BUNDLE, _JSON),
    "add": (_ROOT, Option("--offline"), _JSON),
    "remove": (_ROOT, Option("--offline"), _JSON),
    "undo": (_ROOT, *_ADDED, Option("--offline"), _JSON),
    "update python": (_ROOT, Option("--check"), Option("--python-downloads-json", "URL"), *_NETWORK, _JSON),
    "update uv": (_ROOT, Option("--check"), Option("--index-url", "URL"), *_NETWORK, _JSON),
    "verify": (_ROOT, Option("--deep"), Option("--expect", "LOCKHASH"), _JSON),
    "repair": (_ROOT, Option("--offline"), _JSON),
    "store": (_ROOT, Option("--prune"), _JSON),
    "uninstall": (_ROOT, _JSON),
    "diagnose": (_ROOT, Option("--out", "FILE"), _JSON),
    "bundle create": (
        _ROOT,
        Option("--platform", "PLATFORM", one_of=PLATFORMS),
        Option("--python-version", "VERSION"),
        *_CHOICES,
        _JSON,
    ),
    "bundle inspect": (Option("--sbom", "OUT"), _JSON),
    "run": (
        _ROOT,
        Option("--job-dir", "DIR"),
        Option("--env", "NAME", repeats=True),
        Option("--sample"),
        Option("--print-env"),
        _JSON,
    ),
}
PLACES: Final = {"bundle create": "OUT", "bundle inspect": "FILE", "add": "PKG...", "remove": "PKG..."}
"""What stands on the command line without an option's name."""
_SEVERAL: Final = "..."
"""What ends the word for a place of which there may be several."""
_GROUPS: Final = frozenset({"bundle", "update"})
"""First words that want a second one."""
_NEEDED: Final = {"diagnose": "--out"}
"""Options without which a command means nothing."""
_EXCLUSIVE: Final = (("sample", "print_env"), ("keep_added", "drop_added"))
_HELP_FLAGS: Final = frozenset({"-h", "--help"})


def wants_json(arguments: Sequence[str]) -> bool:
    """Tell whether a program reads the output, although the command line as a whole may be wrong."""
    return "--json" in _own_part(arguments)


def parse(arguments: Sequence[str]) -> Invocation:
    """Understand a command line.

    Raises:
        RefusedError: it is wrong (``AML_USAGE_*``).
    """
    command, rest, no_gui = "", list(arguments), False
    while rest and not command:
        first = rest.pop(0)
        if first in _HELP_FLAGS:
            return Invocation("", help=True)
        if first == "--version":
            return Invocation("", version=True)
        if first == "--no-gui":
            no_gui = True
        elif first.partition("=")[0] == _ROOT.name:
            return _parse_window([first, *rest], no_gui=no_gui)
        elif first.startswith("-"):
            raise RefusedError("AML_USAGE_ARGUMENT", argument=first, command="amlwizard")
        elif first in COMMANDS:
            command = first
        elif first in _GROUPS:
            command = _second_word(first, rest)
        elif first.endswith(SUFFIX):
            return _parse_window(rest, no_gui=no_gui, bundle=first)
        else:
            raise RefusedError("AML_USAGE_COMMAND", argument=first, commands=", ".join(COMMANDS))
    if command in {"", "gui"}:
        return _parse_window(rest, no_gui=no_gui)
    if _HELP_FLAGS.intersection(_own_part(rest)):
        return Invocation(command, help=True)
    return _parse_command(command, rest)


def _second_word(first: str, rest: list[str]) -> str:
    """Take the second word of a command such as ``bundle create`` off and return both."""
    if rest and f"{first} {rest[0]}" in COMMANDS:
        return f"{first} {rest.pop(0)}"
    group = [name for name in COMMANDS if name.startswith(f"{first} ")]
    if _HELP_FLAGS.intersection(rest):
        return group[0]
    if not rest or rest[0].startswith("-"):
        raise RefusedError("AML_USAGE_SECOND_WORD", command=first, commands=", ".join(group))
    raise RefusedError("AML_USAGE_COMMAND", argument=f"{first} {rest[0]}", commands=", ".join(COMMANDS))


def _parse_window(rest: Sequence[str], *, no_gui: bool, bundle: str | None = None) -> Invocation:
    if _HELP_FLAGS.intersection(_own_part(rest)):
        return Invocation("gui", help=True)
    own = [argument for argument in rest if argument != "--no-gui"]
    if "--" in own:
        raise RefusedError("AML_USAGE_ARGUMENT", argument="--", command="amlwizard gui")
    values = _parse_options("gui", own) if own else {}
    if bundle is not None:
        values["bundle"] = bundle
    return Invocation("gui", values, no_gui=no_gui or len(own) < len(rest))


def _parse_command(command: str, rest: Sequence[str]) -> Invocation:
    own = _own_part(rest)
    script = tuple(rest[len(own) + 1 :])
    values = _parse_options(command, own)
    if script and command != "run":
        raise RefusedError("AML_USAGE_ARGUMENT", argument=script[0], command=f"amlwizard {command}")
    for one, other in _EXCLUSIVE:
        if values.get(one) and values.get(other):
            raise RefusedError("AML_USAGE_TOGETHER", one=_flag(one), other=_flag(other))
    if command == "run":
        _check_run(values, script)
    return Invocation(command, values, script)


def _parse_options(command: str, own: Sequence[str]) -> dict[str, Any]:
    import argparse

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> NoReturn:
            raise argparse.ArgumentError(None, message)

    parser = Parser(allow_abbrev=False, add_help=False, exit_on_error=False, argument_default=argparse.SUPPRESS)
    options = {option.name: option for option in COMMANDS[command]}
    for option in options.values():
        if not option.value:
            parser.add_argument(option.name, dest=option.key, action="store_true")
        else:
            parser.add_argument(option.name, dest=option.key, action="append" if option.repeats else "store")
    if command in PLACES:
        parser.add_argument("place", nargs="*" if PLACES[command].endswith(_SEVERAL) else "?")
    try:
        namespace, unknown = parser.parse_known_args(list(own))
    except argparse.ArgumentError as error:
        option = options[error.argument_name or ""]
        code = "AML_USAGE_VALUE_MISSING" if option.value else "AML_USAGE_VALUE_UNWANTED"
        raise RefusedError(code, option=option.name, value=option.value) from None
    if unknown:
        code = "AML_USAGE_SCRIPT_PLACE" if command == "run" and not unknown[0].startswith("-") else "AML_USAGE_ARGUMENT"
        raise RefusedError(code, argument=unknown[0], command=f"amlwizard {command}")
    values = vars(namespace)
    several = PLACES.get(command, "").endswith(_SEVERAL)
    if command in PLACES and (not values.get("place") or (several and not all(map(str.strip, values["place"])))):
        code = "AML_USAGE_PACKAGE_MISSING" if several else "AML_USAGE_PLACE_MISSING"
        raise RefusedError(code, command=f"amlwizard {command}", value=PLACES[command])
    needed = options.get(_NEEDED.get(command, ""))
    if needed is not None and not values.get(needed.key):
        raise RefusedError("AML_USAGE_VALUE_MISSING", option=needed.name, value=needed.value)
    for option in options.values():
        _check_value(option, values.get(option.key))
    return values


def _check_value(option: Option, value: str | list[str] | bool | None) -> None:
    if not option.value or value is None:
        return
    if value == "" or (isinstance(value, list) and "" in value):
        raise RefusedError("AML_USAGE_VALUE_MISSING", option=option.name, value=option.value)
    if option.value == "LOCKHASH" and isinstance(value, str):
        _check_hash(option, value)
    if option.one_of and value not in option.one_of:
        raise RefusedError("AML_USAGE_CHOICE", option=option.name, value=value, possible=", ".join(option.one_of))


def _check_hash(option: Option, value: str) -> None:
    if len(value) != _HASH_DIGITS or set(value.lower()) - set("0123456789abcdef"):
        raise RefusedError("AML_USAGE_HASH", option=option.name, value=value)


def _check_run(values: dict[str, Any], script: Sequence[str]) -> None:
    if script and values.get("sample"):
        raise RefusedError("AML_USAGE_TOGETHER", one="--sample", other="SCRIPT")
    if script and values.get("print_env"):
        raise RefusedError("AML_USAGE_TOGETHER", one="--print-env", other="SCRIPT")
    if values.get("json") and not values.get("print_env"):
        raise RefusedError("AML_USAGE_RUN_JSON")
    if not script and not values.get("sample") and not values.get("print_env"):
        raise RefusedError("AML_USAGE_SCRIPT_MISSING")
    for name in values.get("env", ()):
        if "=" in name:
            raise RefusedError("AML_USAGE_ENV_NAME", name=name.partition("=")[0])


def _own_part(arguments: Sequence[str]) -> Sequence[str]:
    """Return what stands before ``--``; the rest belongs to the script."""
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


def _flag(key: str) -> str:
    return "--" + key.replace("_", "-")
