"""Where a bundle's packages come from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amlwizard.core.bundle.gathering import choose_source
from amlwizard.core.choices import BundleOrder, Choices
from amlwizard.core.facts import Host
from amlwizard.core.paths import Workspace
from amlwizard.core.wish import make_wish

if TYPE_CHECKING:
    from pathlib import Path

HOST = Host("linux", "x86_64", "6.1", "glibc 2.36", 2, 8)


def test_what_a_workspace_holds_for_another_accelerator_is_not_what_is_asked_for(tmp_path: Path) -> None:
    workspace, requirements = Workspace(tmp_path / "aml"), tmp_path / "requirements.txt"
    requirements.write_text("torch\n", encoding="utf-8")
    workspace.runtime.mkdir(parents=True)
    workspace.local_lock.touch()
    choices = Choices(root=workspace.root, requirements=requirements)
    digest = make_wish(choices, workspace, {}).digest("3.11.7")
    about = f'kind = "file"\nname = "r.txt"\ndigest = "{digest}"\npython = "3.11.7"\naccelerator = "cpu"\n'
    workspace.lock.write_text(f"[tool.amlwizard]\n{about}", encoding="utf-8")
    order = BundleOrder(tmp_path / "out.amlbundle")
    for accelerator, held in ((None, True), ("cpu", True), ("cu128", False)):
        wanted = replace(choices, accelerator=accelerator)
        source = choose_source(wanted, order, make_wish(wanted, workspace, {}), workspace, HOST)
        assert (source.recorded is not None) is held, accelerator


def test_the_build_of_pytorch_that_a_workspace_holds_goes_into_its_bundle(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "aml")
    workspace.runtime.mkdir(parents=True)
    workspace.local_lock.touch()
    choices = Choices(root=workspace.root, profile="pytorch", order=BundleOrder(tmp_path / "out.amlbundle"))
    digest = make_wish(replace(choices, accelerator="cu126"), workspace, {}).digest("3.11.7")
    about = f'kind = "profile"\nname = "pytorch"\ndigest = "{digest}"\npython = "3.11.7"\naccelerator = "cu126"\n'
    workspace.lock.write_text(f"[tool.amlwizard]\n{about}", encoding="utf-8")
    assert choices.order is not None
    for profile in ("pytorch", None):
        for accelerator, held in ((None, True), ("cu126", True), ("cpu", False)):
            wanted = replace(choices, profile=profile, accelerator=accelerator)
            wish = make_wish(wanted, workspace, {})
            source = choose_source(wanted, choices.order, wish, workspace, HOST)
            assert (source.recorded or {}).get("accelerator") == ("cu126" if held else None), accelerator
            assert wish.accelerator == (accelerator or "cu126")
