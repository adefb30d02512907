"""Graphics cards: the real search on simulated trees and registries."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from amlwizard.core.detection.graphics import find_cards
from amlwizard.core.facts import AMD, APPLE, NVIDIA, GraphicsCard, Host
from tests.core.detection.test_windows import FakeRegistry
from tests.support.recording_runner import RecordingRunner
from tests.support.stub_interpreters import probe_environment, stub

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LINUX = Host("linux", "x86_64", "6.1", "glibc 2.36", 8, 10**10)
CLASS = "{4d36e968-e325-11ce-bfc1-08002be10318}"
CONTROL = "SYSTEM\\CurrentControlSet"


class Tree:
    """The files of a Linux system."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, path: str, text: str = "") -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def device(self, address: str, vendor: str, device: str, class_: str = "0x030000", driver: str = "") -> None:
        place = f"sys/bus/pci/devices/{address}"
        for name, value in (("vendor", vendor), ("device", device), ("class", class_)):
            self.write(f"{place}/{name}", f"{value}\n")
        if driver:
            (self.root / place / "driver").symlink_to(f"../../../bus/pci/drivers/{driver}")

    async def cards(self, seconds: float = 60) -> tuple[GraphicsCard, ...]:
        return await find_cards(LINUX, RecordingRunner(), probe_environment(), system_root=self.root, smi_seconds=seconds)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A system without a card."""
    made = Tree(tmp_path)
    made.device("0000:00:02.0", "0x8086", "0x3e92")
    made.device("0000:00:1f.3", "0x10de", "0x10fa", "0x040300")  # the sound of a card
    return made


async def test_no_card(tree: Tree, tmp_path: Path) -> None:
    assert await tree.cards() == ()
    assert await Tree(tmp_path / "empty").cards() == ()


async def test_an_nvidia_card_with_its_driver(tree: Tree) -> None:
    tree.device("0000:01:00.0", "0x10de", "0x2204", "0x030000", driver="nvidia")
    tree.write("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA GeForce RTX 3090\nIRQ: 1\n")
    version = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.144.03  Release Build  (x@y)  Mon Dec 30\n"
    tree.write("proc/driver/nvidia/version", f"{version}GCC version:  gcc version 12.3.0 (12.3.0-1)\n")
    assert await tree.cards() == (GraphicsCard(NVIDIA, "NVIDIA GeForce RTX 3090", "550.144.03"),)
    tree.write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  375.74  Wed Jun 14 2017\n")
    assert [card.driver for card in await tree.cards()] == ["375.74"]
    tree.write("sys/module/nvidia/version", "580.65.06\n")
    assert [card.driver for card in await tree.cards()] == ["580.65.06"]


async def test_a_card_without_its_makers_driver_is_named_and_nothing_is_claimed(tree: Tree) -> None:
    tree.device("0000:01:00.0", "0x10de", "0x2204", "0x030200", driver="nouveau")
    tree.device("0000:02:00.0", "0x1002", "0x744c", driver="vfio-pci")
    tree.device("0000:03:00.0", "0x1002", "0x744c")
    assert [(card.name, card.driver) for card in await tree.cards()] == [
        ("NVIDIA 2204", ""),
        ("AMD 744c", ""),
        ("AMD 744c", ""),
    ]
    tree.write(
        "usr/share/misc/pci.ids",
        "# a list\n1002  AMD/ATI\n\t744c  Navi 31\n10de  NVIDIA\n\t2204  GA102 [GeForce RTX 3090]\n\t\t10de 1  x\n",
    )
    assert [card.name for card in await tree.cards()][:2] == ["NVIDIA GA102 [GeForce RTX 3090]", "AMD Navi 31"]


@pytest.mark.posix
@pytest.mark.parametrize(
    ("version", "architecture"),
    [("110000", "gfx1100"), ("90010", "gfx90a"), ("90402", "gfx942"), ("110501", "gfx1151"), ("0", "")],
)
async def test_an_amd_card_and_what_it_computes_with(tree: Tree, version: str, architecture: str) -> None:
    tree.device("0000:03:00.0", "0x1002", "0x744c", driver="amdgpu")
    tree.write("proc/sys/kernel/osrelease", "6.8.0-45-generic\n")
    nodes = "sys/class/kfd/kfd/topology/nodes"
    tree.write(f"{nodes}/0/properties", "cpu_cores_count 16\ngfx_target_version 0\nlocation_id 0\ndomain 0\n")
    tree.write(f"{nodes}/1/properties", f"gfx_target_version {version}\nlocation_id 768\ndomain 0\n")
    tree.write(f"{nodes}/2/properties", "gfx_target_version 100300\nlocation_id 1024\ndomain 0\n")
    card = GraphicsCard(AMD, "AMD 744c", "6.8.0-45-generic")
    assert await tree.cards() == (card,)  # the part that computes is not there
    tree.write("dev/kfd")
    tree.write("sys/module/amdgpu/version", "6.12.12\n")
    assert await tree.cards() == (replace(card, driver="6.12.12", architecture=architecture),)


async def test_what_cannot_be_read_is_no_failure(tree: Tree) -> None:
    tree.device("0000:01:00.0", "0x10de", "0x2204")
    tree.device("0000:02:00.0", "nonsense", "0x2204")
    (tree.root / "sys/module/nvidia/version").mkdir(parents=True)
    tree.write("proc/driver/nvidia/version", "\n")
    assert await tree.cards() == (GraphicsCard(NVIDIA, "NVIDIA 2204"),)


@pytest.mark.posix
@pytest.mark.parametrize(
    ("script", "cards"),
    [
        ("echo 'NVIDIA RTX A2000, 8GB, 572.16'", [GraphicsCard(NVIDIA, "NVIDIA RTX A2000, 8GB", "572.16")]),
        ("echo 'Failed to initialize NVML, 1'; exit 9", []),
        ("exec tail -f /dev/null", []),
    ],
)
async def test_under_wsl_its_tool_is_asked_for_a_while(tree: Tree, script: str, cards: Sequence[GraphicsCard]) -> None:
    stub(tree.root / "usr/lib/wsl/lib", "nvidia-smi", script)
    assert await tree.cards(60 if "tail" not in script else 0.3) == tuple(cards)


async def test_apple_silicon_has_graphics_and_other_macs_none_that_pytorch_uses() -> None:
    for machine, cards in (("arm64", (GraphicsCard(APPLE, "Apple silicon"),)), ("x86_64", ())):
        host = replace(LINUX, system="macos", machine=machine)
        assert await find_cards(host, RecordingRunner(), {}) == cards


def registered(vendor: str, service: str, version: str, *, runs: bool = True) -> dict[tuple[str, str, str], str]:
    """What the registry holds of a card."""
    device, instance = f"VEN_{vendor}&DEV_2204&SUBSYS_1&REV_A1", "4&1"
    key = f"{CONTROL}\\Enum\\PCI\\{device}\\{instance}"
    of_driver = f"{CONTROL}\\Control\\Class\\{CLASS}\\0001"
    values = {
        (key, "Service"): service,
        (key, "ClassGUID"): CLASS,
        (key, "DeviceDesc"): "@oem1.inf,%dev%;Card",
        (key, "Driver"): f"{CLASS}\\0001",
        (of_driver, "DriverDesc"): "Great Card",
        (of_driver, "DriverVersion"): version,
    }
    if runs:
        values[(f"{CONTROL}\\Services\\{service}\\Enum", "0")] = f"PCI\\{device.lower()}\\{instance}"
    return {("HKLM64", place, name): value for (place, name), value in values.items()}


@pytest.mark.parametrize(
    ("values", "cards"),
    [
        (registered("10DE", "nvlddmkm", "31.0.15.5222"), [GraphicsCard(NVIDIA, "Great Card", "552.22")]),
        (registered("10DE", "nvlddmkm", "32.0.15.8097"), [GraphicsCard(NVIDIA, "Great Card", "580.97")]),
        (registered("10DE", "nvlddmkm", "1.2"), [GraphicsCard(NVIDIA, "Great Card")]),
        (registered("10DE", "nvlddmkm", "31.0.15.5222", runs=False), []),
        (registered("10DE", "BasicDisplay", "10.0.22621.1"), [GraphicsCard(NVIDIA, "NVIDIA")]),
        (registered("1002", "amdkmdag", "31.0.24033.1003"), [GraphicsCard(AMD, "Great Card", "31.0.24033.1003")]),
        (registered("8086", "igfx", "31.0.101.2111"), []),
        ({}, []),
    ],
)
async def test_windows(values: dict[Any, str], cards: Sequence[GraphicsCard], tmp_path: Path) -> None:
    host = replace(LINUX, system="windows")
    options: dict[str, Any] = {"registry": FakeRegistry(values), "windows_folder": tmp_path}
    plain = await find_cards(host, RecordingRunner(), {}, **options)
    assert plain == tuple(replace(card, driver="" if card.vendor == NVIDIA else card.driver) for card in cards)
    (tmp_path / "System32").mkdir()
    (tmp_path / "System32" / "nvcuda.dll").touch()
    assert await find_cards(host, RecordingRunner(), {}, **options) == tuple(cards)
