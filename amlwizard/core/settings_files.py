"""Where settings are kept: two JSON files and the AML_* variables (DESIGN section 2)."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from amlwizard.core.catalogue import LANGUAGES, Phrase, system_language
from amlwizard.core.data_text import parse_json
from amlwizard.core.errors import RefusedError
from amlwizard.core.host import system_name
from amlwizard.core.plain_files import read_plain
from amlwizard.core.records import FORMAT, write_record

if TYPE_CHECKING:
    from collections.abc import Mapping

APPLICATION: Final = "amlwizard"
FILE_NAME: Final = "settings.json"

TEXT_KEYS: Final = frozenset(
    {
        "root", "uv", "python", "pythonVersion", "indexUrl", "caFile", "proxy", "pythonDownloadsJson", "kit", "language",
        "pythonMirror", "uvInstallerUrl",
        "uvMethod", "indexStrategy", "accelerator", "bundleSha256",
    }
)  # fmt: skip
LIST_KEYS: Final = frozenset({"extraIndexUrls", "findLinks"})
_KEYS: Final = TEXT_KEYS | LIST_KEYS
_MACHINE_KEYS: Final = frozenset({"locked", "bundleOnly", "allowedRoots"})
"""Keys that mean something in the machine-wide file alone."""

MACHINE_FOLDERS: Final = {
    "linux": Path("/etc/xdg") / APPLICATION,
    "macos": Path("/Library/Application Support") / APPLICATION,
}
"""Where the machine-wide file lies by system; Windows itself tells its own folder."""

VARIABLES: Final = {
    "AML_UV_BIN": "uv",
    "AML_PYTHON_BIN": "python",
    "AML_INDEX_URL": "indexUrl",
    "AML_ROOT": "root",
    "AML_UV_PYTHON": "pythonVersion",
    "AML_PYHOME": "kit",
}
"""Variables and the keys that they set. An empty one counts as not set."""


class Source(StrEnum):
    """Where a value came from, the weakest first."""

    MACHINE = "machine"
    USER = "user"
    VARIABLE = "variable"


@dataclass(frozen=True)
class Setting:
    """One value; ``place`` is the file, or the variable's name."""

    value: str | tuple[str, ...]
    source: Source
    place: str


@dataclass(frozen=True)
class Settings:
    """The merged settings.

    ``locked`` names the keys that the machine-wide file fixes; ``overruled`` holds what a variable said against such a
    key, which ``resolve_choices`` refuses.
    """

    values: Mapping[str, Setting] = field(default_factory=dict, repr=False)
    locked: frozenset[str] = frozenset()
    overruled: Mapping[str, Setting] = field(default_factory=dict, repr=False)
    unknown: tuple[str, ...] = ()
    """Keys that mean nothing here, each with its file; perhaps a slip."""
    wrong: tuple[Phrase, ...] = ()
    """What is written in them that has no effect, and why."""
    user_file: Path | None = None
    """The user's file, where it was read."""
    machine_file: Path | None = None
    """The machine-wide file."""
    bundle_only: bool = False
    """Whether that file allows nothing but bundles."""
    allowed_roots: tuple[str, ...] | None = None
    """The folders in which that file allows a workspace, as they stand there; None where it does not say."""

    def text(self, key: str) -> str | None:
        """Return a value of ``TEXT_KEYS``, or None."""
        setting = self.values.get(key)
        return setting.value if setting is not None and isinstance(setting.value, str) else None

    def is_locked(self, key: str) -> bool:
        """Tell whether the organisation has fixed this key."""
        return key in self.locked


def user_settings_file(user_dir: Path | None = None) -> Path:
    """Return the user's settings file, which never roams between computers."""
    if user_dir is None:
        import platformdirs

        user_dir = platformdirs.user_config_path(APPLICATION, appauthor=False, roaming=False)
    return user_dir / FILE_NAME


def machine_settings_file(site_dir: Path | None = None) -> Path:
    """Return the machine-wide settings file. No variable of a user moves it, so that nobody escapes what it fixes."""
    if site_dir is None:
        site_dir = MACHINE_FOLDERS.get(system_name(sys.platform))
    if site_dir is None:
        import platformdirs

        site_dir = platformdirs.site_config_path(APPLICATION, appauthor=False)
    return site_dir / FILE_NAME


def load_settings(
    environ: Mapping[str, str], user_dir: Path | None = None, site_dir: Path | None = None, *, with_user: bool = True
) -> Settings:
    """Read both settings files and the variables; later wins, except against a locked key.

    Args:
        environ: the variables.
        user_dir: the user's settings folder, where it is not the system's usual one.
        site_dir: the machine-wide settings folder, where it is not the system's usual one.
        with_user: False leaves out the user's file.

    Raises:
        RefusedError: a file cannot be read (``AML_SETTINGS_UNREADABLE``) or is too new (``AML_FORMAT_TOO_NEW``), or a value
            has the wrong type (``AML_SETTING_INVALID``).
    """
    machine_file, user_file = machine_settings_file(site_dir), user_settings_file(user_dir)
    machine = read_settings(machine_file)
    values = _values(machine, Source.MACHINE, machine_file)
    fixed = _list(machine, "locked", machine_file)
    locked = frozenset(fixed) & _KEYS
    unknown = [f"locked: {key} ({machine_file})" for key in fixed if key not in _KEYS]
    user = read_settings(user_file) if with_user else {}
    values |= {key: value for key, value in _values(user, Source.USER, user_file).items() if key not in locked}
    told = {"file": str(user_file), "machine": str(machine_file)}
    wrong = [Phrase("settings.machine_alone", {"name": key, **told}) for key in user if key in _MACHINE_KEYS]
    for record, file in ((machine, machine_file), (user, user_file)):
        unknown += [f"{key} ({file})" for key in record if key not in _KEYS | _MACHINE_KEYS | {"format"}]
        if (language := record.get("language")) not in {None, "", *LANGUAGES}:
            arguments = {"chosen": language, "file": str(file), "known": ", ".join(LANGUAGES)}
            wrong.append(Phrase("settings.language_unknown", arguments))
    overruled: dict[str, Setting] = {}
    for variable, key in VARIABLES.items():
        if not environ.get(variable):
            continue
        setting = Setting(environ[variable], Source.VARIABLE, variable)
        if key not in locked:
            values[key] = setting
        elif key not in values or setting.value != values[key].value:
            overruled[key] = setting
    bundle_only = machine.get("bundleOnly", False)
    if not isinstance(bundle_only, bool):
        raise RefusedError("AML_SETTING_INVALID", name="bundleOnly", path=str(machine_file))
    roots = tuple(_list(machine, "allowedRoots", machine_file)) if "allowedRoots" in machine else None
    user_read = user_file if with_user else None
    return Settings(values, locked, overruled, tuple(unknown), tuple(wrong), user_read, machine_file, bundle_only, roots)


def chosen_language(environ: Mapping[str, str], user_dir: Path | None = None, site_dir: Path | None = None) -> str:
    """Return the language of the settings, else that of the system; what is wrong with the settings is said by others."""
    try:
        chosen = load_settings(environ, user_dir, site_dir).text("language")
    except RefusedError:
        chosen = None
    return chosen if chosen in LANGUAGES else system_language()


def save_user_settings(changes: Mapping[str, str | list[str] | None], user_dir: Path | None = None) -> None:
    """Write some of the user's settings; None removes one, what else the file holds stays.

    Raises:
        RefusedError: the present file cannot be read or was written by a newer amlwizard, and is left alone.
        OSError: the file cannot be written.
    """
    file = user_settings_file(user_dir)
    record = read_settings(file)
    record.pop("format", None)
    for key, value in changes.items():
        if value is None:
            record.pop(key, None)
        else:
            record[key] = value
    _values(record, Source.USER, file)
    write_record(file, record)


def read_settings(file: Path) -> dict[str, Any]:
    """Return what a settings file holds, nothing where there is none. People write it by hand: ``format`` may be left out.

    Raises:
        RefusedError: it cannot be read, is no JSON object, or was written by a newer amlwizard.
    """
    try:
        record = parse_json(read_plain(file).decode("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError) as error:
        if not file.is_symlink():
            return {}
        raise _unreadable(file, error.strerror) from error
    except OSError as error:
        raise _unreadable(file, error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise _unreadable(file, Phrase("settings.not_utf8")) from error
    except json.JSONDecodeError as error:
        raise _unreadable(file, Phrase("settings.not_json", {"line": error.lineno, "column": error.colno})) from error
    except ValueError as error:  # a number of too many digits, or brackets nested too deep
        raise _unreadable(file, Phrase("settings.not_object")) from error
    if not isinstance(record, dict):
        raise _unreadable(file, Phrase("settings.not_object"))
    number = record.get("format", FORMAT)
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise RefusedError("AML_SETTING_INVALID", name="format", path=str(file))
    if number > FORMAT:
        raise RefusedError("AML_FORMAT_TOO_NEW", path=str(file), found=number, known=FORMAT)
    return record


def _unreadable(file: Path, reason: object) -> RefusedError:
    return RefusedError("AML_SETTINGS_UNREADABLE", path=str(file), reason=reason)


def _values(record: Mapping[str, Any], source: Source, file: Path) -> dict[str, Setting]:
    values: dict[str, Setting] = {}
    for key in TEXT_KEYS & record.keys():
        value = record[key]
        if not isinstance(value, str):
            raise RefusedError("AML_SETTING_INVALID", name=key, path=str(file))
        if value:
            values[key] = Setting(value, source, str(file))
    for key in LIST_KEYS & record.keys():
        values[key] = Setting(tuple(_list(record, key, file)), source, str(file))
    return values


def _list(record: Mapping[str, Any], key: str, file: Path) -> list[str]:
    value = record.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise RefusedError("AML_SETTING_INVALID", name=key, path=str(file))
    return value
