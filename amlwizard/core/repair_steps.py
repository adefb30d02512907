"""The steps that only a repair takes, one class each."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Final

from amlwizard.core.catalogue import error_texts, text
from amlwizard.core.environment.build import check_installed
from amlwizard.core.environment.clone import clone_environment
from amlwizard.core.environment.commit import begin_stage, undo_stage
from amlwizard.core.environment.reinstall import reinstall_packages
from amlwizard.core.environment.relink import relink_base, relink_moved
from amlwizard.core.environment.threads import run_stoppable, run_whole
from amlwizard.core.errors import AmlError
from amlwizard.core.fetching import Download
from amlwizard.core.interpreters import (
    check_interpreter,
    environment_origin,
    mend_minor_link,
    minor_name,
    reinstall_interpreter,
    stable_path,
    strayed_to,
)
from amlwizard.core.local_files import file_gone, is_sound
from amlwizard.core.loose import leave_out
from amlwizard.core.python_install import install_python
from amlwizard.core.steps import Step, examine
from amlwizard.core.store_files import StoreFile, damaged_files, expected_names, store_files
from amlwizard.core.urls import local_path

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from amlwizard.core.context import RunContext
    from amlwizard.core.interpreters import Origin

_SHOWN: Final = 10
"""How many names a sentence lists."""


class Relink(Step):
    """The places that a moved workspace has outdated."""

    id = "relink"

    def __init__(self) -> None:
        self.enough = False
        """Whether the environment stands at its new place now."""

    async def run(self, run: RunContext) -> None:
        """Mend them."""
        self.enough = await run_whole(relink_moved, run.workspace)
        if not self.enough:
            run.log(text("repair.cannot_relink", run.language))


class RestorePython(Step):
    """The interpreter that the environment stands on."""

    id = "restore_python"

    def __init__(self, minor: str) -> None:
        self._minor = minor

    async def run(self, run: RunContext) -> None:
        """Unpack the same one again, or let the environment stand on another one of its minor version.

        Raises:
            AmlError: none can be had.
        """
        origin = await asyncio.to_thread(environment_origin, run.workspace)
        if origin is not None and await _mend_link(run, origin):
            return
        if origin is not None and run.uv is not None:
            try:
                await reinstall_interpreter(run, origin)
            except AmlError as error:
                run.log(error_texts(error, run.language)[0])
            else:
                return
        if os.name == "nt":  # the environment's own program there has the place of its interpreter inside
            raise AmlError("AML_PYTHON_MISSING", path=str(run.workspace.python), reason="")
        found = run.facts.interpreter
        if found is not None:
            executable, version = found.executable.resolve(), found.version_text
        else:
            executable = await install_python(run, self._minor)
            version = executable.parent.parent.name.split("-")[1]
        run.log(f"Python {version}: {executable}")
        await run_whole(relink_base, run.workspace, stable_path(run.workspace, executable), version)


class Inspect(Step):
    """Everything that the environment in use is made of; finding something is no failure here."""

    id = "inspect"

    def __init__(self) -> None:
        self.damaged_interpreter = False
        self.damaged_files: list[StoreFile] = []

    async def run(self, run: RunContext) -> None:
        """Look at the managed interpreter, the store and the environment; what is wrong goes to the log."""
        workspace = run.workspace
        for sentence in await look_at_interpreter(run):
            self.damaged_interpreter = True
            run.log(sentence)
        self.damaged_files = await asyncio.to_thread(lambda: damaged_files(store_files(workspace)))
        if self.damaged_files:
            run.log(text("repair.store_damaged", run.language, files=_names(self.damaged_files)))
        report = await examine(run, workspace.venv, expected_names(workspace))
        for finding in report.problems:
            run.log(finding.in_words(run.language))


async def look_at_interpreter(run: RunContext) -> list[str]:
    """Return sentences on what is wrong with the managed interpreter that the environment stands on.

    There are none where it is whole, where it is unknown what it has to be, and where it is no managed one.
    """
    workspace = run.workspace
    origin = await asyncio.to_thread(environment_origin, workspace)
    if origin is None:
        return []
    found = []
    strayed = await asyncio.to_thread(strayed_to, workspace, origin)
    if strayed is not None:
        link = workspace.interpreters / minor_name(origin)
        found.append(
            text("repair.python_strayed", run.language, version=origin.version, link=str(link), place=str(strayed))
        )
    wrong = await run_stoppable(lambda stopped: check_interpreter(workspace, origin, stopped))
    if wrong:
        files = ", ".join(wrong[:_SHOWN])
        found.append(text("repair.python_damaged", run.language, version=origin.version, count=len(wrong), files=files))
    return found


async def _mend_link(run: RunContext, origin: Origin) -> bool:
    """Put a link right that leads elsewhere; tell whether that was all that was wrong with the interpreter."""
    workspace = run.workspace
    if await asyncio.to_thread(strayed_to, workspace, origin) is None:
        return False
    await run_whole(mend_minor_link, workspace, origin)
    there = await asyncio.to_thread((workspace.interpreters / origin.name).is_dir)
    return there and not await look_at_interpreter(run)


def gone_files(lacking: Sequence[StoreFile]) -> list[StoreFile]:
    """Return what came from a file of this computer that is not there any more, or not the same. Blocks."""
    local = (file for file in lacking if file.url is not None and file.url.startswith("file:"))
    return [file for file in local if not is_sound(_origin(file), file.sha256)]


def gone_error(run: RunContext, file: StoreFile) -> AmlError:
    """Return the error that says how to have such a file again."""
    return file_gone(run, file.package, _origin(file))


class RestoreStore(Step):
    """Files of the store that are missing or damaged."""

    id = "fetch"

    def __init__(self, files: Sequence[StoreFile]) -> None:
        self.lacking = list(files)
        """What is still missing."""
        self.gone: list[StoreFile] = []
        """What of it came from a file of this computer that is not there any more, or not the same."""
        self._in_reach: list[StoreFile] = []
        self.restored = False
        self.error: AmlError | None = None
        """Why something could not be fetched."""

    async def is_done(self, run: RunContext) -> bool:
        """Tell whether nothing can be done about it here."""
        local = [file for file in self.lacking if file.url is not None and file.url.startswith("file:")]
        remote = [file for file in self.lacking if file.url is not None and file not in local]
        self.gone = await asyncio.to_thread(gone_files, local)
        self._in_reach = [file for file in local if file not in self.gone]
        if run.choices.offline and remote:
            run.log(text("repair.store_offline", run.language, files=_names(remote)))
        elif not run.choices.offline:
            self._in_reach += remote
        return not self._in_reach

    def gone_error(self, run: RunContext, needed: Collection[Path] | None = None) -> AmlError | None:
        """Return the error for the first file of which a network brings nothing back: of all, or of those in the store."""
        wanted = (file for file in self.gone if needed is None or file.path in needed)
        return next((gone_error(run, file) for file in wanted), None)

    async def run(self, run: RunContext) -> None:
        """Fetch them again; what cannot be fetched is told, as the environment may work without it."""
        downloads = [Download((file.url or "",), file.path, file.sha256, file.size) for file in self._in_reach]
        try:
            await run.fetch(downloads)
        except AmlError as error:
            self.error = error
            run.log(error_texts(error, run.language)[0])
        before = len(self.lacking)
        self.lacking = await asyncio.to_thread(damaged_files, self.lacking)
        self.restored = len(self.lacking) < before


class Mend(Step):
    """A copy of the environment without what keeps it from starting, in which only what is damaged was installed again."""

    id = "repair"

    async def run(self, run: RunContext) -> None:
        """Make it beside the old one; a failure or a cancel leaves nothing.

        Raises:
            AmlError: ``AML_SYNC_FAILED``, ``AML_PACKAGES_NOT_INSTALLED``, or what is in the way.
        """
        workspace = run.workspace
        broken = set(run.report.broken_packages if run.report is not None else ())
        loose = run.report.loose if run.report is not None else ()
        try:
            run.journal = await run_whole(begin_stage, workspace)
            await run_whole(clone_environment, workspace.venv, workspace.staged, broken)
            await leave_out(run, loose)  # before uv starts its Python
            if broken:
                await reinstall_packages(run, workspace.staged, broken)
            run.expected = expected_names(workspace) or {}
            check_installed(workspace.staged, run.expected)
        except BaseException:
            run.tell_removal()
            await run_whole(undo_stage, workspace)
            run.journal = None
            raise


def _origin(file: StoreFile) -> Path:
    return local_path(file.url or "")


def _names(files: Sequence[StoreFile]) -> str:
    return ", ".join(file.path.name for file in files[:_SHOWN])
