"""What the steps of a run share."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.choices import Choices
from amlwizard.core.context import RunContext
from amlwizard.core.errors import AmlError
from amlwizard.core.facts import EnvironmentFacts, Facts
from amlwizard.core.host import host_facts
from amlwizard.core.paths import Workspace
from amlwizard.core.wish import make_wish
from amlwizard.wiring import make_fetcher
from tests.support.recording_runner import RecordingRunner

if TYPE_CHECKING:
    from pathlib import Path


def test_b70_a_uv_that_vanishes_between_two_steps_is_named(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "aml")
    choices = Choices(workspace.root)
    uv = tmp_path / "uv"
    uv.write_bytes(b"program")
    run = RunContext(
        workspace=workspace,
        choices=choices,
        parent_environment=os.environ,
        runner=RecordingRunner(),
        fetcher=make_fetcher(choices),
        emit=lambda _event: None,
        language="en",
        tmp=tmp_path,
        facts=Facts(host_facts(), (), None, None, EnvironmentFacts("absent")),
        wish=make_wish(choices, workspace, os.environ),
        uv=uv,
    )
    assert run.uv_cli().executable == uv
    uv.write_bytes(b"")
    with pytest.raises(AmlError) as emptied:
        run.uv_cli()
    uv.unlink()
    with pytest.raises(AmlError) as gone:
        run.uv_cli()
    assert emptied.value.code == gone.value.code == "AML_UV_VANISHED"
    assert gone.value.arguments["path"] == str(uv)
