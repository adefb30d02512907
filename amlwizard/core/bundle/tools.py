"""Looks into the uv and the interpreter's archive of a bundle whose hashes are right, before anything is taken from it."""

from __future__ import annotations

import io
import posixpath
import re
import tarfile
import zipfile
import zlib
from lzma import LZMAError
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NoReturn

from amlwizard.core.errors import RefusedError

if TYPE_CHECKING:
    from typing import IO

    from amlwizard.core.bundle.reading import Bundle
    from amlwizard.core.moving import Moving

_PROGRAMS: Final = {
    "linux": (b"\x7fELF",),
    "windows": (b"MZ",),
    "macos": (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"),
}
"""How programs begin on each system."""
_ZSTANDARD: Final = b"\x28\xb5\x2f\xfd"
"""How an archive begins that this Python may not be able to look into; uv can."""
_BUFFER: Final = 1024 * 1024
_MALFORMED: Final = (tarfile.TarError, zipfile.BadZipFile, zlib.error, LZMAError, EOFError, ValueError, NotImplementedError)


def check_tools(bundle: Bundle, moving: Moving) -> None:
    """Make sure that a checked bundle brings a uv and an interpreter; nothing is unpacked. Blocks for seconds.

    Args:
        bundle: a bundle whose bytes have been checked.
        moving: cancelling it ends the look.

    Raises:
        RefusedError: ``AML_BUNDLE_NO_PROGRAM``, ``AML_BUNDLE_ARCHIVE`` or ``AML_BUNDLE_ARCHIVE_UNSAFE``.
    """
    _check_uv(bundle)
    _Archive(bundle, moving).check()


def _check_uv(bundle: Bundle) -> None:
    entry = bundle.manifest.uv
    system = bundle.manifest.platform.partition("-")[0]
    with bundle.container.open(entry) as raw:
        stream = io.BufferedReader(raw)
        begin = _begin_in_wheel(stream, system) if entry.endswith(".whl") else stream.read(4)
    if not begin.startswith(_PROGRAMS[system]):
        raise RefusedError("AML_BUNDLE_NO_PROGRAM", path=str(bundle.path), entry=entry)


def _begin_in_wheel(stream: IO[bytes], system: str) -> bytes:
    name = "uv.exe" if system == "windows" else "uv"
    try:
        with zipfile.ZipFile(stream) as wheel:
            for member in wheel.namelist():
                if PurePosixPath(member).parts[-2:] == ("scripts", name):
                    with wheel.open(member) as program:
                        return program.read(4)
    except _MALFORMED:
        pass
    return b""


class _Archive:
    """The interpreter's archive, of which names and kinds of what is in it are looked at."""

    def __init__(self, bundle: Bundle, moving: Moving) -> None:
        self._bundle = bundle
        self._moving = moving
        windows = bundle.manifest.platform.startswith("windows-")
        self._interpreter = ("python.exe",) if windows else ("bin", f"python{bundle.manifest.minor}")

    def check(self) -> None:
        with self._bundle.container.open(self._bundle.manifest.archive) as raw:
            stream = io.BufferedReader(raw, _BUFFER)
            if stream.peek(4).startswith(_ZSTANDARD):
                return
            try:
                found = self._look(stream)
            except _MALFORMED:
                found = False
        if not found:
            self._refuse("AML_BUNDLE_ARCHIVE")

    def _look(self, stream: IO[bytes]) -> bool:
        found = False
        with tarfile.open(fileobj=stream, mode="r|*") as archive:
            for member in archive:
                self._moving.advance(0)
                self._check_member(member)
                parts = PurePosixPath(member.name).parts
                if parts[-len(self._interpreter) :] == self._interpreter and len(parts) > len(self._interpreter):
                    found = found or (member.size > 0 if member.isreg() else member.issym() or member.islnk())
        return found

    def _check_member(self, member: tarfile.TarInfo) -> None:
        targets = [member.name]
        if member.issym():
            targets.append(posixpath.join(posixpath.dirname(member.name), member.linkname))
        elif member.islnk():
            targets.append(member.linkname)
        elif not member.isreg() and not member.isdir():
            self._refuse("AML_BUNDLE_ARCHIVE_UNSAFE", member.name)
        if ".." in PurePosixPath(member.name).parts or any(_leads_out(target) for target in targets):
            self._refuse("AML_BUNDLE_ARCHIVE_UNSAFE", member.name)

    def _refuse(self, code: str, member: str = "") -> NoReturn:
        # a name from the archive is shown without what a terminal would obey
        named = {"member": ascii(member)[1:-1]} if member else {}
        raise RefusedError(code, path=str(self._bundle.path), entry=self._bundle.manifest.archive, **named)


def _leads_out(name: str) -> bool:
    """Tell whether a name leads out of the folder in which the archive is unpacked, on any system."""
    plain = posixpath.normpath(name.replace("\\", "/"))
    return plain.startswith("/") or plain.split("/")[0] == ".." or re.match("[A-Za-z]:", plain) is not None
