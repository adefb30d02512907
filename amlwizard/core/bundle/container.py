"""Where a bundle's files lie: in a zip file whose entries are stored, or in a folder. Both are looked at with distrust."""

from __future__ import annotations

import io
import os
import stat
import struct
import zipfile
import zlib
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, BinaryIO, Final, cast

from amlwizard.core.bundle.names import FOLDERS, check_names, shown
from amlwizard.core.errors import AmlError, RefusedError

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import Buffer

DIRECTORY_LIMIT: Final = 16 * 1024 * 1024
"""The largest table of contents that is read, in bytes; that of a thousand wheels takes two hundred thousand."""

_LOCAL_HEADER: Final = struct.Struct("<4s5H3I2H")
_LOCAL_SIGNATURE: Final = b"PK\3\4"
_END_SIGNATURE: Final = b"PK\5\6"
_END_BYTES: Final = 22
"""How long the end of a zip file without a comment is."""
_ENCRYPTED: Final = 0x1
_SIZES_FOLLOW: Final = 0x8
_IN_EXTRA: Final = 0xFFFFFFFF
_MALFORMED: Final = (struct.error, NotImplementedError, ValueError, OverflowError, EOFError, zlib.error, RuntimeError)


@dataclass(frozen=True)
class ZipContainer:
    """A zip file; ``offsets`` says where the bytes of each entry begin."""

    path: Path
    sizes: dict[str, int]
    offsets: dict[str, int]

    def open(self, name: str) -> io.RawIOBase:
        """Open one entry."""
        stream = self.path.open("rb", buffering=0)
        stream.seek(self.offsets[name])
        return _Slice(stream, self.sizes[name])


@dataclass(frozen=True)
class FolderContainer:
    """A folder."""

    path: Path
    sizes: dict[str, int]

    def open(self, name: str) -> io.RawIOBase:
        """Open one file, which may not have become a link since it was looked at."""
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
        file = io.FileIO(os.open(self.path / name, flags))
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return _Slice(file, self.sizes[name])
        file.close()
        raise RefusedError("AML_BUNDLE_LINK", path=str(self.path), entry=name)


Container = ZipContainer | FolderContainer
"""The files of a bundle; ``sizes`` holds the bytes of each by its name, and no more than that can be read of it."""


def open_container(path: Path) -> Container:
    """Look at a bundle's entries without reading their content.

    Raises:
        RefusedError: it is no bundle, or one that cannot be trusted; ``AML_BUNDLE_*`` says why.
        AmlError: ``AML_BUNDLE_UNREADABLE`` where the medium fails.
    """
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            return _folder(path)
        if not stat.S_ISREG(status.st_mode):
            raise RefusedError("AML_BUNDLE_NOT_ONE", path=str(path))
        return _zip(path, status.st_size)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise RefusedError("AML_BUNDLE_MISSING", path=str(path)) from error
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> AmlError:
    """Return the failure of a medium."""
    return RefusedError("AML_BUNDLE_UNREADABLE", path=str(path), reason=error.strerror or str(error))


# -- folders


def _folder(root: Path) -> FolderContainer:
    sizes: dict[str, int] = {}
    names: list[str] = []
    for entry in sorted(os.scandir(root), key=lambda entry: entry.name):
        _refuse_link(entry, entry.name, root)
        names.append(entry.name)
        if not entry.is_dir(follow_symlinks=False):
            sizes[entry.name] = entry.stat(follow_symlinks=False).st_size
            continue
        if entry.name not in FOLDERS:
            raise RefusedError("AML_BUNDLE_EXTRA", path=str(root), entry=shown(entry.name))
        for file in sorted(os.scandir(entry.path), key=lambda file: file.name):
            name = f"{entry.name}/{file.name}"
            _refuse_link(file, name, root)
            if file.is_dir(follow_symlinks=False):
                raise RefusedError("AML_BUNDLE_EXTRA", path=str(root), entry=shown(name))
            names.append(name)
            sizes[name] = file.stat(follow_symlinks=False).st_size
    check_names(names, str(root))
    return FolderContainer(root, sizes)


def _refuse_link(entry: os.DirEntry[str], name: str, root: Path) -> None:
    status = entry.stat(follow_symlinks=False)
    ordinary = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
    if not ordinary or getattr(status, "st_file_attributes", 0) & stat.FILE_ATTRIBUTE_REPARSE_POINT:
        raise RefusedError("AML_BUNDLE_LINK", path=str(root), entry=shown(name))


# -- zip files


def _zip(path: Path, size: int) -> ZipContainer:
    place = str(path)
    with path.open("rb") as stream:
        start = stream.read(4)
        cut_short = RefusedError("AML_BUNDLE_TRUNCATED" if start == _LOCAL_SIGNATURE else "AML_BUNDLE_NOT_ONE", path=place)
        stream.seek(max(0, size - _END_BYTES))
        if stream.read(4) != _END_SIGNATURE:
            raise cut_short  # what is found further up may be the end of a wheel in it
        try:
            with zipfile.ZipFile(cast("IO[bytes]", LimitedReader(stream))) as archive:
                entries = archive.infolist()
                end = archive.start_dir
        except TooMuchError as error:
            raise RefusedError("AML_BUNDLE_BOMB", path=place, entry=shown(path.name)) from error
        except zipfile.BadZipFile as error:
            raise cut_short from error
        except _MALFORMED as error:
            raise RefusedError("AML_BUNDLE_DAMAGED", path=place, entry=path.name) from error
        if min((entry.header_offset for entry in entries), default=0) > 0:
            raise cut_short  # where it was cut a wheel in it ends
        check_names([entry.orig_filename for entry in entries], place)
        for entry in entries:
            _check_entry(entry, place)
        files = [entry for entry in entries if not entry.is_dir()]
        offsets = {entry.filename: _data_offset(stream, entry, place) for entry in entries}
        taken = 0
        for entry in sorted(entries, key=lambda entry: entry.header_offset):
            begins, ends = entry.header_offset, offsets[entry.filename] + entry.file_size
            if begins < taken or ends > min(end, size):
                raise RefusedError("AML_BUNDLE_BOMB", path=place, entry=shown(entry.filename))
            taken = ends
    return ZipContainer(path, {entry.filename: entry.file_size for entry in files}, offsets)


def _check_entry(entry: zipfile.ZipInfo, place: str) -> None:
    name = shown(entry.orig_filename)
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in {0, stat.S_IFREG, stat.S_IFDIR} or entry.external_attr & stat.FILE_ATTRIBUTE_REPARSE_POINT:
        raise RefusedError("AML_BUNDLE_LINK", path=place, entry=name)
    if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & _ENCRYPTED:
        raise RefusedError("AML_BUNDLE_COMPRESSED", path=place, entry=name)
    if entry.file_size != entry.compress_size or (entry.is_dir() and entry.file_size):
        raise RefusedError("AML_BUNDLE_BOMB", path=place, entry=name)
    if entry.is_dir() and entry.filename.removesuffix("/") not in FOLDERS:
        raise RefusedError("AML_BUNDLE_EXTRA", path=place, entry=name)


def _data_offset(stream: BinaryIO, entry: zipfile.ZipInfo, place: str) -> int:
    """Return where an entry's bytes begin; its own header has to say the same as the table of contents."""
    stream.seek(entry.header_offset)
    header = stream.read(_LOCAL_HEADER.size)
    damaged = RefusedError("AML_BUNDLE_DAMAGED", path=place, entry=shown(entry.orig_filename))
    if len(header) != _LOCAL_HEADER.size:
        raise damaged
    signature, _, flags, method, _, _, _, packed, plain, name_length, extra_length = _LOCAL_HEADER.unpack(header)
    if signature != _LOCAL_SIGNATURE or method != zipfile.ZIP_STORED:
        raise damaged
    if stream.read(name_length) != entry.orig_filename.encode("utf-8" if entry.flag_bits & 0x800 else "cp437"):
        raise damaged
    told = {packed, plain} - ({0, _IN_EXTRA} if flags & _SIZES_FOLLOW else {_IN_EXTRA})
    if told - {entry.file_size}:
        raise RefusedError("AML_BUNDLE_BOMB", path=place, entry=shown(entry.orig_filename))
    return int(entry.header_offset) + _LOCAL_HEADER.size + int(name_length) + int(extra_length)


class TooMuchError(Exception):
    """A table of contents that is larger than any honest one."""


class LimitedReader(io.RawIOBase):
    """A file of which no single piece beyond the limit is read into memory, whatever its own fields ask for."""

    def __init__(self, stream: BinaryIO | io.RawIOBase) -> None:
        super().__init__()
        self._stream = stream

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if size is None or size < 0 or size > DIRECTORY_LIMIT:
            here = self._stream.tell()
            rest = self._stream.seek(0, os.SEEK_END) - here
            self._stream.seek(here)
            if rest > DIRECTORY_LIMIT:
                raise TooMuchError
            size = rest
        return self._stream.read(size) or b""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_SET and offset < 0:
            raise ValueError("a place before the beginning")
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()


class _Slice(io.RawIOBase):
    """So many bytes of an open file, which is closed with it."""

    def __init__(self, stream: io.FileIO, size: int) -> None:
        super().__init__()
        self._file = stream
        self._size = size
        self._left = size
        self._start = stream.tell()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        count = self._file.readinto(memoryview(buffer)[: self._left]) if self._left else 0
        self._left -= count or 0
        return count or 0

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._size - self._left, os.SEEK_END: self._size}[whence]
        position = min(max(base + offset, 0), self._size)
        self._file.seek(self._start + position)
        self._left = self._size - position
        return position

    def tell(self) -> int:
        return self._size - self._left

    def close(self) -> None:
        self._file.close()
        super().close()
