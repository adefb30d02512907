"""The composition root of the window: Qt application, event loop, engine, order of shutdown."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from amlwizard.core.catalogue import text
from amlwizard.core.errors import ExitCode
from amlwizard.core.held_awake import held_awake
from amlwizard.core.paths import Workspace
from amlwizard.heap import share_one_heap
from amlwizard.presence import Presence, claim_or_call
from amlwizard.ui.calls import Answer

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence

    from PySide6.QtWidgets import QApplication

    from amlwizard.core.choices import Choices
    from amlwizard.core.disk_use import DiskUse
    from amlwizard.core.engine import Engine
    from amlwizard.core.errors import AmlError, RefusedError
    from amlwizard.core.facts import EnvironmentFacts, Holder
    from amlwizard.core.logins import LoginStore
    from amlwizard.ui.services import Defaults, Services
    from amlwizard.ui.wizard import SetupWizard
    from amlwizard.window_claim import WindowClaim


def run_window(
    language: str,
    give_up: Callable[[RefusedError], None],
    tell: Callable[[str], None],
    bundle: str | None = None,
    root: str | None = None,
) -> int:
    """Show the window and return the exit code of the program: 130 where a run was interrupted by closing, else 0.

    Where a window for the same workspace is open already, that one comes forward and nothing else is shown.

    Args:
        language: the user's, where the settings name none.
        give_up: told why Qt cannot start; it ends the program.
        tell: told in a sentence that another window came forward.
        bundle: the bundle that the window opens with.
        root: the workspace that the window opens with, before that of the settings.

    Raises:
        BusyError: another window for the workspace is open and does not answer.
    """
    os.environ["QT_API"] = "pyside6"  # otherwise qasync would look for other bindings first
    from amlwizard.qt_start import make_application
    from amlwizard.start_settings import read_defaults

    app = make_application(give_up)

    def read() -> Defaults:
        return read_defaults(os.environ, Path.cwd(), bundle=bundle, root=root)

    defaults = read()
    language = defaults.language or language
    folder = defaults.choices.root
    wanted = None if bundle is None else str(Path.cwd() / bundle)
    found = claim_or_call(folder, wanted)
    if isinstance(found, Answer):
        refused = wanted is not None and not found.opened
        tell(text("window.other.busy" if refused else "window.other", language, root=folder, bundle=wanted or ""))
        return ExitCode.DONE
    return serve(app, window_services(language, defaults, read), language, found)


def window_services(language: str, defaults: Defaults, read: Callable[[], Defaults]) -> Services:
    """Return the outside of a window that works on this computer; ``read`` reads the settings again."""
    from amlwizard.ui.services import Services
    from amlwizard.window_memory import WindowMemory
    from amlwizard.window_network import WindowNetwork
    from amlwizard.window_opening import WindowOpening

    network = WindowNetwork(os.environ, _login_store)
    return Services(
        lambda: load_engine(language),
        defaults,
        lambda: network.signed_in(read()),
        free_bytes,
        environment_state,
        WindowOpening(os.environ),
        run_holder,
        folder_mark,
        written_bytes,
        network,
        can_undo,
        disk_use,
        WindowMemory(),
        save_log,
        held_awake,
        write_refusal,
    )


def _login_store() -> LoginStore:
    """Return the store of this process; called in a thread, which loads what that needs."""
    from amlwizard.wiring import login_store

    return login_store()


def load_engine(language: str) -> Engine:
    """Return the engine of the window; called in a thread, where all is imported that would hold up the event loop later.

    ``from`` is what PySide looks at: it reads the source of each module that is imported so for the first time.
    """
    from amlwizard.core.detection import find_bundled_uv
    from amlwizard.core.logins import SystemLogins  # noqa: F401
    from amlwizard.net.fetcher import HttpFetcher  # noqa: F401
    from amlwizard.net.policy import NetworkPolicy  # noqa: F401
    from amlwizard.process.qprocess_runner import QProcessRunner
    from amlwizard.process.tree import tree_keeper
    from amlwizard.wiring import make_engine

    find_bundled_uv()
    tree_keeper("")
    return make_engine(lambda: QProcessRunner(f"{os.getpid()}-{os.urandom(8).hex()}"), language)


def serve(app: QApplication, services: Services, language: str, claim: WindowClaim | None = None) -> int:
    """Run the event loop until the window has closed and nothing is left of a run.

    Args:
        app: the application.
        services: the outside of the window.
        language: of the window.
        claim: the claim on the workspace that the window starts with; other windows for it are led to this one.
    """
    import qasync

    from amlwizard.ui.garbage import GarbageCollector
    from amlwizard.ui.wizard import SetupWizard

    share_one_heap()
    GarbageCollector(app)
    app.setQuitOnLastWindowClosed(False)
    wizard = SetupWizard(services, language)
    if sys.platform == "darwin":  # elsewhere no such event comes, and looking at every event of every object takes time
        from amlwizard.ui.file_opening import FileOpening

        FileOpening(wizard)
    wizard.show()
    with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(app)) as runner:
        return runner.run(_until_closed(wizard, services.defaults.choices.root, claim))


async def _until_closed(wizard: SetupWizard, root: Path, claim: WindowClaim | None) -> int:
    from PySide6.QtCore import QTimer

    loop = asyncio.get_running_loop()
    closed: asyncio.Future[None] = loop.create_future()

    def on_closed() -> None:
        if not closed.done():
            closed.set_result(None)

    wizard.finished.connect(on_closed)
    stopped_by_signal = False

    def stop() -> None:
        nonlocal stopped_by_signal
        stopped_by_signal = True
        wizard.close_now()

    if os.name != "nt":  # a program with a window gets no such signals on Windows
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, stop)
    QTimer.singleShot(0, wizard.survey)
    presence = asyncio.ensure_future(Presence(wizard, root, claim).keep())
    await closed
    presence.cancel()
    await asyncio.wait([presence])
    return ExitCode.CANCELLED if wizard.interrupted or stopped_by_signal else ExitCode.DONE


def free_bytes(root: Path) -> int | None:
    """Return the free space where a folder is or will be, or None where the system does not tell."""
    for place in (root, *root.parents):
        try:
            return shutil.disk_usage(place).free
        except FileNotFoundError:
            continue
        except OSError:
            return None
    return None


def environment_state(choices: Choices) -> EnvironmentFacts:
    """Return the state of the environment that a workspace holds; called in a thread, which loads what that needs.

    Raises:
        RefusedError: there is none of ours, and the folder cannot be a workspace.
    """
    from amlwizard.core import readiness, root_checks, root_reach

    root_reach.refuse_out_of_reach(choices.root)
    state = readiness.environment_state(choices)
    if state.state in {"absent", "foreign"}:
        root_checks.check_root_by_looking(choices.root)
    return state


def write_refusal(root: Path) -> AmlError | None:
    """Return why this account cannot change a workspace, or None; called in a thread, which loads what that needs."""
    from amlwizard.core import root_checks

    return root_checks.write_refusal(root)


def run_holder(root: Path) -> Holder | None:
    """Return who holds a workspace for a run at this moment; called in a thread, which loads what that needs."""
    from amlwizard.core import workspace_lock

    return workspace_lock.run_holder(Workspace(root))


def folder_mark(root: Path) -> object:
    """Return what changes when somebody changes the environment of a workspace; called in a thread."""
    from amlwizard.core import folder_mark

    return folder_mark.folder_mark(Workspace(root))


def written_bytes(root: Path) -> int:
    """Return how many bytes lie where runs write in a workspace; called in a thread."""
    from amlwizard.core import written

    return written.written_bytes(Workspace(root))


def can_undo(root: Path) -> bool:
    """Tell whether a workspace has a lock from before its last change; called in a thread."""
    from amlwizard.core import wish

    return bool(wish.recorded_in(Workspace(root).previous_lock))


def disk_use(root: Path, stopped: threading.Event) -> DiskUse:
    """Return what a workspace takes on the disk; called in a thread."""
    from amlwizard.core import disk_use

    return disk_use.disk_use(Workspace(root), stopped)


def save_log(root: Path, log: str | None, lines: Sequence[str], target: Path) -> None:
    """Save the log of a run; called in a thread.

    Raises:
        AmlError: it cannot be written.
    """
    from amlwizard.core import run_log

    run_log.save_log(Workspace(root), log, lines, target)
