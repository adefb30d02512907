"""The choice between builds of PyTorch, with the reason for the present one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from amlwizard.core.uv_cli import AUTO
from amlwizard.ui.theme import UNIT, Notice

if TYPE_CHECKING:
    from amlwizard.core.torch_builds import TorchChoice
    from amlwizard.ui.words import Words


class TorchRow(QWidget):
    """Offers the builds where the packages have PyTorch; hidden otherwise.

    Signals:
        chosen: another build (``str``, as of ``--accelerator``) is wished.
    """

    chosen = Signal(str)

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._words = words
        label = QLabel()
        self.box = QComboBox()
        self.box.setObjectName("acceleratorBox")
        label.setBuddy(self.box)
        words.bind_label(label.setText, "page.environment.accelerator")
        words.bind(self.box.setAccessibleName, "page.environment.accelerator.name")
        self.box.activated.connect(self._on_activated)
        line = QHBoxLayout()
        line.setSpacing(UNIT)
        line.addWidget(label)
        line.addWidget(self.box)
        line.addStretch(1)
        self.why = Notice("acceleratorWhyLabel")
        lines = QVBoxLayout(self)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(UNIT // 2)
        lines.addLayout(line)
        lines.addWidget(self.why)
        self.setVisible(False)

    def show_choice(self, torch: TorchChoice | None, wished: str | None) -> None:
        """Show what is taken and why.

        Args:
            torch: what the look at the computer has found; None where it is about no PyTorch or goes on.
            wished: the accelerator that was chosen, None where none was.
        """
        self.setVisible(torch is not None)
        if torch is None:
            return
        words = self._words
        self.box.clear()
        self.box.addItem(words("page.environment.accelerator.fits", build=self._name(torch.fits)), AUTO)
        for build in torch.offered:
            self.box.addItem(self._name(build), build)
        taken = wished or (AUTO if torch.build == torch.fits else torch.build)
        if self.box.findData(taken) < 0:  # it was chosen on the command line
            self.box.addItem(self._name(taken), taken)
        self.box.setCurrentIndex(self.box.findData(taken))
        self.box.setEnabled(bool(torch.offered))
        self.why.show_text("info", words(torch.why.key, **torch.why.arguments))

    def _name(self, build: str) -> str:
        from amlwizard.core.torch_builds import build_name  # whoever found the choice has loaded it

        name = build_name(build)
        return self._words(name.key, **name.arguments)

    def _on_activated(self, row: int) -> None:
        self.chosen.emit(self.box.itemData(row))
