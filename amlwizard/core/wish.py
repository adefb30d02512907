"""What the environment shall contain: a profile, a requirements file, a lock, or what was resolved last time."""

from __future__ import annotations

import asyncio
import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amlwizard.core.choices import UvMethod
from amlwizard.core.data_text import lock_table
from amlwizard.core.digest import requirements_digest
from amlwizard.core.environment.marker import marker_names, read_marker
from amlwizard.core.errors import RefusedError
from amlwizard.core.facts import minor_of
from amlwizard.core.host import host_facts
from amlwizard.core.package_sources import PackageSources
from amlwizard.core.paths import Workspace
from amlwizard.core.plain_files import is_file, read_plain_text
from amlwizard.core.profiles import Profile, load_profile
from amlwizard.core.requirements import (
    RequirementsClosure,
    is_complete_hashed_lock,
    is_pylock,
    parse_closure,
)
from amlwizard.core.uv_cli import ACCELERATORS, AUTO

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from packaging.pylock import Package, Pylock
    from packaging.specifiers import SpecifierSet

    from amlwizard.core.bundle.reading import Bundle
    from amlwizard.core.choices import Choices
    from amlwizard.core.facts import Host
    from amlwizard.core.index_urls import Credentials
    from amlwizard.core.requirement_entries import RequirementEntry

MAIN_IMPORTS = {
    "numpy": ("numpy",),
    "pandas": ("pandas",),
    "scipy": ("scipy.stats",),
    "scikit-learn": ("sklearn.ensemble",),
    "matplotlib": ("matplotlib.pyplot",),
    "torch": ("torch",),
}
"""Modules that a job of a profile loads first; verification writes their bytecode."""

_DEPENDS_ON_ACCELERATOR = "torch"
"""The package without which it makes no difference for which accelerator a lock was resolved."""


_PYTHON = re.compile(r"\d{1,2}\.\d{1,2}(\.[\w.+]+)?", re.ASCII)


@dataclass(frozen=True)
class Wish:
    """What is wanted.

    ``kind`` is ``profile``, ``file`` or ``bundle``; ``name`` the profile's name, the file's path, or the bare name that a
    bundle gives. ``lock_file`` is where a lock lies that the user gave: relative paths in it count from there;
    ``lock_pythons`` are the Pythons that it has wheels for, None for all. ``resolved`` is what is known of the making of
    the workspace's own lock, where that itself is what is wanted. ``origin`` says what a bundle was made for (kind, name,
    digest); ``bundle`` is there where it lies at hand. ``anew`` tells that what is wanted are the requirements which a
    lock carries, in place of the lock itself. ``added`` are the requirements that
    keep what the user added by hand, as lines of a file beside the lock; they do not count in the digest. They
    come in ``added_versions`` where neither the environment nor its lock has them. With ``may_leave_out`` they may be
    missed where they cannot be had. ``leaves`` names what is not kept although it was added. ``accelerator`` is what
    PyTorch is, or in a lock was, resolved for. ``sources`` is where the packages of the present environment came from.
    """

    kind: str
    name: str
    content: RequirementsClosure | Pylock
    folder: Path
    profile: Profile | None = None
    lock_file: Path | None = None
    lock_pythons: SpecifierSet | None = None
    resolved: Mapping[str, Any] | None = None
    origin: Mapping[str, str] | None = None
    bundle: Bundle | None = None
    anew: bool = False
    added: tuple[str, ...] = ()
    added_versions: Mapping[str, str] = field(default_factory=dict)
    may_leave_out: bool = False
    leaves: frozenset[str] = frozenset()
    accelerator: str | None = None
    sources: PackageSources = field(default_factory=PackageSources)

    @property
    def python_range(self) -> SpecifierSet | None:
        """The Pythons that this can be used with, None where nothing is declared."""
        if self.resolved is not None:  # it was resolved for this Python alone
            from packaging.specifiers import SpecifierSet

            return SpecifierSet(f"=={minor_of(self.resolved['python'])}.*")
        if self.profile is not None:
            return self.profile.python
        if isinstance(self.content, RequirementsClosure):
            return None
        if self.lock_file is None:
            return self.content.requires_python
        return self.lock_pythons

    @property
    def main_imports(self) -> tuple[str, ...]:
        """The modules whose start matters."""
        packages: Iterable[str] = self.profile.main_packages if self.profile is not None else ()
        of_lock = self.resolved is not None or self.kind == "bundle"
        if self.profile is None and not isinstance(self.content, RequirementsClosure) and of_lock:
            packages = [package.name for package in self.content.packages]
        return tuple(module for package in packages for module in MAIN_IMPORTS.get(package, ()))

    @property
    def logins(self) -> Credentials:
        """The user names and passwords that the requirements name, by origin."""
        return self.content.logins if isinstance(self.content, RequirementsClosure) else {}

    @property
    def index_addresses(self) -> tuple[str, ...]:
        """The addresses of the indexes that the requirements name, without logins."""
        return self.content.index_addresses if isinstance(self.content, RequirementsClosure) else ()

    @property
    def page_addresses(self) -> tuple[str, ...]:
        """The addresses of the pages with archives that the requirements name, without logins."""
        return self.content.page_addresses if isinstance(self.content, RequirementsClosure) else ()

    @property
    def git_logins(self) -> Credentials:
        """The user names and passwords of git repositories that the requirements name, by repository."""
        return self.content.git_logins if isinstance(self.content, RequirementsClosure) else {}

    def digest(self, python_version: str) -> str:
        """Return the digest of DESIGN section 2 for a Python version."""
        if self.resolved is not None and minor_of(self.resolved["python"]) == minor_of(python_version):
            return str(self.resolved["digest"])
        return requirements_digest(self.content, python_version, folder=self.folder)


def make_wish(choices: Choices, workspace: Workspace, environ: Mapping[str, str], *, from_lock: bool = False) -> Wish:
    """Return what is wanted: as chosen, else as recorded in the workspace, else the default profile.

    Where nothing is chosen, the workspace's lock stands for a recorded file or profile that is gone: an environment must
    not turn into another one because a file was tidied away.

    Args:
        choices: what was chosen.
        workspace: the workspace.
        environ: for the variables in a requirements file.
        from_lock: take the lock as well where the recorded file or profile has changed or cannot be read any more, as a
            rebuild and a proof do.

    Raises:
        RefusedError: the profile or the file cannot be used, or nothing is chosen and the lock that would tell what was
            installed is lost (``AML_LOCK_DAMAGED``, ``AML_LOCK_LOST``).
    """
    lock = lock_in_use(workspace)
    recorded = recorded_in(lock)
    if choices.accelerator is not None and _is_had(choices, recorded):
        choices = replace(choices, accelerator=None)
    wish = _make_wish(choices, workspace, environ, recorded, lock, from_lock=from_lock)
    return replace(_after(recorded, wish), accelerator=_accelerator(choices, wish, recorded))


def _is_had(choices: Choices, recorded: Mapping[str, Any]) -> bool:
    """Tell whether a profile has the chosen build of PyTorch without another being resolved.

    It is in its own lock, unless the workspace has another one; ``auto`` was settled before (``torch_choice``) where
    a run is to find what fits, and stands for what the workspace has otherwise. A bundle may be for another computer.
    """
    profile = None if choices.order else profile_with_builds(choices, recorded)
    if profile is None:
        return False
    if choices.accelerator == AUTO:
        return holds_profile(recorded, profile)
    return is_in_own_lock(choices.accelerator, profile, recorded, host_facts())


def profile_with_builds(choices: Choices, recorded: Mapping[str, Any]) -> Profile | None:
    """Return the profile that is wanted where it names its builds of PyTorch, else None."""
    name = choices.profile or (recorded["name"] if recorded.get("kind") == "profile" else None)
    if name is None or choices.bundle is not None or choices.requirements is not None:
        return None
    try:
        profile = load_profile(name, choices.kit)
    except RefusedError:  # the wish says it
        return None
    return profile if profile.builds else None


def holds_profile(recorded: Mapping[str, Any], profile: Profile) -> bool:
    """Tell whether the workspace was made from a profile."""
    return (recorded.get("kind"), recorded.get("name")) == ("profile", profile.name)


def is_in_own_lock(build: str | None, profile: Profile, recorded: Mapping[str, Any], host: Host) -> bool:
    """Tell whether a profile's own lock has a build of PyTorch; it counts unless the workspace has another one."""
    another = holds_profile(recorded, profile) and recorded.get("accelerator") is not None
    return not another and build == profile.builds.get(host.platform)


def _after(recorded: Mapping[str, Any], wish: Wish) -> Wish:
    """Return a wish with what it goes on with of the lock that is there, beside what a bundle brings."""
    added = recorded.get("added", ())
    if wish.added:
        from amlwizard.core.added_lines import name_of  # rare, and takes time to load

        lines = {name_of(line): line for line in (*added, *wish.added)}
        added = tuple(lines[name] for name in sorted(lines))
    return replace(wish, added=added, sources=PackageSources.noted(recorded.get("sources")))


def keeps_accelerator(choices: Choices, workspace: Workspace, wish: Wish) -> bool:
    """Tell whether the lock in use was resolved for the accelerator of a wish; it was where none is chosen."""
    return choices.accelerator is None or recorded_source(workspace).get("accelerator") == wish.accelerator


def fixes_accelerator(wish: Wish) -> bool | None:
    """Tell whether a wish that is fixed by hashes holds PyTorch; None where its packages are still to be chosen."""
    content = wish.content
    if isinstance(content, RequirementsClosure):
        fixed: Iterable[RequirementEntry | Package] | None = (
            content.requirements if is_complete_hashed_lock(content) else None
        )
    else:
        fixed = content.packages
    return None if fixed is None else any(each.name == _DEPENDS_ON_ACCELERATOR for each in fixed)


def _accelerator(choices: Choices, wish: Wish, recorded: Mapping[str, Any]) -> str | None:
    """Return what to resolve PyTorch for: what was chosen, else what was before; what hashes fix stays what it is.

    A setting does not keep anybody from what hashes fix, as an option does: that it has no effect is only told.

    Raises:
        RefusedError: ``AML_ACCELERATOR_FIXED``, or ``AML_ACCELERATOR_NEEDS_UV`` where uv is not to be used.
    """
    chosen, fixes = choices.accelerator, fixes_accelerator(wish)
    if fixes is not None:
        if fixes and chosen not in (None, wish.accelerator) and not choices.accelerator_from_setting:
            raise RefusedError("AML_ACCELERATOR_FIXED", accelerator=chosen, name=wish.name)
        return wish.accelerator
    if chosen is not None and choices.uv_method is UvMethod.NONE:
        raise RefusedError("AML_ACCELERATOR_NEEDS_UV", accelerator=chosen)
    return chosen or recorded.get("accelerator") or wish.accelerator


def _make_wish(
    choices: Choices,
    workspace: Workspace,
    environ: Mapping[str, str],
    recorded: dict[str, Any],
    lock: Path,
    *,
    from_lock: bool,
) -> Wish:
    with_uv = choices.uv_method is not UvMethod.NONE
    if choices.bundle is not None:
        return _from_bundle(choices.bundle, workspace)
    if choices.requirements is not None or choices.profile is not None:
        anew = choices.refresh or _is_anew(recorded, choices.requirements)
        chosen = (
            _from_file(choices.requirements, environ, with_uv=with_uv, anew=anew)
            if choices.requirements is not None
            else _from_profile(choices.profile, choices, recorded)
        )
        met = recorded.get("kind") == "bundle" and chosen.digest(recorded["python"]) == recorded["origin"].get("digest")
        return _from_lock(recorded, lock, None) if met and not choices.refresh else chosen
    if not recorded:
        if is_kept(workspace):
            raise _lost_lock_error(workspace, lock)
        return _from_profile(None, choices, recorded)
    if recorded["kind"] == "bundle":
        if not choices.refresh:
            return _from_lock(recorded, lock, None)
        recorded = {**recorded["origin"], "accelerator": recorded.get("accelerator")}
        if recorded.get("kind") != "profile" or not recorded.get("name"):
            raise RefusedError("AML_BUNDLE_REFRESH", name=str(recorded.get("name", "")))
    kind, name = recorded["kind"], recorded["name"]
    try:
        file = kind == "file"
        anew = choices.refresh or _is_anew(recorded, Path(name))
        wish = (
            _from_file(Path(name), environ, with_uv=with_uv, anew=anew) if file else _from_profile(name, choices, recorded)
        )
    except RefusedError as error:
        gone = error.code in {"AML_REQUIREMENTS_MISSING", "AML_REQUIREMENTS_UNREADABLE", "AML_PROFILE_UNKNOWN"}
        if choices.refresh or not (from_lock or gone):
            raise
        return _from_lock(recorded, lock, None)
    if from_lock and not choices.refresh and wish.digest(recorded["python"]) != recorded["digest"]:
        return _from_lock(recorded, lock, wish.profile)
    return wish


async def read_wish(choices: Choices, *, from_lock: bool = False) -> Wish:
    """Do the same in a thread, with this process's variables: a long file takes a moment, and a window stays alive."""
    return await asyncio.to_thread(make_wish, choices, Workspace(choices.root), os.environ, from_lock=from_lock)


def refuse_without_lock(workspace: Workspace) -> None:
    """Refuse to rebuild where nothing tells what: it would become another environment.

    Raises:
        RefusedError: ``AML_LOCK_DAMAGED``, ``AML_LOCK_LOST`` or ``AML_NOTHING_TO_REBUILD``.
    """
    refuse_lost_lock(workspace)
    if not recorded_in(lock_in_use(workspace)):
        raise RefusedError("AML_NOTHING_TO_REBUILD", root=str(workspace.root))


def refuse_lost_lock(workspace: Workspace) -> None:
    """Refuse what goes by the lock of the workspace where that is damaged or gone.

    Raises:
        RefusedError: ``AML_LOCK_DAMAGED``, or ``AML_LOCK_LOST`` where a repair cannot bring it back.
    """
    lock = lost_lock(workspace)
    if lock is not None:
        raise _lost_lock_error(workspace, lock)


def _lost_lock_error(workspace: Workspace, lock: Path) -> RefusedError:
    from amlwizard.core.lock_recovery import can_recover_lock  # which imports this module

    return RefusedError("AML_LOCK_DAMAGED" if can_recover_lock(workspace) else "AML_LOCK_LOST", file=str(lock))


def lost_lock(workspace: Workspace) -> Path | None:
    """Return the lock in use where it is damaged, or gone from beside what was made of it; None where all is well."""
    from amlwizard.core.lock import readable_lock  # takes time to load

    lock = lock_in_use(workspace)
    if recorded_in(lock) and readable_lock(lock) is not None:
        return None
    return lock if is_kept(workspace) else None


def is_kept(workspace: Workspace) -> bool:
    """Tell whether a workspace holds an environment of ours, or a lock of one, that must not become another in silence."""
    locks = (workspace.lock, workspace.local_lock)
    return any(map(os.path.lexists, locks)) or bool(marker_names(workspace.venv))


def lock_in_use(workspace: Workspace) -> Path:
    """Return the lock of the environment that is in place.

    It is the next one where a run ended between the exchange and the change of locks: the marker in place names it.
    """
    if not is_file(workspace.next_lock):
        return workspace.lock
    from amlwizard.core.lock import lock_digest  # takes time to load

    marker = read_marker(workspace.venv)
    try:
        named = marker is not None and marker.lock == lock_digest(read_plain_text(workspace.next_lock))
    except (OSError, UnicodeDecodeError):
        named = False
    return workspace.next_lock if named else workspace.lock


def recorded_source(workspace: Workspace) -> dict[str, Any]:
    """Return what the lock in use says about its making: kind, name, digest, python; empty where it does not."""
    return recorded_in(lock_in_use(workspace))


def wish_of_lock(lock: Path) -> Wish | None:
    """Return the wish that a lock of the workspace stands for; None where it does not say what it was made from.

    Raises:
        RefusedError: the lock cannot be read.
    """
    recorded = recorded_in(lock)
    return _after(recorded, _from_lock(recorded, lock, None)) if recorded else None


def unfinished_wish(workspace: Workspace) -> Wish | None:
    """Return what an interrupted run was about to install, as its lock tells; None where none does.

    Raises:
        RefusedError: the lock cannot be read.
    """
    return wish_of_lock(workspace.next_lock) if is_file(workspace.next_lock) else None


def tells_wish(workspace: Workspace) -> bool:
    """Tell whether a lock of the workspace says what its environment is to be, or was about to become."""
    return any(recorded_in(lock) for lock in (workspace.next_lock, workspace.lock) if is_file(lock))


def recorded_in(lock: Path) -> dict[str, Any]:
    """Return what a lock of the workspace says about its making: kind, name, digest, python; empty where it does not.

    ``origin``, ``added`` and ``sources`` are there where the lock has them.
    """
    try:
        content = lock_table(read_plain_text(lock))
    except (OSError, ValueError):
        return {}
    tool = content.get("tool")
    about = tool.get("amlwizard") if isinstance(tool, dict) else None
    if not isinstance(about, dict):
        return {}
    told = [about.get(key) for key in ("kind", "name", "digest", "python")]
    if not all(value and isinstance(value, str) for value in told) or _PYTHON.fullmatch(about["python"]) is None:
        return {}
    origin, added = about.get("origin"), about.get("added")
    if not isinstance(origin, dict):
        if about["kind"] == "bundle":
            return {}
        origin = {}
    recorded: dict[str, Any] = {key: str(value) for key, value in about.items() if isinstance(value, str | int | float)}
    if origin:
        recorded["origin"] = {key: value for key, value in origin.items() if isinstance(value, str)}
    if isinstance(about.get("sources"), dict):
        recorded["sources"] = about["sources"]
    if isinstance(added, list):
        recorded["added"] = tuple(map(str, added))
    return recorded


def _is_anew(recorded: dict[str, Any], file: Path | None) -> bool:
    """Tell whether the environment was made from what a given lock carries, because the lock itself did not fit."""
    return "anew" in recorded and recorded["kind"] == "file" and recorded["name"] == str(file)


def _from_bundle(path: Path, workspace: Workspace) -> Wish:
    """Return the wish for what a bundle holds; its wheels will lie in the workspace's store."""
    from amlwizard.core.bundle.additions import carried_additions
    from amlwizard.core.bundle.reading import open_bundle
    from amlwizard.core.extended_lock import added_versions

    bundle = open_bundle(path)
    manifest = bundle.manifest
    packages = [
        replace(
            package, wheels=[replace(wheel, path=f"../{workspace.downloads.name}/{wheel.filename}") for wheel in wheels]
        )
        for package in bundle.lock.packages
        for wheels in [package.wheels or ()]
    ]
    accelerator = _given_accelerator(bundle.lock)
    additions = carried_additions(bundle.lock)
    about = additions.to_toml()
    lock = replace(bundle.lock, packages=packages, tool={"amlwizard": about} if about else None)
    origin = {"kind": manifest.kind, "name": manifest.name, "digest": manifest.digest}
    return Wish(
        "bundle",
        manifest.name,
        lock,
        workspace.runtime,
        origin=origin,
        bundle=bundle,
        added=additions.added,
        added_versions=added_versions(lock),
        accelerator=accelerator,
    )


def _given_accelerator(lock: Pylock) -> str | None:
    """Return what a lock from elsewhere was resolved for; only a known name may get onto a command line."""
    from amlwizard.core.lock import own_table  # takes time to load

    named = own_table(lock).get("accelerator")
    return named if named in ACCELERATORS else None


def _from_lock(recorded: dict[str, Any], lock: Path, profile: Profile | None) -> Wish:
    from amlwizard.core.lock import read_lock

    name = Path(recorded["name"])
    given = recorded["kind"] == "file" and name.suffix == ".toml" and "anew" not in recorded  # a lock that the user gave
    return Wish(
        recorded["kind"],
        recorded["name"],
        read_lock(lock),
        name.parent if given else lock.parent,
        profile,
        lock_file=name if given else None,
        resolved=recorded,
        origin=recorded.get("origin"),
        anew="anew" in recorded,
        accelerator=recorded.get("accelerator"),
    )


def _from_profile(name: str | None, choices: Choices, recorded: Mapping[str, Any]) -> Wish:
    """Return the wish for a profile; its own lock has one build of PyTorch, any other one is still to be resolved."""
    profile = load_profile(name, choices.kit)
    accelerator = choices.accelerator or (recorded.get("accelerator") if holds_profile(recorded, profile) else None)
    if profile.any_build is not None and accelerator is not None:
        profile = replace(profile, requirements=profile.any_build, sizes={})
    closure = parse_closure(profile.requirements, {})
    return Wish("profile", profile.name, closure, closure.folder, profile)


def _from_file(path: Path, environ: Mapping[str, str], *, with_uv: bool, anew: bool) -> Wish:
    if is_file(path) and is_pylock(path):
        from amlwizard.core.lock import read_lock  # rare, and takes time to load
        from amlwizard.core.lock_pythons import python_range

        lock = read_lock(path)
        if not lock.packages:
            raise RefusedError("AML_LOCK_EMPTY", file=str(path))
        accelerator = _given_accelerator(lock)
        if anew:
            from amlwizard.core.top_level import TopLevel

            asked = TopLevel.carried_by(lock)
            if asked.requirements:
                closure = asked.closure(path, environ)
                return Wish("file", str(path), closure, path.parent, anew=True, accelerator=accelerator)
        pythons = python_range(lock)
        return Wish("file", str(path), lock, path.parent, lock_file=path, lock_pythons=pythons, accelerator=accelerator)
    closure = parse_closure(path, environ, with_uv=with_uv)
    return Wish("file", str(path), closure, path.parent)
