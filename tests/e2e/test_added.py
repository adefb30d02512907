"""What the user added by hand, with pip in a notebook say: found, named, and kept or left out as chosen."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.sources import make_source
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from tests.e2e.conftest import Computer, Result
    from tests.support.namespaces import Circumstances

pytestmark = pytest.mark.e2e


@pytest.fixture
def installed(installed: Computer) -> Computer:
    """A computer with tinyb and tinya 2.0, and an index that has tinyx, which needs tinyq, besides."""
    make_wheel(installed.wheels, "tinyx", "1.0", requires=["tinyq"])
    make_wheel(installed.wheels, "tinyq", "1.0")
    make_wheel(installed.wheels, "tinyq", "2.0")
    return installed


def pip(computer: Computer, *arguments: str | Path) -> None:
    """Run this Python's pip on the environment, as a notebook does."""
    command = [sys.executable, "-m", "pip", "--python", str(computer.root / ".venv" / "bin" / "python")]
    options = ["-q", "--disable-pip-version-check", "--no-cache-dir"]
    subprocess.run([*command, *map(str, arguments), *options], env=computer.environ, check=True)


def pip_install(computer: Computer, *wanted: str | Path) -> None:
    """Install from the index by hand."""
    pip(computer, "install", "--index-url", computer.index.index_url, *wanted)


def lock_text(computer: Computer) -> str:
    """The lock."""
    return (computer.root / "runtime" / "pylock.toml").read_text()


def remarks(result: Result) -> str:
    """Every line of the log."""
    return "\n".join(event["line"] for event in result.events if event["event"] == "log")


def changed(result: Result) -> dict[str, Any]:
    """What the run said that it would change, before it fetched or built anything."""
    (found,) = (event for event in result.events if event["event"] == "changes")
    started = [event["id"] for event in result.events[: result.events.index(found)] if event["event"] == "step"]
    assert not {"fetch", "build"} & set(started)
    return {key: value for key, value in found.items() if key != "event"}


NOTHING = {"python": None, "added": [], "removed": [], "changed": []}


def test_what_was_added_is_named_and_a_rebuild_keeps_it_and_its_dependencies_as_they_are(installed: Computer) -> None:
    before = lock_text(installed)
    pip_install(installed, "tinyx", "tinyq==1.0")
    pip(installed, "uninstall", "-y", "tinyq")
    pip_install(installed, "tinyq<2")
    shutil.rmtree(installed.root / "cache")
    detected = installed.run("detect").events[0]["environment"]
    assert detected["state"] == "ready"
    assert detected["added"] == [
        {"name": "tinyq", "version": "1.0", "locked": None},
        {"name": "tinyx", "version": "1.0", "locked": None},
    ]
    verified = installed.run("verify")
    assert verified.code == 0
    assert "tinyx" in verified.finished["detail"]
    ready = installed.run("install")
    assert ready.finished["code"] == "AML_ALREADY_READY"
    assert lock_text(installed) == before

    result = installed.run("rebuild")
    assert result.code == 0, result.finished
    assert "kept: tinyq 1.0, tinyx 1.0" in remarks(result)
    assert changed(result) == NOTHING
    assert installed.installed("tinyx") == "1.0"
    assert installed.installed("tinyq") == "1.0"
    assert installed.run("install").finished["code"] == "AML_ALREADY_READY"
    assert installed.run("detect").events[0]["environment"]["added"] == []

    kept = lock_text(installed)
    assert "tinyx-1.0-py3-none-any.whl" in kept
    installed.index.forget()
    shutil.rmtree(installed.root / "cache")
    again = installed.run("rebuild", "--offline")
    assert again.code == 0, again.finished
    assert lock_text(installed) == kept
    assert installed.installed("tinyx") == "1.0"
    assert installed.index.requests() == []


def test_a_rebuild_without_additions_reproduces_lock_and_files(installed: Computer) -> None:
    def files() -> dict[str, bytes]:
        venv = installed.root / ".venv"
        found = [path for path in venv.rglob("*") if path.is_file() and not path.is_symlink()]
        passing = ("uv_cache.json", ".pyc")  # the one holds times, the other is bytecode
        return {
            str(path.relative_to(venv)): path.read_bytes()
            for path in found
            if not path.name.endswith(passing) and not path.name.startswith(".aml-ok-") and path.name != "RECORD"
        }

    lock, before = lock_text(installed), files()
    result = installed.run("rebuild")
    assert result.code == 0, result.finished
    assert not [event for event in result.events if event["event"] == "changes"]
    assert lock_text(installed) == lock
    assert files() == before
