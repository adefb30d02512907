"""The page with the settings of the network: addresses, sign-in, certificates, and whether the hosts can be reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from amlwizard.core.catalogue import Phrase
from amlwizard.core.network_settings import KEYS, login_places
from amlwizard.ui.findings import error_sentence
from amlwizard.ui.page import Page
from amlwizard.ui.services import Login
from amlwizard.ui.theme import UNIT, Notice, PrimaryButton, icon

if TYPE_CHECKING:
    from amlwizard.core.network_settings import NetworkSettings
    from amlwizard.core.preflight import Reached

_NAMES: Final = {
    "indexUrl": "indexUrlEdit",
    "extraIndexUrls": "extraIndexUrlsEdit",
    "pythonMirror": "pythonMirrorEdit",
    "proxy": "proxyEdit",
    "caFile": "caFileEdit",
}
_FEWEST_ROWS: Final = 3
_TALL: Final = 10_000


class NetworkPage(Page):
    """What the user chooses here is saved into the user's settings; a check saves it first.

    Signals:
        check_wanted: reach the hosts that are needed, by the settings as they are saved.
    """

    name = "network"
    check_wanted = Signal()

    def build(self) -> None:
        """Lay out the form."""
        self.desk = self.controller.network
        self._said: Phrase | None = None
        self._filling = False
        self._results: list[QTreeWidgetItem] = []
        self._pressed: QPushButton | None = None
        form = QFormLayout()
        form.setSpacing(UNIT)
        form.setHorizontalSpacing(2 * UNIT)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.mirror_box = QComboBox()
        self.mirror_box.setObjectName("mirrorBox")
        self.mirror_box.activated.connect(self._on_mirror)
        self._row(form, "mirror", self.mirror_box, self.mirror_box)
        self.edits: dict[str, QLineEdit] = {}
        self.notes: dict[str, QLabel] = {}
        for key in KEYS:
            self._build_field(form, key)
        self._build_login(form)
        self.column.addLayout(form)
        self._build_found()
        self._build_buttons()
        self.state = Notice("networkStateLabel")
        self.column.addWidget(self.state)
        self._build_results()
        self.column.addStretch(0)
        self.desk.read.connect(self._fill)
        self.desk.changed.connect(self.refresh)

    def _build_field(self, form: QFormLayout, key: str) -> None:
        edit = QLineEdit()
        edit.setObjectName(_NAMES[key])
        edit.textChanged.connect(self._on_change)
        self.words.bind(edit.setToolTip, f"network.about.{key}")
        note = QLabel()
        note.setObjectName(f"{key}FixedLabel")
        self.edits[key], self.notes[key] = edit, note
        box = QWidget()
        line = QHBoxLayout(box)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(UNIT)
        line.addWidget(edit, 1)
        if key == "caFile":
            self.file_button = self.new_button("chooseCaFileButton", "network.choose", self._choose_file)
            self.words.bind(self.file_button.setAccessibleName, "network.choose.name")
            line.addWidget(self.file_button)
        line.addWidget(note)
        self._row(form, key, edit, box)

    def _build_login(self, form: QFormLayout) -> None:
        self.login_box = QComboBox()
        self.login_box.setObjectName("loginBox")
        self.login_box.setMinimumContentsLength(24)
        self.login_box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.user_edit, self.password_edit = QLineEdit(), QLineEdit()
        self.password_edit.setEchoMode(QLineEdit.EchoMode.Password)
        for edit, key in ((self.user_edit, "user"), (self.password_edit, "password")):
            edit.setObjectName(f"{key}Edit")
            self.words.bind(edit.setPlaceholderText, f"network.{key}")
            self.words.bind(edit.setAccessibleName, f"network.{key}")
            edit.textChanged.connect(self._on_change)
        self.keep_box = QCheckBox()
        self.keep_box.setObjectName("keepLoginBox")
        self.words.bind_label(self.keep_box.setText, "network.keep")
        self.keep_note = QLabel()
        self.keep_note.setObjectName("keepLoginLabel")
        self.keep_note.setWordWrap(True)
        self.forget_button = self.new_button("forgetLoginButton", "network.forget", self._on_forget)
        box = QWidget()
        lines = QVBoxLayout(box)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(UNIT)
        line = QHBoxLayout()
        line.setSpacing(UNIT)
        for widget, stretch in ((self.login_box, 2), (self.user_edit, 1), (self.password_edit, 1)):
            line.addWidget(widget, stretch)
        lines.addLayout(line)
        line = QHBoxLayout()
        line.setSpacing(UNIT)
        line.addWidget(self.keep_box)
        line.addWidget(self.keep_note, 1)
        line.addWidget(self.forget_button)
        lines.addLayout(line)
        self.rows = form
        self.login_row = box
        self._row(form, "login", self.login_box, box)

    def _build_found(self) -> None:
        self.found = Notice("networkFoundLabel")
        self.found_button = self.new_button("useFoundButton", "network.found.use", self._on_use_found)
        row = QHBoxLayout()
        row.setSpacing(2 * UNIT)
        row.addWidget(self.found, 1)
        row.addWidget(self.found_button, 0, Qt.AlignmentFlag.AlignTop)
        self.column.addLayout(row)

    def _build_buttons(self) -> None:
        self.check_button = PrimaryButton("checkNetworkButton")
        self.words.bind_label(self.check_button.setText, "network.check")
        self.check_button.clicked.connect(self._on_check)
        self.save_button = self.new_button("saveNetworkButton", "network.save", self._on_save)
        self.copy_button = self.new_button("copyForItButton", "network.copy", self._on_copy)
        row = QHBoxLayout()
        row.setSpacing(2 * UNIT)
        for button in (self.check_button, self.save_button, self.copy_button):
            row.addWidget(button)
        row.addStretch(1)
        self.column.addSpacing(UNIT)
        self.column.addLayout(row)

    def _build_results(self) -> None:
        self.view = QTreeWidget()
        self.view.setObjectName("hostsView")
        self.view.setColumnCount(2)
        self.view.setRootIsDecorated(False)
        self.view.setWordWrap(True)
        self.view.setSelectionMode(QTreeWidget.SelectionMode.NoSelection)
        header = self.view.header()
        header.setStretchLastSection(True)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        header.sectionResized.connect(self._fit_rows)
        self.words.bind(self.view.setAccessibleName, "network.results")
        self.view.setMinimumHeight((_FEWEST_ROWS + 1) * 3 * UNIT)
        self.view.setVisible(False)
        self.column.addWidget(self.view, 1)

    def _row(self, form: QFormLayout, key: str, buddy: QWidget, box: QWidget) -> None:
        label = QLabel()
        label.setBuddy(buddy)
        self.words.bind_label(label.setText, f"network.field.{key}")
        self.words.bind(buddy.setAccessibleName, f"network.field.{key}")
        if key != "login":
            self.words.bind(buddy.setToolTip, f"network.about.{key}")
        form.addRow(label, box)

    def open(self) -> None:
        """Read the settings, unless something that is not saved yet stands on the page."""
        self._said = None
        if self.desk.settings is None or not self.is_changed:
            self.desk.load()
        self.refresh()

    def landing(self) -> QWidget | None:
        """Return the first field that is not fixed by somebody else, once the settings are read."""
        fields = (self.mirror_box, *self.edits.values())
        return next((field for field in fields if field.isEnabled()), None)

    def values(self) -> dict[str, str]:
        """Return what is filled in, by the key of the setting."""
        return {key: edit.text().strip() for key, edit in self.edits.items()}

    @property
    def is_changed(self) -> bool:
        """Tell whether anything is filled in that is not saved."""
        settings = self.desk.settings
        return settings is not None and (self.values() != settings.values or self._login() is not None)

    def refresh(self) -> None:
        """Show what holds, what goes on, and what came of the last check."""
        settings, busy = self.desk.settings, self.desk.busy
        self._show_fields(settings, usable=not busy and settings is not None)
        self._show_mirrors(settings)
        self._show_places(settings)
        self._show_found(settings)
        idle = not busy and settings is not None
        self.check_button.setEnabled(idle)
        self.save_button.setEnabled(idle and self.is_changed)
        self.copy_button.setEnabled(idle and self.desk.check is not None)
        self._show_state()
        self._show_results()
        if idle and self._pressed is not None:  # it lost the focus while it could not be pressed
            (self._pressed if self._pressed.isEnabled() else self.check_button).setFocus()
            self._pressed = None

    def _show_fields(self, settings: NetworkSettings | None, *, usable: bool) -> None:
        fixed = settings.fixed if settings is not None else {}
        instead = {each.key: each for each in reversed(settings.found)} if settings is not None else {}
        for key, edit in self.edits.items():
            who = self.words(fixed[key].key, **fixed[key].arguments) if key in fixed else ""
            self.notes[key].setText(who)
            self.notes[key].setVisible(bool(who))
            edit.setAccessibleDescription(who or self.words(f"network.about.{key}"))
            edit.setEnabled(usable and key not in fixed)
            usual = self.words.known(f"network.usual.{key}", {}, self.words("network.usual"))
            found = instead.get(key)
            if found is not None:
                usual = self.words("network.instead", value=found.value, place=found.place)
            edit.setPlaceholderText(usual)
        self.file_button.setEnabled(self.edits["caFile"].isEnabled())
        no_keyring = settings.no_keyring if settings is not None else None
        self.keep_box.setVisible(no_keyring is None)
        self.keep_note.setText(self.words("network.for_this_run", reason=no_keyring) if no_keyring is not None else "")
        self.login_row.setEnabled(usable)

    def _show_mirrors(self, settings: NetworkSettings | None) -> None:
        mirrors = settings.mirrors if settings is not None else ()
        index = self.edits["indexUrl"].text().strip()
        known = settings.mirror_of(index) if settings is not None else None
        first = "network.mirror.own" if index and known is None else "network.mirror.none"
        self.mirror_box.clear()
        self.mirror_box.addItem(self.words(first))
        for mirror in mirrors:
            self.mirror_box.addItem(mirror.name(self.words.language))
        self.mirror_box.setCurrentIndex(mirrors.index(known) + 1 if known is not None else 0)
        self.mirror_box.setEnabled(bool(mirrors) and self.edits["indexUrl"].isEnabled())

    def _show_places(self, settings: NetworkSettings | None) -> None:
        """Offer a sign-in for what is filled in, and for what holds where nothing is."""
        values = self.values()
        if settings is not None:
            values = {key: value or settings.found_values().get(key, "") for key, value in values.items()}
        places = login_places(values)
        if places != [self.login_box.itemText(number) for number in range(self.login_box.count())]:
            before = self.login_box.currentText()
            self.login_box.clear()
            self.login_box.addItems(places)
            self.login_box.setCurrentIndex(max(0, self.login_box.findText(before)))
        self.rows.setRowVisible(self.login_row, bool(places))

    def _show_found(self, settings: NetworkSettings | None) -> None:
        found = settings.found if settings is not None else ()
        offered = [each for each in found if each.value not in self.values()[each.key].split()]
        lines = [
            self.words("network.found.line", field=Phrase(f"network.field.{each.key}"), value=each.value, place=each.place)
            for each in offered
        ]
        self.found.show_text("dot", "\n".join([self.words("network.found"), *lines]) if lines else "")
        usable = any(self.edits[each.key].isEnabled() for each in offered)
        self.found_button.setVisible(bool(lines))
        self.found_button.setEnabled(usable)

    def _show_state(self) -> None:
        desk = self.desk
        problem = desk.problem or (desk.settings.problem if desk.settings is not None else None)
        if desk.busy:
            self.state.show_text("dot", self.words(f"network.{desk.busy}"))
        elif problem is not None:
            self.state.show_text("triangle", error_sentence(self.words, problem))
        elif self.is_changed:
            self.state.show_text("dot", self.words("network.unsaved"))
        elif self._said is not None:
            self.state.show_text("tick", self.words(self._said.key, **self._said.arguments))
        elif desk.check is not None:
            self._show_summary(desk.check.hosts)
        else:
            self.state.show_text("dot", "")

    def _show_summary(self, hosts: tuple[Reached, ...]) -> None:
        wrong = sum(each.error is not None for each in hosts)
        if not hosts:
            self.state.show_text("tick", self.words("network.no_host"))
        elif wrong:
            self.state.show_text("cross", self.words("network.some_wrong", wrong=wrong, number=len(hosts)))
        else:
            self.state.show_text("tick", self.words("network.all_fine", number=len(hosts)))

    def _show_results(self) -> None:
        check = self.desk.check
        self.view.setHeaderLabels([self.words(f"network.column.{name}") for name in ("host", "result")])
        self._results.clear()
        self.view.clear()
        self.view.setVisible(check is not None and bool(check.hosts))
        for each in check.hosts if check is not None else ():
            host, port = each.place
            result = each.result(self.words.language) if each.error is None else error_sentence(self.words, each.error)
            row = QTreeWidgetItem(self.view, [f"{host}:{port}", result])
            row.setIcon(0, icon("tick" if each.error is None else "cross"))
            row.setToolTip(1, result)
            self._results.append(row)
        self._fit_rows()

    def _fit_rows(self) -> None:
        """Give each row as many lines as its result takes, which a tree does not do by itself."""
        room = QRect(0, 0, self.view.columnWidth(1) - UNIT, _TALL)
        for row in self._results:
            lines = self.view.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap, row.text(1))
            row.setSizeHint(1, QSize(room.width(), lines.height() + UNIT // 2))

    def _fill(self) -> None:
        settings = self.desk.settings
        if settings is None:
            return
        self._filling = True
        for key, edit in self.edits.items():
            edit.setText(settings.values[key])
        for edit in (self.user_edit, self.password_edit):
            edit.clear()
        self._filling = False
        self.refresh()

    def _login(self) -> Login | None:
        place, user, password = self.login_box.currentText(), self.user_edit.text(), self.password_edit.text()
        if not place or not (user or password):
            return None
        keeps = self.keep_box.isChecked() and not self.keep_box.isHidden()
        return Login(place, user, password, keeps)

    def _on_change(self) -> None:
        if not self._filling:
            self._said = None
            self.desk.problem = self.desk.check = None  # they are about what stood there before
            self.refresh()

    def _on_mirror(self, number: int) -> None:
        settings = self.desk.settings
        if settings is None:
            return
        index, python = self.edits["indexUrl"], self.edits["pythonMirror"]
        before = settings.mirror_of(index.text())
        if number > 0:
            mirror = settings.mirrors[number - 1]
            self._put(index, mirror.index_url)
            self._put(python, mirror.python_mirror or "")
        elif before is not None:
            self._put(index, "")
            if python.text().strip() == (before.python_mirror or ""):
                self._put(python, "")

    @staticmethod
    def _put(edit: QLineEdit, text: str) -> None:
        if edit.isEnabled():
            edit.setText(text)

    def _on_use_found(self) -> None:
        settings = self.desk.settings
        for key, value in settings.found_values().items() if settings is not None else ():
            self._put(self.edits[key], value)

    def _on_save(self) -> None:
        self._pressed = self.save_button
        self._said = Phrase("network.saved")
        self.desk.save(self.values(), self._login())

    def _on_check(self) -> None:
        self._pressed = self.check_button
        self._said = None
        if self.is_changed:
            self.desk.save(self.values(), self._login(), self.check_wanted.emit)
        else:
            self.check_wanted.emit()

    def _on_forget(self) -> None:
        self._pressed = self.forget_button
        place = self.login_box.currentText()
        self._said = Phrase("network.forgotten", {"origin": place})
        self.desk.forget(place)

    def _on_copy(self) -> None:
        if self.desk.check is not None:
            QGuiApplication.clipboard().setText(self.desk.check.for_it)
            self._said = Phrase("network.copied")
            self.refresh()

    def _choose_file(self) -> None:
        dialog = QFileDialog(self, self.words("network.choose.name"), self.edits["caFile"].text())
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([self.words("network.choose.filter"), self.words("page.start.requirements.all")])
        dialog.fileSelected.connect(self.edits["caFile"].setText)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
