"""The start page: the folder, the packages, and one big button."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QCheckBox,
    QFileDialog,
    QFormLayout,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QRadioButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from amlwizard.core.errors import AmlError
from amlwizard.core.wording import settings_remarks, size_text
from amlwizard.ui.findings import (
    bundle_sentence,
    closed_sentence,
    environment_sentence,
    error_sentence,
    is_about_root,
    is_in_between,
)
from amlwizard.ui.lacking_list import LackingList
from amlwizard.ui.page import Page
from amlwizard.ui.save_dialog import first_folder
from amlwizard.ui.theme import UNIT, Notice, PrimaryButton, text_label
from amlwizard.ui.wishes import Form, Packages, form_of, lock_choices
from amlwizard.ui.workspaces_panel import WorkspacesPanel

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amlwizard.core.choices import Choices
    from amlwizard.core.events import PlanEvent
    from amlwizard.core.facts import EnvironmentFacts
    from amlwizard.ui.controller import Controller
    from amlwizard.ui.services import Defaults, Services
    from amlwizard.ui.words import Words

_QUIET_MS = 400
"""Typing has to pause this long before the computer is looked at again."""
OFFERS_ANEW: Final = frozenset({"AML_SHARED_PLATFORM", "AML_SHARED_PYTHON", "AML_SHARED_NO_WHEEL"})
"""Refusals of a given lock that can be resolved anew."""


class StartPage(Page):
    """Asks for a folder and the packages.

    Signals:
        set_up: do the whole job with these choices (``Choices``).
        customise: walk the pages.
        maintain: go to the page for the environment that the folder holds already.
        network: go to the settings of the network.
        open_known: go to the page of a known workspace (``Path``).
    """

    name = "start"
    set_up = Signal(object)
    customise = Signal()
    maintain = Signal()
    network = Signal()
    open_known = Signal(object)

    def __init__(self, words: Words, controller: Controller, services: Services) -> None:
        self._services = services
        self._defaults = services.defaults
        self.touched = False
        self._accelerator: tuple[Packages, str, str] | None = None
        self._quiet = QTimer()
        self._quiet.setSingleShot(True)
        self._quiet.setInterval(_QUIET_MS)
        super().__init__(words, controller)
        self._quiet.timeout.connect(self.survey)
        controller.survey_changed.connect(self.refresh)
        self._fill(form_of(self._defaults.choices))
        self.refresh()

    def build(self) -> None:
        """Lay out the form."""
        self._build_settings()
        self.workspaces = WorkspacesPanel(self.words, self.controller.workspaces, self.read_button)
        self.workspaces.opened.connect(self.open_known)
        self.column.addWidget(self.workspaces)
        self.rows = form = QFormLayout()
        form.setSpacing(UNIT)
        form.setHorizontalSpacing(2 * UNIT)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._build_folder(form)
        self._build_packages(form)
        self._build_bundle(form)
        self._build_offline(form)
        self.column.addLayout(form)
        self.column.addSpacing(UNIT)

        self.busy = Notice("startBusyLabel")
        self.column.addWidget(self.busy)
        self.present = Notice("presentLabel")
        self.manage_button = self.new_button("manageButton", "page.start.manage", self.maintain.emit)
        self.manage_button.setVisible(False)
        present = QHBoxLayout()
        present.addWidget(self.present, 1)
        present.addWidget(self.manage_button)
        self.another_button = self.new_button("newWorkspaceButton", "workspaces.new", self._on_new)
        self.another_button.setVisible(False)
        self.words.bind(self.another_button.setToolTip, "workspaces.new.about")
        self.words.bind(self.another_button.setAccessibleDescription, "workspaces.new.about")
        self.controller.workspaces.proposed.connect(self._begin_new)
        present.addWidget(self.another_button)
        self.column.addLayout(present)

        self.setup_button = PrimaryButton("setupButton")
        self.setup_button.clicked.connect(self._on_set_up)
        self.customise_button = self.new_button("customiseButton", "page.start.customise", self.customise.emit)
        self.network_button = self.new_button("networkButton", "page.start.network", self.network.emit)
        for button in (self.customise_button, self.network_button):
            button.setFlat(True)
        buttons = QHBoxLayout()
        buttons.setSpacing(2 * UNIT)
        for button in (self.setup_button, self.customise_button, self.network_button):
            buttons.addWidget(button)
        buttons.addStretch(1)
        self.column.addLayout(buttons)
        self.promise = text_label("promiseLabel")
        self.column.addWidget(self.promise)
        self.problem = Notice("startProblemLabel")
        self.column.addWidget(self.problem)
        self.lacking = LackingList(self.words, "lackingView")
        self.column.addWidget(self.lacking)
        self.anew_button = self.new_button("resolveAnewButton", "page.start.anew", self._on_anew)
        anew = QHBoxLayout()
        anew.addWidget(self.anew_button)
        anew.addStretch(1)
        self.column.addLayout(anew)
        self.remarks = Notice("startRemarksLabel")
        self.column.addWidget(self.remarks)
        self.column.addStretch(1)

    def _build_settings(self) -> None:
        """Make room for what is wrong with the settings, and for the ways to mend that."""
        self.settings_problem = Notice("settingsProblemLabel")
        self.file_button = self.new_button("openSettingsButton", "page.start.settings.open", self._open_settings)
        self.read_button = self.new_button("readSettingsButton", "page.start.settings.read", self._read_settings)
        row = QHBoxLayout()
        row.setSpacing(UNIT)
        row.addWidget(self.settings_problem, 1)
        for button in (self.file_button, self.read_button):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        self.column.addLayout(row)
        self.settings_remark = Notice("settingsRemarkLabel")
        self.column.addWidget(self.settings_remark)

    def _build_folder(self, form: QFormLayout) -> None:
        self.root_edit = QLineEdit()
        self.root_edit.setObjectName("rootEdit")
        self.root_edit.textChanged.connect(self._on_change)
        self.space = text_label("spaceLabel")
        self.root_note = Notice("rootNoteLabel")
        notes = QWidget()
        lines = QVBoxLayout(notes)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.addWidget(self.space)
        lines.addWidget(self.root_note)
        self._row(form, "folder", self.root_edit, "changeRootButton", self._choose_root, notes)

    def _build_packages(self, form: QFormLayout) -> None:
        self.group = QButtonGroup(self)
        choices = QGridLayout()
        choices.setContentsMargins(0, 0, 0, 0)
        choices.setSpacing(UNIT)
        choices.setHorizontalSpacing(3 * UNIT)
        for number, packages in enumerate(Packages):
            button = QRadioButton()
            button.setObjectName(f"{packages.value}Button")
            self.words.bind_label(button.setText, f"page.start.packages.{packages.value}")
            self.words.bind(button.setAccessibleName, f"page.start.packages.{packages.value}")
            self.words.bind(button.setAccessibleDescription, f"page.start.packages.{packages.value}.about")
            self.words.bind(button.setToolTip, f"page.start.packages.{packages.value}.about")
            _lead_tab(button, chosen=False)
            self.group.addButton(button, number)
            choices.addWidget(button, number // 2, number % 2)
        choices.setColumnStretch(2, 1)
        self.group.idToggled.connect(self._on_change)
        self.group.buttonToggled.connect(_lead_tab)
        self.about = text_label("packagesLabel")
        box = QWidget()
        lines = QVBoxLayout(box)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(UNIT)
        lines.addLayout(choices)
        lines.addWidget(self.about)
        label = QLabel()
        self.words.bind(label.setText, "page.start.packages")
        form.addRow(label, box)

        self.requirements_edit = QLineEdit()
        self.requirements_edit.setObjectName("requirementsEdit")
        self.requirements_edit.textChanged.connect(self._on_change)
        self.file_note = Notice("fileNoteLabel")
        self.file_row = self._row(
            form,
            "requirements",
            self.requirements_edit,
            "chooseRequirementsButton",
            self._choose_requirements,
            self.file_note,
        )

    def _build_bundle(self, form: QFormLayout) -> None:
        self.bundle_edit = QLineEdit()
        self.bundle_edit.setObjectName("bundleEdit")
        self.bundle_edit.textChanged.connect(self._on_change)
        self.bundle_note = Notice("bundleNoteLabel")
        self.bundle_row = self._row(
            form, "bundle", self.bundle_edit, "chooseBundleButton", self._choose_bundle, self.bundle_note
        )

    def _build_offline(self, form: QFormLayout) -> None:
        """Make room for the switch; it holds until the window is closed and is written nowhere."""
        self.offline_box = QCheckBox()
        self.offline_box.setObjectName("offlineBox")
        self.words.bind_label(self.offline_box.setText, "page.start.offline")
        self.words.bind(self.offline_box.setToolTip, "page.start.offline.about")
        self.words.bind(self.offline_box.setAccessibleDescription, "page.start.offline.about")
        self.offline_box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)  # it is no wider than its words
        self.offline_box.toggled.connect(self._on_switch)
        form.addRow("", self.offline_box)

    def open_packages(self, packages: Packages, path: str) -> None:
        """Fill in a bundle, or a file of requirements, that was dropped on the window, and look at it at once."""
        edit = self.bundle_edit if packages is Packages.BUNDLE else self.requirements_edit
        edit.setText(path)
        self.group.button(list(Packages).index(packages)).setChecked(True)
        self.survey()

    def open_folder(self, path: str) -> None:
        """Fill in a folder that was dropped on the window; where it holds an environment, its page follows."""
        self.root_edit.setText(path)
        self.touched = False
        self.survey()

    def take_workspace(self, root: Path) -> None:
        """Fill in the folder of a workspace, of which its own lock tells the packages."""
        self._fill(form_of(replace(lock_choices(self._defaults.choices), root=root, offline=self.form.offline)))
        self.touched = True

    def _on_new(self) -> None:
        choices = self.choices()
        if choices is not None:
            self.controller.workspaces.propose(choices.root)

    def _begin_new(self, root: Path) -> None:
        """Fill in the folder that was found for a new workspace, to be changed at will."""
        self.root_edit.setText(str(root))
        self.root_edit.setFocus()
        self.root_edit.selectAll()
        self.survey()

    def _row(
        self,
        form: QFormLayout,
        key: str,
        edit: QLineEdit,
        button_name: str,
        choose: Callable[[], None],
        note: QWidget | None = None,
    ) -> QWidget:
        label = QLabel()
        label.setBuddy(edit)
        self.words.bind_label(label.setText, f"page.start.{key}")
        self.words.bind(edit.setAccessibleName, f"page.start.{key}.name")
        button = self.new_button(button_name, f"page.start.choose{'' if key == 'folder' else '.file'}", choose)
        self.words.bind(button.setAccessibleName, f"page.start.{key}.choose")
        box = QWidget()
        lines = QVBoxLayout(box)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(UNIT // 2)
        line = QHBoxLayout()
        line.setSpacing(UNIT)
        line.addWidget(edit, 1)
        line.addWidget(button)
        lines.addLayout(line)
        if note is not None:
            lines.addWidget(note)
        form.addRow(label, box)
        return box

    @property
    def form(self) -> Form:
        """The page as it is filled in."""
        packages = list(Packages)[max(0, self.group.checkedId())]
        return Form(
            self.root_edit.text(),
            packages,
            self.requirements_edit.text(),
            self.bundle_edit.text(),
            self.offline_box.isChecked(),
        )

    def choices(self) -> Choices | None:
        """Return the choices, or None while something is missing."""
        form = self.form
        if form.gap:
            return None
        chosen = form.choices(self._defaults.choices)
        if self._accelerator is not None and self._accelerator[:2] == (form.packages, form.requirements):
            return replace(chosen, accelerator=self._accelerator[2], accelerator_from_setting=False)
        return chosen

    def take_accelerator(self, accelerator: str) -> None:
        """Keep the build of PyTorch that was chosen under *Customise*; it is a choice for these packages alone."""
        form = self.form
        self._accelerator = (form.packages, form.requirements, accelerator)

    def survey(self) -> None:
        """Look at the computer for the present choices."""
        self._quiet.stop()
        choices = self.choices()
        if choices is not None:
            self.controller.survey(choices)
        self.refresh()

    def survey_again(self) -> None:
        """Look again where the user comes back and other settings hold meanwhile."""
        choices, surveyed = self.choices(), self.controller.surveyed
        if surveyed is not None and choices is not None and choices != surveyed:
            self.survey()

    def landing(self) -> QWidget:
        """Return the field of the folder, which is where the page begins."""
        return self.root_edit

    def refresh(self) -> None:
        """Show what the survey says about the choices."""
        form = self.form
        controller = self.controller
        self._show_settings_problem()
        current = self.choices() == controller.surveyed
        plan = controller.plan if current else None
        refusal = controller.refusal if current else None
        self.remarks.show_text("info", "\n".join(controller.remarks) if current else "")
        self.rows.setRowVisible(self.file_row, form.packages is Packages.FILE)
        self.about.setText(self.text(f"packages.{form.packages.value}.about"))
        self.space.setText(self._space_sentence(plan.disk_bytes if plan else None))
        small = self._too_small(plan)
        refused_root = refusal if refusal is not None and is_about_root(refusal) else small
        self._show_gap(form, refused_root)
        bundled = form.packages is Packages.BUNDLE
        self.rows.setRowVisible(self.bundle_row, bundled)
        self.setup_button.setText(self.words.label("page.start.setup.bundle" if bundled else "page.start.setup"))
        about_bundle = bundled and refusal is not None and refusal.code.startswith("AML_BUNDLE_")
        if bundled and form.gap is not None and not form.lacks_root:
            self.bundle_note.show_text("info", self.words(form.gap))
        elif about_bundle and refusal is not None:
            sentences = [bundle_sentence(self.words, controller.bundle), error_sentence(self.words, refusal)]
            self.bundle_note.show_text("cross", "\n".join(filter(None, sentences)))
        else:
            fits = self.text("bundle.fits") if bundled and plan is not None else ""
            facts_of_bundle = bundle_sentence(self.words, controller.bundle) if bundled and current else ""
            self.bundle_note.show_text("tick" if fits else "info", f"{fits} {facts_of_bundle}".strip())
        if form.offline and not bundled:
            self.promise.setText(self.text("promise.offline"))
        elif bundled or (plan is not None and plan.download_bytes == 0):
            self.promise.setText(self.text("promise.bundle"))
        elif plan is not None and plan.download_bytes is not None:
            self.promise.setText(self.text("promise.size", size=size_text(plan.download_bytes, self.words.language)))
        else:
            self.promise.setText(self.text("promise"))
        holder = controller.holder_for(self.choices())
        closed = controller.write_refusal_for(self.choices())
        told = closed if refused_root is None else None  # beside the field
        self.busy.show_text("info", closed_sentence(self.words, holder, told))
        known = controller.environment_for(self.choices())
        facts = controller.facts if current else None
        environment = facts.environment if facts is not None else known
        in_between = holder is not None and is_in_between(environment)
        told_below = refusal is not None and environment is not None and environment.state == "foreign"
        self._show_present(None if in_between or told_below else environment)
        if self.bar is not None:
            self.problem.show_text("triangle", self.text("settings.stop"))
        elif about_bundle or refused_root is not None:
            self.problem.show_text("triangle", "")
        else:
            self.problem.show_text("triangle", error_sentence(self.words, refusal) if refusal else "")
        self.lacking.show_lacking(refusal.arguments if refusal is not None else {})
        self.anew_button.setVisible(refusal is not None and refusal.code in OFFERS_ANEW)
        usable = form.gap is None and refusal is None and small is None and self.bar is None
        free = known is not None and known.state != "foreign" and holder is None and closed is None
        self.setup_button.setEnabled(usable and free)  # it may replace what is there
        self.customise_button.setEnabled(usable)

    def _show_gap(self, form: Form, refused_root: AmlError | None) -> None:
        """Say beside the field what is missing or wrong with what stands in it."""
        missing = self.words(form.gap) if form.gap is not None else ""
        if refused_root is not None:
            self.root_note.show_text("cross", error_sentence(self.words, refused_root))
        else:
            self.root_note.show_text("info", missing if form.lacks_root else "")
        self.space.setVisible(refused_root is None and not form.lacks_root)
        lacks_file = form.packages is Packages.FILE and not form.lacks_root
        self.file_note.show_text("info", missing if lacks_file else "")

    def _too_small(self, plan: PlanEvent | None) -> AmlError | None:
        """Return what is wrong where the disk of the folder has less room than the plan needs."""
        free, needed = self.controller.free, plan.disk_bytes if plan is not None else None
        if free is None or needed is None or needed <= free:
            return None
        sizes = {name: size_text(size, self.words.language) for name, size in (("needed", needed), ("free", free))}
        return AmlError("AML_DISK_SPACE", root=self.form.root, **sizes)

    def _show_present(self, environment: EnvironmentFacts | None) -> None:
        """Say what the folder holds already; that it holds nothing is normal."""
        if environment is None or environment.state == "absent":
            self.present.show_text("info", "")
        else:
            sign = "triangle" if environment.state == "foreign" else "info"
            self.present.show_text(sign, environment_sentence(self.words, environment))
        ours = environment is not None and environment.state not in {"absent", "foreign"}
        self.manage_button.setVisible(ours)
        self.manage_button.setEnabled(self.bar is None)
        self.another_button.setVisible(ours)

    def _show_settings_problem(self) -> None:
        problem = self._defaults.problem
        unknown = "\n".join(settings_remarks(self._defaults.choices, self.words.language))
        self.read_button.setVisible(problem is not None or bool(unknown))
        self.file_button.setVisible(self._defaults.file is not None)
        self.workspaces.setEnabled(self.bar is None)
        if problem is None:
            self.settings_problem.show_text("info", unknown)
        else:
            self.settings_problem.show_text("triangle", error_sentence(self.words, problem))

    @property
    def bar(self) -> AmlError | None:
        """What is wrong with the settings, so that nothing may be done before they are mended."""
        return self._defaults.problem

    def take_defaults(self, defaults: Defaults) -> None:
        """Go on with settings that were changed in the window; what is filled in stays."""
        if self.bar is not None:
            self._take_mended(defaults)
            return
        self._defaults = defaults
        self.refresh()

    def _read_settings(self) -> None:
        self.controller.begin_beside(self._read_again())

    async def _read_again(self) -> None:
        self._take_mended(await asyncio.to_thread(self._services.read_defaults))

    def _take_mended(self, defaults: Defaults) -> None:
        """Begin with settings that could not be used before."""
        self._defaults = defaults
        self.settings_remark.show_text("info", "")
        if defaults.language is not None:
            self.words.set_language(defaults.language)
        if not self.touched:
            self._fill(form_of(defaults.choices))
        self.survey()

    def _open_settings(self) -> None:
        file = str(self._defaults.file)
        opened = QDesktopServices.openUrl(QUrl.fromLocalFile(file))
        self.settings_remark.show_text("cross", "" if opened else self.text("settings.closed", path=file))

    def _space_sentence(self, needed: int | None) -> str:
        controller = self.controller
        free_bytes = controller.free
        known = controller.surveyed is not None and controller.surveyed.root == self.form.folder
        if free_bytes is None or not known:
            if controller.surveying:
                return self.words("found.looking")
            return self.text("space.unknown") if known else " "  # a blank keeps the line
        free = size_text(free_bytes, self.words.language)
        if not needed:
            return self.text("space.free", free=free)
        return self.text("space", free=free, needed=size_text(needed, self.words.language))

    def _fill(self, form: Form) -> None:
        self.root_edit.setText(form.root)
        self.requirements_edit.setText(form.requirements)
        self.bundle_edit.setText(form.bundle)
        self.offline_box.blockSignals(True)  # nothing was switched, and there may be no event loop yet
        self.offline_box.setChecked(form.offline)
        self.offline_box.blockSignals(False)
        self.group.button(list(Packages).index(form.packages)).setChecked(True)
        self.touched = form.packages is Packages.BUNDLE  # it was opened on purpose: stay with it

    def _on_change(self) -> None:
        self.touched = True
        self._quiet.start()
        self.refresh()

    def _on_switch(self) -> None:
        """Look at once: with the network or without is another question, and nothing was typed."""
        self.touched = True
        self.survey()

    def _on_anew(self) -> None:
        """Set up what a given lock was made from, as the lock itself does not fit."""
        choices = self.choices()
        if choices is not None:
            self._quiet.stop()
            self.set_up.emit(replace(choices, refresh=True))

    def _on_set_up(self) -> None:
        choices = self.choices()
        if choices is not None:
            self._quiet.stop()
            self.set_up.emit(choices)

    def _choose_root(self) -> None:
        dialog = self._dialog("folder", self.root_edit)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.open()

    def _choose_requirements(self) -> None:
        dialog = self._dialog("requirements", self.requirements_edit)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([self.text("requirements.filter"), self.text("requirements.all")])
        dialog.open()

    def _choose_bundle(self) -> None:
        dialog = self._dialog("bundle", self.bundle_edit)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([self.text("bundle.filter"), self.text("requirements.all")])
        dialog.open()

    def _dialog(self, key: str, edit: QLineEdit) -> QFileDialog:
        dialog = QFileDialog(self, self.text(f"{key}.choose"), edit.text() or first_folder())
        dialog.fileSelected.connect(edit.setText)
        dialog.finished.connect(dialog.deleteLater)
        return dialog


def _lead_tab(button: QAbstractButton, /, chosen: bool) -> None:
    """Let the Tab key lead to the chosen button of a group; Qt does so where it was clicked, but not where it was set."""
    tab = Qt.FocusPolicy.TabFocus
    button.setFocusPolicy(button.focusPolicy() | tab if chosen else button.focusPolicy() & ~tab)
