"""Graphics cards that PyTorch may compute on, and their drivers: read from the system, which is quick and starts nothing.

Only Linux under Windows (WSL) has no such files for the card of its host; there ``nvidia-smi`` is asked, within a limit.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amlwizard.core.detection.probing import ask
from amlwizard.core.detection.windows import system_registry
from amlwizard.core.facts import AMD, APPLE, NVIDIA, GraphicsCard
from amlwizard.core.plain_files import exists, is_file, read_plain_text
from amlwizard.core.running import Exited

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from amlwizard.core.detection.windows import Registry
    from amlwizard.core.facts import Host
    from amlwizard.core.running import Runner

SMI_SECONDS: Final = 5.0

_VENDORS: Final = {0x10DE: NVIDIA, 0x1002: AMD}
_MAKERS: Final = {NVIDIA: "NVIDIA", AMD: "AMD"}
_DISPLAY: Final = 0x03
"""The base class of PCI devices for displays; cards that only compute belong to it too."""
_PCI_ADDRESS: Final = re.compile(
    r"(?P<domain>[0-9a-f]{4,}):(?P<bus>[0-9a-f]{2}):(?P<device>[0-9a-f]{2})\.(?P<function>[0-7])"
)
_NVIDIA_VERSION: Final = re.compile(r"\s(\d{2,}(?:\.\d+)+)\s")
_PCI_NAMES: Final = ("usr/share/hwdata/pci.ids", "usr/share/misc/pci.ids")
_WSL_SMI: Final = "usr/lib/wsl/lib/nvidia-smi"
_SMI_QUERY: Final = ("--query-gpu=name,driver_version", "--format=csv,noheader")

_VIEW: Final = "HKLM64"
_CONTROL_SET: Final = "SYSTEM\\CurrentControlSet"
_DISPLAY_CLASS: Final = "{4d36e968-e325-11ce-bfc1-08002be10318}"
_WINDOWS_VENDOR: Final = re.compile(r"VEN_(?P<vendor>[0-9A-F]{4})&DEV_", re.IGNORECASE)
_WITHOUT_DRIVER: Final = "basicdisplay"
"""Windows' own driver for every card, which computes on none."""


async def find_cards(
    host: Host,
    runner: Runner,
    env: Mapping[str, str],
    *,
    system_root: Path = Path("/"),
    windows_folder: Path | None = None,
    registry: Registry | None = None,
    smi_seconds: float = SMI_SECONDS,
) -> tuple[GraphicsCard, ...]:
    """Return the cards of NVIDIA and AMD, and the one that is a part of Apple's processors; none where nothing tells.

    Args:
        host: the computer.
        runner: starts ``nvidia-smi`` under WSL.
        env: its environment.
        system_root: the root of the file system, on POSIX.
        windows_folder: where Windows lies, on Windows.
        registry: the Windows registry, where it is not this computer's.
        smi_seconds: how long ``nvidia-smi`` may take.
    """
    if host.system == "macos":
        return (GraphicsCard(APPLE, "Apple silicon"),) if host.machine == "arm64" else ()
    if host.system == "windows":
        return await asyncio.to_thread(_on_windows, registry or system_registry(), windows_folder)
    if host.system != "linux":
        return ()
    smi = system_root / _WSL_SMI
    if await asyncio.to_thread(exists, smi):
        answer = await ask(runner, (str(smi), *_SMI_QUERY), env, smi_seconds)
        return tuple(_told_cards(answer.stdout)) if answer.outcome == Exited(0) else ()
    return await asyncio.to_thread(lambda: tuple(_on_linux(system_root)))


def _told_cards(lines: tuple[str, ...]) -> Iterator[GraphicsCard]:
    for line in lines:
        name, comma, driver = line.rpartition(",")
        if comma:
            yield GraphicsCard(NVIDIA, name.strip(), driver.strip())


def _on_linux(root: Path) -> Iterator[GraphicsCard]:
    """Yield the cards on the bus; one is ready where the driver of its maker has taken it."""
    try:
        devices = sorted((root / "sys/bus/pci/devices").iterdir())
    except OSError:
        return
    for device in devices:
        vendor = _VENDORS.get(_number(device / "vendor"))
        if vendor is None or _number(device / "class") >> 16 != _DISPLAY:
            continue
        name = _linux_name(root, device, vendor)
        if vendor == NVIDIA:
            yield GraphicsCard(vendor, name, _nvidia_driver(root))
        else:
            architecture = _amd_architecture(root, device.name)
            yield GraphicsCard(vendor, name, _amd_driver(root, device), architecture)


def _linux_name(root: Path, device: Path, vendor: str) -> str:
    for line in _text(root / "proc/driver/nvidia/gpus" / device.name / "information").splitlines():
        key, _, value = line.partition(":")
        if key == "Model" and value.strip():
            return value.strip()
    told = _text(device / "product_name").strip()
    name = told or _listed_name(root, _number(device / "vendor"), _number(device / "device"))
    return f"{_MAKERS[vendor]} {name or format(_number(device / 'device'), '04x')}"


def _listed_name(root: Path, vendor: int, device: int) -> str:
    """Return a card's name in the system's list of PCI devices, which not every system has."""
    for place in _PCI_NAMES:
        inside = False
        for line in _text(root / place).splitlines():
            if not line.startswith(("\t", "#")):
                inside = line.startswith(f"{vendor:04x} ")
            elif inside and line.startswith(f"\t{device:04x} "):
                return line[5:].strip()
    return ""


def _nvidia_driver(root: Path) -> str:
    """Return the version of the kernel's module; the free driver that may be there in its place has none."""
    version = _text(root / "sys/module/nvidia/version").strip()
    if version:
        return version
    found = _NVIDIA_VERSION.search(_text(root / "proc/driver/nvidia/version").partition("\n")[0] + " ")
    return found[1] if found is not None else ""


def _amd_driver(root: Path, device: Path) -> str:
    """Return the version of ``amdgpu``; the one in the kernel has no other than that of the kernel."""
    try:
        taken_by = (device / "driver").readlink().name
    except OSError:
        return ""
    if taken_by != "amdgpu":
        return ""
    version = _text(root / "sys/module/amdgpu/version").strip()
    return version or _text(root / "proc/sys/kernel/osrelease").strip() or taken_by


def _amd_architecture(root: Path, address: str) -> str:
    """Return what the driver's compute part tells of a card, such as ``gfx1100``; empty where that part is not there."""
    place = _PCI_ADDRESS.fullmatch(address)
    if place is None or not exists(root / "dev/kfd"):
        return ""
    location = int(place["bus"], 16) << 8 | int(place["device"], 16) << 3 | int(place["function"])
    try:
        nodes = sorted((root / "sys/class/kfd/kfd/topology/nodes").iterdir())
    except OSError:
        return ""
    for node in nodes:
        told = dict(line.split(maxsplit=1) for line in _text(node / "properties").splitlines() if " " in line.strip())
        with suppress(ValueError):
            at = (int(told.get("domain", "0")), int(told.get("location_id", "-1")))
            version = int(told.get("gfx_target_version", "0"))
            if version and at == (int(place["domain"], 16), location):
                return f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"
    return ""


def _text(path: Path) -> str:
    try:
        return read_plain_text(path, errors="replace")
    except (OSError, ValueError):
        return ""


def _number(path: Path) -> int:
    try:
        return int(_text(path).strip(), 16)
    except ValueError:
        return 0


def _on_windows(registry: Registry | None, folder: Path | None) -> tuple[GraphicsCard, ...]:
    return tuple(_registered(registry, folder)) if registry is not None else ()


def _registered(registry: Registry, folder: Path | None) -> Iterator[GraphicsCard]:
    """Yield the cards that a running driver has taken: the registry also names those that were taken out long ago."""
    for device in registry.subkeys(_VIEW, f"{_CONTROL_SET}\\Enum\\PCI"):
        match = _WINDOWS_VENDOR.match(device)
        vendor = _VENDORS.get(int(match["vendor"], 16)) if match is not None else None
        if vendor is None:
            continue
        for instance in registry.subkeys(_VIEW, f"{_CONTROL_SET}\\Enum\\PCI\\{device}"):
            key = f"{_CONTROL_SET}\\Enum\\PCI\\{device}\\{instance}"
            service = registry.value(_VIEW, key, "Service") or ""
            of_display = (registry.value(_VIEW, key, "ClassGUID") or "").lower() == _DISPLAY_CLASS
            if of_display and service and f"PCI\\{device}\\{instance}".lower() in _taken_by(registry, service):
                yield _windows_card(registry, key, vendor, service, folder)


def _taken_by(registry: Registry, service: str) -> set[str]:
    """Return the devices that a driver has taken since the system's start."""
    found: set[str] = set()
    key = f"{_CONTROL_SET}\\Services\\{service}\\Enum"
    while (device := registry.value(_VIEW, key, str(len(found)))) is not None and device.lower() not in found:
        found.add(device.lower())
    return found


def _windows_card(registry: Registry, key: str, vendor: str, service: str, folder: Path | None) -> GraphicsCard:
    described = (registry.value(_VIEW, key, "DeviceDesc") or "").rpartition(";")[2]
    driver_key = registry.value(_VIEW, key, "Driver")
    if service.lower() == _WITHOUT_DRIVER or not driver_key:
        return GraphicsCard(vendor, _MAKERS[vendor])
    place = f"{_CONTROL_SET}\\Control\\Class\\{driver_key}"
    name = registry.value(_VIEW, place, "DriverDesc") or described or _MAKERS[vendor]
    version = registry.value(_VIEW, place, "DriverVersion") or ""
    if vendor == NVIDIA:
        # the part through which programs compute may be left out of an installation
        computes = folder is not None and is_file(folder / "System32" / "nvcuda.dll")
        version = _nvidia_version(version) if computes else ""
    return GraphicsCard(vendor, name, version)


def _nvidia_version(of_windows: str) -> str:
    """Return NVIDIA's own number of a driver, such as 552.22 of 31.0.15.5222: the last five digits."""
    digits = "".join(of_windows.split(".")[-2:])[-5:]
    return f"{digits[:3]}.{digits[3:]}" if len(digits) == 5 and digits.isdigit() else ""
