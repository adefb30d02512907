"""What the engine tells its front ends; each event is one JSON object of ``--json`` (DESIGN section 7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar


class StepState(StrEnum):
    """States of a step."""

    STARTED = "started"
    PROGRESS = "progress"
    DONE = "done"
    SKIPPED = "skipped"
    FAILED = "failed"
    CANCELLED = "cancelled"


class RunState(StrEnum):
    """How a run ended."""

    READY = "ready"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    NOT_READY = "not_ready"
    REFUSED = "refused"
    BUSY = "busy"


@dataclass(frozen=True)
class PlanStep:
    """One step of a plan; the title's words are ``step.<id>`` in the catalogue."""

    id: str
    title: str


@dataclass(frozen=True)
class PlanEvent:
    """What is going to be done. Numbers are bytes; what is not known yet is None."""

    kind: ClassVar[str] = "plan"
    steps: tuple[PlanStep, ...]
    download_bytes: int | None
    disk_bytes: int | None
    hosts: tuple[str, ...]
    writes: tuple[str, ...]
    replaces: tuple[str, ...]

    @property
    def chooses(self) -> bool:
        """Tell whether the packages are still to be chosen, so that more is known then."""
        return any(step.id == "resolve" for step in self.steps)

    def to_json(self) -> dict[str, Any]:
        """Return the event as plain JSON values."""
        return {
            "event": self.kind,
            "steps": [{"id": step.id, "title": step.title} for step in self.steps],
            "download_bytes": self.download_bytes,
            "disk_bytes": self.disk_bytes,
            "hosts": list(self.hosts),
            "writes": list(self.writes),
            "replaces": list(self.replaces),
        }


@dataclass(frozen=True)
class StepEvent:
    """A step changed its state, or got on.

    ``done`` and ``total`` count ``unit`` ("bytes", "files", "packages" or "modules"); ``total`` is None where it is
    unknown; ``rate`` is units a second. ``subject`` names what is worked on now (a file or a package).
    """

    kind: ClassVar[str] = "step"
    id: str
    state: StepState
    done: int | None = None
    total: int | None = None
    unit: str | None = None
    rate: float | None = None
    subject: str | None = None
    seconds: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the event as plain JSON values."""
        content: dict[str, Any] = {"event": self.kind, "id": self.id, "state": self.state.value}
        if self.state is StepState.PROGRESS:
            content |= {"done": self.done, "total": self.total, "unit": self.unit, "rate": self.rate}
            if self.subject is not None:
                content["subject"] = self.subject
        elif self.seconds is not None:
            content["seconds"] = round(self.seconds, 3)
        return content


@dataclass(frozen=True)
class LogEvent:
    """One line of what happens, already redacted; ``step`` is empty outside a step.

    A ``remark`` is meant for the user and is told also where no log is shown.
    """

    kind: ClassVar[str] = "log"
    step: str
    line: str
    remark: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the event as plain JSON values."""
        return {"event": self.kind, "step": self.step, "line": self.line}


@dataclass(frozen=True)
class _ContentEvent:
    """An event whose values are told as they are."""

    kind: ClassVar[str]
    content: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return the event as plain JSON values."""
        return {"event": self.kind, **self.content}


class DetectedEvent(_ContentEvent):
    """What was found on this computer; the values are those of ``detection.report`` and ``remarks.settings_content``."""

    kind: ClassVar[str] = "detected"


class BundleEvent(_ContentEvent):
    """What a bundle holds, whether it was made or looked at; the values are those of ``bundle.inspecting``."""

    kind: ClassVar[str] = "bundle"


class StoreEvent(_ContentEvent):
    """What the store holds and lacks; the values are those of ``store.report``."""

    kind: ClassVar[str] = "store"


@dataclass(frozen=True)
class ChangesEvent:
    """What a run changes in the environment that is in place, told before it is done.

    ``python`` and ``uv`` are the versions before and after where they change, ``added`` and ``removed`` hold names and
    versions (empty where they are not known yet), ``changed`` names with the version before and after, which is the same
    where only the content is another.
    """

    kind: ClassVar[str] = "changes"
    python: tuple[str, str] | None = None
    added: tuple[tuple[str, str], ...] = ()
    removed: tuple[tuple[str, str], ...] = ()
    changed: tuple[tuple[str, str, str], ...] = ()
    uv: tuple[str, str] | None = None

    @property
    def is_empty(self) -> bool:
        """Tell whether everything stays as it is."""
        return not (self.python or self.uv or self.added or self.removed or self.changed)

    def to_json(self) -> dict[str, Any]:
        """Return the event as plain JSON values."""
        return {
            "event": self.kind,
            "python": _from_to(self.python),
            "uv": _from_to(self.uv),
            "added": [{"name": name, "version": version} for name, version in self.added],
            "removed": [{"name": name, "version": version} for name, version in self.removed],
            "changed": [{"name": name, "from": before, "to": after} for name, before, after in self.changed],
        }


def _from_to(versions: tuple[str, str] | None) -> dict[str, str] | None:
    return {"from": versions[0], "to": versions[1]} if versions is not None else None


@dataclass(frozen=True)
class FinishedEvent:
    """How the run ended. ``arguments`` are those of the code's text, so that a front end can translate it."""

    kind: ClassVar[str] = "finished"
    state: RunState
    code: str
    message: str
    hint: str = ""
    root: str = ""
    python: str | None = None
    packages: int | None = None
    lock: str | None = None
    seconds: float = 0.0
    arguments: dict[str, object] = field(default_factory=dict)
    detail: str = ""
    path: str = ""
    """The file that was made, where one was asked for."""
    log: str = ""
    """The log file of the run, where there is one; for a window that can open it."""
    environment: dict[str, str] | None = None
    """The environment's state, reason and action afterwards, as in a ``DetectedEvent``; None where nobody looked."""
    lines: tuple[dict[str, object], ...] = ()
    """Each refused line of a requirements file with file, line, code and message, where it was more than one."""

    def to_json(self) -> dict[str, Any]:
        """Return the event as plain JSON values."""
        content: dict[str, Any] = {
            "event": self.kind,
            "state": self.state.value,
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "root": self.root,
            "python": self.python,
            "packages": self.packages,
            "lock": self.lock,
            "seconds": round(self.seconds, 3),
        }
        if self.detail:
            content["detail"] = self.detail
        if self.path:
            content["path"] = self.path
        if self.environment is not None:
            content["environment"] = self.environment
        if self.lines:
            content["lines"] = list(self.lines)
        return content


Event = PlanEvent | StepEvent | LogEvent | DetectedEvent | BundleEvent | StoreEvent | ChangesEvent | FinishedEvent
Emit = Callable[[Event], None]
