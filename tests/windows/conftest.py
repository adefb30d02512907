"""A Windows computer for whole runs of the command line: tiny wheels on loopback, an interpreter, an empty folder."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.index_server import IndexServer
from tests.support.wheels import make_wheel
from tests.windows.interpreter import offer

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).resolve().parents[2]
LONGEST_SECONDS = 300
ON_WINDOWS = [
    pytest.mark.windows,
    pytest.mark.e2e,
    pytest.mark.skipif(sys.platform != "win32", reason="needs Windows, or Wine: dev.py windows-check"),
]
_KEPT = ("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "TEMP", "TMP", "PATH", "PATHEXT", "COMSPEC", "PYTHONPYCACHEPREFIX")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the frozen program take the place of the checkout."""
    parser.addoption("--program", default=None, help="the frozen amlwizard-cli.exe")


@dataclass(frozen=True)
class Result:
    """How a command ended and what it said."""

    code: int
    events: list[dict[str, Any]]

    @property
    def finished(self) -> dict[str, Any]:
        """The last event."""
        return self.events[-1]

    def states(self) -> dict[str, str]:
        """The last state of each step."""
        return {event["id"]: event["state"] for event in self.events if event["event"] == "step"}


@dataclass
class WindowsComputer:
    """Where the commands run."""

    folder: Path
    index: IndexServer
    wheels: Path
    root: Path
    program: tuple[str, ...] = (sys.executable, "-m", "amlwizard")
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def environ(self) -> dict[str, str]:
        """The variables of the commands: a home of their own and no settings of this computer."""
        home = self.folder / "home"
        for place in (home, home / "AppData" / "Local", home / "AppData" / "Roaming"):
            place.mkdir(parents=True, exist_ok=True)
        return {
            **{name: os.environ[name] for name in _KEPT if name in os.environ},
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
            "USERPROFILE": str(home),
            "LOCALAPPDATA": str(home / "AppData" / "Local"),
            "WIN_PD_OVERRIDE_LOCAL_APPDATA": str(home / "AppData" / "Local"),  # the system itself is not led astray
            "APPDATA": str(home / "AppData" / "Roaming"),
            "PIP_CONFIG_FILE": os.devnull,
            "AML_ROOT": str(self.root),
            "AML_INDEX_URL": self.index.index_url,
            **self.extra,
        }

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.root / ".venv" / "Scripts" / "python.exe"

    def start(self, *arguments: str | Path) -> subprocess.Popen[str]:
        """Start a command in a console of its own, in which Ctrl+C can be pressed."""
        return subprocess.Popen(
            [*self.program, *map(str, arguments), "--json"],
            env=self.environ,
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            creationflags=subprocess.CREATE_NEW_CONSOLE if sys.platform == "win32" else 0,
        )

    def run(self, *arguments: str | Path) -> Result:
        """Run a command to its end."""
        process = self.start(*arguments)
        output, errors = process.communicate(timeout=LONGEST_SECONDS)
        assert "Traceback" not in errors, errors
        assert output, errors
        return Result(process.returncode, [json.loads(line) for line in output.splitlines()])

    def requirements(self) -> Path:
        """Return a requirements file that wants tinyb."""
        file = self.folder / "requirements.txt"
        file.write_text("tinyb\n", encoding="utf-8")
        return file

    def install(self, *options: str | Path) -> Result:
        """Install tinyb, and tinya with it, which has to succeed."""
        result = self.run("install", "--requirements", self.requirements(), *options)
        assert result.code == 0, result.finished
        return result

    def installed(self, module: str) -> str:
        """Return the version of a module as the environment's own interpreter sees it."""
        code = f"import {module}; print({module}.__version__)"
        return subprocess.run(
            [self.python, "-I", "-c", code], capture_output=True, text=True, check=True, env=self.environ
        ).stdout.strip()


def cancel(process: subprocess.Popen[str]) -> None:
    """Press Ctrl+C in a command's console, from a process that leaves its own for that."""
    code = (
        "import ctypes, sys\n"
        "kernel = ctypes.WinDLL('kernel32')\n"
        "kernel.FreeConsole()\n"
        "attached = kernel.AttachConsole(int(sys.argv[1]))\n"
        "kernel.SetConsoleCtrlHandler(None, 1)\n"
        "sys.exit(not (attached and kernel.GenerateConsoleCtrlEvent(0, 0)))\n"
    )
    subprocess.run([sys.executable, "-S", "-c", code, str(process.pid)], check=True)


@pytest.fixture(scope="session")
def downloads_json(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """uv's list of downloads with one entry: an archive of the CPython that runs the tests."""
    return offer(Path(sys.base_prefix), platform.python_version(), tmp_path_factory.mktemp("interpreter"))


@pytest.fixture
def computer(tmp_path: Path, pytestconfig: pytest.Config) -> Iterator[WindowsComputer]:
    """An index with tinya and tinyb, which needs tinya, and no workspace yet."""
    wheels = tmp_path / "wheels"
    make_wheel(wheels, "tinya", "1.0")
    make_wheel(wheels, "tinyb", "1.0", requires=["tinya"])
    with IndexServer(wheels) as index:
        made = WindowsComputer(tmp_path, index, wheels, tmp_path / "aml")
        program = pytestconfig.getoption("--program")
        yield made if program is None else replace(made, program=(program,))
