"""A start that fails before anything works: the reason, and the file with the details."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent


def start_incomplete(tmp_path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Start a copy of the program that lacks its resources."""
    broken = tmp_path / "broken"
    (broken / "amlwizard").mkdir(parents=True)
    for file in (PROJECT / "amlwizard").glob("*.py"):
        (broken / "amlwizard" / file.name).write_bytes(file.read_bytes())
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(tmp_path))
    return subprocess.run(
        [sys.executable, "-m", "amlwizard", "detect"],
        cwd=broken,
        env={**kept, **places, "HOME": str(tmp_path), **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_log_of_a_failed_start_is_named_and_tells_where_it_failed(tmp_path: Path) -> None:
    done = start_incomplete(tmp_path)
    assert done.returncode == 1
    assert "amlwizard cannot start: ModuleNotFoundError" in done.stderr
    assert "Traceback" not in done.stderr
    named = re.search(r"Details: (\S+\.log)", done.stderr)
    assert named is not None
    assert "No module named 'amlwizard.core'" in Path(named[1]).read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="a program of Linux desktops shows it")
def test_where_there_is_a_screen_and_no_terminal_the_desktop_shows_it(tmp_path: Path) -> None:
    """A named pipe waits for the dialog, which is not waited for by the program."""
    pipe = tmp_path / "shown"
    os.mkfifo(pipe)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "zenity").write_text(f'#!/bin/sh\nprintf "%s|" "$@" > "{pipe}"\n')
    (programs / "zenity").chmod(0o755)
    done = start_incomplete(tmp_path, PATH=f"{programs}{os.pathsep}{os.environ['PATH']}", DISPLAY=":none")
    assert done.returncode == 1
    assert "--error|--no-markup|--text|amlwizard cannot start: ModuleNotFoundError" in pipe.read_text()
