"""Removing interpreters: one that is in use stays whole, and one that was there before stays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
from packaging.version import Version

from amlwizard.core.choices import Choices
from amlwizard.core.errors import AmlError
from amlwizard.core.interpreters import Origin, note_origin
from amlwizard.core.paths import Workspace
from amlwizard.core.python_install import PythonArchive, installed_python
from amlwizard.core.python_update import PythonUpdate, UpdatePython, remove_unused_patches
from tests.support.run_contexts import new_run

if TYPE_CHECKING:
    from collections.abc import Iterator

OLD, NEW = "3.12.1", "3.12.2"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace with two patches of a Python."""
    workspace = Workspace(tmp_path / "aml")
    workspace.runtime.mkdir(parents=True)
    for version in (OLD, NEW):
        folder = workspace.interpreters / f"cpython-{version}"
        for name in ("bin/python3.12", "python.exe", "lib/os.py"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("#!/bin/sh\nexit 3\n")
            (folder / name).chmod(0o755)
        note_origin(workspace, Origin(folder.name, version, f"{version}.tar.gz", "0" * 64, version, {}))
    return workspace


def files(workspace: Workspace) -> set[str]:
    """Return all files of the interpreters."""
    found: Iterator[Path] = workspace.interpreters.rglob("*")
    return {path.relative_to(workspace.interpreters).as_posix() for path in found if path.is_file()}


def test_an_unused_interpreter_goes_as_a_whole_or_not_at_all(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files(workspace)

    def refuse(*_: object) -> NoReturn:
        raise PermissionError(13, "in use")

    with monkeypatch.context() as windows:  # where a folder with an open file cannot be renamed
        windows.setattr(Path, "rename", refuse)
        remove_unused_patches(workspace, NEW)
    assert files(workspace) == before
    remove_unused_patches(workspace, NEW)
    assert files(workspace) == {name for name in before if NEW in name}


async def test_an_interpreter_that_was_there_before_stays_where_it_does_not_start(
    workspace: Workspace, tmp_path: Path
) -> None:
    before, version = files(workspace), Version(NEW)
    archive = PythonArchive(version, "https://files.example.org/python.tar.gz", None, NEW)
    update = PythonUpdate(OLD, archive, installed_python(workspace, version), 0)
    with pytest.raises(AmlError):
        await UpdatePython(update).run(new_run(Choices(workspace.root), tmp_path / "run"))
    assert files(workspace) == before
