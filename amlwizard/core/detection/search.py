"""The search: every candidate is looked at, all at once, and each gets its row (DESIGN 3.1)."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from packaging.version import InvalidVersion, Version

from amlwizard.core.catalogue import Phrase
from amlwizard.core.detection import apple, interpreter, windows
from amlwizard.core.detection.judging import (
    Grade,
    choose_python,
    choose_uv,
    judge,
    too_old,
)
from amlwizard.core.detection.places import (
    SOURCE_BUNDLED,
    SOURCE_LAUNCHER,
    SOURCE_RECORD,
    SOURCE_REGISTRY,
    SOURCE_SETTING,
    Place,
    Surroundings,
    is_program,
)
from amlwizard.core.detection.probing import PROBE_SECONDS, ask, failure, no_answer
from amlwizard.core.detection.python_places import python_places
from amlwizard.core.detection.shims import behind_shim, is_shim
from amlwizard.core.detection.uv_places import uv_places
from amlwizard.core.facts import Candidate, EnvironmentFacts, Facts, Host, PythonFacts
from amlwizard.core.host import host_facts
from amlwizard.core.plain_files import exists
from amlwizard.core.running import Exited
from amlwizard.core.settings import MINIMUM_PYTHON, home_folder
from amlwizard.core.unusable import why_no_file
from amlwizard.core.uv_cli import UvCli

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

    from amlwizard.core.choices import Choices
    from amlwizard.core.paths import Workspace
    from amlwizard.core.running import Runner

MINIMUM_UV: Final = Version("0.9.0")
"""The oldest uv that knows every option that is used."""

TURN_SECONDS: Final = 0.2
"""How long a probe keeps others waiting; one that takes longer goes on beside them, so that none can hold them up."""

OnCandidate = Callable[[Candidate], None]
Probe = Callable[[Place], Awaitable[Candidate]]

_UV_VERSION: Final = re.compile(r"uv (\S+).*")
_REAL_NAME: Final = re.compile(r"(python[\d.]*t?|uv)(\.exe)?", re.ASCII | re.IGNORECASE)


def _no_environment() -> EnvironmentFacts:
    return EnvironmentFacts("absent")


async def detect(
    choices: Choices,
    workspace: Workspace,
    runner: Runner,
    environ: Mapping[str, str],
    *,
    env: Mapping[str, str],
    home: Path | None = None,
    bundled_uv: Path | None = None,
    host: Host | None = None,
    python_range: SpecifierSet | None = None,
    environment: Callable[[], EnvironmentFacts] = _no_environment,
    on_candidate: OnCandidate | None = None,
    probe_seconds: float = PROBE_SECONDS,
    registry: windows.Registry | None = None,
    system_root: Path = Path("/"),
) -> Facts:
    """Look at every uv and interpreter of this computer; nothing is written.

    Args:
        choices: what was named.
        workspace: where private tools and interpreters lie; it need not exist.
        runner: starts the candidates.
        environ: the environment of this process, for PATH and the places that variables name.
        env: the environment of the probes, without anything that changes how an interpreter starts.
        home: the user's home folder, where it is not what ``environ`` says.
        bundled_uv: the copy that came with this program.
        host: the computer, where it is known already.
        python_range: the versions that the profile or the requirements accept.
        environment: tells the state of the environment; called in a thread.
        on_candidate: is told each row as it comes; what turns out to be the same interpreter is joined only at the end.
        probe_seconds: the limit of one probe.
        registry: the Windows registry, where it is not this computer's.
        system_root: the root of the file system, on POSIX.

    Raises:
        RefusedError: an explicit choice does not work (``AML_PYTHON_MISSING``, ``AML_UV_MISSING``).
    """
    host = host or host_facts()
    around = Surroundings(host.system, environ, home or home_folder(environ), workspace, system_root)
    search = _Search(choices, around, runner, env, host, python_range, on_candidate, probe_seconds)
    state_task = asyncio.create_task(asyncio.to_thread(environment))
    pythons_task = asyncio.create_task(search.pythons(registry or windows.system_registry()))
    uvs_task = asyncio.create_task(search.uvs(bundled_uv))
    tasks = (state_task, pythons_task, uvs_task)
    try:
        state, pythons, uvs = await asyncio.gather(*tasks)
    finally:  # where one is refused, no probe of the others is left behind
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    uv = choose_uv(choices, uvs)
    python = choose_python(choices, pythons)
    return Facts(search.host, tuple(_listed(uvs, uv) + _listed(pythons, python)), uv, python, state)


def _listed(candidates: list[Candidate], chosen: Candidate | None) -> list[Candidate]:
    """Return the rows in the order in which people read them: the chosen one, usable ones, the others."""
    return sorted(candidates, key=lambda candidate: (candidate is not chosen, not candidate.usable))


class _Search:
    """One search; rows are kept in the order of preference although they come as they are ready."""

    def __init__(
        self,
        choices: Choices,
        around: Surroundings,
        runner: Runner,
        env: Mapping[str, str],
        host: Host,
        python_range: SpecifierSet | None,
        on_candidate: OnCandidate | None,
        probe_seconds: float,
    ) -> None:
        self.host = host
        self._choices = choices
        self._around = around
        self._runner = runner
        self._env = env
        self._python_range = python_range
        self._on_candidate = on_candidate
        self._probe_seconds = probe_seconds
        self._turns = asyncio.Semaphore(max(2, 2 * host.cpu_count))
        self._listed: set[tuple[str, Path]] = set()
        self._seen: dict[str, Path] = {}
        self._apple_tools: bool | None = None
        self._apple_turn = asyncio.Lock()

    async def pythons(self, registry: windows.Registry | None) -> list[Candidate]:
        """Return every interpreter with its verdict, in the order of preference."""
        named = self._choices.interpreter
        places = [Place(named, SOURCE_SETTING)] if named is not None else []
        places += await asyncio.to_thread(lambda: list(python_places(self._around)))
        if registry is not None:
            registered = await asyncio.to_thread(lambda: list(windows.registered_pythons(registry)))
            places += [Place(path, SOURCE_REGISTRY) for path in registered]
        rows, launched = await asyncio.gather(self._rows("python", places, self._python_row), self._launcher_rows())
        return await asyncio.to_thread(_joined, rows + launched)

    async def _launcher_rows(self) -> list[Candidate]:
        """Return what only the py launcher knows; it is asked beside the others, as it may hang like any program."""
        launcher = await asyncio.to_thread(self._launcher) if self.host.system == "windows" else None
        if launcher is None:
            return []
        argv = (str(launcher), *windows.LAUNCHER_ARGUMENTS)
        answer = await ask(self._runner, argv, self._env, self._probe_seconds)
        found = windows.launcher_pythons(answer.stdout) if answer.outcome == Exited(0) else []
        return await self._rows("python", [Place(path, SOURCE_LAUNCHER) for path in found], self._python_row)

    def _launcher(self) -> Path | None:
        for folder in self._around.path_folders():
            path = folder / "py.exe"
            if is_program(path) and not windows.is_store_placeholder(path, path.lstat().st_size):
                return path
        return None

    async def uvs(self, bundled_uv: Path | None) -> list[Candidate]:
        """Return every uv with its verdict, in the order of preference."""
        places = [Place(self._choices.uv, SOURCE_SETTING)] if self._choices.uv is not None else []
        places += await asyncio.to_thread(lambda: list(uv_places(self._around)))
        if bundled_uv is not None:
            places.append(Place(bundled_uv, SOURCE_BUNDLED))
        return await self._rows("uv", places, self._uv_row)

    async def _rows(self, kind: str, places: list[Place], probe: Probe) -> list[Candidate]:
        """Look at all places; what needs no start to be judged gets its row at once."""
        looked_at = await asyncio.to_thread(self._look, kind, places)
        rows = [row for _, row in looked_at]
        for row in rows:
            if row is not None:
                self._tell(row)

        async def start(position: int, place: Place) -> None:
            row = await probe(place)
            self._tell(row)
            rows[position] = row

        async with asyncio.TaskGroup() as group:
            for position, (place, row) in enumerate(looked_at):
                if row is None:
                    group.create_task(start(position, place))
        return [row for row in rows if row is not None]

    def _look(self, kind: str, places: list[Place]) -> list[tuple[Place, Candidate | None]]:
        """Return each place with its row, or with None where only a start can tell; called in a thread."""
        looked_at: list[tuple[Place, Candidate | None]] = []
        waiting = list(reversed(places))
        while waiting:
            place = waiting.pop()
            if (kind, place.path) in self._listed:
                continue
            self._listed.add((kind, place.path))
            row, behind = self._without_start(kind, place)
            looked_at.append((place, row))
            if behind is not None:
                waiting.append(Place(behind, place.source))
        return looked_at

    def _tell(self, row: Candidate) -> None:
        if self._on_candidate is not None:
            self._on_candidate(row)

    def _without_start(self, kind: str, place: Place) -> tuple[Candidate | None, Path | None]:
        """Return the row of a place that is not to be started, and what is to be looked at in its stead."""
        path = place.path
        if kind == "python" and is_shim(path):
            behind = behind_shim(path, self._around.environ)
            if behind is None:
                return _row(kind, place, Phrase("candidate.idle_shim")), None
            return _row(kind, place, Phrase("candidate.shim", {"path": behind})), behind
        reason = self._unfit_file(path) or self._outside(place)
        if reason is not None:
            return _row(kind, place, reason), None
        if kind == "python":
            base = interpreter.environment_base(path)
            if base is not None:
                if base == Path():
                    return _row(kind, place, Phrase("candidate.broken_environment")), None
                return _row(kind, place, Phrase("candidate.environment", {"path": base})), base
        identity = _identity(path)
        known_path = self._seen.setdefault(identity, path)
        if known_path != path:
            return _row(kind, place, Phrase("candidate.duplicate", {"path": known_path})), None
        return None, None

    def _unfit_file(self, path: Path) -> Phrase | None:
        try:
            size = path.lstat().st_size
        except OSError:
            return why_no_file(path)
        if self.host.system == "windows" and windows.is_store_placeholder(path, size):
            return Phrase("candidate.store_placeholder")
        if not exists(path):
            return Phrase("candidate.dangling")
        return None if is_program(path) else Phrase("candidate.not_executable")

    def _outside(self, place: Place) -> Phrase | None:
        """Refuse to start what only ``uv.json`` names and what is not in the workspace: others may have written it."""
        if place.source != SOURCE_RECORD:
            return None
        inside = place.path.resolve().is_relative_to(self._around.workspace.root.resolve())
        return None if inside else Phrase("candidate.outside_workspace")

    async def _is_apple_placeholder(self, path: Path) -> bool:
        system_folder = self._around.root / apple.SYSTEM_FOLDER
        if not apple.may_be_placeholder(self.host.system, path, system_folder):
            return False
        async with self._apple_turn:
            if self._apple_tools is None:
                argv = (str(self._around.root / apple.XCODE_SELECT), "-p")
                answer = await ask(self._runner, argv, self._env, self._probe_seconds)
                self._apple_tools = answer.outcome == Exited(0)
        return not self._apple_tools

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Let a few probes start at a time, as more only slow each other down; a slow one gives its turn away."""
        await self._turns.acquire()
        given_away = False

        def give_away() -> None:
            nonlocal given_away
            if not given_away:
                given_away = True
                self._turns.release()

        end = asyncio.get_running_loop().call_later(TURN_SECONDS, give_away)
        try:
            yield
        finally:
            end.cancel()
            give_away()

    async def _python_row(self, place: Place) -> Candidate:
        if await self._is_apple_placeholder(place.path):
            return _row("python", place, Phrase("candidate.apple_placeholder"))
        async with self._turn():
            program = str(place.path)
            answer = await ask(self._runner, (program, *interpreter.ARGUMENTS), self._env, self._probe_seconds)
            if interpreter.knows_no_isolation(answer):
                answer = await ask(self._runner, (program, *interpreter.OLD_ARGUMENTS), self._env, self._probe_seconds)
        facts = interpreter.parse_answer(answer, self.host) if answer.outcome == Exited(0) else None
        if facts is not None:
            return self._judged(place, facts)
        said = interpreter.said_version(answer)
        if said is not None and said < MINIMUM_PYTHON:
            version = ".".join(map(str, said))
            return _row("python", place, too_old(version), version)
        return _row("python", place, failure(answer) or no_answer(answer))

    def _judged(self, place: Place, facts: PythonFacts) -> Candidate:
        verdict = judge(facts, self.host, self._choices, self._python_range)
        named = place.source == SOURCE_SETTING
        usable = verdict.grade is Grade.FITS or (verdict.grade is Grade.ONLY_IF_NAMED and named)
        version = facts.marker_environment["python_full_version"]
        return _row("python", place, verdict.reason, version, usable=usable, python=facts)

    async def _uv_row(self, place: Place) -> Candidate:
        async with self._turn():
            argv = UvCli(place.path, self._around.workspace).version()
            answer = await ask(self._runner, argv, self._env, self._probe_seconds)
        reason = failure(answer)
        if reason is not None:
            return _row("uv", place, reason)
        version = _uv_version(answer.stdout)
        if version is None:
            return _row("uv", place, no_answer(answer))
        if version < MINIMUM_UV:
            arguments: dict[str, object] = {"version": version, "minimum": MINIMUM_UV}
            return _row("uv", place, Phrase("candidate.uv_too_old", arguments), str(version))
        return _row("uv", place, Phrase(""), str(version), usable=True)


def _uv_version(lines: tuple[str, ...]) -> Version | None:
    for line in lines:
        match = _UV_VERSION.fullmatch(line)
        if match:
            try:
                return Version(match[1])
            except InvalidVersion:
                return None
    return None


def _row(
    kind: str, place: Place, reason: Phrase, version: str = "", *, usable: bool = False, python: PythonFacts | None = None
) -> Candidate:
    return Candidate(kind, place.path, place.source, version, usable, reason.key, reason.arguments, python)


def _identity(path: Path) -> str:
    """Return what tells one program from another.

    A link to something of another name is a program of its own: launchers such as those of snap decide by the name that
    they are called by.
    """
    real = path.resolve()
    return os.path.normcase(real if _REAL_NAME.fullmatch(real.name) else path)


def _joined(rows: list[Candidate]) -> list[Candidate]:
    """Mark interpreters that turned out to be the same one, reached through scripts, as duplicates of the first."""
    first: dict[str, Path] = {}
    joined = []
    for row in rows:
        if row.python is not None and row.python.executable != Path():
            identity = os.path.normcase(row.python.executable.resolve())
            if identity in first:
                row = replace(row, usable=False, reason="candidate.duplicate", arguments={"path": first[identity]})  # noqa: PLW2901
            else:
                first[identity] = row.path
        joined.append(row)
    return joined
