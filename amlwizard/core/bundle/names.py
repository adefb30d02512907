"""Names: those of bundles and platforms, and which entries of a bundle are harmless on every system."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from amlwizard.core.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterable

SUFFIX: Final = ".amlbundle"
PLATFORMS: Final = ("linux-x86_64", "linux-aarch64", "windows-x86_64", "windows-arm64", "macos-arm64", "macos-x86_64")
FOLDERS: Final = ("wheels", "uv", "python")

_TOP: Final = ("manifest.json", "pylock.toml")
_MEMBER: Final = re.compile(rf"(?:{'|'.join(FOLDERS)})/[A-Za-z0-9_][A-Za-z0-9_.+!-]{{0,250}}", re.ASCII)
_DEVICE: Final = re.compile(r"(CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(COM|LPT)[0-9¹²³])\s*(\..*)?", re.IGNORECASE | re.DOTALL)
_SHOWN: Final = 80


def is_member(name: str) -> bool:
    """Tell whether a file of a bundle may have this name."""
    return name in _TOP or (_MEMBER.fullmatch(name) is not None and not name.endswith(".") and not _is_device(name))


def check_names(names: Iterable[str], path: str) -> None:
    """Look at the names of all entries, folders included, before anything else is done with them.

    Args:
        names: as they stand in the archive.
        path: the bundle, for the words of a refusal.

    Raises:
        RefusedError: ``AML_BUNDLE_OUTSIDE``, ``AML_BUNDLE_DEVICE_NAME``, ``AML_BUNDLE_TWICE`` or ``AML_BUNDLE_CASE``.
    """
    seen: dict[str, str] = {}
    for name in names:
        if _leads_outside(name):
            raise RefusedError("AML_BUNDLE_OUTSIDE", path=path, entry=shown(name))
        if _is_device(name):
            raise RefusedError("AML_BUNDLE_DEVICE_NAME", path=path, entry=shown(name))
        # what systems that do not tell letters apart would store in one file
        folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold()).removesuffix("/")
        other = seen.setdefault(folded, name)
        if other is not name:
            if other == name:
                raise RefusedError("AML_BUNDLE_TWICE", path=path, entry=shown(name))
            raise RefusedError("AML_BUNDLE_CASE", path=path, entry=shown(name), other=shown(other))


def shown(name: str) -> str:
    """Return a name that nobody vouches for in a form that can be shown."""
    clean = "".join(sign if sign.isprintable() else "\ufffd" for sign in name)
    return clean if len(clean) <= _SHOWN else f"{clean[:_SHOWN]}..."


def _leads_outside(name: str) -> bool:
    parts = name.removesuffix("/").split("/")
    return (
        bool(set(name) & set("\\:\0"))  # another system's separator, a drive or a stream, a name cut short
        or any(part in {"", ".", ".."} for part in parts)
        or any(part != part.rstrip(". ") for part in parts)  # Windows drops these, and has another name
    )


def _is_device(name: str) -> bool:
    return any(_DEVICE.fullmatch(part) for part in name.split("/"))
