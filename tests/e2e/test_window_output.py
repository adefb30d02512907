"""The window with the real engine and a real child that prints too much, or nothing at all."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from amlwizard.app import window_services
from amlwizard.core.settings import load_settings, resolve_choices
from amlwizard.ui.log_pane import BATCH, CAP
from amlwizard.ui.log_text import CUT
from amlwizard.ui.services import Defaults
from amlwizard.ui.wishes import Job
from tests.support.heart import Heart
from tests.support.played_window import Scene, click, part, play_scene
from tests.support.stub_uv import make_stub_uv
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable

    from amlwizard.ui.wizard import SetupWizard
    from tests.e2e.conftest import Computer

    Play = Callable[[str, Scene], None]

pytestmark = [pytest.mark.e2e, pytest.mark.posix]
SECONDS = 240.0
"""How long a busy computer may take."""
LINES = 200_000
LONG = 5_000_000
LATEST = 0.05
"""By how many seconds of work the window may be held up at once (promise P8); other programs may keep the processor for any
time."""
FLOOD = f"""
import os, sys
sys.stderr.write("".join(f"line {{number}}\\n" for number in range({LINES})))
sys.stderr.write("x" * {LONG})
sys.stderr.flush()
open("go").read()
sys.stderr.write("\\n")
while True:
    sys.stderr.write("and on\\n" * 1000)
"""
SECRET = "hunter2-and-more"
REFUSED = f"""
import sys
for number in range(6000):
    print("\\x1b[36mlooking\\x1b[0m", number, file=sys.stderr)
print("\\x1b[31merror\\x1b[0m: https://mei:{SECRET}@index.example.org/simple/ refused", file=sys.stderr)
sys.exit(2)
"""
SILENT = """
import os, sys
print("Resolved", file=sys.stderr, flush=True)
cache = os.environ["UV_CACHE_DIR"]
os.makedirs(cache, exist_ok=True)
for number in range(2):
    open("go").read()
    with open(os.path.join(cache, str(number)), "wb") as file:
        file.write(bytes(3_000_000))
open("go").read()
"""


@pytest.fixture
def play(qapp: Any, computer: Computer, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Play a scene with a window for an empty folder, whose uv is a script of Python."""
    for name in [name for name in os.environ if name.startswith(("AML_", "UV_", "PIP_"))]:
        monkeypatch.delenv(name)
    for name, value in computer.environ.items():
        monkeypatch.setenv(name, value)

    def run(script: str, scene: Scene) -> None:
        uv = make_stub_uv(computer.folder / "stub", script)
        os.mkfifo(uv.parent / "go")
        choices = resolve_choices(
            load_settings(os.environ), os.environ, Path.cwd(), requirements=computer.requirements("tinyb\n"), uv=uv
        )
        defaults = Defaults(choices)
        play_scene(qapp, window_services("en", defaults, lambda: defaults), scene, SECONDS)

    return run


async def begin(wizard: SetupWizard) -> None:
    """Begin to set up, and wait until the stand-in of uv is at work."""
    wizard.run_job(Job.INSTALL, wizard.start_page.choices())
    await until(lambda: "resolve" in wizard.run_page._rows, SECONDS)


async def go(computer: Computer) -> None:
    """Let the child go on as soon as it waits for that."""
    await asyncio.to_thread((computer.folder / "stub" / "go").write_text, "")


def test_b100_200000_lines_and_one_of_5_mb_hold_nothing_up_and_cancel_reacts(play: Play, computer: Computer) -> None:
    async def scene(wizard: SetupWizard) -> None:
        wizard.run_page.details.setChecked(True)
        log = wizard.run_page.log
        document = log.pane.document()
        batches: list[int] = []
        document.contentsChange.connect(lambda _place, _gone, _come: batches.append(document.blockCount()))
        await begin(wizard)
        heart = Heart()
        await until(lambda: "xxxx" in document.lastBlock().text(), SECONDS)
        assert log.pane.blockCount() <= CAP
        assert document.lastBlock().length() <= CUT + 4
        assert 1 < len(batches) < LINES // BATCH * 10, "the lines were not laid out in batches"
        await go(computer)
        await until(lambda: document.lastBlock().text() == "and on", SECONDS)
        click(wizard, "cancelButton")
        assert part(wizard, "progressLabel").text().startswith("Stopping")
        await until(lambda: not wizard.controller.running, SECONDS)
        heart.stop()
        assert part(wizard, "messageLabel").text().startswith("Cancelled.")
        assert heart.work <= LATEST

    play(FLOOD, scene)
    (file,) = (computer.root / "runtime" / "logs").glob("*-install-*.log")
    text = file.read_text(encoding="utf-8")
    assert all(f" resolve: line {number}\n" in text for number in range(0, LINES, 1000))
    assert sum(line.count("x") for line in text.splitlines() if " resolve: xxx" in line) == LONG


def test_the_log_is_shown_plain_and_saved_whole_and_neither_tells_a_password(play: Play, computer: Computer) -> None:
    target = computer.folder / "saved.log"

    async def scene(wizard: SetupWizard) -> None:
        log = wizard.run_page.log
        await begin(wizard)
        await until(lambda: not wizard.controller.running, SECONDS)
        await until(lambda: "error: " in log.pane.toPlainText(), SECONDS)
        log.problems.click()
        shown = log.pane.toPlainText()
        assert "index.example.org/simple/ refused" in shown
        assert "looking 5999" not in shown
        log.problems.click()
        assert "\nlooking 5999\n" in log.pane.toPlainText()
        assert SECRET not in log.pane.toPlainText()
        log.save_wanted.emit(str(target))
        await until(lambda: part(wizard, "logRemarkLabel").text() == f"Saved to {target}", SECONDS)

    play(REFUSED, scene)
    text = target.read_text(encoding="utf-8")
    assert SECRET not in text
    assert " 0\n" in text, "the pane has dropped it, the file has not"
    assert "index.example.org/simple/ refused" in text


def test_b104_while_a_tool_says_nothing_the_sentence_tells_for_how_long_and_what_was_written(
    play: Play, computer: Computer
) -> None:
    async def scene(wizard: SetupWizard) -> None:
        page = wizard.run_page
        later = 0.0
        page.now = lambda: time.monotonic() + later  # type: ignore[method-assign]
        sentence = part(wizard, "progressLabel")
        await begin(wizard)
        await until(lambda: page.log.tail(1) == ["Resolved"], SECONDS)
        before = sentence.text()
        assert part(wizard, "progressBar").maximum() > 0
        later += 90
        await until(lambda: "no news for 1 min 3" in sentence.text(), SECONDS)
        assert sentence.text() != before
        assert sentence.text().endswith("still waiting")
        assert part(wizard, "progressBar").maximum() == 0  # nobody knows how far it is
        await until(lambda: wizard.controller._measured is not None, SECONDS)
        for written in ("3.0 MB", "6.0 MB"):
            await go(computer)
            before = sentence.text()

            def told(written: str = written) -> bool:
                nonlocal later
                later += 0.1
                return f"still working, {written} written" in str(sentence.text())

            await until(told, SECONDS)
            assert sentence.text() != before
        await go(computer)
        await until(lambda: not wizard.controller.running, SECONDS)

    play(SILENT, scene)
