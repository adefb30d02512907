"""What one more try cures, and what is told of a version that its authors withdrew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.sources import make_sdist, make_source

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Computer, Result

pytestmark = [pytest.mark.e2e, pytest.mark.posix]


def remarks(result: Result) -> list[str]:
    """Return the log."""
    return [event["line"] for event in result.events if event["event"] == "log"]


def _cut_pointers(cache: Path) -> None:
    pointers = [path for path in cache.rglob("*.rev") if path.is_file()]
    assert pointers
    for pointer in pointers:
        pointer.write_bytes(pointer.read_bytes()[:5])


def test_a_damaged_cache_is_emptied_once_and_the_build_goes_on(installed: Computer) -> None:
    _cut_pointers(installed.root / "cache")
    result = installed.run("rebuild", "--offline")
    assert result.code == 0, result.finished
    assert len([line for line in remarks(result) if "cache was damaged" in line]) == 1
    assert installed.installed("tinyb") == "1.0"
    again = installed.run("rebuild", "--offline")
    assert again.code == 0
    assert not [line for line in remarks(again) if "cache was damaged" in line]


def test_a_damaged_cache_behind_a_link_is_left_to_its_owner(installed: Computer) -> None:
    elsewhere = installed.folder / "shared-cache"
    (installed.root / "cache").rename(elsewhere)
    (installed.root / "cache").symlink_to(elsewhere)
    _cut_pointers(elsewhere)
    kept = set((elsewhere / "archive-v0").rglob("*"))
    result = installed.run("rebuild", "--offline")
    assert (result.code, result.finished["code"]) == (1, "AML_CACHE_DAMAGED")
    assert set((elsewhere / "archive-v0").rglob("*")) == kept
    assert installed.installed("tinyb") == "1.0"


@pytest.mark.usefixtures("with_ready_pip")
@pytest.mark.parametrize("reason", ["broken import of x", ""])
@pytest.mark.parametrize("method", ["auto", "none"])
def test_a_withdrawn_version_that_is_pinned_is_used_and_told(computer: Computer, method: str, reason: str) -> None:
    computer.index.yanked["tinya-2.0-py3-none-any.whl"] = reason
    result = computer.run("install", "--requirements", computer.requirements("tinya==2.0\n"), "--uv-method", method)
    assert result.code == 0, result.finished
    told = [line for line in remarks(result) if "withdrawn by its authors" in line]
    assert len(told) == 1
    assert "tinya==2.0" in told[0]
    assert (reason or "no reason") in told[0]


def test_a_withdrawn_version_that_is_not_pinned_is_refused_by_name(computer: Computer) -> None:
    computer.index.yanked["tinya-2.0-py3-none-any.whl"] = "broken import of x"
    refused = computer.run("install", "--requirements", computer.requirements("tinya>=1.5\n"))
    assert (refused.code, refused.finished["code"]) == (1, "AML_YANKED")
    assert "broken import of x" in refused.finished["message"]
    assert not (computer.root / ".venv").exists()


def test_b88_a_compiler_that_is_missing_is_named(computer: Computer) -> None:
    """The build calls a compiler as setuptools does, where no PATH leads to one."""
    source = make_source(computer.folder / "source", "tinyc", "1.0", notes=computer.folder / "notes")
    backend = source / "backend.py"
    calls = "import subprocess\ntry:\n    subprocess.run(['gcc', '-c', 'tinyc.c'])\n"
    says = "except OSError as error:\n    raise SystemExit(f'error: {error}')\n"
    backend.write_text(calls + says + backend.read_text())
    sdist = make_sdist(computer.folder / "sdists", source, "tinyc", "1.0")
    empty = computer.folder / "empty"
    empty.mkdir()
    computer.extra["PATH"] = str(empty)
    refused = computer.run("install", "--requirements", computer.requirements(f"tinyc @ {sdist.as_uri()}\n"))
    assert (refused.code, refused.finished["code"]) == (1, "AML_BUILD_NO_COMPILER")
    assert "gcc is not installed" in refused.finished["message"]
    assert "tinyc" in refused.finished["message"]
    assert not (computer.root / ".venv").exists()
