# ruff: noqa: E402 - the path and the platform have to be set before Qt and the project are imported
"""Grab each page of the window without a screen: in both languages, light, dark and in high contrast, at 100 % and 200 %.

python packaging/screenshots.py DIR

The engine is the tests' fake one, so that the pictures come out alike on every computer. The window goes through all
pages once for each scale, and changes language and colours wherever it is, as it does for a user.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ["QT_API"] = "pyside6"

import qasync
from PySide6.QtWidgets import QApplication

from tests.support.schemes import scheme_palette
from tests.support.tour import Tour

if TYPE_CHECKING:
    from amlwizard.ui.wizard import SetupWizard

SHOWN: Final = Path("/home/mei/aml")
"""The folder in the pictures; nothing is written there."""
LANGUAGES: Final = ("en", "zh_CN")
SCHEMES: Final = ("light", "dark", "contrast")
SCALES: Final = (1, 2)


async def _take(folder: Path, suffix: str) -> None:
    async def grab(wizard: SetupWizard, name: str) -> None:
        for scheme in SCHEMES:
            QApplication.setPalette(scheme_palette(scheme))
            for language in LANGUAGES:
                wizard.words.set_language(language)
                await asyncio.sleep(0.01)  # lets the layout settle
                path = folder / f"{name}-{language}-{scheme}{suffix}.png"
                if not wizard.grab().save(str(path)):
                    raise OSError(f"cannot write {path}")
        QApplication.setPalette(scheme_palette(SCHEMES[0]))
        wizard.words.set_language(LANGUAGES[0])

    await Tour(SHOWN, LANGUAGES[0], grab).walk()


def main(arguments: list[str]) -> int:
    """Write the pictures into the folder that is named; a second argument is the scale of a process of its own."""
    if not arguments:
        print("usage: screenshots.py DIR", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    if len(arguments) == 1:  # Qt reads the scale once, at its start
        command = [sys.executable, __file__, str(folder)]
        started = [
            subprocess.Popen([*command, str(scale)], env={**os.environ, "QT_SCALE_FACTOR": str(scale)}) for scale in SCALES
        ]
        return max(process.wait() for process in started)
    app = QApplication([sys.argv[0]])
    app.setStyle("Fusion")
    app.setQuitOnLastWindowClosed(False)
    suffix = "" if arguments[1] == "1" else f"-{arguments[1]}x"
    with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(app)) as runner:
        runner.run(_take(folder, suffix))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
