"""Process trees on Linux and macOS.

Each child leads a session of its own. On Linux this program is a *child subreaper* while a command runs: an orphan of
whatever kind (a double fork, a session of its own, a cleared environment) comes back to us as our child. What remains is
to tell whose it is, since other children of this program are none of a runner's business; ``_Registry`` does that. Without
a subreaper (macOS) sessions, parents seen in earlier looks, and the run tag have to do.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import psutil

from amlwizard.core.running import GRACE_SECONDS, RUN_TAG_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PR_SET_CHILD_SUBREAPER: Final = 36
_LOOK_SECONDS: Final = 0.01
"""Time between two looks while processes are dying."""
_STOP_ROUNDS: Final = 5
"""How often the forced ending stops newcomers before it kills; a tree that still grows is met in the next turn."""
_SHELL_VARIABLES: Final = frozenset({"PWD", "OLDPWD", "SHLVL", "_"})
"""What shells set by themselves and so proves no inheritance."""


class Identity(NamedTuple):
    """A process that cannot be mistaken for a later one with the same id."""

    pid: int
    created: float


@dataclass(frozen=True)
class Seen:
    """A process as one look found it."""

    pid: int
    created: float
    parent: int
    session: int
    group: int
    zombie: bool

    @property
    def identity(self) -> Identity:
        """Return the key of this process."""
        return Identity(self.pid, self.created)


@dataclass(eq=False)
class _Owner:
    """A party that processes belong to."""

    tag: str = ""
    root: Identity | None = None
    sessions: set[int] = field(default_factory=set)


_FOREIGN: Final = _Owner()
"""The owner of everything that no runner started."""


def see(pid: int) -> Seen | None:
    """Look at one process; None where it is gone or hidden."""
    try:
        process = psutil.Process(pid)
        with process.oneshot():
            return Seen(
                pid=pid,
                created=process.create_time(),
                parent=process.ppid(),
                session=os.getsid(pid),
                group=os.getpgid(pid),
                zombie=process.status() == psutil.STATUS_ZOMBIE,
            )
    except (psutil.Error, OSError):
        return None


def _children_files(pid: int) -> list[int] | None:
    """Return the children of a process from Linux' own lists; None where the kernel keeps none or the process is gone."""
    children: list[int] = []
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(ProcessLookupError, FileNotFoundError):
                children += map(int, (thread / "children").read_bytes().split())
    except OSError:
        return None
    return children


def _own_descendants() -> list[Seen]:
    """Return all descendants of this program, parents before children."""
    found: list[Seen] = []
    queue = _children_files(os.getpid()) or []
    while queue:
        seen = see(queue.pop(0))
        if seen is not None:
            found.append(seen)
            queue += _children_files(seen.pid) or []
    return found


def _own_users_processes() -> list[Seen]:
    """Return all processes of this user, parents before children as far as creation times tell."""
    user = os.getuid()
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.uids().real == user and (seen := see(process.pid)) is not None:
                found.append(seen)
    return sorted(found, key=lambda seen: (seen.created, seen.pid))


def environment_of(identity: Identity) -> dict[str, str] | None:
    """Return the environment that a process was started with; None where it cannot be read."""
    try:
        process = psutil.Process(identity.pid)
        if process.create_time() != identity.created:
            return None
        return process.environ()
    except (psutil.Error, OSError):
        return None


class _Registry:
    """Tells whose a process is. One for the whole program, since orphans come back to the program, not to a runner."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.active: set[_Owner] = set()
        self.starting = 0
        self.subreaper = False
        self._known: dict[Identity, _Owner] = {}
        self._held_by_subprocess: set[int] | None = None
        """What ``_children_of_subprocess`` said in this look; it is asked when it is needed, and once."""

    # -- the life of trees

    def begin(self, owner: _Owner) -> None:
        """Make room for a child that is about to be started."""
        with self.lock:
            if not self.active:
                self.subreaper = _set_subreaper(on=True)
                # What is there before the first command of any runner is none of theirs.
                self._known = dict.fromkeys((seen.identity for seen in self._table()), _FOREIGN) if self.subreaper else {}
            self.active.add(owner)
            self.starting += 1

    def started(self) -> None:
        """Note that the child was started, or was not."""
        with self.lock:
            self.starting -= 1

    def take_root(self, owner: _Owner, identity: Identity) -> None:
        """Note the root of a tree."""
        with self.lock:
            owner.root = identity
            owner.sessions.add(identity.pid)
            self._known[identity] = owner

    def retire(self, owner: _Owner) -> None:
        """Forget a tree of which nothing is left."""
        with self.lock:
            self.active.discard(owner)
            self._known = {identity: other for identity, other in self._known.items() if other is not owner}
            if not self.active:
                self._known.clear()
                _set_subreaper(on=False)
                self.subreaper = False

    # -- looking

    def members(self, owner: _Owner, *, by_tag: bool) -> tuple[list[Seen], bool]:
        """Return the living processes of a tree and whether that is certain, reaping the dead ones that came back to us.

        ``by_tag`` adds whatever carries the owner's tag and is not part of a tree that is under way.
        """
        with self.lock:
            table = self._table() if self.active else []  # where no tree is under way, the tag alone can tell
            owners = self._attribute(table)
            living = []
            certain = True
            for seen in table:
                whose = owners.get(seen.pid)
                if seen.zombie:
                    self._reap(seen, whose)
                elif whose is owner:
                    living.append(seen)
                elif whose is None and self.starting:
                    certain = False  # it may be the child that is just being started, or it may be ours
            if by_tag:
                others = {pid for pid, whose in owners.items() if whose in self.active}
                living += [seen for seen in tagged_processes(owner.tag) if seen.pid not in others]
            return living, certain

    def _table(self) -> list[Seen]:
        if self.subreaper and _children_files(os.getpid()) is not None:
            return _own_descendants()
        return _own_users_processes()

    def _attribute(self, table: Iterable[Seen]) -> dict[int, _Owner | None]:
        own_session = os.getsid(0)
        self._held_by_subprocess = None
        remembered: dict[Identity, _Owner] = {
            owner.root: owner for owner in self.active if owner.root is not None
        }  # roots stay known although a look may have missed them
        owners: dict[int, _Owner | None] = {}
        for seen in table:
            whose = self._whose(seen, owners, own_session)
            owners[seen.pid] = whose
            if whose is not None:
                remembered[seen.identity] = whose
                if whose is not _FOREIGN and seen.session == seen.pid:
                    whose.sessions.add(seen.session)
        self._known = remembered
        return owners

    def _whose(self, seen: Seen, owners: dict[int, _Owner | None], own_session: int) -> _Owner | None:
        known = self._known.get(seen.identity)
        if known is not None:
            return known
        if seen.session == own_session:
            return _FOREIGN  # our children lead sessions of their own, and nobody can enter an existing session
        for owner in self.active:
            if seen.session in owner.sessions:
                return owner
        # Without a subreaper orphans go to process 1, which tells nothing; in a container it may even be in our session.
        parents = owners.get(seen.parent) if self.subreaper or seen.parent != 1 else None
        if parents is not None or (self.subreaper and seen.parent in owners):
            return parents
        if self.starting:
            return None
        return self._orphan(seen) if self.subreaper and seen.parent == os.getpid() else self._by_tag(seen)

    def _by_tag(self, seen: Seen) -> _Owner | None:
        tag = (environment_of(seen.identity) or {}).get(RUN_TAG_VARIABLE)
        if not tag:
            return None
        return self._only([owner for owner in self.active if owner.tag == tag], seen)

    def _orphan(self, seen: Seen) -> _Owner | None:
        """Tell whose child of ours this is that leads or belongs to an unknown session."""
        if self._held_by_subprocess is None:
            self._held_by_subprocess = _children_of_subprocess()
        if seen.session == seen.pid and seen.pid in self._held_by_subprocess:
            return _FOREIGN
        candidates = list(self.active)
        environment = None if seen.zombie else environment_of(seen.identity)
        if environment is not None:
            tag = environment.get(RUN_TAG_VARIABLE)
            if tag:
                candidates = [owner for owner in candidates if owner.tag == tag]
                if not candidates:
                    return _FOREIGN
            elif _inherits_from_us(environment):
                return _FOREIGN
        return self._only(candidates, seen)

    @staticmethod
    def _only(candidates: list[_Owner], seen: Seen) -> _Owner | None:
        """Return the one tree that is old enough; the last of several trees to end takes what could be anyone's."""
        old_enough = [owner for owner in candidates if owner.root is not None and owner.root.created <= seen.created]
        return old_enough[0] if len(old_enough) == 1 else None

    def _reap(self, seen: Seen, whose: _Owner | None) -> None:
        """Take the status of a dead orphan. Roots are left to the event loop that started them, strangers to theirs."""
        if seen.parent != os.getpid() or any(owner.root == seen.identity for owner in self.active):
            return
        # A child that we forked ourselves is in our session or leads its own; another session means an orphan.
        orphan = seen.session not in {seen.pid, os.getsid(0)}
        if orphan or (whose is not None and whose is not _FOREIGN):
            with suppress(ChildProcessError):
                os.waitpid(seen.pid, os.WNOHANG)


_REGISTRY: Final = _Registry()


def _set_subreaper(*, on: bool) -> bool:
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(libc.prctl(_PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0) == 0)


def _children_of_subprocess() -> set[int]:
    """Return the ids of all children that this program holds as ``subprocess.Popen``, whoever started them."""
    return {item.pid for item in gc.get_objects() if issubclass(type(item), subprocess.Popen) and hasattr(item, "pid")}


def _inherits_from_us(environment: dict[str, str]) -> bool:
    """Tell whether an environment is this program's own, which no child of a runner has.

    What a runner's children get is an allow-list; whoever has all the rest too got it from us by inheritance.
    """
    private = [(name, value) for name, value in os.environ.items() if name not in _SHELL_VARIABLES]
    return bool(private) and all(environment.get(name) == value for name, value in private)


def tagged_processes(tag: str) -> list[Seen]:
    """Return this user's living processes that were started with the run tag, wherever they are in the process table."""
    candidates = [pid for pid in psutil.pids() if pid != os.getpid() and _may_carry(pid, tag)]
    return [
        seen
        for seen in filter(None, map(see, candidates))
        if not seen.zombie and (environment_of(seen.identity) or {}).get(RUN_TAG_VARIABLE) == tag
    ]


def _may_carry(pid: int, tag: str) -> bool:
    """Rule out most processes with one read each, where the system has such files: a busy computer runs hundreds."""
    if sys.platform != "linux":
        return True
    try:
        return f"{RUN_TAG_VARIABLE}={tag}".encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


def send(seen: Seen, number: signal.Signals) -> bool:
    """Send a signal to exactly this process; False where it is gone, replaced or not ours to end."""
    try:
        process = psutil.Process(seen.pid)
        if process.create_time() != seen.created:
            return False
        process.send_signal(number)
    except (psutil.Error, OSError):
        return False
    return True


def _send_to_groups(members: Iterable[Seen], number: signal.Signals) -> None:
    """Signal whole groups: unlike signals one by one, that also meets what is forked meanwhile."""
    own_session = os.getsid(0)
    for group, seen in {seen.group: seen for seen in members if seen.session != own_session}.items():
        present = see(seen.pid)  # a living member keeps the number of its group from being given away
        if present is not None and present.identity == seen.identity and present.group == group:
            with suppress(OSError):
                os.killpg(group, number)


class _Ending:
    """Ends one owner's processes; ``look`` returns the living ones and whether that is certain."""

    def __init__(self, owner: _Owner, *, by_tag: bool) -> None:
        self._owner = owner
        self._by_tag = by_tag
        self._untouchable: set[Identity] = set()
        self.stopped: set[Identity] = set()

    def look(self) -> tuple[list[Seen], bool]:
        living, certain = _REGISTRY.members(self._owner, by_tag=self._by_tag)
        return [seen for seen in living if seen.identity not in self._untouchable], certain

    def run(self) -> None:
        """Ask, wait, then end by force, until two looks in a row find nothing and the tree is retired."""
        members, certain = self.look()
        if members:
            self._signal(members, signal.SIGTERM)
            self._wait(time.monotonic() + GRACE_SECONDS)
            members, certain = self.look()
        quiet = 1 if certain and not members else 0
        while True:
            with _REGISTRY.lock:
                members, certain = self.look()
                quiet = quiet + 1 if certain and not members else 0
                if quiet >= 2:
                    # In the same breath as the look: whatever could be another tree's now falls to that one.
                    _REGISTRY.retire(self._owner)
                    return
            if members:
                self._force(members)
            if not quiet:
                time.sleep(_LOOK_SECONDS)

    def _wait(self, deadline: float) -> None:
        while (began := time.monotonic()) < deadline:
            members, certain = self.look()
            if certain and not members:
                return
            # no more than half of the time for looking: those who are to end need the processor
            time.sleep(max(_LOOK_SECONDS, time.monotonic() - began))

    def _force(self, members: list[Seen]) -> None:
        """Stop everything so that nothing can be forked or respawned, then kill it."""
        known: dict[Identity, Seen] = {}
        for _ in range(_STOP_ROUNDS):
            fresh = [seen for seen in members if seen.identity not in known]
            if not fresh:
                break
            known |= {seen.identity: seen for seen in fresh}
            _send_to_groups(fresh, signal.SIGSTOP)
            for seen in fresh:
                send(seen, signal.SIGSTOP)
            members, _ = self.look()
        self._signal(list(known.values()), signal.SIGKILL)

    def _signal(self, members: list[Seen], number: signal.Signals) -> None:
        _send_to_groups(members, number)
        for seen in members:
            if send(seen, number) or not self._denied(seen):
                self.stopped.add(seen.identity)
            else:
                self._untouchable.add(seen.identity)

    @staticmethod
    def _denied(seen: Seen) -> bool:
        """Tell whether a process lives on because the system does not let us end it (another user's, by sudo)."""
        present = see(seen.pid)
        if present is None or present.identity != seen.identity or present.zombie:
            return False
        try:
            os.kill(seen.pid, 0)
        except PermissionError:
            return True
        except OSError:
            return False
        return False


class PosixTree:
    """The processes of one command on Linux and macOS."""

    def __init__(self, run_tag: str) -> None:
        self._owner = _Owner(run_tag)

    @contextmanager
    def starting(self) -> Iterator[PosixTree]:
        """Prepare for the start of the child, which takes place within this context."""
        _REGISTRY.begin(self._owner)
        try:
            yield self
        finally:
            _REGISTRY.started()
            if self._owner.root is None:
                _REGISTRY.retire(self._owner)

    def adopt(self, pid: int) -> None:
        """Take the child as the root. It is not reaped yet, so the id is its own, be it alive or not."""
        seen = see(pid)
        _REGISTRY.take_root(self._owner, seen.identity if seen else Identity(pid, time.time()))

    def count(self) -> int:
        """Return how many processes of the tree are alive."""
        return len(_REGISTRY.members(self._owner, by_tag=False)[0])

    def end(self) -> int:
        """End every process of the tree; return how many were stopped."""
        ending = _Ending(self._owner, by_tag=False)
        ending.run()
        return len(ending.stopped)


class PosixTreeKeeper:
    """Makes the trees of one runner."""

    def __init__(self, run_tag: str) -> None:
        self._run_tag = run_tag

    def starting(self) -> AbstractContextManager[PosixTree]:
        """Prepare a tree; the child is started and adopted within the context."""
        return PosixTree(self._run_tag).starting()

    def sweep(self) -> int:
        """End whatever carries the run tag; return how many processes were stopped."""
        ending = _Ending(_Owner(self._run_tag), by_tag=True)
        ending.run()
        return len(ending.stopped)
