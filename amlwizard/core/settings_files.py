"""Where settings are kept: two JSON files and the AML_* variables (DESIGN section 2)."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from amlwizard.core.errors import RefusedError
from amlwizard.core.records import read_record, write_record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

APPLICATION: Final = "amlwizard"
FILE_NAME: Final = "settings.json"

TEXT_KEYS: Final = frozenset(
    {
        "root", "uv", "python", "pythonVersion", "indexUrl", "caFile", "proxy", "pythonDownloadsJson", "kit", "language",
        "uvInstallerUrl",
        "uvMethod", "bundleSha256", "lastProfile", "lastRequirements",
    }
)  # fmt: skip
LIST_KEYS: Final = frozenset({"extraIndexUrls", "findLinks"})

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
    """Return the machine-wide settings file."""
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
        RefusedError: a file is too new (``AML_FORMAT_TOO_NEW``) or a value has the wrong type (``AML_SETTING_INVALID``).
    """
    machine_file, user_file = machine_settings_file(site_dir), user_settings_file(user_dir)
    machine = read_record(machine_file) or {}
    values = _values(machine, Source.MACHINE, machine_file)
    locked = frozenset(_list(machine, "locked", machine_file)) & (TEXT_KEYS | LIST_KEYS)
    user = _values(read_record(user_file) or {}, Source.USER, user_file) if with_user else {}
    values |= {key: setting for key, setting in user.items() if key not in locked}
    overruled: dict[str, Setting] = {}
    for variable, key in VARIABLES.items():
        if not environ.get(variable):
            continue
        setting = Setting(environ[variable], Source.VARIABLE, variable)
        if key not in locked:
            values[key] = setting
        elif key not in values or setting.value != values[key].value:
            overruled[key] = setting
    return Settings(values, locked, overruled)


def unreadable_settings_files(user_dir: Path | None = None, site_dir: Path | None = None) -> list[Path]:
    """Return the settings files that are there and yet count as absent, because they cannot be read.

    Raises:
        RefusedError: a file is too new (``AML_FORMAT_TOO_NEW``).
    """
    files = (machine_settings_file(site_dir), user_settings_file(user_dir))
    return [file for file in files if os.path.lexists(file) and read_record(file) is None]


def save_user_settings(changes: Mapping[str, str | list[str] | None], user_dir: Path | None = None) -> None:
    """Write some of the user's settings; None removes one, what else the file holds stays.

    Raises:
        RefusedError: the present file was written by a newer amlwizard, and is left alone.
        OSError: the file cannot be written.
    """
    file = user_settings_file(user_dir)
    record = read_record(file) or {}
    record.pop("format", None)
    for key, value in changes.items():
        if value is None:
            record.pop(key, None)
        else:
            record[key] = value
    _values(record, Source.USER, file)
    write_record(file, record)


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
