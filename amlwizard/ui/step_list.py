"""The steps at the side of the window: where the user is, and what is done."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from amlwizard.core.events import StepEvent, StepState
from amlwizard.ui.endings import is_good
from amlwizard.ui.theme import SIGN, UNIT, icon, section_label
from amlwizard.ui.wishes import Job

if TYPE_CHECKING:
    from amlwizard.core.events import FinishedEvent
    from amlwizard.core.facts import EnvironmentFacts
    from amlwizard.ui.controller import Controller
    from amlwizard.ui.words import Words


class PageId(IntEnum):
    """The pages."""

    START = 0
    MAINTENANCE = 1
    CHECK = 2
    UV = 3
    PYTHON = 4
    ENVIRONMENT = 5
    RUN = 6
    FINISH = 7
    NETWORK = 8


_LISTED: Final = (PageId.START, PageId.CHECK, PageId.UV, PageId.PYTHON, PageId.ENVIRONMENT, PageId.FINISH)
_LANGUAGES: Final = (("en", "English"), ("zh_CN", "简体中文"))
_SIGNS: Final = {"done": "tick", "current": "dot", "ahead": "ring", "failed": "cross"}
_TOOL_STEPS: Final = {PageId.UV: "install_uv", PageId.PYTHON: "install_python"}
_LAST_STEPS: Final = {
    Job.VERIFY: "verify",
    Job.REPAIR: "inspect",
    Job.BUNDLE: "bundle",
    Job.SHARE: "share",
    Job.STORE: "prune",
    Job.UNINSTALL: "uninstall",
}
"""The last steps of jobs that build nothing."""
_OVER: Final = {StepState.DONE, StepState.SKIPPED}


class StepList(QWidget):
    """The steps, each with a sign and its state in words for screen readers, and the choice of the language.

    A step has its tick once it is done: on a page when the survey found what it is about, in a run when the engine says so.
    """

    def __init__(self, words: Words, controller: Controller) -> None:
        super().__init__()
        self._words = words
        self._controller = controller
        self._page = PageId.START
        self._looked = False
        self._steps: dict[str, StepState] = {}
        self._ended_well = False
        column = QVBoxLayout(self)
        column.setContentsMargins(2 * UNIT, 2 * UNIT, 2 * UNIT, 2 * UNIT)
        column.setSpacing(UNIT)
        name = section_label()
        words.bind(name.setText, "window.name")
        column.addWidget(name)
        column.addSpacing(UNIT)
        self._rows: dict[PageId, tuple[QLabel, QLabel]] = {}
        for page in _LISTED:
            sign, label = QLabel(), QLabel()
            sign.setFixedWidth(SIGN.width())
            row = QHBoxLayout()
            row.addWidget(sign)
            row.addWidget(label, 1)
            column.addLayout(row)
            self._rows[page] = (sign, label)
        column.addStretch(1)
        self.language_box = QComboBox()
        self.language_box.setObjectName("languageBox")
        self.language_box.setMinimumWidth(16 * UNIT)
        for code, text in _LANGUAGES:
            self.language_box.addItem(text, code)
        words.bind(self.language_box.setAccessibleName, "window.language")
        self.language_box.currentIndexChanged.connect(lambda index: words.set_language(self.language_box.itemData(index)))
        column.addWidget(self.language_box)
        words.changed.connect(self.refresh)
        words.changed.connect(self._show_language)
        controller.survey_changed.connect(self.refresh)
        controller.started.connect(self._on_started)
        controller.planned.connect(self._on_planned)
        controller.step_changed.connect(self._on_step)
        controller.finished.connect(self._on_finished)
        self._show_language()
        self.refresh()

    def _show_language(self) -> None:
        self.language_box.setCurrentIndex(self.language_box.findData(self._words.language))

    def show_current(self, page: PageId) -> None:
        """Mark where the user is."""
        self._page = page
        self.refresh()

    def states(self) -> dict[str, str]:
        """Return the state of each step by the name of its page: done, current, ahead or failed."""
        state = self._state_in_run if self._page is PageId.RUN else self._state_on_page
        return {page.name.lower(): state(page) for page in _LISTED}

    def refresh(self) -> None:
        """Renew signs and words."""
        states = self.states()
        for page, (sign, label) in self._rows.items():
            state = states[page.name.lower()]
            name = self._words(f"window.step.{page.name.lower()}")
            sign.setPixmap(icon(_SIGNS[state]).pixmap(SIGN))
            label.setText(name)
            label.setAccessibleName(self._words(f"window.step.{state}", name=name))

    def _on_started(self, _wish: object) -> None:
        self._looked = self._ended_well = False
        self._steps.clear()
        self.refresh()

    def _on_planned(self, _plan: object) -> None:
        self._looked = True
        self.refresh()

    def _on_finished(self, event: FinishedEvent) -> None:
        self._ended_well = is_good(event)
        self.refresh()

    def _on_step(self, event: StepEvent) -> None:
        if self._steps.get(event.id) is not event.state:  # progress comes many times a second and changes nothing here
            self._steps[event.id] = event.state
            self.refresh()

    def _state_on_page(self, page: PageId) -> str:
        ended = self._page in {PageId.MAINTENANCE, PageId.FINISH}
        if page is PageId.FINISH and ended:
            return "done" if self._is_ready else "current"
        here = PageId.FINISH if ended else self._page
        if page is here:
            return "current"
        return "done" if page < here and self._is_done(page) else "ahead"

    @property
    def _is_ready(self) -> bool:
        """Tell whether the environment is known to be in order."""
        environment = self._present
        return self._page is PageId.FINISH or (environment is not None and environment.ready)

    @property
    def _present(self) -> EnvironmentFacts | None:
        facts = self._controller.facts
        return facts.environment if facts is not None else self._controller.environment

    def _is_done(self, page: PageId) -> bool:
        facts = self._controller.facts
        if page is PageId.START or self._page is PageId.FINISH:
            return True
        if self._page is PageId.MAINTENANCE and (self._is_ready or self._present is None):
            return True  # all that was done once, also while the folder is looked at
        if facts is None:
            return False
        if page is PageId.CHECK or facts.environment.ready:
            return True
        return {PageId.UV: facts.uv, PageId.PYTHON: facts.python}.get(page) is not None

    def _state_in_run(self, page: PageId) -> str:
        job = self._controller.wish.job if self._controller.wish is not None else Job.INSTALL
        there = job in _LAST_STEPS  # the job is about an environment that is there
        looked = self._looked or there or bool(self._steps)
        if page is PageId.START:
            return "done"
        if page is PageId.CHECK:
            return "done" if looked else "current"
        if page is PageId.FINISH:
            return "done" if self._ended_well else "ahead"
        if there and page in _TOOL_STEPS:
            return "done"
        if page in _TOOL_STEPS:
            states = [state for step, state in self._steps.items() if step == _TOOL_STEPS[page]]
            return _state(states, complete=bool(states))
        states = [state for step, state in self._steps.items() if step not in _TOOL_STEPS.values()]
        return _state(states, complete=_LAST_STEPS.get(job, "commit") in self._steps)


def _state(states: list[StepState], *, complete: bool) -> str:
    """Return the state of what consists of these steps of the engine; ``complete`` tells that none is still to come."""
    if StepState.FAILED in states:
        return "failed"
    if not states:
        return "ahead"
    return "done" if complete and all(state in _OVER for state in states) else "current"
