"""One contract for both runners, with real children."""

from __future__ import annotations

import asyncio
import errno
import itertools
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from PySide6.QtCore import QCoreApplication

from amlwizard.core.running import RUN_TAG_VARIABLE, Command, Exited, NotStarted, OutputLine, Signalled, TimedOut
from tests.support.leaping_clock import LeapingClock
from tests.support.processes import is_alive
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from amlwizard.core.running import OnLine, Outcome, Runner
    from tests.process.conftest import Harness

CHILDREN = Path(__file__).parent.parent / "support" / "children.py"
ENV = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "SYSTEMROOT", "LANG"}}
posix = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs a subreaper")


def python(code: str, cwd: Path | None = None, *, total: float | None = None, idle: float | None = None) -> Command:
    return Command((sys.executable, "-S", "-u", "-c", code), ENV, cwd or Path.cwd(), total, idle)


def tree(folder: Path, *kinds: str, root: str = "tree") -> Command:
    return Command((sys.executable, "-S", str(CHILDREN), root, str(folder), *kinds), ENV, folder)


def texts(lines: list[OutputLine], stream: str = "stdout") -> list[str]:
    return [line.text for line in lines if line.stream == stream]


def present(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.iterdir() if path.name.isdigit()]


def alive(pids: list[int]) -> list[int]:
    return [pid for pid in pids if is_alive(pid)]


def zombies() -> list[int]:
    found = []
    for child in psutil.Process().children():
        try:
            if child.status() == psutil.STATUS_ZOMBIE:
                found.append(child.pid)
        except psutil.NoSuchProcess:
            pass
    return found


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    before = {child.pid for child in psutil.Process().children()}
    yield
    after = [child for child in psutil.Process().children() if child.pid not in before]
    assert after == []


async def cancelled(task: asyncio.Task[object]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def run_and_cancel(
    runner: Runner, command: Command, ready: Callable[[], bool], on_line: OnLine = lambda line: None
) -> None:
    task = asyncio.ensure_future(runner.run(command, on_line))
    await until(ready)
    await cancelled(task)  # type: ignore[arg-type]


def test_output_in_order_and_exit_code(harness: Harness) -> None:
    lines: list[OutputLine] = []
    code = "import sys\nfor n in range(500): print(n); print(-n, file=sys.stderr)\nsys.exit(3)"
    assert harness.run(harness.runner().run(python(code), lines.append)) == Exited(3)
    assert texts(lines) == [str(n) for n in range(500)]
    assert texts(lines, "stderr") == [str(-n) for n in range(500)]


@pytest.mark.parametrize("code", [0, 1, 2, 125, 255])
def test_exit_codes(harness: Harness, code: int) -> None:
    assert harness.run(harness.runner().run(python(f"import os; os._exit({code})"), lambda line: None)) == Exited(code)


def test_missing_program(harness: Harness, tmp_path: Path) -> None:
    outcome = harness.run(harness.runner().run(Command((str(tmp_path / "no"),), ENV, tmp_path), lambda line: None))
    assert outcome == NotStarted(os.strerror(errno.ENOENT), errno.ENOENT)


def test_missing_working_directory(harness: Harness, tmp_path: Path) -> None:
    outcome = harness.run(harness.runner().run(python("pass", tmp_path / "no"), lambda line: None))
    assert isinstance(outcome, NotStarted)


@posix
def test_program_without_permission(harness: Harness, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    outcome = harness.run(harness.runner().run(Command((str(program),), ENV, tmp_path), lambda line: None))
    assert outcome == NotStarted(os.strerror(errno.EACCES), errno.EACCES)


@posix
def test_program_that_the_system_refuses(harness: Harness, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o755)
    runner = harness.runner()

    async def scenario() -> None:
        outcome = await runner.run(Command((str(program),), ENV, tmp_path), lambda line: None)
        assert isinstance(outcome, NotStarted)
        plain = os.strerror(errno.ENOENT)  # Qt tells it in the language of a window that was here before
        assert outcome.reason.endswith((plain, QCoreApplication.translate("QIODevice", plain)))
        assert outcome.error == errno.ENOENT
        assert await runner.run(python("pass"), lambda line: None) == Exited(0)

    harness.run(scenario())


@linux
def test_program_whose_loader_is_missing(harness: Harness, tmp_path: Path) -> None:
    content = Path(sys.executable).resolve().read_bytes()
    loader = re.search(rb"/lib[\w/]*/ld[\w.-]*\.so[\w.]*", content)
    assert loader is not None
    program = tmp_path / "program"
    program.write_bytes(content.replace(loader[0], b"/nowhere".ljust(len(loader[0]), b"\0")))
    program.chmod(0o755)
    outcome = harness.run(harness.runner().run(Command((str(program),), ENV, tmp_path), lambda line: None))
    assert isinstance(outcome, NotStarted)
    assert outcome.error == errno.ENOEXEC


@posix
def test_program_for_other_systems(harness: Harness, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF" + bytes(100))
    program.chmod(0o755)
    outcome = harness.run(harness.runner().run(Command((str(program),), ENV, tmp_path), lambda line: None))
    assert isinstance(outcome, NotStarted)
    assert outcome.error == errno.ENOEXEC


@posix
@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGTERM"])
def test_death_by_signal(harness: Harness, name: str) -> None:
    number = getattr(signal, name)
    code = f"import os; print('last words'); os.kill(os.getpid(), {int(number)})"
    lines: list[OutputLine] = []
    assert harness.run(harness.runner().run(python(code), lines.append)) == Signalled(number)
    assert texts(lines) == ["last words"]


def test_environment_is_exact(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/of/the/parent")
    monkeypatch.setenv("SECRET", "s")
    runner = harness.runner()
    lines: list[OutputLine] = []
    command = Command(
        (sys.executable, "-S", "-c", "import os; print(sorted(os.environ.items()))"), {"ONE": "1 ä"}, Path("/")
    )
    harness.run(runner.run(command, lines.append))
    environment = dict(eval(lines[0].text))
    environment.pop("LC_CTYPE", None)  # Python's own, where no language is set
    assert environment.pop(RUN_TAG_VARIABLE).startswith("test-")
    if os.name == "nt":  # no program starts without a few variables, which the system puts in
        assert not {"LD_LIBRARY_PATH", "SECRET"} & environment.keys()
        environment = {name: value for name, value in environment.items() if name == "ONE"}
    assert environment == {"ONE": "1 ä"}


def test_standard_input_is_closed_and_cwd_is_set(harness: Harness, tmp_path: Path) -> None:
    lines: list[OutputLine] = []
    code = "import os, sys; print(repr(sys.stdin.read())); print(os.getcwd())"
    assert harness.run(harness.runner().run(python(code, tmp_path), lines.append)) == Exited(0)
    assert texts(lines) == ["''", str(tmp_path.resolve())]


def test_b103_split_characters_and_other_encodings(harness: Harness, tmp_path: Path) -> None:
    code = (
        "import os, time\n"
        "data = '数据😀\\n'.encode()\n"
        "for i in range(len(data)): os.write(1, data[i:i+1]); time.sleep(0.005)\n"
        "os.write(1, '中文错误'.encode('gbk') + b'\\x9d\\n')\n"
    )
    lines: list[OutputLine] = []
    assert harness.run(harness.runner().run(python(code), lines.append)) == Exited(0)
    assert texts(lines)[0] == "数据😀"
    assert len(texts(lines)) == 2
    if os.name != "nt":  # there, what is no UTF-8 is read in the code pages of the system
        assert texts(lines)[1].endswith("\ufffd")


def test_a_million_lines_leave_the_loop_alive(harness: Harness, tmp_path: Path) -> None:
    command = Command((sys.executable, "-S", str(CHILDREN), "print", str(tmp_path), "1000000"), ENV, tmp_path)
    count = 0
    counts = [0]

    def on_line(line: OutputLine) -> None:
        nonlocal count
        assert line.text == str(count)
        count += 1

    async def beat() -> None:
        while True:
            await asyncio.sleep(0.01)
            counts.append(count)

    async def scenario() -> None:
        heart = asyncio.ensure_future(beat())
        assert await harness.runner().run(command, on_line) == Exited(0)
        heart.cancel()

    harness.run(scenario())
    assert count == 1_000_000
    assert max(after - before for before, after in itertools.pairwise([*counts, count])) < 100_000


def test_output_waits_for_a_slow_receiver(harness: Harness) -> None:
    """The child is held back: it cannot be further ahead than the pipe and one read are long."""
    code = "import os\nfor n in range(2000): os.write(1, b'x' * 999 + b'\\n'); os.write(2, b'%d\\n' % n)"
    ahead = 0
    written = received = 0

    def on_line(line: OutputLine) -> None:
        nonlocal ahead, written, received
        if line.stream == "stderr":
            written = int(line.text)
        else:
            received += 1
            time.sleep(0.0005)
            ahead = max(ahead, written - received)

    assert harness.run(harness.runner().run(python(code), on_line)) == Exited(0)
    assert received == 2000
    assert ahead < 1000


def test_a_line_of_five_megabytes(harness: Harness) -> None:
    lines: list[OutputLine] = []
    code = "import sys; sys.stdout.write('x' * 5_000_000); sys.stdout.flush()"
    assert harness.run(harness.runner().run(python(code), lines.append)) == Exited(0)
    assert "".join(texts(lines)) == "x" * 5_000_000


def test_a_failing_receiver_ends_the_command(harness: Harness) -> None:
    def on_line(line: OutputLine) -> None:
        raise ValueError(line.text)

    with pytest.raises(ValueError, match="first"):
        harness.run(harness.runner().run(python("import time; print('first'); time.sleep(60)"), on_line))


def test_total_limit_keeps_the_output(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = LeapingClock(monkeypatch)
    lines: list[OutputLine] = []

    async def watched() -> Outcome:
        command = python("import time; print('so far'); time.sleep(600)", total=1000)
        running = asyncio.ensure_future(harness.runner().run(command, lines.append))
        await until(lambda: bool(lines))
        return await clock.run_out(running, 1001)

    outcome = harness.run(watched())
    assert outcome == TimedOut(1000, idle=False)
    assert texts(lines) == ["so far"]


def test_idle_limit_counts_from_the_last_sign_of_life(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = LeapingClock(monkeypatch)
    lines: list[OutputLine] = []
    code = (
        "import os, time\n"
        "for n in range(3):\n"
        "    print(n)\n"
        "    while not os.path.exists(str(n)): time.sleep(0.01)\n"
        "print('silence'); time.sleep(600)"
    )

    def on_line(line: OutputLine) -> None:
        lines.append(line)
        clock.leap(1001 if line.text == "silence" else 600)
        (tmp_path / line.text).touch()

    outcome = harness.run(harness.runner().run(python(code, tmp_path, idle=1000), on_line))
    assert outcome == TimedOut(1000, idle=True)
    assert texts(lines) == ["0", "1", "2", "silence"]


def test_touch_is_a_sign_of_life(harness: Harness) -> None:
    runner = harness.runner()

    async def scenario() -> object:
        task = asyncio.ensure_future(runner.run(python("import time; time.sleep(1.5)", idle=0.7), lambda line: None))
        while not task.done():
            runner.touch()
            await asyncio.sleep(0.05)
        return task.result()

    assert harness.run(scenario()) == Exited(0)


def test_several_commands_at_once(harness: Harness) -> None:
    async def scenario() -> list[object]:
        runner = harness.runner()
        commands = [python(f"print({n}); import sys; sys.exit({n})") for n in range(20)]
        outputs: list[list[OutputLine]] = [[] for _ in commands]
        outcomes = await asyncio.gather(*(runner.run(c, o.append) for c, o in zip(commands, outputs, strict=True)))
        assert [texts(output) for output in outputs] == [[str(n)] for n in range(20)]
        assert await runner.sweep() == 0
        return list(outcomes)

    assert harness.run(scenario()) == [Exited(n) for n in range(20)]


def test_cancel_before_the_start_starts_nothing(harness: Harness, tmp_path: Path) -> None:
    async def scenario() -> None:
        task = asyncio.ensure_future(harness.runner().run(tree(tmp_path), lambda line: None))
        await cancelled(task)  # type: ignore[arg-type]

    harness.run(scenario())
    assert present(tmp_path) == []


def test_cancel_between_start_and_output(harness: Harness, tmp_path: Path) -> None:
    async def scenario() -> None:
        for turns in range(8):
            task = asyncio.ensure_future(harness.runner().run(tree(tmp_path), lambda line: None))
            for _ in range(turns):
                await asyncio.sleep(0)
            await cancelled(task)  # type: ignore[arg-type]

    harness.run(scenario())
    assert alive(present(tmp_path)) == []


def test_the_living_processes_of_its_own_commands_are_counted(harness: Harness, tmp_path: Path) -> None:
    async def scenario() -> None:
        runner, second = harness.runner(), harness.runner()
        assert runner.processes() == 0
        task = asyncio.ensure_future(runner.run(tree(tmp_path, "stay"), lambda line: None))
        await until(lambda: len(present(tmp_path)) == 2)
        assert await asyncio.to_thread(runner.processes) == 2
        assert second.processes() == 0
        await cancelled(task)  # type: ignore[arg-type]
        assert runner.processes() == 0

    harness.run(scenario())


def test_cancel_ends_the_child_and_keeps_the_rest(harness: Harness, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()

    async def scenario() -> None:
        runner, second = harness.runner(), harness.runner()
        keep = asyncio.ensure_future(second.run(tree(other, "stay", "session"), lambda line: None))
        await until(lambda: len(present(other)) == 3)
        await run_and_cancel(runner, tree(tmp_path, "stay"), lambda: len(present(tmp_path)) == 2)
        assert alive(present(tmp_path)) == []
        assert len(alive(present(other))) == 3
        assert await runner.sweep() == 2
        assert len(alive(present(other))) == 3
        await cancelled(keep)  # type: ignore[arg-type]
        assert await second.sweep() == 3

    harness.run(scenario())
    assert alive(present(other)) == []


def test_double_cancel_does_not_cut_the_cleaning_short(harness: Harness, tmp_path: Path) -> None:
    async def scenario() -> None:
        task = asyncio.ensure_future(harness.runner().run(tree(tmp_path, "stubborn"), lambda line: None))
        await until(lambda: len(present(tmp_path)) == 2)
        while not task.done():
            task.cancel()
            await asyncio.sleep(0.01)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert alive(present(tmp_path)) == []

    harness.run(scenario())


KINDS = ["stay", "session", "daemon", "orphan", "forgetful", "stubborn", "respawn"]


@linux
@pytest.mark.parametrize("kind", KINDS)
def test_b94_cancel_ends_every_kind_of_descendant(harness: Harness, tmp_path: Path, kind: str) -> None:
    count = 3 if kind == "respawn" else 2

    async def scenario() -> None:
        runner = harness.runner()
        await run_and_cancel(runner, tree(tmp_path, kind), lambda: len(present(tmp_path)) == count)
        assert alive(present(tmp_path)) == []
        assert zombies() == []

    harness.run(scenario())


@linux
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_finished_command_left_behind_is_ended(harness: Harness, tmp_path: Path, kind: str) -> None:
    """The grandchild holds the pipes; the command is over all the same, with all that the child wrote."""
    lines: list[OutputLine] = []

    async def scenario() -> None:
        assert await harness.runner().run(tree(tmp_path, kind, root="leave"), lines.append) == Exited(0)
        assert alive(present(tmp_path)) == []
        assert zombies() == []

    harness.run(scenario())
    assert texts(lines) == ["parent over"]


@linux
def test_b94_a_hundred_processes_of_all_kinds(harness: Harness, tmp_path: Path) -> None:
    kinds = (KINDS * 20)[:95]

    async def scenario() -> None:
        runner = harness.runner()
        wanted = 1 + len(kinds) + kinds.count("respawn")
        await run_and_cancel(runner, tree(tmp_path, *kinds), lambda: len(present(tmp_path)) >= wanted)
        assert alive(present(tmp_path)) == []
        assert zombies() == []
        assert await runner.sweep() >= wanted

    harness.run(scenario())


@posix
@pytest.mark.parametrize("session", [False, True])
def test_children_that_no_runner_started_are_left_alone(harness: Harness, tmp_path: Path, session: bool) -> None:
    def start(kind: str = "stay") -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-S", str(CHILDREN), kind, str(tmp_path)], start_new_session=session)

    mine = tmp_path / "mine"
    mine.mkdir()
    foreign = [start()]

    async def scenario() -> None:
        runner = harness.runner()
        task = asyncio.ensure_future(runner.run(tree(mine, "daemon"), lambda line: None))
        await until(lambda: len(present(mine)) == 2)
        foreign.append(start())
        short = start("leave")
        await until(lambda: len(present(tmp_path)) == 2)
        await cancelled(task)  # type: ignore[arg-type]
        await runner.sweep()
        assert short.wait() == 0

    try:
        harness.run(scenario())
        assert [process.poll() for process in foreign] == [None, None]
        assert alive(present(mine)) == []
    finally:
        for process in foreign:
            process.kill()
            process.wait()


@posix
def test_no_descriptor_is_lost(harness: Harness, tmp_path: Path) -> None:
    async def scenario() -> None:
        runner = harness.runner()
        await runner.run(python("print(1)"), lambda line: None)
        before = psutil.Process().num_fds()
        for _ in range(5):
            await runner.run(python("print(1)"), lambda line: None)
            await runner.run(Command((str(tmp_path / "no"),), ENV, tmp_path), lambda line: None)
            lines: list[OutputLine] = []
            code = "import time; print(1, flush=True); time.sleep(60)"
            task = asyncio.ensure_future(runner.run(python(code), lines.append))
            await until(lambda: bool(lines))  # noqa: B023 - awaited within the loop
            await cancelled(task)  # type: ignore[arg-type]
        await until(lambda: psutil.Process().num_fds() <= before)

    harness.run(scenario())


@posix
@pytest.mark.parametrize("kind", ["stay", "session", "daemon", "stubborn"])
def test_without_a_subreaper_sessions_and_tags_do(
    harness: Harness, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The way of macOS, where orphans do not come back to us."""
    from amlwizard.process import tree_posix

    monkeypatch.setattr(tree_posix, "_set_subreaper", lambda *, on: False)

    async def scenario() -> None:
        await run_and_cancel(harness.runner(), tree(tmp_path, kind), lambda: len(present(tmp_path)) == 2)
        assert alive(present(tmp_path)) == []

    harness.run(scenario())
