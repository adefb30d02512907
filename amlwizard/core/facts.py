"""What was found on this computer: plain values made by detection, read by the plan and shown by the front ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.torch_builds import TorchChoice


@dataclass(frozen=True)
class Host:
    """The computer. ``platform`` is one of DESIGN 7's platforms, or empty where it is none of them."""

    system: str
    """``linux``, ``windows``, ``macos`` or ``sys.platform`` as it is."""
    machine: str
    """``x86_64``, ``aarch64`` (``arm64`` on macOS and Windows), native even under emulation."""
    release: str
    libc: str
    """``glibc 2.36``, ``musl 1.2``, or empty."""
    cpu_count: int
    memory_bytes: int

    @property
    def platform(self) -> str:
        """Return the platform's name in bundles, such as ``linux-x86_64``."""
        return f"{self.system}-{self.machine}"

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "system": self.system,
            "machine": self.machine,
            "platform": self.platform,
            "release": self.release,
            "libc": self.libc,
            "cpu_count": self.cpu_count,
            "memory_bytes": self.memory_bytes,
        }


NVIDIA: Final = "nvidia"
AMD: Final = "amd"
APPLE: Final = "apple"


@dataclass(frozen=True)
class GraphicsCard:
    """A graphics card. ``vendor`` is ``NVIDIA``, ``AMD`` or ``APPLE``.

    ``driver`` is the version of the maker's driver, empty where that has not taken the card, so that it cannot be computed
    on. ``architecture`` is AMD's name for what programs are made for, such as ``gfx1100``.
    """

    vendor: str
    name: str
    driver: str = ""
    architecture: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "vendor": self.vendor,
            "name": self.name,
            "driver": self.driver or None,
            "architecture": self.architecture or None,
        }


@dataclass(frozen=True)
class PythonFacts:
    """What an interpreter said of itself when it was started."""

    executable: Path
    """``sys.executable`` with links resolved only as far as the interpreter itself does."""
    base_prefix: Path
    version: tuple[int, int, int]
    release: str
    """``final``, ``alpha``, ``beta`` or ``candidate``."""
    bits: int
    machine: str
    implementation: str
    has_venv: bool
    has_ensurepip: bool
    in_venv: bool
    platform_tag: str
    """``sysconfig.get_platform()``."""
    abi_flags: str
    free_threaded: bool
    libc: tuple[str, str]
    """As ``platform.libc_ver()`` gives it."""
    marker_environment: dict[str, str]
    """The environment for PEP 508 markers, as ``packaging.markers.default_environment`` would give it there."""
    vendor: str = ""
    """``conda``, ``store``, ``pyenv``, ``framework``, ``uv`` or empty."""

    @property
    def version_text(self) -> str:
        """Return the version as ``3.11.7``."""
        return ".".join(map(str, self.version))

    @property
    def minor(self) -> str:
        """Return the version as ``3.11``."""
        return minor_of(self.version_text)


def minor_of(version: str) -> str:
    """Return the ``3.11`` of a Python version such as ``3.11.7``."""
    return ".".join(version.split(".")[:2])


@dataclass(frozen=True)
class Candidate:
    """One thing that was looked at.

    ``reason`` is a catalogue key with ``arguments``: why the candidate was passed over, or a remark on a usable one.
    """

    kind: str
    """``uv`` or ``python``."""
    path: Path
    source: str
    """``setting``, ``workspace``, ``record``, ``path``, ``usual``, ``bundled``, ``launcher``, ``registry``, ``managed``."""
    version: str = ""
    usable: bool = False
    reason: str = ""
    arguments: dict[str, object] = field(default_factory=dict)
    python: PythonFacts | None = None

    def to_json(self, reason_text: str) -> dict[str, Any]:
        """Return plain JSON values with the reason in words."""
        content: dict[str, Any] = {
            "kind": self.kind,
            "path": str(self.path),
            "source": self.source,
            "version": self.version,
            "usable": self.usable,
            "reason": reason_text,
        }
        if self.python is not None:
            facts = self.python
            content["python"] = {
                "executable": str(facts.executable),
                "base_prefix": str(facts.base_prefix),
                "bits": facts.bits,
                "machine": facts.machine,
                "implementation": facts.implementation,
                "has_venv": facts.has_venv,
                "has_ensurepip": facts.has_ensurepip,
                "vendor": facts.vendor,
            }
        return content


_ACTIONS = {
    "absent": "install",
    "stale": "install",
    "damaged": "repair",
    "moved": "repair",
    "base_missing": "repair",
    "unfinished": "repair",
}
_ACTIONS_FOR = {
    "environment.unfinished_unknown": "install",
    "environment.lock_lost": "rebuild",
    "environment.newer": "upgrade",
    "environment.in_work": "wait",
    "environment.in_work_unknown": "wait",
}
"""What mends a state whose reason calls for something else than the state itself."""


@dataclass(frozen=True)
class AddedPackage:
    """A distribution that the user put into the environment by hand."""

    name: str
    version: str
    locked: str | None = None
    """The version in the lock, None where the lock does not have it."""


@dataclass(frozen=True)
class EnvironmentFacts:
    """The state of ``.venv`` (DESIGN 7) as the disk shows it.

    ``reason`` is a catalogue key with ``arguments``. ``python`` is the version and ``packages`` the number of
    distributions, both None where they are unknown. ``digest`` is the marker's, ``lock`` the SHA-256 of ``pylock.toml``.
    ``added`` is what was put there by hand, as far as somebody looked for it, ``kept`` what was so
    before and is in the lock now.
    """

    state: str
    reason: str = ""
    arguments: dict[str, object] = field(default_factory=dict)
    python: str | None = None
    packages: int | None = None
    digest: str | None = None
    lock: str | None = None
    added: tuple[AddedPackage, ...] = ()
    kept: tuple[AddedPackage, ...] = ()

    @property
    def action(self) -> str:
        """The one command that mends this state; ``wait`` where another run is about to, ``upgrade`` for a newer amlwizard.

        ``none`` where nothing is to be done, or by the user alone.
        """
        return _ACTIONS_FOR.get(self.reason) or _ACTIONS.get(self.state, "none")

    @property
    def ready(self) -> bool:
        """Tell whether the environment can be used as it is."""
        return self.state == "ready"


@dataclass(frozen=True)
class Holder:
    """Whoever holds a workspace, as far as that is known: a living process, since when (UTC), and what it does."""

    pid: int | None = None
    since: str = ""
    command: str = ""


@dataclass(frozen=True)
class Facts:
    """Everything that detection found; lives for one run."""

    host: Host
    candidates: tuple[Candidate, ...]
    uv: Candidate | None
    """The uv that would be used as it is (runs, new enough), or None."""
    python: Candidate | None
    """The interpreter that would be chosen, or None where one must be bootstrapped."""
    environment: EnvironmentFacts
    graphics: tuple[GraphicsCard, ...] = ()
    torch: TorchChoice | None = None
    """Which build of PyTorch is taken, where the profile has one; None where nobody looked."""

    @property
    def interpreter(self) -> PythonFacts | None:
        """What the interpreter that would be chosen said of itself."""
        return self.python.python if self.python is not None else None
