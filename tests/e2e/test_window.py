"""The window with the real engine: the whole job, and what it must not do on the event loop's thread."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import REPOSITORY

if TYPE_CHECKING:
    from tests.e2e.conftest import Computer

pytestmark = pytest.mark.e2e


def test_the_window_goes_to_its_finish_without_reading_or_importing_on_its_own_thread(computer: Computer) -> None:
    temporary = computer.folder / "temporary"
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.live_window", str(computer.requirements("tinyb\n"))],
        cwd=REPOSITORY,
        env={**computer.environ, "TMPDIR": str(temporary), "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["page"] == "FINISH"
    assert computer.installed("tinyb") == "1.0"
    assert seen["imported"] == []
    # Not even a small file is read there, but for what the system itself tells, the note of a child that must be there
    # before anything else happens, and private folders that are opened to be removed.
    opened = [Path(name) for name in seen["opened"] if not name.startswith("/proc/")]
    assert [path for path in opened if path.name != "children" and path.parent != temporary] == []
    assert [path for path in opened if path.name == "children"]  # the watch was awake
