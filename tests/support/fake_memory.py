"""What the window remembers, without a disk."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.choices import Choices
    from amlwizard.core.facts import EnvironmentFacts


class FakeMemory:
    """Knows the workspaces that are keys of ``states``; None is one that has gone, an event one that waits for it.

    ``elsewhere`` are states of folders that are not known. ``noted`` keeps what was asked, ``looked`` which folders were
    looked at, ``geometry`` the last one. All is asked in threads.
    """

    def __init__(self) -> None:
        self.states: dict[Path, EnvironmentFacts | threading.Event | None] = {}
        self.elsewhere: dict[Path, EnvironmentFacts] = {}
        self.noted: list[tuple[str, Path]] = []
        self.looked: list[Path] = []
        self.geometry = ""

    def known(self) -> tuple[Path, ...]:
        _in_thread()
        return tuple(self.states)

    def add(self, root: Path) -> None:
        _in_thread()
        self.noted.append(("add", root))
        if root in self.elsewhere:
            self.states[root] = self.elsewhere[root]

    def forget(self, root: Path) -> None:
        _in_thread()
        self.noted.append(("forget", root))
        self.states.pop(root, None)

    def remember(self, choices: Choices) -> None:
        _in_thread()
        self.noted.append(("remember", choices.root))

    def keep_geometry(self, geometry: str) -> None:
        _in_thread()
        self.geometry = geometry

    def look(self, root: Path) -> EnvironmentFacts | None:
        _in_thread()
        self.looked.append(root)
        found = self.states.get(root, self.elsewhere.get(root))
        if isinstance(found, threading.Event):
            assert found.wait(60)
            raise TimeoutError
        return found

    def new_folder(self, beside: Path) -> Path:
        _in_thread()
        return beside.with_name(f"{beside.name}-2")


def _in_thread() -> None:
    assert threading.current_thread() is not threading.main_thread()
