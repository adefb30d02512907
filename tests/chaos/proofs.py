"""The proofs, made by other means than the product's own."""

from __future__ import annotations

import base64
import csv
import ctypes
import fcntl
import hashlib
import json
import os
import re
import stat
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator

Packages = dict[str, str]
_PR_SET_CHILD_SUBREAPER = 36
_NOT_COMPARED = {"pip", "setuptools"}
"""What ``python -m venv`` brings along in versions of its own."""


class BreachError(Exception):
    """Something that must hold does not."""


def installed(venv: Path, modules: Iterable[str]) -> Packages | None:
    """Check an environment as a whole; return the names and versions in it, or None where there is none at all.

    Raises:
        BreachError: it is there and does not work, or a file is not what its record says.
    """
    if not os.path.lexists(venv):
        return None
    sites = list(venv.glob("lib/python*/site-packages"))
    if len(sites) != 1:
        raise BreachError(f"{venv} has {len(sites)} site-packages")
    site = sites[0]
    found: Packages = {}
    for info in sorted(site.glob("*.dist-info")):
        name, version = _identity(info)
        if name in found:
            raise BreachError(f"{name} is there twice in {site}")
        found[name] = version
        _check_files(site, info)
    if not found:
        raise BreachError(f"nothing is installed in {venv}")
    question = f"import json, sys, {', '.join(modules)}; print(json.dumps(sys.prefix))"
    answer = subprocess.run(
        [venv / "bin" / "python", "-I", "-B", "-c", question], capture_output=True, text=True, check=False, cwd="/"
    )
    if answer.returncode or json.loads(answer.stdout) != str(venv):
        raise BreachError(f"{venv} does not work: {answer.stdout} {answer.stderr[-500:]}")
    return {name: version for name, version in found.items() if name not in _NOT_COMPARED}


def damage(venv: Path, chance: random.Random) -> None:
    """Damage one installed file in place, which reaches every hard link of it, or remove it."""
    modules = sorted(venv.glob("lib/python*/site-packages/*/[a-z]*.py"))
    module = chance.choice([path for path in modules if path.stat().st_size > 100])
    way = chance.choice(("flip", "truncate", "remove"))
    if way == "remove":
        module.unlink()
    elif way == "truncate":
        os.truncate(module, module.stat().st_size // 2)
    else:
        with module.open("r+b") as stream:
            stream.seek(50)
            byte = stream.read(1)
            stream.seek(50)
            stream.write(bytes([byte[0] ^ 1]))


def _identity(info: Path) -> tuple[str, str]:
    try:
        text = (info / "METADATA").read_text(encoding="utf-8").split("\n\n")[0]
    except OSError as error:
        raise BreachError(f"{info} has no METADATA") from error
    fields = dict(line.split(": ", 1) for line in text.splitlines() if re.match(r"(Name|Version): ", line))
    return re.sub(r"[-_.]+", "-", fields["Name"]).lower(), fields["Version"]


def _check_files(site: Path, info: Path) -> None:
    try:
        rows = list(csv.reader((info / "RECORD").read_text(encoding="utf-8").splitlines()))
    except OSError as error:
        raise BreachError(f"{info} has no RECORD") from error
    for name, digest, size in rows:
        path = site / name
        if not path.is_file():
            if name.endswith(".pyc"):
                continue
            raise BreachError(f"{path} is missing")
        if not digest:
            continue
        content = path.read_bytes()
        kind, _, value = digest.partition("=")
        actual = base64.urlsafe_b64encode(hashlib.new(kind, content).digest()).rstrip(b"=").decode()
        if actual != value or (size and int(size) != len(content)):
            raise BreachError(f"{path} is not what its record says")


@dataclass(frozen=True)
class Process:
    """One process of the table, as far as it concerns us."""

    pid: int
    words: str


def adopt_orphans() -> None:
    """Make this process the parent of every descendant that loses its own: what a run started stays known by descent."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no subreaper")


def survivors(helpers: Iterable[int]) -> list[Process]:
    """Return the living descendants of this process but its ``helpers`` and theirs; ``adopt_orphans`` was called before.

    What a process calls itself, or what folder it names, proves nothing: a stranger's shell may name ours.
    """
    alive = [pid for pid, seen in _descendants(helpers).items() if not seen.is_over]
    return [Process(pid, _words(pid)) for pid in sorted(alive)]


def reap_orphans(helpers: Iterable[int]) -> None:
    """Take the end of every orphan that was adopted and is over. No child of our own but ``helpers`` may be unawaited."""
    for pid, seen in _descendants(helpers).items():
        if seen.is_over and seen.parent == os.getpid():
            os.waitpid(pid, os.WNOHANG)


class _Seen(NamedTuple):
    parent: int
    is_over: bool


def _descendants(helpers: Iterable[int]) -> dict[int, _Seen]:
    table = _table()
    while any(seen.parent and seen.parent not in table for seen in table.values()):
        table = _table()  # a parent ended meanwhile, so that its children have another one now
    children: dict[int, list[int]] = {}
    for pid, seen in table.items():
        children.setdefault(seen.parent, []).append(pid)
    spared, found, unseen = set(helpers), {}, [os.getpid()]
    while unseen:
        for pid in children.get(unseen.pop(), ()):
            if pid not in spared:
                found[pid] = table[pid]
                unseen.append(pid)
    return found


def _table() -> dict[int, _Seen]:
    table = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError):  # it is gone
                state, parent = Path(entry.path, "stat").read_bytes().rpartition(b")")[2].split()[:2]
                table[int(entry.name)] = _Seen(int(parent), state in {b"Z", b"X"})
    return table


def _words(pid: int) -> str:
    """Return how a process was called and where it works, for a report."""
    proc, words, place = Path("/proc", str(pid)), b"", "?"
    with suppress(OSError):
        words = (proc / "cmdline").read_bytes().replace(b"\0", b" ")
        place = str((proc / "cwd").readlink())
    return f"{words.decode(errors='replace')[:200]} (in {place})"


Listing = dict[str, tuple[int, int, int]]


def listing(fence: Path, without: Path, loose: Iterable[Path]) -> Listing:
    """Return everything below ``fence`` but what is below ``without``: mode, size, and time, but for the ``loose``."""
    return dict(_listed(fence, without, set(loose)))


def _listed(folder: Path, without: Path, loose: set[Path]) -> Iterator[tuple[str, tuple[int, int, int]]]:
    for entry in os.scandir(folder):
        path = Path(entry.path)
        if path == without:
            continue
        status = entry.stat(follow_symlinks=False)
        is_folder = stat.S_ISDIR(status.st_mode)
        yield entry.path, (status.st_mode, 0 if is_folder else status.st_size, 0 if path in loose else status.st_mtime_ns)
        if is_folder:
            yield from _listed(path, without, loose)


def check_unchanged(before: Listing, after: Listing) -> None:
    """Compare two listings.

    Raises:
        BreachError: they differ.
    """
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    if changed:
        raise BreachError(f"changed outside the workspace: {', '.join(changed[:10])}")


def check_lock_is_free(root: Path) -> None:
    """Take the kernel's lock for a moment; a child that was just being started may have it a little longer.

    Raises:
        BreachError: somebody holds it.
    """
    lock = root / "runtime" / "lock"
    if not lock.exists():
        return
    deadline = time.monotonic() + 1
    with lock.open("rb") as stream:
        while True:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if time.monotonic() > deadline:
                    raise BreachError(f"the lock of {root} is held") from error
            time.sleep(0.01)


def check_nothing_is_left(root: Path, tmp: Path) -> None:
    """Look for what only an interrupted run leaves.

    Raises:
        BreachError: there is something.
    """
    runtime = root / "runtime"
    left = [path for path in (root / ".venv.staged", root / ".venv.old", runtime / "journal.json") if os.path.lexists(path)]
    for folder in (runtime / "tmp", runtime / "runs", tmp):
        left += list(folder.iterdir()) if folder.is_dir() else []
    left += [path for path in (*root.glob(".*"), *runtime.glob("*.part"), *root.glob("*/*.json.*.part")) if _is_stray(path)]
    if left:
        raise BreachError(f"left behind: {', '.join(sorted(map(str, left)))}")


def _is_stray(path: Path) -> bool:
    return path.name != ".venv"
