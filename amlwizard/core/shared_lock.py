"""A workspace's lock as it is given to a colleague, and what a given one says where it does not fit (PEP 751).

A shared lock holds nothing of the computer that it was made on, and no files of other platforms. It says for which platform
and Python it was resolved, in a way that uv and pip understand too, and carries the top-level requirements, so that it can
be resolved anew elsewhere.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from packaging.markers import Marker
from packaging.pylock import Package, PackageWheel, Pylock, is_valid_pylock_path
from packaging.specifiers import SpecifierSet
from packaging.utils import parse_wheel_filename

from amlwizard.core.bundle.names import PLATFORMS
from amlwizard.core.catalogue import Phrase
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.extended_lock import added_requirements
from amlwizard.core.facts import minor_of
from amlwizard.core.lock import lock_text, read_lock, scrub_for_others
from amlwizard.core.store_files import installed_wheels
from amlwizard.core.tags import platform_wheel_tags
from amlwizard.core.top_level import TopLevel
from amlwizard.core.urls import is_remote
from amlwizard.core.wish import Wish, lock_in_use, make_wish, recorded_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from amlwizard.core.choices import Choices
    from amlwizard.core.facts import Host
    from amlwizard.core.paths import Workspace

_FORMAT: Final = 1
_SYS_PLATFORMS: Final = {"linux": "linux", "windows": "win32", "macos": "darwin"}
_WINDOWS_MACHINES: Final = {"x86_64": "AMD64", "arm64": "ARM64", "i686": "x86"}


@dataclass(frozen=True)
class SharedLock:
    """A lock that can be given away, and what is not in it.

    ``left_out`` names the packages that stay on this computer, ``from_repositories`` those that git has to fetch, and
    ``cut`` those whose address has lost its query, which may hold a key.
    """

    text: str
    packages: int
    left_out: tuple[str, ...]
    from_repositories: tuple[str, ...]
    cut: tuple[str, ...]


def check_place(out: Path) -> None:
    """Refuse a place where no lock can be saved.

    Raises:
        RefusedError: ``AML_SHARE_NAME``, ``AML_SHARE_IS_FOLDER`` or ``AML_SHARE_NO_FOLDER``.
    """
    if not is_valid_pylock_path(out):
        raise RefusedError("AML_SHARE_NAME", name=out.name)
    if out.is_dir():
        raise RefusedError("AML_SHARE_IS_FOLDER", path=str(out))
    if not out.parent.is_dir():
        raise RefusedError("AML_SHARE_NO_FOLDER", path=str(out.parent))


def shared_lock(workspace: Workspace, choices: Choices, host: Host, environ: Mapping[str, str]) -> SharedLock:
    """Return the lock of a workspace as it is given away.

    Raises:
        AmlError: there is no lock (``AML_SHARE_NOTHING``), or none of its packages has an address that a colleague could
            reach (``AML_SHARE_NO_ADDRESS``).
    """
    recorded = recorded_source(workspace)
    if not recorded:
        raise RefusedError("AML_SHARE_NOTHING", root=str(workspace.root))
    lock = read_lock(lock_in_use(workspace))
    minor = minor_of(recorded["python"])
    is_for_here = _fitting(workspace, host, minor)
    found = [(package.name, _portable(package, is_for_here)) for package in lock.packages]
    packages = [package for _, package in found if package is not None]
    left_out = tuple(name for name, package in found if package is None)
    if not packages:
        raise RefusedError("AML_SHARE_NO_ADDRESS", root=str(workspace.root))
    about = {
        "format": _FORMAT,
        "platform": host.platform,
        "python": recorded["python"],
        **_top_level(lock, recorded, choices, workspace, environ).with_added(added_requirements(lock)).to_toml(),
    }
    if "accelerator" in recorded:
        about["accelerator"] = recorded["accelerator"]
    shared = replace(
        lock,
        packages=packages,
        requires_python=SpecifierSet(f"=={minor}.*"),
        environments=[Marker(_marker(host))],
        created_by="amlwizard",
        tool={"amlwizard": about},
    )
    repositories = tuple(package.name for package in packages if package.vcs is not None)
    cut = tuple(package.name for package in packages if _has_query(package))
    return SharedLock(lock_text(scrub_for_others(shared)), len(packages), left_out, repositories, cut)


def _fitting(workspace: Workspace, host: Host, minor: str) -> Callable[[PackageWheel], bool]:
    """Return what tells whether a wheel is for this platform and Python: it is installed here, or for older systems."""
    installed = {wheel.sha256 for wheel in installed_wheels(workspace)}
    major, _, rest = minor.partition(".")
    known = host.platform in PLATFORMS
    tags = frozenset(platform_wheel_tags(host.platform, (int(major), int(rest)))) if known else frozenset()

    def fits(wheel: PackageWheel) -> bool:
        return wheel.hashes.get("sha256") in installed or not tags.isdisjoint(parse_wheel_filename(wheel.filename)[3])

    return fits


def _portable(package: Package, is_for_here: Callable[[PackageWheel], bool]) -> Package | None:
    """Return what of a package can be had elsewhere and is needed there, None where it is only on this computer."""
    sdist, archive, vcs = package.sdist, package.archive, package.vcs
    wheels = [replace(wheel, path=None) for wheel in package.wheels or () if is_remote(wheel.url or "")]
    if fitting := [wheel for wheel in wheels if is_for_here(wheel)]:
        wheels, sdist = fitting, None
    found = replace(
        package,
        index=package.index if is_remote(package.index or "") else None,
        wheels=wheels or None,
        sdist=replace(sdist, path=None) if sdist is not None and is_remote(sdist.url or "") else None,
        archive=replace(archive, path=None) if archive is not None and is_remote(archive.url or "") else None,
        vcs=replace(vcs, path=None) if vcs is not None and is_remote(vcs.url or "") else None,
        directory=None,
        tool=None,
    )
    return found if found.wheels or found.sdist or found.archive or found.vcs else None


def _has_query(package: Package) -> bool:
    sources = (*(package.wheels or ()), package.sdist, package.archive, package.vcs)
    return any(source is not None and source.url is not None and urlsplit(source.url).query for source in sources)


def _top_level(
    lock: Pylock, recorded: Mapping[str, Any], choices: Choices, workspace: Workspace, environ: Mapping[str, str]
) -> TopLevel:
    """Return what the lock was resolved from; a profile is read anew, as its list is long and is always at hand.

    A profile that is another one by now is not what this lock was resolved from.
    """
    carried = TopLevel.carried_by(lock)
    if carried.requirements or recorded["kind"] != "profile":
        return carried
    plain = replace(choices, requirements=None, profile=None, bundle=None, accelerator=None, refresh=False)
    wish = make_wish(plain, workspace, environ)
    if isinstance(wish.content, Pylock) or wish.digest(recorded["python"]) != recorded["digest"]:
        return carried
    return TopLevel.of(wish.content).without_hashes()


def _marker(host: Host) -> str:
    machine = _WINDOWS_MACHINES.get(host.machine, host.machine) if host.system == "windows" else host.machine
    system = _SYS_PLATFORMS.get(host.system, host.system)
    return f"sys_platform == '{system}' and platform_machine == '{machine}'"


# -- a lock that was given


@dataclass(frozen=True)
class _Given:
    """A lock that was given in place of requirements and can be resolved anew."""

    file: str
    platform: str
    python: str


def _given(wish: Wish) -> _Given | None:
    if wish.lock_file is None or wish.resolved is not None or not isinstance(wish.content, Pylock):
        return None
    if not TopLevel.carried_by(wish.content).requirements:
        return None
    about = wish.content.tool["amlwizard"] if wish.content.tool is not None else {}
    return _Given(str(wish.lock_file), str(about.get("platform", "")), str(about.get("python", "")))


def check_given(wish: Wish, host: Host) -> None:
    """Refuse a lock that was made for another kind of computer, before an interpreter is looked for.

    Raises:
        RefusedError: ``AML_SHARED_PLATFORM``.
    """
    given = _given(wish)
    if given is not None and given.platform and given.platform != host.platform:
        raise RefusedError("AML_SHARED_PLATFORM", file=given.file, platform=given.platform, here=host.platform)


@contextmanager
def offering(wish: Wish) -> Iterator[None]:
    """Let what does not fit a given lock end in an offer, where the lock can be resolved anew.

    Raises:
        AmlError: ``AML_SHARED_PYTHON`` or ``AML_SHARED_NO_WHEEL`` in place of what was raised.
    """
    try:
        yield
    except AmlError as error:
        given = _given(wish)
        instead = _offer(error, given) if given is not None else None
        if instead is None:
            raise
        raise instead from error


def _offer(error: AmlError, given: _Given) -> AmlError | None:
    arguments, reason = error.arguments, error.arguments.get("reason")
    wanted = None
    if error.code == "AML_PYTHON_NOT_IN_RANGE":
        wanted = arguments["wanted"]
    elif error.code == "AML_LOCK_PYTHON":
        wanted = arguments["python"]
    elif error.code == "AML_PYTHON_MISSING" and isinstance(reason, Phrase) and reason.key == "candidate.out_of_range":
        wanted = reason.arguments["version"]
    if wanted is not None:
        minor = ".".join(given.python.split(".")[:2])
        return type(error)("AML_SHARED_PYTHON", file=given.file, python=minor, wanted=wanted)
    if error.code in {"AML_NO_WHEEL", "AML_NO_WHEEL_HERE"}:
        told = {name: str(arguments[name]) for name in ("name", "version", "platform")}
        return type(error)("AML_SHARED_NO_WHEEL", detail="", file=given.file, **told)
    return None
