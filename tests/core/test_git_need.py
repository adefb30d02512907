"""Git on a simulated macOS, where the system's own may be a placeholder."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.choices import Choices
from amlwizard.core.errors import RefusedError
from amlwizard.core.git_need import refuse_without_git
from tests.support.run_contexts import new_run
from tests.support.stub_interpreters import stub

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.posix
@pytest.mark.parametrize("has_tools", [False, True])
async def test_b91_apples_placeholder_is_no_git_and_never_started(tmp_path: Path, has_tools: bool) -> None:
    system_bin, trap = tmp_path / "system" / "usr" / "bin", tmp_path / "trap"
    stub(system_bin, "git", f"touch {trap}")
    stub(system_bin, "xcode-select", "exit 0" if has_tools else "exit 2")
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("tinyd @ git+https://files.example.org/tinyd\n")
    run = new_run(Choices(tmp_path / "aml", requirements=requirements), tmp_path / "tmp")
    run.parent_environment = {"PATH": str(system_bin)}
    run.facts = replace(run.facts, host=replace(run.facts.host, system="macos"))
    if has_tools:
        await refuse_without_git(run, tmp_path / "system")
    else:
        with pytest.raises(RefusedError) as refused:
            await refuse_without_git(run, tmp_path / "system")
        assert refused.value.code == "AML_GIT_MISSING"
        assert refused.value.arguments["package"] == "tinyd"
    assert not trap.exists()
