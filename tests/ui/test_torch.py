"""The choice between builds of PyTorch, the cards that were found, and what PyTorch sees at the end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from amlwizard.core.catalogue import Phrase
from amlwizard.core.facts import AMD, NVIDIA, GraphicsCard
from amlwizard.core.torch_builds import TorchChoice
from amlwizard.ui.step_list import PageId
from tests.support.fake_engine import FakeEngine
from tests.support.played_window import click, part
from tests.support.waiting import until

if TYPE_CHECKING:
    from amlwizard.core.choices import Choices
    from amlwizard.core.events import Emit
    from amlwizard.core.facts import Facts
    from amlwizard.ui.wizard import SetupWizard
    from tests.support.played_window import Play

FITS = TorchChoice("cu126", "cu126", Phrase("torch.why.no_card"), "cu126", ("cpu", "cu132", "cu126"))


class TorchEngine(FakeEngine):
    """Takes the build that is chosen, and otherwise the one that fits."""

    async def detect(self, choices: Choices, emit: Emit) -> Facts:
        taken = choices.accelerator if choices.accelerator not in (None, "auto") else FITS.build
        why = FITS.why if taken == FITS.build else Phrase("torch.chosen", {"build": Phrase("torch.build.cpu")})
        self.torch = replace(FITS, build=taken, accelerator=taken, why=why)
        return await super().detect(choices, emit)


async def at_environment(wizard: SetupWizard) -> None:
    wizard.survey()
    await until(lambda: wizard.controller.plan is not None)
    click(wizard, "customiseButton")
    while wizard.currentId() != PageId.ENVIRONMENT:
        wizard.next()


def test_the_build_is_chosen_with_the_keyboard_and_the_reason_follows(play: Play) -> None:
    engine = TorchEngine()
    engine.sees = Phrase("torch.sees_processor", {"version": "2.9.0+cpu"})

    async def scene(wizard: SetupWizard) -> None:
        await at_environment(wizard)
        box = part(wizard, "acceleratorBox")
        assert [box.itemText(row) for row in range(box.count())] == [
            "What fits this computer (CUDA 12.6)",
            "the processor",
            "CUDA 13.2",
            "CUDA 12.6",
        ]
        assert (box.currentIndex(), box.accessibleName()) == (0, "Build of PyTorch")
        assert "no graphics card" in part(wizard, "acceleratorWhyLabel").text()
        box.setFocus()
        QTest.keyClick(box, Qt.Key.Key_Down)
        await until(lambda: part(wizard, "acceleratorWhyLabel").text().endswith("the processor, as chosen."))
        assert box.currentText() == "the processor"
        wizard.words.set_language("zh_CN")
        assert box.currentText() == "处理器"
        wizard.words.set_language("en")
        await until(lambda: wizard.controller.plan is not None)
        click(wizard, "buildButton")
        await until(lambda: wizard.currentId() == PageId.FINISH)
        seen = part(wizard, "torchSeesLabel")
        assert seen.isVisible()
        assert seen.text() == "PyTorch 2.9.0+cpu computes on the processor, for which it is built."
        wizard.words.set_language("zh_CN")
        assert seen.text() == "PyTorch 2.9.0+cpu 在处理器上计算，这是面向处理器的构建。"

    play(engine, scene)
    assert [(name, choices.accelerator) for name, choices in engine.calls] == [("install", "cpu")]


def test_without_pytorch_nothing_is_offered_and_nothing_told(play: Play) -> None:
    engine = FakeEngine()

    async def scene(wizard: SetupWizard) -> None:
        await at_environment(wizard)
        await until(lambda: part(wizard, "planView").topLevelItemCount() > 0)
        assert not part(wizard, "acceleratorBox").isVisible()
        click(wizard, "buildButton")
        await until(lambda: wizard.currentId() == PageId.FINISH)
        assert not part(wizard, "torchSeesLabel").isVisible()

    play(engine, scene)


def test_cards_are_named_and_one_without_a_driver_is_said_to_be(play: Play) -> None:
    engine = FakeEngine()
    engine.graphics = (
        GraphicsCard(NVIDIA, "NVIDIA GeForce RTX 3090", "550.144.03"),
        GraphicsCard(AMD, "AMD Navi 31", "6.12.12", "gfx1100"),
        GraphicsCard(NVIDIA, "NVIDIA 2204"),
    )

    async def scene(wizard: SetupWizard) -> None:
        wizard.survey()
        await until(lambda: wizard.controller.plan is not None)
        click(wizard, "customiseButton")
        label = part(wizard, "graphicsFoundLabel")
        assert label.text().splitlines() == [
            "NVIDIA GeForce RTX 3090, driver 550.144.03",
            "AMD Navi 31 (gfx1100), driver 6.12.12",
            "NVIDIA 2204, without a driver to compute with",
        ]

    play(engine, scene)


def test_the_chosen_build_is_what_the_start_page_plans_and_sets_up_as_long_as_the_packages_stay(play: Play) -> None:
    engine = TorchEngine()

    async def scene(wizard: SetupWizard) -> None:
        await at_environment(wizard)
        box = part(wizard, "acceleratorBox")
        box.setFocus()
        QTest.keyClick(box, Qt.Key.Key_Down)
        await until(lambda: part(wizard, "acceleratorWhyLabel").text().endswith("the processor, as chosen."))
        while wizard.currentId() != PageId.START:
            wizard.back()
        await until(lambda: wizard.controller.idle)
        planned = wizard.controller.surveyed
        assert planned is not None
        assert planned.accelerator == "cpu"
        assert planned == wizard.start_page.choices()
        part(wizard, "minimalButton").setChecked(True)
        others = wizard.start_page.choices()
        assert others is not None
        assert others.accelerator is None
        part(wizard, "defaultButton").setChecked(True)
        wizard.survey()
        await until(lambda: wizard.controller.plan is not None and wizard.controller.idle)
        QTest.keyClick(part(wizard, "setupButton"), Qt.Key.Key_Space)
        await until(lambda: wizard.currentId() == PageId.FINISH)

    play(engine, scene)
    assert [(name, choices.accelerator) for name, choices in engine.calls] == [("install", "cpu")]
