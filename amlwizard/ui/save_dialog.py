"""Asks where a file is to be saved; where nothing is chosen yet, dialogs begin in the user's documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QDir, QStandardPaths
from PySide6.QtWidgets import QFileDialog, QWidget

if TYPE_CHECKING:
    from collections.abc import Callable


def first_folder() -> str:
    """Return the folder of the user's documents, or their home where there is none."""
    folder = QStandardPaths.LocateOption.LocateDirectory
    return QStandardPaths.locate(QStandardPaths.StandardLocation.DocumentsLocation, "", folder) or QDir.homePath()


def ask_where(parent: QWidget, title: str, kinds: str, name: str, chosen: Callable[[str], None]) -> None:
    """Open the dialog, which goes by itself when it is closed.

    Args:
        parent: the window that it belongs to.
        title: of the dialog.
        kinds: the files that it shows, as Qt writes a name filter.
        name: what is proposed; its ending is added to a name without one.
        chosen: is told the path, unless nothing was chosen.
    """
    dialog = QFileDialog(parent, title, first_folder())
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
    dialog.setNameFilter(kinds)
    dialog.setDefaultSuffix(name.rpartition(".")[2])
    dialog.selectFile(name)
    dialog.fileSelected.connect(chosen)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
