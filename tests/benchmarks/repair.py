"""A workspace on a managed interpreter that was moved as a whole: how long its repair takes, offline, without the proof."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from uv import find_uv_bin

from tests.benchmarks.frame import Judged, Limit, Row, median_of, settle
from tests.support.interpreter_archives import make_interpreter
from tests.support.real_wheels import amlwizard, clean_environment, loopback_index, run_tool, step_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "repair"


def run(scratch: Path) -> Iterator[Row]:
    """Yield the time of ``repair`` after each of several moves; the archive of the interpreter can be made on Linux."""
    archive = make_interpreter(Path(tempfile.mkdtemp(dir=scratch)))
    listed = archive.downloads_json(scratch / "downloads.json")
    root = scratch / "root"
    env = clean_environment(UV_PYTHON_INSTALL_DIR=str(root / "python"), UV_PYTHON_INSTALL_BIN="0")
    listing = ("--python-downloads-json-url", listed.as_uri())
    run_tool(find_uv_bin(), "python", "install", *listing, archive.version, env=env)  # a system's own might be taken else
    with loopback_index() as index:
        amlwizard("install", "--root", str(root), "--index-url", index, env=clean_environment())
    python = root / ".venv/bin/python"
    if not python.resolve().is_relative_to(root):
        raise RuntimeError(f"the environment stands on {python.resolve()} instead of an interpreter in the workspace")
    yield Row("moved workspace", median_of(lambda: _moved(scratch)), None, "s", Limit(Judged.MEASURED, 1.0))


def _moved(scratch: Path) -> float:
    """Move the workspace and return the seconds of its repair, without the look at every file and every import."""
    (root,) = scratch.glob("root*")
    moved = scratch / ("root-moved" if root.name == "root" else "root")
    root.rename(moved)
    settle()
    began = time.perf_counter()
    events = amlwizard("repair", "--root", str(moved), "--offline", env=clean_environment())
    taken = time.perf_counter() - began
    if events[-1]["code"] != "AML_REPAIRED":
        raise RuntimeError(f"the repair ended with {events[-1]['code']}: {events[-1]['message']}")
    return taken - step_seconds(events, "inspect")
