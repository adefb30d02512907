"""The processes of one command: how they are found, ended, and proven to be gone.

Each system has its way in a module of its own; this one chooses. A process is always known by its id *and* its time of
creation: an id alone may meanwhile belong to somebody else, and is then never touched. Nothing is found by its name.

A program that is started to outlive the run (JupyterLab, a terminal) is started without a runner, and with another value
of ``RUN_TAG_VARIABLE`` or with the wizard's own environment, by which it is told from what a run left behind.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


class Tree(Protocol):
    """The processes of one command, from before its start to the proof that none is left."""

    def adopt(self, pid: int) -> None:
        """Take the process that was just started as the root. Called once, at once after the start."""
        ...

    def count(self) -> int:
        """Return how many processes of the tree are alive. Blocks for a moment, so it is called in a thread."""
        ...

    def end(self) -> int:
        """End every process of the tree, gracefully first and by force after ``GRACE_SECONDS``.

        Blocks until none is left, so it is called in a thread. Returns how many processes it stopped.
        """
        ...


class TreeKeeper(Protocol):
    """What one runner needs of the system; ``run_tag`` is that of the runner."""

    def starting(self) -> AbstractContextManager[Tree]:
        """Prepare a tree; the child is started and adopted within the context."""
        ...

    def sweep(self) -> int:
        """End whatever else carries the run tag. Blocks as ``Tree.end``. Returns how many processes it stopped."""
        ...


def tree_keeper(run_tag: str) -> TreeKeeper:
    """Return the keeper for this system."""
    if sys.platform == "win32":
        from amlwizard.process.tree_windows import WindowsTreeKeeper

        return WindowsTreeKeeper(run_tag)
    from amlwizard.process.tree_posix import PosixTreeKeeper

    return PosixTreeKeeper(run_tag)
