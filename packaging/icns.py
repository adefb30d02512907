"""The program's icon in the form of macOS, drawn from its SVG. Runs in the environment that the program is frozen from.

python icns.py SVG ICNS
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

SIZES: Final = {"ic11": 32, "ic12": 64, "ic07": 128, "ic13": 256, "ic08": 256, "ic14": 512, "ic09": 512, "ic10": 1024}
"""The kinds of picture in the file, by pixels; those of 16 and 32 pixels are drawn from the finer ones of the same size."""


def write_icns(svg: Path, target: Path) -> None:
    """Draw every size and write them into one file.

    Raises:
        ValueError: the SVG cannot be read.
    """
    import icnsutil

    icon = icnsutil.IcnsFile()
    for kind, pixels in SIZES.items():
        icon.add_media(kind, data=draw(svg, pixels))
    icon.write(str(target))


def draw(svg: Path, pixels: int) -> bytes:
    """Return the picture as a PNG of so many pixels in width and height.

    Raises:
        ValueError: the SVG cannot be read.
    """
    from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
    from PySide6.QtGui import QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    renderer = QSvgRenderer(str(svg))
    if not renderer.isValid():
        raise ValueError(f"{svg} is no SVG")
    image = QImage(pixels, pixels, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]  # the stubs name bytes; the format is text
    return bytes(content.data())


if __name__ == "__main__":
    write_icns(Path(sys.argv[1]), Path(sys.argv[2]))
