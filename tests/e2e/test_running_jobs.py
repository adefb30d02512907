"""A running job never sees the environment change under it."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.paths import Workspace
from amlwizard.core.workspace_lock import hold_use
from tests.e2e.conftest import REPOSITORY

if TYPE_CHECKING:
    from tests.e2e.conftest import Computer

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("command", [["rebuild"], ["install"]])
def test_a_run_names_the_job_in_its_way_before_anything_is_built(older: Computer, command: list[str]) -> None:
    if command == ["install"]:
        command = ["install", "--requirements", str(older.requirements("tinya==2.0\n"))]
    script = older.folder / "long_job.py"
    script.write_text("import threading, tinya\nprint('at work', flush=True)\nthreading.Event().wait()\n")
    argv = [str(older.python), "-m", "amlwizard", "run", "--", str(script)]
    with subprocess.Popen(argv, cwd=REPOSITORY, env=older.environ, stdout=subprocess.PIPE, text=True) as job:
        assert job.stdout is not None
        assert job.stdout.readline() == "at work\n"
        result = older.run(*command)
        assert result.code == 4
        assert result.finished["state"] == "busy"
        assert result.finished["code"] == "AML_ENVIRONMENT_IN_USE"
        assert f"run long_job.py ({job.pid})" in result.finished["message"]
        assert result.finished["hint"]
        assert result.states() == {}
        job.terminate()
    assert older.installed("tinya") == "1.0"
    assert older.run(*command).code == 0


@pytest.mark.parametrize("method", ["auto", "none"])
def test_a_job_that_began_meanwhile_keeps_its_environment(older: Computer, method: str) -> None:
    new = older.folder / "new.txt"
    new.write_text("tinya==2.0\n")
    with older.start("install", "--requirements", new, "--uv-method", method) as running:
        running.until("resolve")
        with hold_use(Workspace(older.root), "a job of the test"):
            finished = running.end()
    assert running.process.returncode == 4
    assert finished["code"] == "AML_ENVIRONMENT_IN_USE"
    assert "a job of the test" in finished["message"]
    assert older.installed("tinya") == "1.0"
    assert not (older.root / ".venv.staged").exists()
    assert not (older.root / ".venv.old").exists()
    assert not (older.root / "runtime" / "journal.json").exists()


@pytest.mark.parametrize("method", ["auto", "none"])
def test_a_proof_under_way_is_waited_for_and_named(older: Computer, method: str) -> None:
    new = older.folder / "new.txt"
    new.write_text("tinya==2.0\n")
    with older.start("install", "--requirements", new, "--uv-method", method) as running:
        with hold_use(Workspace(older.root), "verify"):  # from before the run looks who is there
            running.until_told(f"verify ({os.getpid()})")
            assert older.installed("tinya") == "1.0"
        finished = running.end()
    assert (running.process.returncode, finished["code"]) == (0, "AML_READY")
    assert older.installed("tinya") == "2.0"


def test_a_repair_is_in_nobodys_way_where_nothing_is_damaged(older: Computer) -> None:
    (module,) = (older.root / ".venv").rglob("tinya/__init__.py")
    content = module.read_bytes()
    with hold_use(Workspace(older.root), "a job of the test"):
        sound = older.run("repair")
        assert (sound.code, sound.finished["code"]) == (0, "AML_NOTHING_TO_REPAIR"), sound.finished
        module.unlink()
        refused = older.run("repair")
        assert (refused.code, refused.finished["code"]) == (4, "AML_ENVIRONMENT_IN_USE"), refused.finished
        assert not module.exists()
    assert older.run("repair").code == 0
    assert module.read_bytes() == content


def test_a_proof_is_not_made_of_two_environments(older: Computer) -> None:
    with hold_use(Workspace(older.root), "commit", alone=True):
        result = older.run("verify")
    assert (result.code, result.finished["state"]) == (4, "busy")
    assert older.run("verify").code == 0
