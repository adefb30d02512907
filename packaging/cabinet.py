"""Packs a cabinet closer than wixl does, which begins each block of 32 KB anew: here, a block goes on from the one before.

That is what MSZIP allows: https://learn.microsoft.com/openspecs/windows_protocols/ms-mci. Files, order and times stay.
"""

from __future__ import annotations

import struct
import zlib
from array import array
from functools import reduce
from operator import xor

_HEADER = struct.Struct("<4sIIIIIBBHHHHH")
_FOLDER = struct.Struct("<IHH")
_BLOCK = struct.Struct("<IHH")
_MSZIP = 1
_MARK = b"CK"
_WINDOW = 32768


def repacked(cabinet: bytes) -> bytes:
    """Return a cabinet with the same content.

    Raises:
        ValueError: it is none of the kind that wixl makes.
    """
    mark, _, _, _, files_at, _, minor, major, folder_count, file_count, flags, number, place = _HEADER.unpack_from(cabinet)
    if mark != b"MSCF" or flags:
        raise ValueError("this is no cabinet, or one with parts that are not expected")
    folders = [_FOLDER.unpack_from(cabinet, _HEADER.size + _FOLDER.size * index) for index in range(folder_count)]
    if any(kind != _MSZIP for _, _, kind in folders):
        raise ValueError("the cabinet is not compressed by MSZIP")
    table = cabinet[files_at : min(begin for begin, _, _ in folders)]
    files_at = _HEADER.size + _FOLDER.size * folder_count
    begin = files_at + len(table)
    entries, data = b"", b""
    for start, blocks, kind in folders:
        packed = _packed(_blocks(cabinet, start, blocks))
        entries += _FOLDER.pack(begin + len(data), blocks, kind)
        data += packed
    head = (mark, 0, begin + len(data), 0, files_at, 0, minor, major, folder_count, file_count, flags, number, place)
    return _HEADER.pack(*head) + entries + table + data


def _blocks(cabinet: bytes, start: int, count: int) -> list[bytes]:
    """Return the content of a folder, block by block."""
    found: list[bytes] = []
    for _ in range(count):
        _, size, whole = _BLOCK.unpack_from(cabinet, start)
        start += _BLOCK.size
        before = found[-1] if found else b""
        found.append(zlib.decompressobj(-15, zdict=before).decompress(cabinet[start + len(_MARK) : start + size]))
        if len(found[-1]) != whole:
            raise ValueError("a block of the cabinet is damaged")
        start += size
    return found


def _packed(blocks: list[bytes]) -> bytes:
    done = []
    before = b""
    for block in blocks:
        packer = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zdict=before)
        packed = _MARK + packer.compress(block) + packer.flush()
        sizes = struct.pack("<HH", len(packed), len(block))
        done.append(struct.pack("<I", _checksum(packed) ^ _checksum(sizes)) + sizes + packed)
        before = block[-_WINDOW:]
    return b"".join(done)


def _checksum(data: bytes) -> int:
    """Return the sum as cabinets have it: all words of four bytes, and what is left over the other way round."""
    rest = len(data) % 4
    words = array("I", data[: len(data) - rest])
    return reduce(xor, words, int.from_bytes(data[len(data) - rest :], "big"))
