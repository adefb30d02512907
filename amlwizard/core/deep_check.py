"""The step of ``verify --deep``: everything that the next repair or rebuild will rely on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from amlwizard.core.catalogue import Phrase, text
from amlwizard.core.errors import AmlError
from amlwizard.core.repair_steps import gone_error, gone_files, look_at_interpreter
from amlwizard.core.steps import Step
from amlwizard.core.store_files import damaged_files, store_files
from amlwizard.core.uv_install import is_changed

if TYPE_CHECKING:
    from amlwizard.core.context import RunContext


class DeepCheck(Step):
    """The store by the hashes of its lock, uv by its record, its managed interpreter by the archive of that."""

    id = "deep"

    async def run(self, run: RunContext) -> None:
        """Look at all of it.

        Raises:
            AmlError: ``AML_STORE_DAMAGED`` with what was found.
        """
        workspace = run.workspace
        damaged = await asyncio.to_thread(lambda: damaged_files(store_files(workspace)))
        found = [text("repair.store_damaged", run.language, files=file.path.name) for file in damaged]
        if await asyncio.to_thread(is_changed, workspace):
            found.append(text("uv.vanished", run.language, path=str(workspace.tools)))
        found += await look_at_interpreter(run)
        if found:
            way = Phrase("repair.way_network")
            if gone := await asyncio.to_thread(gone_files, damaged):  # no network brings it back
                error = gone_error(run, gone[0])
                way = Phrase(f"{error.code}.hint", error.arguments)
            raise AmlError("AML_STORE_DAMAGED", first=found[0], count=len(found), way=way, detail="\n".join(found[:40]))
