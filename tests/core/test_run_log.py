"""The log of a run is saved elsewhere whole, or what is shown of it where it has no file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amlwizard.core.errors import AmlError
from amlwizard.core.events import LogEvent
from amlwizard.core.paths import Workspace
from amlwizard.core.run_log import RunLog, save_log

if TYPE_CHECKING:
    from pathlib import Path


def test_a_running_log_is_saved_with_all_that_it_holds_so_far(tmp_path: Path) -> None:
    workspace, target = Workspace(tmp_path / "root"), tmp_path / "saved.log"
    log = RunLog(workspace, "install", "en")
    (workspace.logs / "99990101T000000Z-install-1.log").write_text("of another process\n")
    for number in range(9000):
        log.write(LogEvent("build", f"line {number}"))
    save_log(workspace, None, ["line 8999"], target)
    log.close()
    lines = target.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 9000
    assert lines[0].endswith(" build: line 0")


def test_the_log_of_a_finished_run_is_the_one_that_it_named(tmp_path: Path) -> None:
    workspace, target = Workspace(tmp_path / "root"), tmp_path / "saved.log"
    RunLog(workspace, "install", "en").close()
    named = tmp_path / "job.log"
    named.write_text("of the run\n")
    target.write_text("something older")
    save_log(workspace, str(named), [], target)
    assert target.read_text() == "of the run\n"


@pytest.mark.parametrize("log", [None, "", "gone.log"])
def test_without_a_file_what_is_shown_is_saved(log: str | None, tmp_path: Path) -> None:
    target = tmp_path / "saved.log"
    save_log(Workspace(tmp_path / "root"), log, ["one", "二"], target)
    assert target.read_text(encoding="utf-8") == "one\n二\n"


@pytest.mark.parametrize("log", ["job.log", ""])
def test_a_place_that_cannot_be_written_is_named(log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.log").write_text("text\n")
    (tmp_path / "file").write_text("in the way")
    target = tmp_path / "file" / "saved.log"
    with pytest.raises(AmlError) as caught:
        save_log(Workspace(tmp_path / "root"), log, ["one"], target)
    assert caught.value.code == "AML_CANNOT_WRITE"
    assert caught.value.arguments["path"] == str(target)
