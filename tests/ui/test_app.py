"""The composition root: the window's process from its start to its end."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.errors import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

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
