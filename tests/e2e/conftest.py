"""A computer for whole runs of the command line: an index of tiny wheels on loopback and an empty folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest

from tests.support import loaded_program
from tests.support.index_server import IndexServer
from tests.support.namespaces import Circumstances, bare_path, interpreters_and_uv
from tests.support.stub_interpreters import interpreter_with_ready_pip
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.support.interpreter_archives import InterpreterArchive

REPOSITORY = Path(__file__).resolve().parents[2]
LONGEST_SECONDS = 180
FROZEN = os.environ.get("PROGRAM_UNDER_TEST")
"""A frozen program that every command starts, in place of this checkout's; see packaging/check_linux.py."""
USUAL_PREFIXES = ((), tuple(Circumstances(network=False).command(())))


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


class Running:
    """A command under way; its events come as they are told. A context manager, which kills what has not ended."""

    def __init__(self, argv: Sequence[str], env: dict[str, str], cwd: Path, *, new_session: bool = False) -> None:
        self.process = subprocess.Popen(
            argv,
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=new_session,
        )
        assert self.process.stdout is not None
        self._lines = self.process.stdout
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_failure: object) -> None:
        self.kill()

    def until(self, step: str, state: str = "started") -> None:
        """Read until a step is in a state."""
        for line in self._lines:
            self.events.append(json.loads(line))
            if (self.events[-1].get("id"), self.events[-1].get("state")) == (step, state):
                return
        raise AssertionError(f"{step} never was {state}: {self.events[-1]}")

    def until_told(self, words: str) -> None:
        """Read until a line of the log has these words in it."""
        for line in self._lines:
            self.events.append(json.loads(line))
            if words in self.events[-1].get("line", ""):
                return
        raise AssertionError(f"nothing was told of {words}: {self.events[-1]}")

    def end(self) -> dict[str, Any]:
        """Read to the end; return the last event."""
        self.events += [json.loads(line) for line in self._lines]
        self.process.wait(60)
        return self.events[-1]

    def cancel(self) -> dict[str, Any]:
        """Ask it to stop; return the last event."""
        self.process.terminate()
        return self.end()

    def kill(self) -> None:
        """Kill the wizard alone; its children may live on and hold its pipe."""
        self.process.kill()
        self.process.wait()
        self._lines.close()


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
    hurried: bool = False
    """Whether nobody who does not answer is asked again."""
    anew: bool = False
    """Whether every command is a process from nothing, and not a fork of the loaded program."""
    keyring: Path | None = None
    """A file with the logins of a keyring, where this computer has one."""

    machine_folder: Path | None = None
    """Where the machine-wide settings lie, where this computer is an organisation's."""

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
            **({"FAKE_KEYRING": str(self.keyring)} if self.keyring is not None else {}),
            **({"MACHINE_FOLDER": str(self.machine_folder)} if self.machine_folder is not None else {}),
            **self.extra,
        }

    def requirements(self, text: str) -> Path:
        """Write a requirements file and return it."""
        path = self.folder / "requirements.txt"
        path.write_text(text, encoding="utf-8")
        return path

    def argv(self, *arguments: str | Path) -> list[str]:
        """Return the command for these arguments."""
        program = "tests.support.hurried" if self.hurried else "amlwizard"
        program = "tests.support.with_keyring" if self.keyring is not None else program
        program = "tests.support.managed" if self.machine_folder is not None else program
        if FROZEN is not None and program in {"amlwizard", "tests.support.hurried"}:  # which only saves time
            return [FROZEN, *map(str, arguments), "--json"]
        return [str(self.python), "-m", program, *map(str, arguments), "--json"]

    def run(self, *arguments: str | Path, prefix: Sequence[str] = ()) -> Result:
        """Run a command to its end."""
        argv, environ = self.argv(*arguments), {"PYTHONPATH": str(REPOSITORY), **self.environ}
        usual = (str(self.python), self.cwd) == (sys.executable, REPOSITORY) and tuple(prefix) in USUAL_PREFIXES
        if usual and FROZEN is None and not self.anew and loaded_program.can_run(environ):
            done = loaded_program.run(argv[2], argv[3:], environ, seconds=LONGEST_SECONDS, prefix=tuple(prefix))
        else:
            done = subprocess.run(
                [*prefix, *argv],
                cwd=self.cwd,
                env=environ,
                capture_output=True,
                text=True,
                timeout=LONGEST_SECONDS,
                check=False,
            )
        events = [json.loads(line) for line in done.stdout.splitlines()]
        assert "Traceback" not in done.stderr
        return Result(done.returncode, events, done.stderr)

    def start(self, *arguments: str | Path, new_session: bool = False) -> Running:
        """Start a command."""
        environ = {"PYTHONPATH": str(REPOSITORY), **self.environ}
        return Running(self.argv(*arguments), environ, self.folder, new_session=new_session)

    def installed(self, module: str) -> str:
        """Return the version of a module as the environment's own interpreter sees it."""
        python = self.root / ".venv" / "bin" / "python"
        code = f"import {module}; print({module}.__version__)"
        return subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True).stdout.strip()

    def install(self, requirements: str, *options: str | Path, prefix: Sequence[str] = ()) -> None:
        """Install what these requirements want, which has to succeed."""
        result = self.run("install", "--requirements", self.requirements(requirements), *options, prefix=prefix)
        assert result.code == 0, result.finished

    def pip(self, *arguments: str | Path) -> None:
        """Run this Python's pip on the environment, as a notebook does; it is what ``pip --python`` starts."""
        runner = str(distribution("pip").locate_file("pip/__pip-runner__.py"))
        options = ["-q", "--disable-pip-version-check", "--no-cache-dir"]
        command = [self.root / ".venv" / "bin" / "python", runner, *arguments, *options]
        subprocess.run(command, env=self.environ, check=True)

    def pip_install(self, *wanted: str | Path) -> None:
        """Install from the index by hand."""
        self.pip("install", "--index-url", self.index.index_url, *wanted)

    def leave_no_python(self, own: Path) -> list[Path]:
        """Let amlwizard run on a Python of its own, to which no search leads; return what else has to be hidden."""
        programs = own.parents[2] / "programs"  # some thousand links, made once
        self.python = own
        self.extra["PYTHONPATH"] = sysconfig.get_path("purelib")
        self.extra["PATH"] = str(programs) if programs.is_dir() else bare_path(programs)
        return [path for path in interpreters_and_uv() if Path(sys.prefix) not in path.parents]


@contextmanager
def empty_computer(folder: Path) -> Iterator[Computer]:
    """A computer with an index that has tinya 1.0 and 2.0 and tinyb, which needs tinya."""
    wheels = folder / "wheels"
    make_wheel(wheels, "tinya", "1.0")
    make_wheel(wheels, "tinya", "2.0")
    make_wheel(wheels, "tinyb", "1.0", requires=["tinya"])
    with IndexServer(wheels) as index:
        yield Computer(folder, index, wheels)


class Stock:
    """Computers as their first commands left them: each is made once, and every test gets a copy at the same path.

    A workspace knows its own path, and its lock the port of the index, so that both have to stay. What uv's cache knows
    of the files in the store does not survive the copying: a test of just that installs afresh.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[str, Computer] = {}

    @contextmanager
    def lend(self, name: str, make: Callable[[Computer], object]) -> Iterator[Computer]:
        """Lend a computer for one test; ``make`` does what has to be done on an empty one."""
        place, kept = self._folder / name, self._folder / f"{name}.kept"
        index = None
        while index is None:
            if name not in self._made:
                with empty_computer(place) as computer:
                    make(computer)
                place.rename(kept)
                self._made[name] = computer
            made = self._made[name]
            try:
                index = IndexServer(made.wheels, port=made.index.port)
            except OSError:  # another program has taken the port meanwhile
                del self._made[name]
                shutil.rmtree(kept)
        subprocess.run(["cp", "-a", kept, place], check=True)
        with index:
            yield replace(made, index=index, extra=dict(made.extra))
        shutil.rmtree(place)


@pytest.fixture(scope="session")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Stock:
    """The computers that several tests begin with."""
    return Stock(tmp_path_factory.mktemp("stock"))


@pytest.fixture
def computer(tmp_path: Path) -> Iterator[Computer]:
    """An index with tinya 1.0 and 2.0 and tinyb, which needs tinya."""
    with empty_computer(tmp_path) as made:
        yield made


@pytest.fixture
def installed(stock: Stock) -> Iterator[Computer]:
    """A computer on which tinya 2.0 and tinyb are installed."""
    with stock.lend("installed", lambda computer: computer.install("tinyb\n")) as made:
        yield made


@pytest.fixture
def older(stock: Stock) -> Iterator[Computer]:
    """A computer on which tinya 1.0 alone is installed."""
    with stock.lend("older", lambda computer: computer.install("tinya==1.0\n")) as made:
        yield made


@pytest.fixture
def without_uv(stock: Stock, ready_pip: dict[str, str]) -> Iterator[Computer]:
    """A computer on which tinya 2.0 and tinyb were installed by pip alone, on a Python whose pip is ready."""

    def make(computer: Computer) -> None:
        computer.extra |= ready_pip
        computer.install("tinyb\n", "--uv-method", "none")

    with stock.lend("without_uv", make) as made:
        yield made


@pytest.fixture(scope="session")
def ready_pip(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables that lead to a Python whose environments have their pip at once, for tests that are not about that."""
    if sys.platform != "linux":
        return {}
    python = interpreter_with_ready_pip(tmp_path_factory.mktemp("ready"))
    return {"PATH": os.pathsep.join([str(python.parent), os.environ["PATH"]])}


@pytest.fixture
def with_ready_pip(computer: Computer, ready_pip: dict[str, str]) -> None:
    """Let ``computer`` have such a Python."""
    computer.extra |= ready_pip


@pytest.fixture(scope="session")
def own_python(interpreter_archive: InterpreterArchive, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python for amlwizard alone, for ``Computer.leave_no_python``."""
    return interpreter_archive.unpack(tmp_path_factory.mktemp("own"))
