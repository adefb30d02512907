"""Draws the icon into an .ico of the sizes that Windows shows: ``python windows_icon.py SVG ICO``, with PySide6."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))  # it is started with -P

import icns

SIZES = (16, 20, 24, 32, 40, 48, 64, 256)


def write_icon(source: Path, target: Path) -> None:
    """Write the icon; each size is drawn for itself.

    Raises:
        ValueError: the SVG cannot be read.
    """
    pictures = [icns.draw(source, size) for size in SIZES]
    head = struct.pack("<HHH", 0, 1, len(SIZES))
    place = len(head) + 16 * len(SIZES)
    entries = b""
    for size, picture in zip(SIZES, pictures, strict=True):
        entries += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(picture), place)
        place += len(picture)
    target.write_bytes(head + entries + b"".join(pictures))


if __name__ == "__main__":
    write_icon(Path(sys.argv[1]), Path(sys.argv[2]))
