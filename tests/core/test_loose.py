"""Files that keep Python from starting, left out of an environment that may not have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amlwizard.core.choices import Choices
from amlwizard.core.environment.findings import Finding
from amlwizard.core.loose import leave_out
from tests.support.run_contexts import new_run

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_file_that_the_new_environment_does_not_have_is_set_aside_all_the_same(tmp_path: Path) -> None:
    run = new_run(Choices(tmp_path / "aml"), tmp_path / "run")
    mine = run.workspace.venv / "mine.pth"
    mine.parent.mkdir(parents=True)
    mine.write_text("import gone")
    run.workspace.staged.mkdir()
    await leave_out(run, [Finding("verify.start_file", {"file": mine.name, "reason": ""}, loose=mine.name)])
    assert run.loose == [mine]
    assert mine.exists()
