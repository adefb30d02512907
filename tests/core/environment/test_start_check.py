"""What keeps an environment's Python from starting, by real environments."""

from __future__ import annotations

import asyncio
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.environment.verify import verify_environment
from tests.support import own_sitecustomize
from tests.support.leaping_clock import LeapingClock
from tests.support.processes import is_alive
from tests.support.recording_runner import RecordingRunner
from tests.support.waiting import until

if TYPE_CHECKING:
    from amlwizard.core.environment.findings import VerifyReport

JOB = {"PATH": os.environ["PATH"], "PYTHONUTF8": "1"}
STARTS = 150.0
"""Seconds in which a Python starts on a busy computer as well; what hangs is waited for by a clock that leaps."""


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """An environment with one package, ``tiny``."""
    folder = tmp_path / "环境"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site(folder) / "tiny.py").write_text("x = 1\n")
    info = site(folder) / "tiny-1.0.dist-info"
    info.mkdir()
    (info / "RECORD").write_text("tiny.py,,\ntiny.pth,,\ntiny-1.0.dist-info/RECORD,,\n")
    (site(folder) / "tiny.pth").write_text("\n")
    return folder


def site(environment: Path) -> Path:
    """Its packages."""
    (found,) = environment.glob("[Ll]ib/**/site-packages")
    return found


async def verified(environment: Path) -> VerifyReport:
    return await verify_environment(environment, RecordingRunner(), JOB, start_seconds=STARTS, trace_seconds=STARTS)


def files(report: VerifyReport) -> list[tuple[str, str, str]]:
    """What was found, as package, place of what is loose, and name."""
    return [(each.package, each.loose, Path(str(each.arguments["file"])).name) for each in report.problems]


async def test_what_hangs_or_ends_python_is_named_each(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await verified(environment)).ok
    clock = LeapingClock(monkeypatch)
    folder, hanging = site(environment), tmp_path / "hanging"
    hanging.mkdir()
    note = f"open({str(hanging)!r} + '/' + str(os.getpid()), 'w').close()"
    (folder / "hangs.pth").write_text(f"import os, threading; {note}; threading.Event().wait()\n")
    (folder / "sound.pth").write_text("import tiny\n")
    (folder / "sitecustomize").mkdir()
    (folder / "sitecustomize" / "__init__.py").write_text("raise SystemExit(3)\n")
    verifying = asyncio.ensure_future(verified(environment))
    for starts in (1, 2):  # the first one, and that which looks at each file
        await until(lambda: len(list(hanging.iterdir())) == starts)  # noqa: B023 - awaited within the loop
        pid = max(hanging.iterdir(), key=lambda path: path.stat().st_mtime_ns).name
        await clock.run_out(asyncio.ensure_future(until(lambda: not is_alive(int(pid)))), STARTS + 1)  # noqa: B023
    report = await verifying
    inside = folder.relative_to(environment)
    expected = [("", str(inside / "hangs.pth"), "hangs.pth")]
    if not own_sitecustomize.BROUGHT:
        expected.append(("", str(inside / "sitecustomize"), "__init__.py"))
    assert files(report) == expected
    assert report.loose == report.problems
    ends = ("hangs.pth, which belongs to no package: no answer within 150 s.", "exit code 3.")
    assert all(each.in_words("en").endswith(end) for each, end in zip(report.problems, ends, strict=False))


async def test_what_only_takes_long_is_sound(environment: Path) -> None:
    (site(environment) / "mine.pth").write_text("import time; time.sleep(0.5)\n")
    report = await verify_environment(environment, RecordingRunner(), JOB, start_seconds=0.5, trace_seconds=STARTS)
    assert (report.problems, report.python_version) == ((), platform.python_version())


async def test_a_file_of_a_package_is_a_fault_of_the_package(environment: Path) -> None:
    (site(environment) / "tiny.pth").write_text("import os; os._exit(7)\n")
    report = await verified(environment)
    assert files(report) == [("tiny", "", "tiny.pth")]
    assert (report.broken_packages, report.loose) == (("tiny",), ())


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("import sys; sys.modules['ssl'] = None", "import of ssl halted"),
        ("import sys; sys.prefix = sys.base_prefix", "takes another folder for its environment"),
    ],
)
async def test_what_spoils_python_without_ending_it_is_named_as_well(environment: Path, content: str, reason: str) -> None:
    (site(environment) / "a.pth").write_text(content + "\n")
    (site(environment) / "sound.pth").write_text("import tiny\n")
    report = await verified(environment)
    assert [name for _, _, name in files(report)] == ["a.pth"]
    assert reason in report.problems[0].in_words("en")


@pytest.mark.posix
async def test_what_does_not_start_at_all_blames_no_file(environment: Path) -> None:
    (site(environment) / "mine.pth").write_text("import tiny\n")
    (environment / "pyvenv.cfg").write_text("home = /nowhere\n")
    python = environment / "bin" / "python"
    python.unlink()
    python.write_text("#!/bin/sh\necho 'no encodings' >&2\nexit 1\n")
    python.chmod(0o755)
    report = await verified(environment)
    assert [(each.key, each.arguments["reason"]) for each in report.problems] == [("verify.python_start", "no encodings")]


async def test_a_file_elsewhere_is_named_and_left_alone(environment: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "kit"
    elsewhere.mkdir()
    (elsewhere / "sitecustomize.py").write_text("raise SystemExit(3)\n")
    job = {**JOB, "PYTHONPATH": str(elsewhere)}
    report = await verify_environment(environment, RecordingRunner(), job, start_seconds=STARTS, trace_seconds=STARTS)
    assert files(report) == [("", "", "sitecustomize.py")]
    assert str(elsewhere) in report.problems[0].in_words("zh_CN")
