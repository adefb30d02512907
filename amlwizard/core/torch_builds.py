"""Which build of PyTorch fits the graphics cards of a computer, and why."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from packaging.version import InvalidVersion, Version

from amlwizard.core.catalogue import Phrase
from amlwizard.core.facts import AMD, APPLE, NVIDIA
from amlwizard.resources import resource

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from amlwizard.core.facts import GraphicsCard, Host

CPU: Final = "cpu"
MPS: Final = "mps"
"""The build for Apple silicon, which is that of its platform and no accelerator to be chosen."""


KEPT: Final = "torch.kept"
"""The sentence that tells of no change."""


@dataclass(frozen=True)
class Fit:
    """A build and why it fits; the phrase is a whole sentence."""

    build: str
    why: Phrase


@dataclass(frozen=True)
class TorchChoice:
    """What a run takes of a profile with PyTorch.

    ``build`` is that of PyTorch, ``accelerator`` what is asked of uv for it, None where the profile's own lock has it.
    ``why`` is a whole sentence. ``fits`` is what fits the computer; ``offered`` is what may be chosen in its place,
    ``own`` the build that comes from where all other packages come from.
    """

    build: str
    accelerator: str | None
    why: Phrase
    fits: str
    offered: tuple[str, ...]
    own: str | None = None


def build_name(build: str) -> Phrase:
    """Return a build in words: ``cu128`` is for CUDA 12.8."""
    if build.startswith("cu") and build[2:].isdigit():
        return Phrase("torch.build.cuda", {"version": f"{build[2:-1]}.{build[-1]}"})
    if build.startswith("rocm"):
        return Phrase("torch.build.rocm", {"version": build.removeprefix("rocm")})
    return Phrase(f"torch.build.{build}") if build in {CPU, MPS} else Phrase("torch.build.other", {"name": build})


def offered_builds(host: Host) -> tuple[str, ...]:
    """Return the builds to choose from on a computer, that for the processor first; none where there is but one."""
    if host.system not in {"linux", "windows"}:
        return ()
    cuda = [each["build"] for each in _builds()["cuda"]]
    rocm = [each["build"] for each in _builds()["rocm"]] if _has_rocm(host) else []
    return (CPU, *cuda, *rocm)


def fitting_build(host: Host, cards: Sequence[GraphicsCard]) -> Fit:
    """Return the build that makes use of the cards of a computer; where several could be used, NVIDIA's goes first."""
    if any(card.vendor == APPLE for card in cards):
        return Fit(MPS, Phrase("torch.why.mps"))
    refusals = []
    for vendor, fit_of in ((NVIDIA, _for_nvidia), (AMD, _for_amd)):
        for card in cards:
            if card.vendor == vendor:
                fit = fit_of(host, card)
                if fit.build != CPU:
                    return fit
                refusals.append(fit)
    return refusals[0] if refusals else Fit(CPU, Phrase("torch.why.no_card"))


def too_new_for(build: str, host: Host, cards: Iterable[GraphicsCard]) -> Phrase | None:
    """Return a sentence where a chosen build wants a newer driver than that of the cards; None where nothing tells."""
    entry = next((each for each in _builds()["cuda"] if each["build"] == build), None)
    cards = [card for card in cards if card.vendor == NVIDIA and card.driver]
    if entry is None or host.system not in entry or not cards:
        return None
    if any(_version(card.driver) >= Version(entry[host.system]) for card in cards):
        return None
    return Phrase(
        "torch.too_new",
        {"build": build_name(build), "card": cards[0].name, "driver": cards[0].driver, "needed": entry[host.system]},
    )


def _for_nvidia(host: Host, card: GraphicsCard) -> Fit:
    if not card.driver:
        return Fit(CPU, Phrase("torch.why.no_driver", {"card": card.name}))
    driver, builds = _version(card.driver), _builds()["cuda"]
    for entry in builds:
        if driver >= Version(entry.get("preferred_from", entry[host.system])):
            told = {"build": build_name(entry["build"]), "card": card.name, "driver": card.driver}
            return Fit(entry["build"], Phrase("torch.why.driver", told))
    needed = min((entry[host.system] for entry in builds), key=Version)
    return Fit(CPU, Phrase("torch.why.old_driver", {"card": card.name, "driver": card.driver, "needed": needed}))


def _for_amd(host: Host, card: GraphicsCard) -> Fit:
    if not card.driver:
        return Fit(CPU, Phrase("torch.why.no_driver", {"card": card.name}))
    if not _has_rocm(host):
        return Fit(CPU, Phrase("torch.why.no_rocm", {"card": card.name}))
    for entry in _builds()["rocm"]:
        if card.architecture in entry["architectures"]:
            told = {"build": build_name(entry["build"]), "card": card.name, "architecture": card.architecture}
            return Fit(entry["build"], Phrase("torch.why.architecture", told))
    return Fit(CPU, Phrase("torch.why.no_architecture", {"card": card.name, "architecture": card.architecture or "?"}))


def _has_rocm(host: Host) -> bool:
    """Tell whether there are builds for AMD."""
    return (host.system, host.machine) == ("linux", "x86_64")


def _version(driver: str) -> Version:
    try:
        return Version(driver)
    except InvalidVersion:
        return Version("0")


@cache
def _builds() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(resource("torch", "builds.json").read_text(encoding="utf-8"))
    return content
