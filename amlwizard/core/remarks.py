"""What the user should be told once about a wish although nothing is wrong with it, one line each."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from packaging.pylock import Pylock

from amlwizard.core.accelerator import accelerator_remark
from amlwizard.core.catalogue import text
from amlwizard.core.cloud_folders import cloud_service
from amlwizard.core.events import LogEvent
from amlwizard.core.path_lengths import LIMIT, ROOT_LIMIT, has_short_paths
from amlwizard.core.root_places import foreign_owner, is_roaming, mounts, server_of
from amlwizard.core.torch_builds import KEPT
from amlwizard.core.wording import settings_remarks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amlwizard.core.choices import Choices
    from amlwizard.core.context import RunContext
    from amlwizard.core.session import Session


async def tell_remarks(run: RunContext) -> None:
    """Tell what speaks against the folder, which settings are unknown or come from pip and uv, which options do nothing."""
    for line in await asyncio.to_thread(lambda: list(_remarks(run))):
        run.emit(LogEvent("", line, remark=True))


def _on_root(run: RunContext) -> Iterator[str]:
    root, system = run.workspace.root, run.facts.host.system
    real = root.resolve()
    service = cloud_service(real, run.parent_environment, system)
    if service is not None:
        yield text("remark.cloud", run.language, root=root, service=service)
    if (server := server_of(real, mounts(real, system), system)) is not None:
        yield text("remark.network_drive", run.language, root=root, kind=server)
    if is_roaming(real, run.parent_environment, system):
        yield text("remark.roaming", run.language, root=root)
    if (owner := foreign_owner(real)) is not None:
        yield text("remark.foreign_owner", run.language, root=root, owner=owner)
    if has_short_paths(system) and len(str(root)) > ROOT_LIMIT:
        length = len(str(root))
        yield text("remark.long_root", run.language, root=root, length=length, limit=LIMIT, allowed=ROOT_LIMIT)


def tell_unknown_settings(session: Session) -> None:
    """Tell which settings are unknown or wrong, in a run that tells nothing else of the wish."""
    for line in settings_remarks(session.choices, session.language):
        session.emit(LogEvent("", line, remark=True))


def settings_lines(choices: Choices, language: str) -> Iterator[str]:
    """Give a line each on what is set by the organisation, and on the settings of pip and uv."""
    separator = text("cli.separator", language)
    if choices.organisation is not None:
        fixed = choices.organisation
        yield text("organisation.locked", language, file=fixed.file, keys=separator.join(fixed.keys))
    if choices.ambient:
        yield text("remark.ambient", language, settings=separator.join(choices.ambient))
    if choices.broken_ambient:
        yield text("remark.broken_ambient", language, files=separator.join(choices.broken_ambient))
    if choices.unused_ambient:
        yield text("remark.unused_ambient", language, settings=separator.join(choices.unused_ambient))
    if choices.trusted_hosts:
        yield text("remark.trusted_hosts", language, hosts=separator.join(choices.trusted_hosts))


def settings_content(choices: Choices) -> dict[str, Any]:
    """Return the same as plain values: what is set by the organisation and where, and what comes from pip and uv."""
    fixed = choices.organisation
    return {
        "locked": list(fixed.keys) if fixed is not None else [],
        "locked_by": str(fixed.file) if fixed is not None else None,
        "from_pip_and_uv": list(choices.ambient),
        "trusted_hosts": list(choices.trusted_hosts),
    }


def _remarks(run: RunContext) -> Iterator[str]:
    wish, language = run.wish, run.language
    yield from _on_root(run)
    yield from settings_remarks(run.choices, language)
    yield from settings_lines(run.choices, language)
    if line := accelerator_remark(run.choices, wish, language):
        yield line
    if (torch := run.facts.torch) is not None and torch.why.key != KEPT:
        yield text(torch.why.key, language, **torch.why.arguments)
    if isinstance(wish.content, Pylock):
        return
    for option in wish.content.passed_over:
        if option.name == "--trusted-host":
            yield text("requirements.trusted_host", language, file=option.file, line=option.line, host=option.value)
        else:
            yield text("requirements.passed_over", language, file=option.file, line=option.line, option=option.name)
