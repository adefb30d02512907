"""What the machine-wide settings file fixes on this computer: locked keys, allowed folders, bundles only."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amlwizard.core.catalogue import Phrase
from amlwizard.core.errors import RefusedError
from amlwizard.core.plain_files import is_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from amlwizard.core.wish import Wish

_VARIABLE: Final = re.compile(r"\$\{(\w+)\}|\$(\w+)|%(\w+)%", re.ASCII)


@dataclass(frozen=True)
class Organisation:
    """What is set by the organisation; every refusal names ``file``, in which it stands."""

    file: Path
    locked: frozenset[str] = frozenset()
    """Keys of the settings that nobody else can change, such as ``indexUrl``, ``pythonMirror``, ``caFile``, ``proxy``."""
    bundle_only: bool = False
    """Whether environments may be set up from bundles alone."""
    allowed_roots: tuple[Path, ...] | None = None
    """The folders in which, or in a folder of which, a workspace may be; None for anywhere."""

    written_roots: tuple[str, ...] = ()
    """The same as they stand in the file, with those that name no folder here."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of all settings that hold here whatever the user says."""
        limits = (("allowedRoots", self.allowed_roots is not None), ("bundleOnly", self.bundle_only))
        return tuple(sorted({*self.locked, *(name for name, holds in limits if holds)}))

    def allows_root(self, root: Path) -> bool:
        """Tell whether a folder may be a workspace. Links are followed, so this looks at the disk."""
        if self.allowed_roots is None:
            return True
        place = _real(root)
        return any(place == allowed or allowed in place.parents for allowed in map(_real, self.allowed_roots))

    def refuse_root(self, root: Path) -> None:
        """Refuse a folder that may not be a workspace.

        Raises:
            RefusedError: ``AML_ROOT_NOT_ALLOWED``.
        """
        if not self.allows_root(root):
            allowed: str | Phrase = ", ".join(map(str, self.allowed_roots or ())) or "-"
            if not self.allowed_roots and self.written_roots:
                allowed = Phrase("organisation.no_folder", {"folders": ", ".join(self.written_roots)})
            raise RefusedError("AML_ROOT_NOT_ALLOWED", root=str(root), file=str(self.file), allowed=allowed)

    def refuse_without_bundle(self, wish: Wish) -> None:
        """Refuse what comes from no bundle, where nothing else is allowed; what once came from one may be built again.

        Raises:
            RefusedError: ``AML_BUNDLE_ONLY``.
        """
        if self.bundle_only and wish.bundle is None and wish.kind != "bundle":
            raise RefusedError("AML_BUNDLE_ONLY", file=str(self.file))


def expanded_folders(folders: Iterable[str], environ: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Return folders of the settings with ``~`` and variables (``$NAME``, ``${NAME}``, ``%NAME%``) filled in.

    One with a variable that is not set, or that is no absolute path, allows nothing and is left out.
    """
    found = []
    for folder in folders:
        missing = False

        def fill(match: re.Match[str]) -> str:
            nonlocal missing
            value = environ.get(match[1] or match[2] or match[3], "")
            missing = missing or not value
            return value

        text = _VARIABLE.sub(fill, folder)
        if text == "~" or text.startswith(("~/", f"~{os.sep}")):
            text = str(home / text[2:])
        if not missing and is_path(text) and Path(text).is_absolute():
            found.append(Path(text))
    return tuple(found)


def _real(path: Path) -> Path:
    """Return a path as it can be compared: links resolved, and without regard to case where the system has none."""
    return Path(os.path.normcase(os.path.realpath(path)))
