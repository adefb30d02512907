"""Installs single distributions of an environment again from the store (DESIGN 3.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amlwizard.core.catalogue import text
from amlwizard.core.environment.build import run_or_raise
from amlwizard.core.environment.foreign_links import put_links_back, take_links_out
from amlwizard.core.environment.threads import run_whole
from amlwizard.core.errors import AmlError
from amlwizard.core.events import LogEvent
from amlwizard.core.lock import local_lock
from amlwizard.core.paths import venv_python
from amlwizard.core.records import write_text_atomically
from amlwizard.core.running import IDLE_SECONDS, Command

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from amlwizard.core.context import RunContext
    from amlwizard.core.running import OutputLine


async def reinstall_packages(run: RunContext, environment: Path, names: Collection[str]) -> None:
    """Install distributions again, each from its wheel in ``downloads/`` with its hash, and nothing else.

    Their entries in uv's cache go first: installed files are hard links to those, so damage may have reached them. Links
    are out of the way meanwhile, so that nothing is written or removed where they lead; one in the place of a package is
    not there any more afterwards, and named.

    Args:
        run: the run; ``run.stored`` names the wheels.
        environment: one beside the user's, which a failure, or the next start after a kill, throws away as a whole.
        names: normalised names, all of them in ``run.stored``.

    Raises:
        AmlError: ``AML_SYNC_FAILED`` with uv's last lines.
    """
    wheels = [wheel for wheel in run.stored if wheel.name in names]
    if not wheels:
        raise AmlError("AML_SYNC_FAILED", command="uv", reason=", ".join(sorted(names)))
    lock = run.tmp / "pylock.reinstall.toml"
    write_text_atomically(lock, local_lock(wheels, [], lock=lock))
    uv = run.uv_cli()
    variables = run.child_environment(run.uv_variables())

    def on_line(line: OutputLine) -> None:
        run.log(line.text)

    links = await run_whole(take_links_out, environment)
    for argv in (
        uv.cache_clean([wheel.name for wheel in wheels]),
        uv.install_locked(lock, venv_python(environment), [wheel.name for wheel in wheels]),
    ):
        command = Command(argv, variables, run.workspace.root, idle_seconds=IDLE_SECONDS)
        await run_or_raise(run.runner, command, on_line, "AML_SYNC_FAILED")
    for link in await run_whole(put_links_back, environment, links):
        run.emit(LogEvent(run.step, text("repair.link_removed", run.language, **link.shown), remark=True))
