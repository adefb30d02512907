"""Mirrors that help where the usual hosts are slow or out of reach: a list that people can edit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from amlwizard.core.catalogue import Phrase, message_phrase
from amlwizard.core.errors import RefusedError
from amlwizard.core.index_urls import PROXY_SCHEMES, split_url
from amlwizard.core.plain_files import exists
from amlwizard.core.settings_files import machine_settings_file, read_settings, user_settings_file
from amlwizard.resources import resource

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FILE_NAME: Final = "mirrors.json"


@dataclass(frozen=True)
class Mirror:
    """A place that others run. Choosing it means the settings ``indexUrl`` and, where it has one, ``pythonMirror``."""

    id: str
    names: Mapping[str, str]
    """Its name by language."""
    index_url: str
    python_mirror: str | None = None
    """Where interpreters can be fetched, as in ``Choices.python_mirror``."""

    def name(self, language: str) -> str:
        """Return its name, in English where it has none in the language."""
        return self.names.get(language) or self.names.get("en") or self.id


def load_mirrors(user_dir: Path | None = None, site_dir: Path | None = None) -> list[Mirror]:
    """Return the mirrors: of the file in the user's settings folder, else in the machine-wide one, else of this program.

    Args:
        user_dir: the user's settings folder, where it is not the system's usual one.
        site_dir: the machine-wide settings folder, where it is not the system's usual one.

    Raises:
        RefusedError: ``AML_SETTINGS_UNREADABLE``; such a file is there and is not what it should be.
    """
    return _read(_own_file(user_settings_file(user_dir), machine_settings_file(site_dir)) or resource(FILE_NAME))


def tell_unusable(*settings: Path | None) -> Phrase | None:
    """Return what is wrong with a list of mirrors that somebody wrote, None where nothing is.

    Args:
        settings: the settings files beside which it may lie, the user's first; None for one that does not count.
    """
    file = _own_file(*settings)
    try:
        if file is not None:
            _read(file)
    except RefusedError as error:
        return Phrase("mirrors.unusable", {"problem": message_phrase(error)})
    return None


def _own_file(*settings: Path | None) -> Path | None:
    places = (file.with_name(FILE_NAME) for file in settings if file is not None)
    return next((place for place in places if exists(place)), None)


def _read(file: Path) -> list[Mirror]:
    entries = read_settings(file).get("mirrors")
    if not isinstance(entries, list):
        raise RefusedError("AML_SETTING_INVALID", name="mirrors", path=str(file))
    return [_mirror(entry, file) for entry in entries]


def _mirror(entry: Any, file: Path) -> Mirror:
    fields: dict[str, Any] = entry if isinstance(entry, dict) else {}
    identity, names = fields.get("id"), fields.get("names")
    addresses = [fields.get("indexUrl"), *([fields["pythonMirror"]] if "pythonMirror" in fields else [])]
    texts = [identity, *addresses, *(names.values() if isinstance(names, dict) else [None])]
    if not all(isinstance(text, str) and text for text in texts):
        reason = Phrase("mirrors.incomplete", {"id": str(identity or "?")})
        raise RefusedError("AML_SETTINGS_UNREADABLE", path=str(file), reason=reason)
    for address in addresses:
        if split_url(address, str(file), PROXY_SCHEMES).login is not None:
            raise RefusedError("AML_URL_HAS_CREDENTIALS", place=str(file), variable="UV_DEFAULT_INDEX")
    return Mirror(fields["id"], fields["names"], *addresses)
