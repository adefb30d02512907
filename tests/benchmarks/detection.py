"""Detection with many interpreters and many broken candidates on PATH, and beside one that never answers."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from tests.benchmarks.frame import Judged, Limit, Row, median_of, pairs, timed
from tests.support.real_wheels import PROJECT, amlwizard, clean_environment
from tests.support.stub_interpreters import copied_interpreter, stub

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "detection"
INTERPRETERS = 9
PROBE_SECONDS = 2.0
"""The limit of a probe beside the hanging candidate, so that each measurement ends soon."""


def run(scratch: Path) -> Iterator[Row]:
    """Yield the time of the whole command, and when the last row came beside a candidate that hangs."""
    folders = [_interpreter(scratch / f"good-{number}") for number in range(INTERPRETERS)] + _broken(scratch / "broken")
    hanging = stub(scratch / "hanging", "python3", "exec sleep 60").parent
    home = scratch / "home"
    home.mkdir()
    root = scratch / "root"
    env = _environment(home, folders)
    rows = amlwizard("detect", "--root", str(root), env=env)[-1]["candidates"]
    found = [row for row in rows if row["path"].startswith(str(scratch)) and row["kind"] == "python"]
    usable = sum(row["usable"] for row in found)
    if (usable, len(found)) != (INTERPRETERS, len(folders)):
        raise RuntimeError(f"{usable} of {len(found)} candidates are usable: {found}")
    whole = median_of(lambda: timed(lambda: amlwizard("detect", "--root", str(root), env=env)))
    yield Row("9 interpreters, 10 broken", whole, None, "s", Limit(Judged.MEASURED, 0.6))
    env_hanging = _environment(home, [hanging, *folders])
    yield pairs(lambda: _last_row(home, env_hanging, hanging), lambda: _last_row(home, env, hanging)).row(
        "last other row, one hangs", "s", Limit(Judged.MEASURED, 0.6)
    )


def _environment(home: Path, folders: list[Path]) -> dict[str, str]:
    dropped = ("PYENV_", "CONDA_", "XDG_", "ASDF_", "MISE_", "VIRTUAL_ENV")
    kept = {name: value for name, value in clean_environment().items() if not name.startswith(dropped)}
    return {**kept, "HOME": str(home), "PATH": os.pathsep.join(map(str, folders))}


def _interpreter(folder: Path) -> Path:
    return copied_interpreter(folder).parent


def _broken(scratch: Path) -> list[Path]:
    """Make ten candidates, each broken in its own way, in a folder each."""
    stubs = {
        "fails": "exit 1",
        "prints-garbage": "echo '{[<'",
        "prints-nothing": ":",
        "killed": "kill -9 $$",
        "complains": "echo 'error while loading shared libraries' >&2; exit 127",
    }
    folders = [stub(scratch / name, "python3", body).parent for name, body in stubs.items()]
    for name, content, mode in (
        ("not-a-program", os.urandom(4096), 0o755),
        ("no-such-shell", b"#!/nonexistent/shell\n", 0o755),
        ("not-executable", b"#!/bin/sh\n", 0o644),
    ):
        folders.append(scratch / name)
        folders[-1].mkdir()
        (folders[-1] / "python3").write_bytes(content)
        (folders[-1] / "python3").chmod(mode)
    folders.append(scratch / "a-folder")
    (folders[-1] / "python3").mkdir(parents=True)
    folders.append(scratch / "dangling")
    folders[-1].mkdir()
    (folders[-1] / "python3").symlink_to(scratch / "gone")
    return folders


def _last_row(root: Path, env: dict[str, str], hanging: Path) -> float:
    """Return when the last row came, counted from the start of the process; that of the hanging candidate left out."""
    command = [sys.executable, "-m", "tests.benchmarks.drivers.candidates", str(root), str(PROBE_SECONDS)]
    began = last = time.perf_counter()
    hung = False
    with subprocess.Popen(command, cwd=PROJECT, env=env, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if line.startswith(str(hanging)):
                hung = True
            else:
                last = time.perf_counter()
    if child.returncode or hung != (str(hanging) in env["PATH"]):
        raise RuntimeError(f"the search ended with {child.returncode}")
    return last - began
