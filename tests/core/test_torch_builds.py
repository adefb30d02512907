"""Which build of PyTorch is taken, and why."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amlwizard.core.catalogue import LANGUAGES, text
from amlwizard.core.choices import Choices, UvMethod
from amlwizard.core.facts import AMD, APPLE, NVIDIA, GraphicsCard, Host
from amlwizard.core.profiles import load_profile
from amlwizard.core.requirements import is_complete_hashed_lock, parse_closure
from amlwizard.core.torch_builds import build_name, fitting_build, offered_builds
from amlwizard.core.torch_choice import choose_torch
from amlwizard.core.uv_cli import ACCELERATORS

LINUX = Host("linux", "x86_64", "6.1", "glibc 2.36", 8, 10**10)
ARM = replace(LINUX, machine="aarch64")
WINDOWS = replace(LINUX, system="windows")
MAC = replace(LINUX, system="macos", machine="arm64")
HELD = {"kind": "profile", "name": "pytorch"}


def nvidia(driver: str) -> GraphicsCard:
    return GraphicsCard(NVIDIA, "NVIDIA RTX", driver)


def amd(architecture: str, driver: str = "6.12") -> GraphicsCard:
    return GraphicsCard(AMD, "AMD Radeon", driver, architecture)


@pytest.mark.parametrize(
    ("host", "cards", "build", "key"),
    [
        (LINUX, [], "cpu", "no_card"),
        (LINUX, [nvidia("")], "cpu", "no_driver"),
        (LINUX, [nvidia("600.1")], "cu132", "driver"),
        (LINUX, [nvidia("580.0")], "cu132", "driver"),
        (LINUX, [nvidia("579.99")], "cu128", "driver"),
        (LINUX, [nvidia("550.144.03")], "cu126", "driver"),
        (LINUX, [nvidia("525.60.13")], "cu126", "driver"),
        (LINUX, [nvidia("525.60")], "cpu", "old_driver"),
        (LINUX, [nvidia("odd")], "cpu", "old_driver"),
        (WINDOWS, [nvidia("552.22")], "cu126", "driver"),
        (WINDOWS, [nvidia("528.32")], "cpu", "old_driver"),
        (LINUX, [amd("gfx1100")], "rocm7.2", "architecture"),
        (LINUX, [amd("gfx803")], "cpu", "no_architecture"),
        (LINUX, [amd("")], "cpu", "no_architecture"),
        (LINUX, [amd("", "")], "cpu", "no_driver"),
        (ARM, [amd("gfx1100")], "cpu", "no_rocm"),
        (WINDOWS, [amd("")], "cpu", "no_rocm"),
        (LINUX, [amd("gfx1100"), nvidia("550.1")], "cu126", "driver"),
        (LINUX, [nvidia(""), amd("gfx1100")], "rocm7.2", "architecture"),
        (MAC, [GraphicsCard(APPLE, "Apple silicon")], "mps", "mps"),
    ],
)
def test_what_fits_a_computer(host: Host, cards: list[GraphicsCard], build: str, key: str) -> None:
    fit = fitting_build(host, cards)
    assert (fit.build, fit.why.key) == (build, f"torch.why.{key}")
    for language in LANGUAGES:
        words = text(fit.why.key, language, **fit.why.arguments)
        assert all(card.name in words for card in cards[:1] if card.vendor != APPLE and len(cards) == 1)


def test_uv_knows_whatever_is_offered_or_taken() -> None:
    offered = {*offered_builds(LINUX), *offered_builds(WINDOWS)}
    assert offered <= set(ACCELERATORS)
    assert "rocm7.2" in offered_builds(LINUX)
    assert offered_builds(ARM) == offered_builds(WINDOWS)
    assert not {build for build in offered_builds(WINDOWS) if build.startswith("rocm")}
    assert offered_builds(MAC) == ()
    names = {text(build_name(build).key, **build_name(build).arguments) for build in ("cu128", "rocm7.2", "xpu")}
    assert names == {"CUDA 12.8", "ROCm 7.2", "xpu"}


@pytest.mark.parametrize(
    ("host", "cards", "wished", "recorded", "taken"),
    [
        (LINUX, [nvidia("580.1")], {}, {}, ("cu132", None, "torch.why.driver")),
        (LINUX, [nvidia("550.1")], {}, {}, ("cu126", "cu126", "torch.why.driver")),
        (LINUX, [], {}, {}, ("cpu", "cpu", "torch.why.no_card")),
        (WINDOWS, [], {}, {}, ("cpu", None, "torch.why.no_card")),
        (MAC, [GraphicsCard(APPLE, "Apple silicon")], {}, {}, ("mps", None, "torch.why.mps")),
        (LINUX, [], {"index_url": "https://index.example.org"}, {}, ("cu132", None, "torch.bound")),
        (LINUX, [], {"offline": True}, {}, ("cu132", None, "torch.bound")),
        (LINUX, [], {"uv_method": UvMethod.NONE}, {}, ("cu132", None, "torch.bound")),
        (LINUX, [], {"offline": True, "accelerator": "auto"}, {}, ("cpu", "cpu", "torch.why.no_card")),
        (LINUX, [], {"accelerator": "cu126"}, {}, ("cu126", "cu126", "torch.chosen")),
        (LINUX, [], {"accelerator": "cu132"}, {}, ("cu132", None, "torch.chosen")),
        (LINUX, [nvidia("550.1")], {"accelerator": "cu130"}, {}, ("cu130", "cu130", "torch.too_new")),
        (LINUX, [nvidia("580.1")], {"accelerator": "cu130"}, {}, ("cu130", "cu130", "torch.chosen")),
        (LINUX, [], {}, HELD, ("cu132", None, "torch.kept")),
        (LINUX, [], {}, HELD | {"accelerator": "cu126"}, ("cu126", "cu126", "torch.kept")),
        (LINUX, [], {}, HELD | {"name": "default"}, ("cpu", "cpu", "torch.why.no_card")),
        (LINUX, [], {"accelerator": "auto"}, HELD, ("cpu", "cpu", "torch.why.no_card")),
        (LINUX, [nvidia("580")], {"accelerator": "auto"}, HELD, ("cu132", None, "torch.why.driver")),
        (
            LINUX,
            [nvidia("580")],
            {"accelerator": "auto"},
            HELD | {"accelerator": "cpu"},
            ("cu132", "cu132", "torch.why.driver"),
        ),
    ],
)
def test_what_is_taken(
    host: Host, cards: list[GraphicsCard], wished: dict[str, Any], recorded: dict[str, str], taken: tuple[str, str, str]
) -> None:
    choices = Choices(Path("/aml"), profile="pytorch", **wished)
    choice = choose_torch(choices, load_profile("pytorch"), recorded, host, cards)
    assert (choice.build, choice.accelerator, choice.why.key) == taken
    assert choice.fits == fitting_build(host, cards).build
    for language in LANGUAGES:
        assert text(choice.why.key, language, **choice.why.arguments)


def test_the_list_for_any_build_leaves_only_pytorch_open() -> None:
    profile = load_profile("pytorch")
    assert profile.any_build is not None
    assert profile.short_list is not None
    open_list = parse_closure(profile.any_build, {})
    assert not is_complete_hashed_lock(open_list)
    assert not open_list.options
    wanted = {entry.name for entry in parse_closure(profile.short_list, {}).entries}
    assert {entry.name for entry in open_list.requirements} == wanted
    pins = {(entry.name, entry.pinned_version, tuple(entry.hashes)) for entry in open_list.constraints}
    locked = parse_closure(profile.requirements, {}).entries
    assert pins <= {(entry.name, entry.pinned_version, tuple(entry.hashes)) for entry in locked}
    free = {entry.name for entry in locked} - {name for name, _, _ in pins}
    assert "torch" in free
    assert not free & (wanted - {"torch"})


def test_the_builds_of_the_lock_are_those_that_its_packages_tell() -> None:
    profile = load_profile("pytorch")
    toolkit = next(entry for entry in parse_closure(profile.requirements, {}).entries if entry.name == "cuda-toolkit")
    assert toolkit.pinned_version is not None
    cuda = "cu" + "".join(toolkit.pinned_version.split(".")[:2])
    assert profile.builds == {
        "linux-x86_64": cuda,
        "linux-aarch64": cuda,
        "windows-x86_64": "cpu",
        "macos-arm64": "mps",
    }
    assert profile.builds.keys() == profile.sizes.keys()
    assert load_profile().any_build is None
