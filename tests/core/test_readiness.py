"""A ready workspace is recognised without loading what builds one."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.catalogue import text
from amlwizard.core.choices import Choices
from amlwizard.core.engine import Engine
from amlwizard.core.environment.marker import Marker, write_marker
from amlwizard.core.events import Event, RunState
from amlwizard.core.paths import Workspace, venv_python
from amlwizard.core.readiness import already_ready, environment_state
from amlwizard.core.wish import make_wish
from amlwizard.wiring import make_fetcher
from tests.support.recording_runner import RecordingRunner

if TYPE_CHECKING:
    from pathlib import Path

HEAVY = ("amlwizard.core.session", "amlwizard.core.steps", "amlwizard.net.policy", "packaging.pylock", "psutil", "rich")


def _ready_workspace(root: Path, requirements: Path) -> Choices:
    """Lay out what a finished installation of the requirements leaves, one package and no more."""
    choices = Choices(root=root, requirements=requirements)
    workspace = Workspace(root)
    python = venv_python(workspace.venv)
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    (workspace.venv / "pyvenv.cfg").write_text(f"home = {python.resolve().parent}\n", encoding="utf-8")
    site = "Lib/site-packages" if os.name == "nt" else "lib/python3.11/site-packages"
    (workspace.venv / site / "tiny-1.0.dist-info").mkdir(parents=True)
    digest = make_wish(choices, workspace, {}).digest("3.11.7")
    write_marker(workspace.venv, Marker(digest=digest, root=str(root), python="3.11.7", lock="0" * 12, build="0" * 32))
    return choices


def test_an_installation_that_has_nothing_to_do_loads_little() -> None:
    loaded = "import sys, amlwizard.cli, amlwizard.wiring, amlwizard.core.engine"
    code = f"{loaded}; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_is_wanted_already_is_ready_and_anything_else_is_not(tmp_path: Path) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("tiny==1.0\n", encoding="utf-8")
    choices = _ready_workspace(tmp_path / "root", requirements)
    finished = already_ready(choices, "en")
    assert finished is not None
    assert (finished.code, finished.packages) == ("AML_ALREADY_READY", 1)
    for change in ({"refresh": True}, {"until": "build"}, {"python": "3.12"}, {"python": str(tmp_path / "other")}):
        changed = Choices(root=choices.root, requirements=requirements, **change)
        assert already_ready(changed, "en") is None, change
    requirements.write_text("tiny==1.1\n", encoding="utf-8")
    assert already_ready(choices, "en") is None
    requirements.unlink()  # refused by the run itself, which has the words for it
    assert already_ready(choices, "en") is None


def test_an_environment_for_another_accelerator_is_not_what_is_wanted(tmp_path: Path) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("tiny==1.0\n", encoding="utf-8")
    choices = _ready_workspace(tmp_path / "root", requirements)
    workspace = Workspace(choices.root)
    workspace.runtime.mkdir(exist_ok=True)
    digest = make_wish(choices, workspace, {}).digest("3.11.7")
    about = 'lock-version = "1.0"\ncreated-by = "tests"\npackages = []\n[tool.amlwizard]\n'
    about += f'kind = "file"\nname = "{requirements.as_posix()}"\ndigest = "{digest}"\npython = "3.11.7"\n'
    on_cpu = replace(choices, accelerator="cpu")
    workspace.lock.write_text(about, encoding="utf-8")
    assert already_ready(choices, "en") is not None
    assert already_ready(on_cpu, "en") is None
    assert environment_state(on_cpu).state == "stale"
    workspace.lock.write_text(f'{about}accelerator = "cpu"\n', encoding="utf-8")
    for wanted in (choices, on_cpu):
        assert already_ready(wanted, "en") is not None
        assert environment_state(wanted).state == "ready"
    assert already_ready(replace(choices, accelerator="cu128"), "en") is None
    # what is fixed by hashes is the same for all
    requirements.write_text(f"tiny==1.0 --hash=sha256:{'0' * 64}\n", encoding="utf-8")
    assert make_wish(on_cpu, workspace, {}).accelerator is None


def test_a_package_that_was_removed_by_hand_is_damage_and_told_by_names_alone(tmp_path: Path) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("tiny==1.0\n", encoding="utf-8")
    choices = _ready_workspace(tmp_path / "root", requirements)
    workspace = Workspace(choices.root)
    lock = 'lock-version = "1.0"\n[[packages]]\nname = "Tiny"\n'
    workspace.local_lock.parent.mkdir(exist_ok=True)
    workspace.local_lock.write_text(lock, encoding="utf-8")
    assert already_ready(choices, "en") is not None
    workspace.local_lock.write_text(lock + '[[packages]]\nname = "tiny-two"\n', encoding="utf-8")
    assert already_ready(choices, "en") is None
    state = environment_state(choices)
    assert (state.state, state.reason) == ("damaged", "environment.packages_missing")
    assert text(state.reason, "en", **state.arguments) == (
        "The environment lacks 1 package that it was built with: tiny-two."
    )
    # a run that was killed between the exchange and its last act left the lock of this environment as the next one
    workspace.next_local_lock.write_text(lock, encoding="utf-8")
    assert already_ready(choices, "en") is not None


@pytest.mark.posix  # named pipes in the file system
async def test_a_cancel_during_the_look_is_an_end_like_any_other(tmp_path: Path) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("tiny==1.0\n", encoding="utf-8")
    choices = _ready_workspace(tmp_path / "root", requirements)
    pipe = Workspace(choices.root).venv / "pyvenv.cfg"
    pipe.unlink()
    os.mkfifo(pipe)  # whoever reads it waits until somebody writes
    heard: list[Event] = []
    task = asyncio.create_task(Engine(RecordingRunner, make_fetcher).install(choices, heard.append))
    with await asyncio.to_thread(pipe.open, "w"):  # opens as soon as it is being read
        task.cancel()
        finished = await task
    assert finished.state is RunState.CANCELLED
    assert heard == [finished]
