"""What one more try of a step can cure: links that are refused, and a damaged cache. It is made once, and said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amlwizard.core.catalogue import text
from amlwizard.core.environment.removal import is_link, remove_tree
from amlwizard.core.environment.threads import run_whole
from amlwizard.core.errors import AmlError
from amlwizard.core.events import LogEvent
from amlwizard.core.steps import drop_build

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.context import RunContext
    from amlwizard.core.steps import Step


async def run_curing(run: RunContext, step: Step) -> None:
    """Run a step, and once more where what stopped it can be removed.

    Raises:
        AmlError: what the step said, the second time as well or without a cure.
    """
    try:
        await step.run(run)
    except AmlError as error:
        if not await _cure(run, step, error):
            raise
        await step.run(run)


async def _cure(run: RunContext, step: Step, error: AmlError) -> bool:
    if error.code == "AML_LINK_REFUSED" and run.link_mode != "copy":
        run.link_mode, key = "copy", "build.copying"
    elif error.code == "AML_CACHE_DAMAGED" and await run_whole(_empty, run.private_cache or run.workspace.cache):
        key = "cure.cache"
    else:
        return False
    if step.id in {"fetch", "build"}:  # elsewhere a staged environment is what the step works on
        await drop_build(run)
    run.emit(LogEvent(run.step, text(key, run.language), remark=True))
    return True


def _empty(cache: Path) -> bool:
    """Remove a cache and tell whether it is gone; one behind a link belongs to others as well."""
    if is_link(cache):
        return False
    try:
        if cache.is_dir():
            return remove_tree(cache)
        cache.unlink(missing_ok=True)
    except OSError:
        return False
    return True
