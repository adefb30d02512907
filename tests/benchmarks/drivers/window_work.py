"""The real window and the real engine at work: sets up, shows every page, rebuilds and uninstalls; writes figures as JSON.

``AML_ROOT`` names the workspace, where nothing is yet, ``AML_INDEX_URL`` where its packages come from.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import time
from dataclasses import replace
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

os.environ["QT_API"] = "pyside6"

import psutil
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from amlwizard.app import serve, window_services
from amlwizard.core.events import RunState
from amlwizard.core.settings import load_settings, resolve_choices
from amlwizard.ui.services import Defaults
from amlwizard.ui.step_list import PageId
from amlwizard.ui.wishes import Job
from amlwizard.ui.wizard import SetupWizard
from tests.support.heart import Heart
from tests.support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable

    from amlwizard.core.choices import Choices

FILES = 30_000
"""As many files lie in an environment, besides those that belong there, when it is removed."""
_FOLDERS = 100
_ROUNDS = 3
_LONGEST = 600.0


async def _rest(wizard: SetupWizard) -> None:
    await until(lambda: wizard.controller.idle, _LONGEST)


def _shown(wizard: SetupWizard, change: Callable[[], None]) -> float:
    """Return the seconds that a change takes until it is painted."""
    began = time.perf_counter()
    change()
    QApplication.sendPostedEvents()  # lays out
    wizard.repaint()
    return time.perf_counter() - began


async def _run(wizard: SetupWizard, job: Job, choices: Choices, figures: dict[str, float]) -> None:
    """Run a job to its end."""
    ends: list[RunState] = []
    wizard.controller.finished.connect(lambda event: ends.append(event.state))
    heart = Heart()
    wizard.run_job(job, choices)
    wizard.run_page.details.setChecked(True)
    await until(lambda: bool(ends), _LONGEST)
    await _rest(wizard)
    heart.stop()
    if ends[0] is not RunState.READY and ends[0] is not RunState.DONE:
        raise RuntimeError(f"{job.value} ended as {ends[0].value}: {wizard.run_page.message.label.text()}")
    figures |= {f"{job.value} late": heart.late, f"{job.value} work": heart.work}


async def _change_pages(wizard: SetupWizard) -> dict[str, float]:
    """Go from each page to each other one, and back from each; return the longest that this takes."""
    taken: dict[tuple[PageId, PageId], list[float]] = {}
    for _ in range(_ROUNDS):
        for one, other in permutations(PageId, 2):
            wizard._restart_at(one)
            await _rest(wizard)
            taken.setdefault((one, other), []).append(_shown(wizard, partial(wizard._go, other)))
            taken.setdefault((other, one), []).append(_shown(wizard, wizard.back))
            await _rest(wizard)
    return {"page": max(statistics.median(seconds) for seconds in taken.values())}


async def _change_language(wizard: SetupWizard) -> dict[str, float]:
    """Change the language on each page; return the longest that this takes, the first time included."""
    taken: list[float] = []
    for page in PageId:
        wizard._restart_at(page)
        await _rest(wizard)
        taken += [_shown(wizard, partial(wizard.words.set_language, language)) for language in ("zh_CN", "en")]
    return {"language": max(taken)}


def _fill(root: Path) -> None:
    """Put many files into a package of the environment, which go with it."""
    (package,) = (root / ".venv").glob("**/site-packages/dateutil")
    for number in range(_FOLDERS):
        folder = package / f"more{number}"
        folder.mkdir()
        for name in range(FILES // _FOLDERS):
            (folder / f"{name}.txt").write_text("more")


async def _measure(wizard: SetupWizard, choices: Choices) -> dict[str, float]:
    figures: dict[str, float] = {}
    await until(lambda: wizard.controller.plan is not None, _LONGEST)
    await _rest(wizard)
    await _run(wizard, Job.INSTALL, choices, figures)
    figures["memory"] = float(psutil.Process().memory_info().rss)
    figures |= await _change_pages(wizard)
    figures |= await _change_language(wizard)
    for job in (Job.REBUILD, Job.UNINSTALL):
        wizard._restart_at(PageId.MAINTENANCE)
        await asyncio.to_thread(_fill, choices.root)
        await _run(wizard, job, replace(choices, keep_added=False), figures)
    return figures


def main() -> int:
    """Measure once and write the figures."""
    app = QApplication(sys.argv[:1])
    choices = resolve_choices(load_settings(os.environ), os.environ, Path.cwd(), profile="minimal")
    defaults = Defaults(choices)
    failures: list[BaseException] = []

    async def scene(wizard: SetupWizard) -> None:
        try:
            print(json.dumps(await _measure(wizard, choices)), flush=True)
        except Exception as error:  # noqa: BLE001 - told when the window has closed
            failures.append(error)
        wizard.close_now()

    def begin() -> None:
        wizard = next(widget for widget in app.topLevelWidgets() if isinstance(widget, SetupWizard))
        tasks.append(asyncio.ensure_future(scene(wizard)))

    tasks: list[asyncio.Task[None]] = []
    QTimer.singleShot(100, begin)
    serve(app, window_services("en", defaults, lambda: defaults), "en")
    for failure in failures:
        raise failure
    return 0


if __name__ == "__main__":
    sys.exit(main())
