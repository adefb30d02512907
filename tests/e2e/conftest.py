"""A computer for whole runs of the command line: an index of tiny wheels on loopback and an empty folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.index_server import IndexServer
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Result:
    """How a command ended and what it said."""

    code: int
    events: list[dict[str, Any]]
    stderr: str

    @property
    def finished(self) -> dict[str, Any]:
        """The last event."""
        return self.events[-1]

    def states(self) -> dict[str, str]:
        """The last state of each step."""
        return {event["id"]: event["state"] for event in self.events if event["event"] == "step"}


@dataclass
class Computer:
    """Where the commands run."""

    folder: Path
    index: IndexServer
    wheels: Path
    extra: dict[str, str] = field(default_factory=dict)
    python: Path = Path(sys.executable)
    cwd: Path = REPOSITORY
    """Where the commands are called."""
    named_root: Path | None = None
    """The workspace where it is not the usual one."""

    @property
    def root(self) -> Path:
        """The workspace."""
        return self.named_root or self.folder / "aml"

    @property
    def environ(self) -> dict[str, str]:
        """The variables of the commands: a home of their own and no settings of this computer."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TEMP") if name in os.environ}
        return {
            **kept,
            "HOME": str(home),
            "PIP_CONFIG_FILE": os.devnull,
            "LANG": "C.UTF-8",
            "AML_ROOT": str(self.root),
            "AML_INDEX_URL": self.index.index_url,
            **self.extra,
        }

    def requirements(self, text: str) -> Path:
        """Write a requirements file and return it."""
        path = self.folder / "requirements.txt"
        path.write_text(text, encoding="utf-8")
        return path

    def argv(self, *arguments: str | Path) -> list[str]:
        """Return the command for these arguments."""
        return [str(self.python), "-m", "amlwizard", *map(str, arguments), "--json"]

    def run(self, *arguments: str | Path, prefix: Sequence[str] = ()) -> Result:
        """Run a command to its end."""
        done = subprocess.run(
            [*prefix, *self.argv(*arguments)],
            cwd=self.cwd,
            env={"PYTHONPATH": str(REPOSITORY), **self.environ},
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        events = [json.loads(line) for line in done.stdout.splitlines()]
        assert "Traceback" not in done.stderr
        return Result(done.returncode, events, done.stderr)

    def start(self, *arguments: str | Path) -> subprocess.Popen[str]:
        """Start a command; its events come as lines on its standard output. Use it as a context manager."""
        environ = {**self.environ, "PYTHONPATH": str(REPOSITORY)}
        return subprocess.Popen(
            self.argv(*arguments), cwd=self.folder, env=environ, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
        )

    def installed(self, module: str) -> str:
        """Return the version of a module as the environment's own interpreter sees it."""
        python = self.root / ".venv" / "bin" / "python"
        code = f"import {module}; print({module}.__version__)"
        return subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def computer(tmp_path: Path) -> Iterator[Computer]:
    """An index with tinya 1.0 and 2.0 and tinyb, which needs tinya."""
    wheels = tmp_path / "wheels"
    make_wheel(wheels, "tinya", "1.0")
    make_wheel(wheels, "tinya", "2.0")
    make_wheel(wheels, "tinyb", "1.0", requires=["tinya"])
    with IndexServer(wheels) as index:
        yield Computer(tmp_path, index, wheels)


@pytest.fixture
def installed(computer: Computer) -> Computer:
    """A computer on which tinya 2.0 and tinyb are installed."""
    result = computer.run("install", "--requirements", computer.requirements("tinyb\n"))
    assert result.code == 0, result.finished
    computer.index.forget()
    return computer
