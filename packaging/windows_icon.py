"""Draws the icon into an .ico of the sizes that Windows shows: ``python windows_icon.py SVG ICO``, with PySide6."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

SIZES = (16, 20, 24, 32, 40, 48, 64, 256)


def write_icon(source: Path, target: Path) -> None:
    """Write the icon; each size is drawn for itself."""
    renderer = QSvgRenderer(QByteArray(source.read_bytes()))
    pictures = [_picture(renderer, size) for size in SIZES]
    head = struct.pack("<HHH", 0, 1, len(SIZES))
    place = len(head) + 16 * len(SIZES)
    entries = b""
    for size, picture in zip(SIZES, pictures, strict=True):
        entries += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(picture), place)
        place += len(picture)
    target.write_bytes(head + entries + b"".join(pictures))


def _picture(renderer: QSvgRenderer, size: int) -> bytes:
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]  # the stubs of PySide6 want bytes here, which it refuses
    return bytes(buffer.data().data())


if __name__ == "__main__":
    write_icon(Path(sys.argv[1]), Path(sys.argv[2]))
