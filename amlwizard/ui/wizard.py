"""The window: pages, their order, the list of steps at the side, and how it closes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QByteArray, QMargins, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QGridLayout, QHBoxLayout, QWidget, QWizard

from amlwizard.core.events import FinishedEvent, RunState
from amlwizard.ui.announcing import announce
from amlwizard.ui.controller import Controller, choices_until
from amlwizard.ui.endings import is_good
from amlwizard.ui.findings import is_in_between
from amlwizard.ui.focus_ring import FocusRing
from amlwizard.ui.maintenance_page import MaintenancePage
from amlwizard.ui.network_page import NetworkPage
from amlwizard.ui.page import Page
from amlwizard.ui.pages import CheckPage, EnvironmentPage, FinishPage, PythonPage, UvPage
from amlwizard.ui.run_page import RunPage
from amlwizard.ui.start_page import StartPage
from amlwizard.ui.step_list import PageId, StepList
from amlwizard.ui.theme import QtTexts, follow_system, icon
from amlwizard.ui.unused_letters import UnusedLetters
from amlwizard.ui.wishes import (
    UPDATES,
    Job,
    Packages,
    bundle_choices,
    dropped,
    lock_choices,
    network_choices,
    share_choices,
)
from amlwizard.ui.words import Words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeyEvent

    from amlwizard.core.choices import Choices
    from amlwizard.core.facts import EnvironmentFacts
    from amlwizard.ui.services import Defaults, Services


_NEXT = {
    PageId.START: PageId.CHECK,
    PageId.MAINTENANCE: PageId.RUN,
    PageId.CHECK: PageId.UV,
    PageId.UV: PageId.PYTHON,
    PageId.PYTHON: PageId.ENVIRONMENT,
    PageId.ENVIRONMENT: PageId.RUN,
    PageId.RUN: PageId.FINISH,
}


_APART: Final = frozenset({PageId.RUN, PageId.FINISH, PageId.NETWORK})
"""Pages that tell of something else than the folder."""
_FINISHING: Final = frozenset({Job.INSTALL, Job.REBUILD, Job.REPAIR})
"""Jobs that end on the last page; the others say on their own what they did."""
_GLANCE_MS: Final = 2000
"""How often an idle window looks whether somebody else is at work in its folder."""


class SetupWizard(QWizard):
    """The window of amlwizard. It never closes while a run goes on; it asks, stops the run, and then closes.

    It is painted with its start page alone; the other pages are made right after that, one at a time.

    Attributes:
        interrupted: the window was closed, or told to close, while a run went on.
    """

    def __init__(self, services: Services, language: str) -> None:
        super().__init__()
        self.setObjectName("wizard")
        self.words = Words(language)
        self.controller = Controller(services, self.words)
        self.interrupted = False
        self._closing = False
        self._services = services
        self._choices: Choices = services.defaults.choices
        self._jump: PageId | None = None
        self._over: FinishedEvent | None = None
        self._landed: QWidget | None = None
        self._moved = False
        self._qt_texts = QtTexts(self.words)
        self.setWizardStyle(QWizard.WizardStyle.ModernStyle)
        self.setOption(QWizard.WizardOption.NoDefaultButton)
        self.setOption(QWizard.WizardOption.NoCancelButton)
        self.setWindowIcon(icon("amlwizard"))
        follow_system(self)  # before there are parts that each learn of another palette
        self.side = StepList(self.words, self.controller)
        self.setSideWidget(self.side)
        self._add_start_page(services)
        self._coming = self._add_other_pages(services)
        self._row = next(row for row in self.findChildren(QHBoxLayout) if isinstance(row.parent(), QGridLayout))
        self._row_margins = self._row.contentsMargins()
        self._name_buttons()
        self.words.changed.connect(self._name_buttons)
        self.currentIdChanged.connect(self._on_page)
        self.currentIdChanged.connect(lambda _number: self._tell_page())
        self.currentIdChanged.connect(lambda _number: self._land())
        self.controller.survey_changed.connect(self._on_survey)
        self.controller.settled.connect(self._on_settled)
        self.words.changed.connect(self._name_window)
        self._name_window()
        self._glances = QTimer(self)
        self._glances.setInterval(_GLANCE_MS)
        self._glances.timeout.connect(self._glance)
        self._glances.start()
        FocusRing(self)
        UnusedLetters(self)
        self.setAcceptDrops(True)
        self.resize(940, 640)
        self.restoreGeometry(QByteArray.fromBase64(services.defaults.geometry.encode("ascii", "replace")))

    def _add_start_page(self, services: Services) -> None:
        self.start_page = StartPage(self.words, self.controller, services)
        self.start_page.set_up.connect(lambda choices: self.run_job(Job.INSTALL, choices))
        self.start_page.customise.connect(self._on_customise)
        self.start_page.maintain.connect(self._on_maintain)
        self.start_page.network.connect(self.open_network)
        self.start_page.open_known.connect(self._open_known)
        self.setPage(PageId.START, self.start_page)

    def _add_other_pages(self, services: Services) -> Iterator[None]:
        """Make the other pages, in steps that are each over before anybody notices."""
        words, controller = self.words, self.controller
        self.maintenance_page = MaintenancePage(words, controller, services)
        self.maintenance_page.job.connect(self._on_maintenance_job)
        self.maintenance_page.opening.offered.connect(self._land_anew)
        self.maintenance_page.change.connect(self._on_change)
        self.maintenance_page.foresee.connect(lambda job: controller.foresight.look(job, self._choices_ahead(job)))
        self.maintenance_page.make_bundle.connect(
            lambda out: self.run_job(Job.BUNDLE, bundle_choices(self._choices, Path(out)))
        )
        self.maintenance_page.share.connect(lambda out: self.run_job(Job.SHARE, share_choices(self._choices, Path(out))))
        self.maintenance_page.network.connect(self.open_network)
        self.maintenance_page.elsewhere.connect(lambda: self._restart_at(PageId.START))
        self._add(PageId.MAINTENANCE, self.maintenance_page)
        yield
        self.check_page = CheckPage(words, controller)
        self.check_page.rescan.connect(lambda: controller.survey(self._choices))
        self._add(PageId.CHECK, self.check_page)
        self.uv_page = UvPage(words, controller)
        self.python_page = PythonPage(words, controller)
        for number, tool in ((PageId.UV, self.uv_page), (PageId.PYTHON, self.python_page)):
            tool.install.connect(lambda step: self.run_job(Job.INSTALL, choices_until(self._choices, step)))
            self._add(number, tool)
        yield
        self.environment_page = EnvironmentPage(words, controller)
        self.environment_page.build_wanted.connect(lambda: self.run_job(Job.INSTALL, self._choices))
        self.environment_page.torch.chosen.connect(self._on_accelerator)
        self._add(PageId.ENVIRONMENT, self.environment_page)
        yield
        self.run_page = RunPage(words, controller)
        self.run_page.advanced.connect(self._name_window)
        self.run_page.close_agreed.connect(self.close_now)
        self.run_page.uninstall_again.connect(self._on_uninstall_again)
        self.run_page.network.connect(self.open_network)
        self._add(PageId.RUN, self.run_page)
        yield
        self.finish_page = FinishPage(words, controller, services)
        self.finish_page.maintain.connect(self._on_maintain)
        self.finish_page.opening.offered.connect(self._land_anew)
        self._add(PageId.FINISH, self.finish_page)
        yield
        self.network_page = NetworkPage(words, controller)
        self.network_page.check_wanted.connect(self._on_check_wanted)
        self._add(PageId.NETWORK, self.network_page)
        controller.network.saved.connect(self._on_network_saved)
        controller.started.connect(lambda _wish: self._on_page(self.currentId()))  # the pages learn of these before
        controller.finished.connect(self._note_end)
        controller.finished.connect(self._on_finished)
        controller.survey_changed.connect(self._land_anew)
        controller.network.changed.connect(self._land_anew)

    def _add(self, number: PageId, page: Page) -> None:
        """Take in a page, which shows what is known by now."""
        self.setPage(number, page)
        page.refresh()

    def complete(self) -> None:
        """Make all pages that are not there yet; nothing leads away from the start page before."""
        for _ in self._coming:
            pass

    def _make_more(self) -> None:
        """Make the other pages while nothing else is to be done."""
        for _ in self._coming:
            QTimer.singleShot(0, self, self._make_more)
            return

    def run_job(self, job: Job, choices: Choices) -> None:
        """Begin a job and show its run."""
        if self.controller.running:
            return
        self.complete()
        if job is Job.INSTALL and choices.until is None:
            self.controller.workspaces.remember(choices)
        self.controller.start(job, choices)
        if self.currentId() != PageId.RUN:
            self._go(PageId.RUN)

    def open_network(self) -> None:
        """Show the settings of the network; Back leads to where the user was."""
        self.complete()
        self.network_page.open()
        self._go(PageId.NETWORK)

    def _go(self, page: PageId) -> None:
        self._jump = page
        self.next()
        self._jump = None

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take what can be opened, as long as nothing runs."""
        if not self.controller.running and dropped(_local_paths(event)) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open what was dropped on the start page."""
        if self.open_dropped(_local_paths(event)):
            event.acceptProposedAction()

    def open_dropped(self, paths: Sequence[str]) -> bool:
        """Open a bundle, requirements or a folder; False where it is something else, or a run goes on."""
        found = dropped(paths)
        if found is None or not self._to_start_page():
            return False
        packages, path = found
        if packages is None:
            self.start_page.open_folder(path)
        else:
            self.start_page.open_packages(packages, path)
        return True

    def open_bundle(self, bundle: str) -> bool:
        """Open a bundle on the start page; False where a run goes on, and it is not opened."""
        if not self._to_start_page():
            return False
        self.start_page.open_packages(Packages.BUNDLE, bundle)
        return True

    def _to_start_page(self) -> bool:
        """Show the start page; False where a run goes on."""
        if self.controller.running:
            return False
        if self.currentId() != PageId.START:
            self._restart_at(PageId.START)
        return True

    def come_forward(self) -> None:
        """Come to the front, also from the task bar; called for by another window for the same workspace."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def nextId(self) -> int:
        """Return the page that follows; some follow from anywhere."""
        page = self.currentId()
        return int(self._jump if self._jump is not None else _NEXT.get(PageId(page), -1)) if page >= 0 else -1

    def survey(self) -> None:
        """Look at the computer, and make the other pages; called once the window is painted."""
        QTimer.singleShot(0, self, self._make_more)
        self.start_page.survey()
        self.controller.workspaces.look()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let Esc close what is open, then lead back, and close the window where there is no way back.

        Enter is for what has the focus. Qt would press a button that it takes for the default one, on the next page even
        where Enter has just led there.
        """
        key = event.key()
        enter = key in {Qt.Key.Key_Return, Qt.Key.Key_Enter}
        if not enter and (key != Qt.Key.Key_Escape or not self._dismiss()):
            super().keyPressEvent(event)

    def _dismiss(self) -> bool:
        page, back = self.currentPage(), self.button(QWizard.WizardButton.BackButton)
        if isinstance(page, Page) and page.dismiss():
            return True
        if back.isVisible() and back.isEnabled():
            self.back()
            return True
        return False

    def reject(self) -> None:
        """Close, or ask first where a run goes on (Esc and the close box come here)."""
        if self.controller.running and not self._closing:
            self.run_page.ask_to_close()
        else:
            self.close_now()

    def accept(self) -> None:
        """Close from the last page."""
        self.reject()

    def close_now(self) -> None:
        """Stop what goes on, wait for its end, and close; nothing is asked."""
        first, self._closing = not self._closing, True
        if self.controller.running:
            self.interrupted = True
            self.run_page.show_stopping(closes=True)
        self.controller.cancel()
        if first:
            self.controller.workspaces.keep_geometry(bytes(self.saveGeometry().toBase64().data()).decode())
        self._on_settled()

    def _glance(self) -> None:
        """Notice a run of the command line, as long as anybody sees it; the pages of a run tell of that run alone."""
        if self.isVisible() and not self.isMinimized() and self.currentId() not in _APART:
            self.controller.glance()

    def _on_settled(self) -> None:
        if self._closing and self.controller.idle:
            super().reject()

    def _on_customise(self) -> None:
        choices = self.start_page.choices()
        if choices is not None:
            self._choices = choices
            self.complete()
            self.next()

    def _on_accelerator(self, accelerator: str) -> None:
        self._choices = replace(self._choices, accelerator=accelerator, accelerator_from_setting=False)
        self.start_page.take_accelerator(accelerator)
        self.controller.survey(self._choices)

    def _on_maintain(self) -> None:
        self.complete()
        wish = self.controller.wish
        at_finish = self.currentId() == PageId.FINISH and wish is not None
        chosen = wish.choices if at_finish and wish is not None else self.start_page.choices()
        if chosen is not None:
            chosen = replace(chosen, refresh=False)  # it was wished for once
            self._choices = chosen
            self.maintenance_page.show_root(chosen.root)
            self._restart_at(PageId.MAINTENANCE)
            if at_finish:
                self.controller.survey(chosen)

    def _open_known(self, root: Path) -> None:
        """Go to the page of a known workspace, whose lock tells its packages."""
        if self.controller.running or self.start_page.bar is not None:
            return
        self.start_page.take_workspace(root)
        self.start_page.survey()
        self._on_maintain()

    def _on_maintenance_job(self, job: Job) -> None:
        if job in {Job.UPDATE, Job.STORE, *UPDATES}:
            self.run_job(job, replace(self._choices_ahead(job), prune=job is Job.STORE))
            return
        keep = job not in {Job.REBUILD, Job.INSTALL} or self.maintenance_page.keep_added.isChecked()
        self.run_job(job, replace(self._choices, keep_added=keep))

    def _choices_ahead(self, job: Job) -> Choices:
        """Return the choices for finding out what a job would do, to which nothing is added but that it shall."""
        keep = self.maintenance_page.keep_added.isChecked()
        return replace(lock_choices(self._choices), refresh=job is Job.UPDATE, keep_added=keep, update=UPDATES.get(job))

    def _on_change(self, add: tuple[str, ...], remove: tuple[str, ...]) -> None:
        self.run_job(Job.CHANGE, replace(lock_choices(self._choices), add=add, remove=remove))

    def _on_network_saved(self, defaults: Defaults) -> None:
        self._choices = network_choices(self._choices, defaults.choices)
        self.controller.change_network(defaults.choices)
        self.start_page.take_defaults(defaults)

    def _on_check_wanted(self) -> None:
        """Reach what the run would need that failed, or the one that is being prepared.

        Where the settings cannot be used, which hosts are needed is not known.
        """
        if self.start_page.bar is not None:
            self.controller.network.refuse(self.start_page.bar)
            return
        wish = self.controller.wish
        failed = self._over is not None and wish is not None
        chosen = wish.choices if failed and wish is not None else self.start_page.choices()
        self.controller.network.reach(chosen if chosen is not None else self._choices)

    def _on_uninstall_again(self) -> None:
        """Ask once more where it was asked the first time."""
        self._restart_at(PageId.MAINTENANCE)
        self.maintenance_page.ask_to_uninstall()

    def _restart_at(self, page: PageId) -> None:
        self.setStartId(page)
        self.restart()

    def _on_survey(self) -> None:
        environment = self.controller.environment
        untouched = (
            self.currentId() == PageId.START
            and self.startId() != PageId.MAINTENANCE
            and not self.start_page.touched
            and self.start_page.bar is None
        )
        busy = self.controller.holder is not None and is_in_between(environment)
        if environment is not None and untouched and not busy and _is_kept(environment):
            self.start_page.touched = True
            self._on_maintain()

        if environment is not None and environment.ready and self.currentId() == PageId.MAINTENANCE:
            self.controller.workspaces.opened(self._choices.root)

    def _note_end(self, event: FinishedEvent) -> None:
        """Know the workspace of a run that ended well from now on, or no more."""
        wish = self.controller.wish
        if wish is None or wish.choices.until is not None or not is_good(event):
            return
        if wish.job is Job.UNINSTALL:
            self.controller.workspaces.forget(wish.choices.root)
        else:
            self.controller.workspaces.opened(wish.choices.root)

    def _after_run(self, event: FinishedEvent) -> None:
        """Look anew once the user is back from a run; where nothing is left to be managed, at the very beginning."""
        self._over = None
        wish = self.controller.wish
        self.start_page.touched = True  # whoever came back on purpose is led nowhere else
        if self.currentId() == PageId.START:
            self.start_page.survey()
        elif wish is not None and wish.job is Job.UNINSTALL and is_good(event):
            QTimer.singleShot(0, self, lambda: self._restart_at(PageId.START))  # not in the middle of a change of pages
            self.start_page.survey()
        else:
            self.controller.survey(self._choices)

    def _name_window(self) -> None:
        """Say in the title, which the task bar shows, how far a run is."""
        title = self.words("window.title")
        if self.controller.running:
            title = self.words("window.title.running", percent=self.run_page.percent, title=title)
        self.setWindowTitle(title)

    def _on_finished(self, event: FinishedEvent) -> None:
        self._name_window()
        QApplication.alert(self)  # asks for attention in the task bar or the Dock, unless the window is in front
        self._over = event
        wish = self.controller.wish
        if self._closing:
            self.controller.cancel()  # another run was in the way, and nobody waits for its end any more
        if self._closing or wish is None or event.state not in {RunState.READY, RunState.DONE}:
            self._on_page(self.currentId())
            return
        if wish.choices.until is not None:
            self.back()
            self.controller.survey(self._choices)
        elif wish.job not in _FINISHING:
            self._on_page(self.currentId())
            if self.run_page.details.hasFocus():
                self.button(QWizard.WizardButton.BackButton).setFocus()  # the way on
            if wish.job is Job.SHARE and wish.choices.share is not None:
                QDesktopServices.openUrl(QUrl.fromLocalFile(str(wish.choices.share.parent)))
        else:
            self.finish_page.show_root(wish.choices.root)
            self.next()

    def _on_page(self, number: int) -> None:
        if number < 0:
            return
        page = PageId(number)
        if page is PageId.MAINTENANCE and self.start_page.bar is not None:  # it is told there, and mended
            QTimer.singleShot(0, self, lambda: self._restart_at(PageId.START))
        if page in {PageId.START, PageId.MAINTENANCE} and self._over is not None:
            self._after_run(self._over)
        elif page is PageId.START:
            self.start_page.survey_again()
        if page is PageId.START and self.isVisible():
            self.controller.workspaces.look()
        if page is not PageId.NETWORK:
            self.side.show_current(page)
        button = QWizard.WizardButton
        layout = [button.Stretch]
        if page in {PageId.CHECK, PageId.UV, PageId.PYTHON}:
            layout = [button.BackButton, button.Stretch, button.NextButton]
        elif page in {PageId.ENVIRONMENT, PageId.NETWORK} or (page is PageId.RUN and not self.controller.running):
            layout = [button.BackButton, button.Stretch]
        elif page is PageId.FINISH:
            layout = [button.Stretch, button.FinishButton]
        self.setButtonLayout(layout)
        margins = self._row_margins if len(layout) > 1 else QMargins()
        self._row.setContentsMargins(margins)  # without a button there is no strip either

    def _landing(self) -> QWidget | None:
        """Return what shall have the focus when a page comes; a run sees to that by itself."""
        page, kinds = self.currentPage(), QWizard.WizardButton
        if not isinstance(page, Page) or isinstance(page, RunPage):
            return None
        buttons = (self.button(kind) for kind in (kinds.NextButton, kinds.FinishButton, kinds.BackButton))
        return page.landing() or next((button for button in buttons if button.isVisible() and button.isEnabled()), None)

    def _land(self) -> None:
        """Give the focus to what comes first on the page."""
        self._landed = self._landing()
        if self._landed is not None:
            kinds = Qt.FocusReason  # coming by Tab selects what is in a field; a first stray key shall not replace it
            self._landed.setFocus(kinds.TabFocusReason if self._moved else kinds.OtherFocusReason)
            self._moved = True

    def _land_anew(self) -> None:
        """Let the focus follow what comes first once more is known, unless the user has moved it."""
        if self.focusWidget() in {None, self._landed, self.currentPage()} and self._landing() is not self._landed:
            self._land()

    def _tell_page(self) -> None:
        """Say to screen readers what the page is about; they tell what is focused on it by themselves."""
        page = self.currentPage()
        if isinstance(page, Page):
            announce(page, "\n".join(label.text() for label in (page.title_label, page.lede_label) if label.text()))

    def _name_buttons(self) -> None:
        button = QWizard.WizardButton
        keys = {
            button.BackButton: "back",
            button.NextButton: "next",
            button.FinishButton: "close",
            button.CommitButton: "next",
            button.CancelButton: "close",
        }
        for which, key in keys.items():
            self.setButtonText(which, self.words.label(f"window.{key}"))


def _local_paths(event: QDropEvent) -> list[str]:
    return [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]


def _is_kept(environment: EnvironmentFacts) -> bool:
    """Tell whether there is an environment that is of use, as it is or once it is mended."""
    return environment.ready or environment.action in {"repair", "rebuild"}
