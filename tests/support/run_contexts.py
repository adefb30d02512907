"""What the steps of a run share, without a session around it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from amlwizard.core.context import RunContext
from amlwizard.core.environment.state import inspect_environment
from amlwizard.core.facts import Facts
from amlwizard.core.host import host_facts
from amlwizard.core.paths import Workspace
from amlwizard.core.wish import make_wish
from amlwizard.wiring import make_fetcher
from tests.support.recording_runner import RecordingRunner

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.choices import Choices


def new_run(choices: Choices, tmp: Path, *, uv: Path | None = None) -> RunContext:
    """Return a run that has not done anything yet, and knows of no interpreter; its private folder is made."""
    workspace = Workspace(choices.root)
    tmp.mkdir(exist_ok=True)
    return RunContext(
        workspace=workspace,
        choices=choices,
        parent_environment=os.environ,
        runner=RecordingRunner(),
        fetcher=make_fetcher(choices),
        emit=lambda _event: None,
        language="en",
        tmp=tmp,
        facts=Facts(host_facts(), (), None, None, inspect_environment(workspace, None)),
        wish=make_wish(choices, workspace, os.environ),
        uv=uv,
    )
