"""Saving the workspace's lock for a colleague; nothing in the workspace is changed."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from amlwizard.core.catalogue import Phrase, text
from amlwizard.core.environment.threads import run_whole
from amlwizard.core.events import StepEvent, StepState
from amlwizard.core.host import host_facts
from amlwizard.core.outcome import done_event
from amlwizard.core.records import write_text_atomically
from amlwizard.core.shared_lock import check_place, shared_lock
from amlwizard.core.wording import size_text

if TYPE_CHECKING:
    from amlwizard.core.events import FinishedEvent
    from amlwizard.core.session import Session
    from amlwizard.core.shared_lock import SharedLock


async def share(session: Session) -> FinishedEvent:
    """Save the lock at ``choices.share``.

    Raises:
        AmlError: what stood in the way.
    """
    choices, workspace, language = session.choices, session.workspace, session.language
    out = choices.share
    assert out is not None  # noqa: S101 - the engine gives one
    await session.end_dead_runs("share")
    await asyncio.to_thread(check_place, out)
    shared = await asyncio.to_thread(shared_lock, workspace, choices, host_facts(), os.environ)
    await run_whole(write_text_atomically, out, shared.text)
    session.emit(StepEvent("share", StepState.DONE, seconds=session.seconds()))
    arguments: dict[str, object] = {
        "path": str(out),
        "file": out.name,
        "size": size_text(len(shared.text.encode()), language),
        "content": _content(shared),
    }
    cut = text("share.cut", language, packages=", ".join(shared.cut)) if shared.cut else ""
    seconds, packages = session.seconds(), shared.packages
    return done_event("AML_SHARED", arguments, language, seconds, root=workspace.root, packages=packages, detail=cut)


def _content(shared: SharedLock) -> Phrase:
    left_out, repositories = ", ".join(shared.left_out), ", ".join(shared.from_repositories)
    key = "share.content" + (".part" if left_out else "") + (".git" if repositories else "")
    return Phrase(key, {"packages": shared.packages, "left_out": left_out, "repositories": repositories})
