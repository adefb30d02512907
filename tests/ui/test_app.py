"""The composition root: the window's process from its start to its end."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.errors import ExitCode
from amlwizard.ui.step_list import PageId

if TYPE_CHECKING:
    from pathlib import Path

TO_THE_PAINT = """
import sys
from PySide6 import QtGui
from amlwizard.__main__ import main
from amlwizard.ui.wizard import SetupWizard

def survey(wizard):
    print(*sys.modules, *vars(QtGui), f"pages {wizard.pageIds()}", sep="\\n")
    wizard.close()

SetupWizard.survey = survey
sys.argv[1:] = ["gui"]
main()
"""
"""Opens the window and tells what is loaded when it would begin to look at the computer."""
OFFSCREEN_REMARK = "This plugin does not support propagateSizeHints()"
"""What Qt's offscreen platform says of itself."""
SLOW_REMARK = re.compile(r"Executing <.*> took [0-9.]+ seconds")
"""What asyncio says on a busy computer; what must not block is a matter of ``tests/e2e/test_window.py``."""


def remarks_of(stderr: str) -> list[str]:
    """Return what a window said that it should not have said."""
    return [line for line in stderr.splitlines() if line != OFFSCREEN_REMARK and not SLOW_REMARK.fullmatch(line)]


@pytest.mark.parametrize(
    ("moment", "code", "said"), [("idle", ExitCode.DONE, ""), ("run", ExitCode.CANCELLED, "asked\n")], ids=["idle", "run"]
)
def test_b105_the_window_closes_without_a_word(tmp_path: Path, moment: str, code: ExitCode, said: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-X", "dev", "-m", "tests.support.fake_window", str(tmp_path), moment],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout, remarks_of(ended.stderr)) == (code, said, [])


def test_what_takes_long_to_load_and_is_not_seen_comes_after_the_first_paint(tmp_path: Path) -> None:
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("AML_", "PIP_", "UV_", "XDG_"))}
    home = dict.fromkeys(("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"), str(tmp_path))
    variables |= {**home, "PIP_CONFIG_FILE": os.devnull, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-c", TO_THE_PAINT], env=variables, capture_output=True, text=True, timeout=60, check=True
    )
    loaded = set(done.stdout.splitlines())
    assert {"QPainter", f"pages {[int(PageId.START)]}"} <= loaded
    assert not loaded & {"packaging", "configparser", "urllib3", "psutil", "QAccessible"}
    assert ("amlwizard.ui.file_opening" in loaded) is (sys.platform == "darwin")
