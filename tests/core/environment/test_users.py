"""Who uses an environment."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.environment.users import environment_users, in_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WAIT = "import sys; print('up', flush=True); sys.stdin.read()"


@contextmanager
def waiting(program: str | Path, *, code: str = WAIT, cwd: Path | None = None, **variables: str) -> Iterator[int]:
    """A process that waits until it is told to end."""
    env = {"PYTHONUTF8": "1", **variables}
    with subprocess.Popen(
        [program, "-c", code], cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "up\n"
        try:
            yield child.pid
        finally:
            assert child.stdin is not None
            child.stdin.close()
            child.wait(timeout=30)


@pytest.mark.posix
def test_b69_everybody_who_uses_the_environment_is_named(tmp_path: Path) -> None:
    environment = tmp_path / "work space" / ".venv"
    (environment / "bin").mkdir(parents=True)
    program = environment / "bin" / "python"
    program.symlink_to(sys.executable)
    held = environment / "held.txt"
    held.write_text("x")
    opening = f"import sys; f = open({str(held)!r}); print('up', flush=True); sys.stdin.read()"
    with (
        waiting(program) as by_program,
        waiting(sys.executable, cwd=environment) as by_folder,
        waiting(sys.executable, code=opening) as by_file,
        waiting(sys.executable, VIRTUAL_ENV=str(environment)) as by_activation,
        waiting(sys.executable, cwd=tmp_path) as elsewhere,
    ):
        users = environment_users(environment)
        pids = [user.pid for user in users]
        assert sorted(pids) == sorted([by_program, by_folder, by_file, by_activation])
        assert elsewhere not in pids
        assert f"({by_program})" in in_words(users)
    assert environment_users(environment) == []


def test_a_folder_that_begins_alike_is_another_one(tmp_path: Path) -> None:
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv.other").mkdir()
    with waiting(sys.executable, cwd=tmp_path / ".venv.other"):
        assert environment_users(tmp_path / ".venv") == []
