"""The whole job by the command line in an environment that has no Qt."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import REPOSITORY
from tests.support.plain_environments import make_environment_without_qt

if TYPE_CHECKING:
    from tests.e2e.conftest import Computer

pytestmark = pytest.mark.e2e


@pytest.mark.posix
def test_the_whole_job_without_qt(computer: Computer) -> None:
    computer.python = make_environment_without_qt(computer.folder / "plain")
    for module in ("PySide6", "shiboken6", "qasync"):
        probe = subprocess.run([computer.python, "-c", f"import {module}"], capture_output=True, text=True)
        assert "ModuleNotFoundError" in probe.stderr

    installed = computer.run("install", "--requirements", computer.requirements("tinyb\n"))
    assert installed.code == 0, installed.finished
    assert installed.finished["state"] == "ready"
    assert installed.states()["install_uv"] == "done"
    assert computer.installed("tinyb") == "1.0"

    verified = computer.run("verify")
    assert verified.code == 0, verified.finished

    script = computer.folder / "job.py"
    script.write_text("import sys, tinya, tinyb\nprint(tinya.__version__, tinyb.__version__)\nsys.exit(7)\n")
    command = [computer.python, "-m", "amlwizard", "run", "--", script]
    job = subprocess.run(command, cwd=REPOSITORY, env=computer.environ, capture_output=True, text=True, timeout=60)
    assert (job.returncode, job.stdout) == (7, "2.0 1.0\n"), job.stderr

    computer.index.forget()
    rebuilt = computer.run("rebuild", "--offline")
    assert rebuilt.code == 0, rebuilt.finished
    assert rebuilt.finished["state"] == "done"
    assert computer.index.requests() == []
