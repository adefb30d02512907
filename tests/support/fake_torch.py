"""A PyTorch that computes nothing and says of itself what a test wants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def fake_torch(
    version: str,
    *,
    cuda: str | None = None,
    hip: str | None = None,
    devices: Sequence[str] = (),
    capability: tuple[int, int] = (8, 6),
    architectures: Sequence[str] = ("sm_86",),
    mps: bool = False,
) -> str:
    """Return the source of the package: its build, and the cards that it sees on this computer."""
    return f"""
print("torch greets")
__version__ = {version!r}


class version:
    cuda = {cuda!r}
    hip = {hip!r}


class cuda:
    is_available = staticmethod(lambda: {bool(devices)!r})
    device_count = staticmethod(lambda: {len(devices)})
    get_device_name = staticmethod(lambda number: {list(devices)!r}[number])
    get_device_capability = staticmethod(lambda number: {capability!r})
    get_arch_list = staticmethod(lambda: {list(architectures)!r})


class backends:
    class mps:
        is_available = staticmethod(lambda: {mps!r})


def main():
    pass
"""


def fake_torch_wheel(folder: Path, version: str, cuda: str | None = None, devices: Sequence[str] = ()) -> Path:
    """Write a wheel of it."""
    return make_wheel(folder, "torch", version, init=fake_torch(version, cuda=cuda, devices=devices))
