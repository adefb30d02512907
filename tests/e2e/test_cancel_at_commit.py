"""A cancel in the very moment of the commit comes too late: the environment and its lock change together or not at all."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest

from amlwizard.core import steps
from amlwizard.core.choices import Choices
from amlwizard.core.environment import exchange
from amlwizard.core.environment.marker import read_marker
from amlwizard.core.events import RunState
from amlwizard.core.lock import lock_digest
from amlwizard.core.paths import Workspace
from amlwizard.text_mode import build_engine

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from tests.e2e.conftest import Computer

pytestmark = pytest.mark.e2e


class Gate:
    """Holds a real function up in its thread until it may go on."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()
        self._function = function

    def __call__(self, *arguments: Any) -> Any:
        self.reached.set()
        assert self.opened.wait(30)
        return self._function(*arguments)


@pytest.mark.parametrize(
    ("module", "name"), [(exchange, "flush_file_system"), (exchange, "exchange"), (steps, "promote_locks")]
)
async def test_the_commit_ends_and_the_run_says_what_is_there(
    older: Computer, monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str
) -> None:
    wanted = Choices(older.root, requirements=older.requirements("tinya==2.0\n"), index_url=older.index.index_url)
    gate = Gate(getattr(module, name))
    monkeypatch.setattr(module, name, gate)
    run = asyncio.create_task(build_engine("en").install(wanted, lambda _event: None))
    assert await asyncio.to_thread(gate.reached.wait, 60)
    run.cancel()
    run.cancel()
    assert not (await asyncio.wait([run], timeout=0.2))[0]
    gate.opened.set()
    finished = await run
    assert finished.state is RunState.READY
    assert run.cancelling() > 0  # whoever cancelled can tell all the same

    assert older.installed("tinya") == "2.0"
    workspace = Workspace(older.root)
    lock = workspace.lock.read_text()
    marker = read_marker(workspace.venv)
    assert "tinya-2.0" in lock
    assert marker is not None
    assert marker.lock == lock_digest(lock)
    assert not workspace.next_lock.exists()
    assert "tinya-1.0" in workspace.previous_lock.read_text()
    assert not workspace.aside.exists()
    after = older.run("rebuild", "--offline")
    assert after.code == 0, after.finished
    assert older.installed("tinya") == "2.0"
    assert not workspace.aside.exists()
    assert not workspace.staged.exists()
