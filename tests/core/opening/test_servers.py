"""How the end of JupyterLab's processes is waited for."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from amlwizard.core.opening import servers
from tests.support.waiting import wait_for


@pytest.mark.posix
def test_what_its_parent_has_not_taken_note_of_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container, process 1 may never do so; and a window that started it looks only now and then."""
    monkeypatch.setattr(servers, "_STOP_SECONDS", 0.0)
    with subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE) as child:
        server = psutil.Process(child.pid)
        assert servers._await_end([server]) == [server]
        server.kill()
        wait_for(lambda: server.status() == psutil.STATUS_ZOMBIE)
        assert servers._await_end([server]) == []
    assert servers._await_end([server]) == []
