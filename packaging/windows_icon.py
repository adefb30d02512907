"""Draws the icon into an .ico of the sizes that Windows shows: ``python windows_icon.py SVG ICO``, with PySide6.

Beside it, as ``ICO.bmp``, lies the picture for the side of the installer's last page.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))  # it is started with -P

import icns

SIZES = (16, 20, 24, 32, 40, 48, 64, 256)
SIDE = (164, 314)
"""The pixels that NSIS has for the side; it scales the picture with the text."""
SIDE_ICON = 96
SIDE_COLOUR = "#e8f0fb"


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


def write_side(source: Path, target: Path) -> None:
    """Write the picture for the side as a bitmap of Windows.

    Raises:
        ValueError: the SVG cannot be read.
    """
    from PySide6.QtGui import QImage, QPainter

    image = QImage(*SIDE, QImage.Format.Format_RGB888)
    image.fill(SIDE_COLOUR)
    painter = QPainter(image)
    left = (SIDE[0] - SIDE_ICON) // 2
    painter.drawImage(left, left, QImage.fromData(icns.draw(source, SIDE_ICON)))
    painter.end()
    image.save(str(target), "BMP")  # type: ignore[call-overload]  # the stubs name bytes; the format is text


if __name__ == "__main__":
    write_icon(Path(sys.argv[1]), Path(sys.argv[2]))
    write_side(Path(sys.argv[1]), Path(f"{sys.argv[2]}.bmp"))
