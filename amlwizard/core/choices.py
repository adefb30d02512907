"""What the user wants: the choices of a command line or of the window's pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amlwizard.core.catalogue import Phrase
    from amlwizard.core.organisation import Organisation


class UvMethod(StrEnum):
    """Ways to get the private uv (DESIGN 3.3); ``AUTO`` tries the first three in their order."""

    AUTO = "auto"
    BUNDLED = "bundled"
    INDEX = "index"
    PIP_TARGET = "pip-target"
    SCRIPT = "script"
    NONE = "none"


class IndexStrategy(StrEnum):
    """Which of several indexes a package comes from: the first that has it, or the one with the best version."""

    FIRST_INDEX = "first-index"
    UNSAFE_BEST_MATCH = "unsafe-best-match"


class Part(StrEnum):
    """What an update can be about besides the packages."""

    PYTHON = "python"
    UV = "uv"


@dataclass(frozen=True)
class BundleOrder:
    """What ``bundle create`` shall make: where, and for which platform and Python where those are not this workspace's."""

    out: Path
    platform: str | None = None
    python_version: str | None = None


@dataclass(frozen=True)
class Choices:
    """One wish. ``None`` means that nothing was chosen and the default holds.

    Paths are absolute. At most one of ``requirements``, ``profile`` and ``bundle`` is set. Values come from the settings
    and the command line, merged by ``settings.resolve_choices``; the engine does not look at the environment itself.
    """

    root: Path
    requirements: Path | None = None
    profile: str | None = None
    python: str | None = None
    """A version such as ``3.12`` or the absolute path of an interpreter."""
    uv: Path | None = None
    uv_method: UvMethod = UvMethod.AUTO
    index_url: str | None = None
    extra_index_urls: tuple[str, ...] = ()
    index_strategy: IndexStrategy | None = None
    """None keeps what the lock notes, else takes the first index that has a package."""
    find_links: tuple[str, ...] = ()
    python_downloads_json: str | None = None
    python_mirror: str | None = None
    """Where the interpreters that uv knows lie in the place of uv's own: ``<mirror>/<build>/<file name>``."""
    uv_installer_url: str | None = None
    """Where uv's official installer script lies, where a setting names another place than uv's own."""
    ca_file: Path | None = None
    proxy: str | None = None
    accelerator: str | None = None
    """For which of ``uv_cli.ACCELERATORS`` PyTorch is built; None keeps what the lock notes, else asks the index."""
    bundle: Path | None = None
    """A bundle that everything is taken from."""
    bundle_sha256: str | None = None
    """What the bundle file's SHA-256 has to be, in lower-case hexadecimal."""
    order: BundleOrder | None = None
    """The bundle to be made; only for ``Engine.make_bundle``."""
    share: Path | None = None
    """Where the lock is to be saved for a colleague; only for ``Engine.share``."""
    offline: bool = False
    refresh: bool = False
    """Resolve anew although the lock is current."""
    prune: bool = False
    """Free what nothing needs of the store; only for ``Engine.store``."""
    keep_added: bool = True
    """Keep the packages that the user added by hand where the environment is built afresh."""
    add: tuple[str, ...] = ()
    """Packages to be added; only for ``Engine.change``."""
    remove: tuple[str, ...] = ()
    """Packages that were added and are to go; only for ``Engine.change``."""
    update: Part | None = None
    """What to bring up to date; only for ``Engine.update``, and for ``Engine.plan`` to look ahead of it."""
    deep: bool = False
    """Verify the store, uv and the interpreters as well."""
    expect: str | None = None
    """The hash of the lock that Verify is to find the environment built from."""
    until: str | None = None
    """The id of the step to stop after, such as ``install_uv``; None does the whole job."""
    kit: Path | None = None
    """AML_PYHOME: another job kit folder."""
    python_from_setting: bool = False
    """``python`` was named by a setting or a variable rather than by an option (for the wording of a refusal)."""
    accelerator_from_setting: bool = False
    """``accelerator`` is what a settings file says, for whatever it applies to."""
    ambient: tuple[str, ...] = field(default=(), compare=False)
    """Which settings of pip and uv were taken, and from where; without credentials, to be shown."""
    trusted_hosts: tuple[str, ...] = field(default=(), compare=False)
    """Hosts whose certificates pip or uv would not check, each with where that stands; not honoured here, to be shown."""
    unused_ambient: tuple[str, ...] = field(default=(), compare=False)
    """Settings of pip and uv that do nothing here, each with its place, to be shown."""
    broken_ambient: tuple[str, ...] = field(default=(), compare=False)
    """Files of pip and uv that cannot be read, to be shown."""
    organisation: Organisation | None = field(default=None, compare=False)
    """What the machine-wide settings file fixes; None where it fixes nothing."""
    wrong_settings: tuple[Phrase, ...] = field(default=(), compare=False)
    """What in the files of settings has no effect, and why."""
    unknown_settings: tuple[str, ...] = field(default=(), compare=False)
    """Keys of the settings files that mean nothing here, each with its file, to be shown."""
    fixed: frozenset[str] = field(default=frozenset(), compare=False)
    """Which of these the organisation has fixed, also where it chose nothing."""
    remembered: tuple[str, ...] = field(default=(), compare=False)
    """Which of the indexes and folders of packages nobody chose: the workspace's lock names them."""
    credentials: dict[str, tuple[str, str]] = field(default_factory=dict, repr=False, compare=False)
    """User and password by origin (``https://index.example.org``) for the addresses above and the proxy; never shown.

    What is put in here lasts for the run; ``logins.SystemLogins`` keeps more than that."""

    login_places: dict[str, str] = field(default_factory=dict, compare=False)
    """The file or variable in which a login of ``credentials`` stands, by origin; one that was entered has none."""

    @property
    def python_version(self) -> str | None:
        """The version that ``python`` names, None where it names an interpreter or nothing."""
        return self.python if self.interpreter is None else None

    @property
    def interpreter(self) -> Path | None:
        """The interpreter that ``python`` names by its path."""
        return Path(self.python) if self.python is not None and Path(self.python).is_absolute() else None
