"""One window for a workspace: a second one calls the first, whichever process that is."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import qasync
from PySide6.QtNetwork import QLocalSocket

from amlwizard import window_claim
from amlwizard.core.errors import BusyError
from amlwizard.presence import Presence, claim_or_call
from amlwizard.ui.calls import Answer, Call, read_answer, read_call
from amlwizard.ui.doorbell import Doorbell
from amlwizard.window_claim import ClaimedError, WindowClaim, claim_window, window_address
from tests.support.fake_engine import FakeEngine, fake_services
from tests.support.played_window import Scene, play_scene
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amlwizard.ui.wizard import SetupWizard

REPOSITORY = Path(__file__).parent.parent
pytestmark = pytest.mark.posix


class Desk:
    """A user's session with windows in it."""

    def __init__(self, folder: Path, session: Path) -> None:
        self.folder = folder
        self.session = session
        home = folder / "home"
        home.mkdir()
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(session),
            "QT_QPA_PLATFORM": "offscreen",
        }

    def _command(self, root: str, *arguments: str) -> dict[str, Any]:
        env = {**self.environ, "AML_ROOT": str(self.folder / root)}
        return {
            "args": [sys.executable, "-m", "tests.support.called_window", *arguments],
            "cwd": REPOSITORY,
            "env": env,
            "text": True,
        }

    @contextmanager
    def first(self, root: str) -> Iterator[subprocess.Popen[str]]:
        """Open a window and wait for it; it is closed in the end, or killed where that does not help."""
        with subprocess.Popen(**self._command(root), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as window:
            try:
                assert window.stdout is not None
                assert window.stdout.readline() == "open\n"
                yield window
                if window.poll() is None:
                    window.communicate("close\n", timeout=60)
            finally:
                window.kill()

    def second(self, root: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Open another window, which is to end by itself."""
        return subprocess.run(
            **self._command(root, *arguments), stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
        )

    def left(self) -> list[str]:
        """What is left of windows in the session's folder."""
        return [path.name for path in self.session.rglob("*") if path.name.startswith("amlwizard")]


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a user's session, with a name as short as such folders have."""
    with tempfile.TemporaryDirectory(prefix="aml", dir="/tmp") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


@pytest.fixture
def desk(tmp_path: Path, session: Path) -> Desk:
    return Desk(tmp_path, session)


def said(window: subprocess.Popen[str]) -> str:
    """The next line of a window."""
    assert window.stdout is not None
    return window.stdout.readline().rstrip("\n")


def test_a_second_window_brings_the_first_one_forward_and_ends(desk: Desk) -> None:
    with desk.first("aml") as window:
        second = desk.second("aml")
        assert (second.returncode, second.stderr) == (0, "")
        assert second.stdout == f"The window for {desk.folder}/aml is open already; it was brought to the front.\n"
        assert said(window) == "forward "
        assert desk.second("aml", "team.amlbundle").returncode == 0
        assert said(window) == f"forward {REPOSITORY}/team.amlbundle"
    assert window.returncode == 0
    assert desk.left() == []
    assert not (desk.folder / "aml").exists()  # a window that only looks writes nothing there


def test_another_workspace_has_a_window_of_its_own(desk: Desk) -> None:
    with desk.first("aml"), desk.first("other"):
        pass


def test_a_window_that_was_killed_is_in_nobodys_way(desk: Desk) -> None:
    with desk.first("aml") as killed:
        killed.kill()
        killed.wait()
        assert desk.left() != []
        with desk.first("aml") as window:
            assert desk.second("aml").returncode == 0
            assert said(window) == "forward "
    assert desk.left() == []


SILENT = """
import sys
from pathlib import Path
from amlwizard.window_claim import claim_window
claim = claim_window(Path(sys.argv[1]))
print("claimed", flush=True)
sys.stdin.read()
"""


def test_a_window_that_does_not_answer_is_named(qapp: Any, tmp_path: Path) -> None:
    command = [sys.executable, "-c", SILENT, str(tmp_path)]
    with subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as silent:
        assert silent.stdout is not None
        assert silent.stdout.readline() == "claimed\n"
        with pytest.raises(BusyError) as caught:
            claim_or_call(tmp_path, None, seconds=0.2)
        assert caught.value.code == "AML_WINDOW_SILENT"
        assert caught.value.arguments == {"root": str(tmp_path), "pid": silent.pid}
        silent.kill()
    claim = claim_or_call(tmp_path, None)
    assert isinstance(claim, WindowClaim)
    claim.release()


def test_a_window_that_is_closing_makes_room(tmp_path: Path) -> None:
    claim = claim_window(tmp_path)
    assert claim is not None
    with pytest.raises(ClaimedError) as caught:
        claim_window(tmp_path)
    assert caught.value.pid == os.getpid()
    claim.release()
    again = claim_window(tmp_path)
    assert again is not None
    again.release()


@pytest.mark.parametrize("whose", ["open to all", "a link"])
def test_a_folder_that_others_could_write_is_not_trusted(session: Path, tmp_path: Path, whose: str) -> None:
    folder = session / "amlwizard"
    if whose == "a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "elsewhere")
    else:
        folder.mkdir()
        folder.chmod(0o777)
    assert claim_window(tmp_path) is None
    assert list(folder.iterdir()) == []


def test_where_qts_part_for_it_cannot_be_loaded_each_window_is_on_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    claim = claim_window(tmp_path)
    assert claim is not None
    monkeypatch.delitem(sys.modules, "amlwizard.ui.doorbell")
    monkeypatch.setitem(sys.modules, "PySide6.QtNetwork", None)
    assert claim_or_call(tmp_path, None) is None
    claim.release()


@pytest.mark.parametrize("line", [b"", b"[]\n", b'{"format": 2}\n', b"\xff\n", b"[" * 50_000 + b"\n"])
def test_what_is_no_call_is_not_heard(line: bytes) -> None:
    assert read_call(line) is None
    assert read_answer(line) is None


def test_calls_and_answers_arrive_as_they_were() -> None:
    call = Call("/a/包.amlbundle", "token")
    assert read_call(call.line()) == call
    assert read_answer(Answer(opened=True).line()) == Answer(opened=True)


def play(qapp: Any, engine: FakeEngine, root: Path, scene: Scene) -> None:
    """Let a window with its presence live while a scene is played."""

    async def with_presence(wizard: SetupWizard) -> None:
        presence = asyncio.ensure_future(Presence(wizard, root, claim_window(root)).keep())
        try:
            await scene(wizard)
        finally:
            presence.cancel()
            await asyncio.wait([presence])

    play_scene(qapp, fake_services(engine, root), with_presence)


def is_claimed(root: Path) -> bool:
    """Tell whether a window stands for a workspace."""
    try:
        claim = claim_window(root)
    except ClaimedError:
        return True
    assert claim is not None
    claim.release()
    return False


async def called(root: Path, call: Call) -> Answer | None:
    """Call the window of a workspace as soon as it listens; on this event loop, as ``ring`` would hold it up."""
    states = QLocalSocket.LocalSocketState
    caller = QLocalSocket()

    def connected() -> bool:
        if caller.state() == states.UnconnectedState:
            caller.connectToServer(window_address(root))
        return caller.state() == states.ConnectedState

    await until(connected)
    caller.write(call.line())
    await until(caller.canReadLine)
    return read_answer(bytes(caller.readLine().data()))


@pytest.mark.qt_log_ignore("does not support raise")  # the offscreen platform says so
def test_the_window_stands_for_the_folder_that_it_shows(qapp: Any, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"

    async def scene(wizard: SetupWizard) -> None:
        assert await called(one, Call()) == Answer()
        wizard.start_page.root_edit.setText(str(two))
        assert await called(two, Call()) == Answer()
        assert not is_claimed(one)

    play(qapp, FakeEngine(), one, scene)
    assert not is_claimed(two)


@pytest.mark.qt_log_ignore("does not support raise")  # the offscreen platform says so
def test_a_bundle_is_not_opened_in_the_middle_of_a_run(qapp: Any, tmp_path: Path) -> None:
    engine = FakeEngine(hold_at="fetch")

    async def scene(wizard: SetupWizard) -> None:
        bundle = str(tmp_path / "team.amlbundle")
        assert await called(tmp_path, Call(bundle)) == Answer(opened=True)
        assert wizard.start_page.bundle_edit.text() == bundle
        await until(lambda: bool(wizard.start_page.setup_button.isEnabled()))
        wizard.start_page.setup_button.click()
        await until(lambda: bool(engine.calls))
        assert await called(tmp_path, Call(bundle)) == Answer(opened=False)

    play(qapp, engine, tmp_path, scene)


def test_a_folder_whose_name_leaves_no_room_for_an_address_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, session: Path
) -> None:
    long = tmp_path / ("long" * 40)
    long.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(long))
    monkeypatch.setattr(tempfile, "tempdir", str(session))
    claim = claim_window(tmp_path)
    assert claim is not None
    try:
        assert Path(claim.address).is_relative_to(session)
        assert list(long.iterdir()) == []
    finally:
        claim.release()


def test_where_nobody_could_call_it_a_window_claims_nothing(
    qapp: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    session = tmp_path / ("long" * 40)  # longer than the address of a socket may be
    session.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(session))
    monkeypatch.setattr(window_claim, "_FOLDER_BYTES", 4096)  # fake: a system that allows less than it should

    async def scene(_wizard: SetupWizard) -> None:
        assert list(session.iterdir()) != []
        await until(lambda: list(session.iterdir()) == [])

    play(qapp, FakeEngine(), tmp_path, scene)


async def hung_up(address: str, words: bytes) -> None:
    """Say something and wait until the other side has ended the call."""
    caller = QLocalSocket()
    caller.connectToServer(address)
    await until(lambda: caller.state() == QLocalSocket.LocalSocketState.ConnectedState)
    caller.write(words)
    await until(lambda: caller.state() == QLocalSocket.LocalSocketState.UnconnectedState)


def test_a_caller_that_talks_nonsense_is_hung_up_on(qapp: Any, tmp_path: Path) -> None:
    calls: list[Call] = []
    claim = claim_window(tmp_path)
    assert claim is not None

    def answer(call: Call) -> Answer:
        calls.append(call)
        return Answer()

    bell = Doorbell(claim.address, answer)
    assert bell.listens

    async def main() -> None:
        for nonsense in (b"\n", b"x" * 1_000_000):
            await hung_up(claim.address, nonsense)
        assert await called(tmp_path, Call()) == Answer()

    with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(qapp)) as runner:
        runner.run(main())
    bell.close()
    claim.release()
    assert calls == [Call()]
