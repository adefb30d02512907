"""``manifest.json``: what a bundle says of itself, read with distrust and written whole."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from amlwizard.core.bundle.floors import Floor
from amlwizard.core.bundle.names import PLATFORMS, is_member
from amlwizard.core.data_text import parse_json
from amlwizard.core.errors import RefusedError

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
LOCK: Final = "pylock.toml"
DOWNLOADS: Final = "python/downloads.json"
MANIFEST_LIMIT: Final = 4 * 1024 * 1024
"""The largest manifest that is read, in bytes; a hundred packages take thirty thousand."""

NAME_LIMIT: Final = 200
"""How many signs the name of a wish may have."""

_LARGEST: Final = 1 << 62
_SHA256: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
_DIGEST: Final = re.compile(r"[0-9a-f]{12}", re.ASCII)
_PYTHON: Final = re.compile(r"3\.\d{1,2}\.\d{1,3}", re.ASCII)
_CREATED: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_VERSION: Final = re.compile(r"\d+(\.\d+){0,3}[0-9a-z.+]*", re.ASCII)


@dataclass(frozen=True)
class FileRecord:
    """One file of a bundle; ``size`` in bytes, ``sha256`` in lower-case hexadecimal."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What a bundle holds and what it is for.

    ``python`` is the full version of its interpreter, ``kind`` (``profile`` or ``file``) and ``name`` what was asked for,
    ``digest`` the requirements digest of that (DESIGN section 2). ``uv``, ``archive`` and the keys of ``files`` are names
    of entries; the manifest itself is not among them.
    """

    platform: str
    floor: Floor
    python: str
    created: str
    kind: str
    name: str
    digest: str
    uv: str
    uv_version: str
    archive: str
    files: dict[str, FileRecord]

    @property
    def minor(self) -> str:
        """Return the Python version as ``3.11``."""
        return self.python.rpartition(".")[0]

    @property
    def content_bytes(self) -> int:
        """The bytes of all files together."""
        return sum(record.size for record in self.files.values())

    def text(self) -> str:
        """Return the manifest as JSON."""
        content = {
            "format": FORMAT,
            "created": self.created,
            "platform": self.platform,
            "floor": self.floor.to_json(),
            "python": {"version": self.python, "archive": self.archive, "downloads": DOWNLOADS},
            "uv": {"version": self.uv_version, "file": self.uv},
            "wish": {"kind": self.kind, "name": self.name, "digest": self.digest},
            "files": {name: {"size": record.size, "sha256": record.sha256} for name, record in sorted(self.files.items())},
        }
        return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def parse_manifest(body: bytes, path: str) -> Manifest:
    """Read a manifest; every value is checked before it is believed.

    Args:
        body: the manifest's bytes.
        path: the bundle, for the words of a refusal.

    Raises:
        RefusedError: ``AML_BUNDLE_TOO_NEW`` or ``AML_BUNDLE_MANIFEST``.
    """
    try:
        content = parse_json(body.decode("utf-8"), _without_twins)
    except ValueError as error:
        raise RefusedError("AML_BUNDLE_MANIFEST", path=path, what="JSON") from error
    reader = _Reader(content, path)
    number = reader.value(content, "format", int)
    if number > FORMAT:
        raise RefusedError("AML_BUNDLE_TOO_NEW", path=path, found=number, known=FORMAT)
    if number < 1:
        reader.refuse("format")
    return reader.manifest()


class _Reader:
    """Takes a manifest apart."""

    def __init__(self, content: Any, path: str) -> None:
        self._content = content
        self._path = path

    def refuse(self, what: str) -> NoReturn:
        raise RefusedError("AML_BUNDLE_MANIFEST", path=self._path, what=what)

    def value(self, content: Any, key: str, kind: type) -> Any:
        found = content.get(key) if isinstance(content, dict) else None
        if not isinstance(found, kind) or isinstance(found, bool):
            self.refuse(key)
        return found

    def text(self, content: Any, key: str, pattern: re.Pattern[str]) -> str:
        found: str = self.value(content, key, str)
        if not pattern.fullmatch(found):
            self.refuse(key)
        return found

    def manifest(self) -> Manifest:
        content = self._content
        platform = self.value(content, "platform", str)
        if platform not in PLATFORMS:
            self.refuse("platform")
        floor = Floor.from_json(self.value(content, "floor", dict))
        if floor is None:
            self.refuse("floor")
        python, uv, wish = (self.value(content, key, dict) for key in ("python", "uv", "wish"))
        name = self.value(wish, "name", str)
        if self.value(wish, "kind", str) not in {"profile", "file"}:
            self.refuse("kind")
        if not name.isprintable() or len(name) > NAME_LIMIT or set(name) & set("/\\"):
            self.refuse("name")
        files = self._files(self.value(content, "files", dict))
        if self.value(python, "downloads", str) != DOWNLOADS:
            self.refuse("downloads")
        for needed in (LOCK, DOWNLOADS):
            if needed not in files:
                self.refuse(needed)
        return Manifest(
            platform=platform,
            floor=floor,
            python=self.text(python, "version", _PYTHON),
            created=self.text(content, "created", _CREATED),
            kind=wish["kind"],
            name=name,
            digest=self.text(wish, "digest", _DIGEST),
            uv=self._member(uv, "file", "uv/", files),
            uv_version=self.text(uv, "version", _VERSION),
            archive=self._member(python, "archive", "python/", files),
            files=files,
        )

    def _member(self, content: Any, key: str, folder: str, files: dict[str, FileRecord]) -> str:
        name: str = self.value(content, key, str)
        if not name.startswith(folder) or name not in files:
            self.refuse(key)
        return name

    def _files(self, content: dict[str, Any]) -> dict[str, FileRecord]:
        files: dict[str, FileRecord] = {}
        for name, entry in content.items():
            if not is_member(name) or name == MANIFEST:
                self.refuse("files")
            size = self.value(entry, "size", int)
            if not 0 <= size < _LARGEST:
                self.refuse("size")
            files[name] = FileRecord(size, self.text(entry, "sha256", _SHA256))
        if len({name.lower() for name in files}) != len(files):
            self.refuse("files")
        return files


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("a key stands twice")
    return content
