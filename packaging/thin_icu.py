"""Takes out of Qt's copy of the ICU data what a window in English and Chinese never asks for: a fifth of the packages.

The data is a table of contents and items. Items that are taken out leave the table, and zeros in their place: all others
stay where they are. ICU falls back to the root of a locale where there is no item for it.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_FORMAT = b"CmnD"
_FORMAT_AT = 12
"""Where the format stands in the header."""
_COUNT = struct.Struct("<I")
_ENTRY = struct.Struct("<II")
_LOCALE = re.compile(r"[a-z]{2,3}(_[A-Za-z0-9_]+)?\.res")
_KEPT_LOCALE = re.compile(r"(en|zh)(_[A-Za-z0-9_]+)?\.res")
_UNUSED_FOLDERS = {"translit", "rbnf"}
_UNUSED_SUFFIXES = (".cnv", ".dict")


def is_used(name: str) -> bool:
    """Tell whether an item stays, by its name, such as ``icudt73l/coll/zh.res``."""
    _, *folders, item = name.split("/")
    if _UNUSED_FOLDERS.intersection(folders) or item.endswith(_UNUSED_SUFFIXES):
        return False
    return not _LOCALE.fullmatch(item) or bool(_KEPT_LOCALE.fullmatch(item))


def thin(library: Path) -> int:
    """Thin the data in a shared library out, in place; return how many items were taken out.

    Raises:
        ValueError: there is no such data in it.
    """
    data = bytearray(library.read_bytes())
    start = data.find(_FORMAT) - _FORMAT_AT
    if start < 0:
        raise ValueError(f"{library.name} holds no ICU data")
    table = start + struct.unpack_from("<H", data, start)[0]
    count: int = _COUNT.unpack_from(data, table)[0]
    first = table + _COUNT.size
    entries = [_ENTRY.unpack_from(data, first + _ENTRY.size * number) for number in range(count)]
    names = [data[table + name : data.index(b"\0", table + name)].decode("ascii") for name, _ in entries]
    kept = [entry for entry, name in zip(entries, names, strict=True) if is_used(name)]
    # The last item stays, whatever it is: nothing tells where it ends.
    kept += entries[-1:] if kept[-1:] != entries[-1:] else []
    for number, (name, (_, begin)) in enumerate(zip(names[:-1], entries, strict=False)):
        end = entries[number + 1][1]
        if not is_used(name):
            data[table + begin : table + end] = bytes(end - begin)
    _COUNT.pack_into(data, table, len(kept))
    for number, entry in enumerate(kept):
        _ENTRY.pack_into(data, first + _ENTRY.size * number, *entry)
    library.write_bytes(data)
    return count - len(kept)
