"""The wheels of the default profile for the running Python, a loopback index of them, and ``amlwizard`` as a child."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).parents[2]
STATE = PROJECT / ".dev" / "bench"
REQUIREMENTS = PROJECT / "resources/python/requirements.txt"


def wheels() -> Path:
    """Return the folder with the wheels, filled from the configured index when it is asked for first."""
    pinned = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]
    kept = STATE / f"wheels-{sys.version_info.major}.{sys.version_info.minor}-{pinned}"
    if not kept.is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            amlwizard("install", "--root", folder, "--python", sys.executable)
            (Path(folder) / "downloads").rename(kept)
    return kept


@contextmanager
def loopback_index(line_rate: float | None = None) -> Iterator[str]:
    """Serve the wheels from a process of its own, at so many bytes a second in all; yields the address of the index."""
    command = [sys.executable, "-m", "tests.support.index_server", str(wheels())]
    if line_rate is not None:
        command += ["--line-rate", str(line_rate)]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            if not address:
                raise RuntimeError("the index did not start")
            yield f"{address}/simple/"
        finally:
            server.terminate()


def clean_environment(**variables: str) -> dict[str, str]:
    """Return the variables of a child that no configuration of this computer's indexes, or of its Pythons, reaches."""
    dropped = ("UV_", "PIP_", "AML_", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return {**kept, "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1", **variables}


def amlwizard(*arguments: str, env: dict[str, str] | None = None) -> list[dict[str, Any]]:
    """Run ``amlwizard ARGUMENTS --json`` to its end; return its events.

    Raises:
        RuntimeError: it failed.
    """
    command = [sys.executable, "-m", "amlwizard", *arguments, "--json"]
    done = subprocess.run(command, cwd=PROJECT, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def step_seconds(events: list[dict[str, Any]], *steps: str) -> float:
    """Return how long the named steps took in all."""
    return sum(
        event["seconds"]
        for event in events
        if event["event"] == "step" and event["id"] in steps and event["state"] == "done"
    )


def run_tool(*command: str, env: dict[str, str], may_fail: bool = False) -> None:
    """Run another tool to its end.

    Raises:
        RuntimeError: it failed, although it must not.
    """
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode and not may_fail:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
