"""Interpreters: which count, which are passed over and why, which one is taken."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from packaging.markers import default_environment
from packaging.specifiers import SpecifierSet

from amlwizard.core.catalogue import error_texts, text
from amlwizard.core.choices import UvMethod
from amlwizard.core.detection import detected_content
from amlwizard.core.errors import RefusedError
from amlwizard.core.host import host_facts
from tests.support.leaping_clock import LeapingClock
from tests.support.stub_interpreters import (
    copied_interpreter,
    fake_interpreter,
    link_interpreter,
    make_environment,
    probe_environment,
    python_2,
    real_interpreter,
    stub,
)
from tests.support.waiting import until

if TYPE_CHECKING:
    from tests.core.detection.conftest import Computer

THIS_MINOR = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.mark.posix
async def test_a_real_interpreter_tells_everything(computer: Computer) -> None:
    path = link_interpreter(computer.bin)
    facts = await computer.detect()
    assert facts.python is not None
    python = facts.python.python
    assert python is not None
    assert facts.python.path == path
    assert (facts.python.source, facts.python.usable, facts.python.reason) == ("path", True, "")
    assert python.version == sys.version_info[:3]
    assert python.base_prefix.resolve() == Path(sys.base_prefix).resolve()
    assert (python.bits, python.machine, python.implementation) == (64, facts.host.machine, "CPython")
    assert python.marker_environment == {**default_environment()}
    assert not python.in_venv


async def test_nothing_is_written(computer: Computer) -> None:
    link_interpreter(computer.bin)
    before = sorted(computer.folder.rglob("*"))
    await computer.detect()
    assert sorted(computer.folder.rglob("*")) == before


@pytest.mark.posix
async def test_b01_store_placeholder_is_passed_over_for_the_next(computer: Computer) -> None:
    placeholder = stub(computer.bin, "python3", 'echo "Python was not found" >&2; exit 49')
    real = link_interpreter(computer.folder / "bin2")
    facts = await computer.detect()
    row = computer.row(facts, placeholder)
    assert (row.usable, row.reason, row.version) == (False, "candidate.store_placeholder", "")
    assert facts.python is not None
    assert facts.python.path == real


async def test_b01_an_alias_of_the_store_is_never_started(computer: Computer) -> None:
    """Simulated Windows: the alias is an empty file below WindowsApps."""
    alias = computer.folder / "Microsoft" / "WindowsApps" / "python.exe"
    alias.parent.mkdir(parents=True)
    alias.touch(0o755)
    computer.environ["PATH"] = str(alias.parent)
    facts = await computer.detect(system="windows")
    assert computer.row(facts, alias).reason == "candidate.store_placeholder"
    assert not computer.started(alias)


@pytest.mark.posix
async def test_b03_hanging_candidates_delay_no_other_row(computer: Computer, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = LeapingClock(monkeypatch)
    pids = computer.folder / "pids"
    waits = f'sleep 300 & echo "$! $$" >> {pids}; wait'
    hanging = [stub(computer.bin, f"python3.{minor}", waits) for minor in range(20, 28)]
    real = link_interpreter(computer.folder / "bin2")
    detecting = asyncio.ensure_future(computer.detect(probe_seconds=1000))
    await until(lambda: real in [candidate.path for candidate in computer.told])
    await until(lambda: pids.exists() and len(pids.read_text().split()) == 2 * len(hanging))
    facts = await clock.run_out(detecting, 1001)
    assert [computer.row(facts, path).reason for path in hanging] == ["candidate.no_answer_in_time"] * 8
    assert text("candidate.no_answer_in_time", seconds=2) == "Did not answer in 2 s."
    told = [candidate.path for candidate in computer.told if candidate.kind == "python"]
    assert told[0] == real
    assert facts.python is not None
    assert facts.python.path == real
    started = pids.read_text().split()
    assert len(started) == 2 * len(hanging)
    assert [pid for pid in started if psutil.pid_exists(int(pid))] == []  # what they had started is gone as well


@pytest.mark.posix
@pytest.mark.parametrize("has_tools", [False, True])
async def test_b04_apple_placeholder_is_never_started(computer: Computer, has_tools: bool) -> None:
    """Simulated macOS: without developer tools nothing of /usr/bin may be started."""
    system_bin = computer.folder / "system" / "usr" / "bin"
    trap = computer.folder / "trap"
    python = stub(system_bin, "python3", f"touch {trap}; exit 1")
    stub(system_bin, "xcode-select", "exit 0" if has_tools else "exit 2")
    (computer.bin).mkdir()
    (computer.bin / "python3").symlink_to(python)
    facts = await computer.detect(system="macos")
    rows = [row for row in facts.candidates if row.path in {python, computer.bin / "python3"}]
    assert {row.reason for row in rows} >= {
        "candidate.does_not_run_silently" if has_tools else "candidate.apple_placeholder"
    }
    assert trap.exists() == has_tools
    assert facts.python is None


@pytest.mark.posix
async def test_b08_python_2_is_too_old_and_never_taken(computer: Computer) -> None:
    said = stub(computer.bin, "python", 'echo "Python 2.7.18" >&2')
    strict = stub(computer.bin, "python3", 'echo "Unknown option: -I" >&2; echo "usage: python" >&2; exit 2')
    facts = await computer.detect()
    row = computer.row(facts, said)
    assert (row.reason, row.version, row.usable) == ("candidate.python_too_old", "2.7", False)
    assert "2.7" in text(row.reason, **row.arguments)
    assert computer.row(facts, strict).reason == "candidate.does_not_run"
    assert facts.python is None


async def test_b08_a_real_python_2(computer: Computer) -> None:
    found = python_2()
    if found is None:
        pytest.skip("this computer has no Python 2.7 that runs")
    computer.bin.mkdir()
    (computer.bin / "python").symlink_to(found)
    facts = await computer.detect()
    row = computer.row(facts, computer.bin / "python")
    assert (row.reason, row.version.split(".")[:2]) == ("candidate.python_too_old", ["2", "7"])


@pytest.mark.posix
async def test_b10_without_ensurepip_only_uv_can_use_it(computer: Computer) -> None:
    path = copied_interpreter(computer.folder / "copy", without=("ensurepip",))
    choices = computer.choices(python=str(path))
    facts = await computer.detect(choices)
    assert facts.python is not None
    assert facts.python.python is not None
    assert (facts.python.python.has_venv, facts.python.python.has_ensurepip) == (True, False)
    assert (facts.python.usable, facts.python.reason) == (True, "candidate.uv_only")
    with pytest.raises(RefusedError) as caught:
        await computer.detect(replace(choices, uv_method=UvMethod.NONE))
    assert caught.value.code == "AML_PYTHON_MISSING"


@pytest.mark.posix
async def test_b10_debian_names_the_package(computer: Computer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulated Debian: a system Python without its venv package."""
    monkeypatch.setattr("amlwizard.core.detection.judging._is_debian", lambda facts: True)
    path = fake_interpreter(computer.bin, version="3.12.3", has_ensurepip="")
    facts = await computer.detect(host=replace(host_facts(), system="linux"))
    row = computer.row(facts, path)
    assert row.usable
    assert "python3.12-venv" in text(row.reason, **row.arguments)


@pytest.mark.posix
async def test_ensurepip_without_its_wheels_counts_only_where_it_really_gives_pip(computer: Computer) -> None:
    """Debian keeps the wheels in a folder of their own; with most builds nothing is left without those in the package."""
    path = copied_interpreter(computer.folder / "copy", without=("ensurepip",))
    package = next((computer.folder / "copy" / "lib").iterdir()) / "ensurepip"
    package.mkdir()
    for module in Path(sysconfig.get_path("stdlib"), "ensurepip").glob("*.py"):
        (package / module.name).symlink_to(module)
    argv = [path, "-I", "-m", "venv", computer.folder / "made"]
    made = await asyncio.to_thread(subprocess.run, argv, env=probe_environment(), capture_output=True)
    facts = await computer.detect(computer.choices(python=str(path)))
    assert facts.python is not None
    assert facts.python.python is not None
    assert facts.python.python.has_ensurepip == (made.returncode == 0)
    assert facts.python.python.has_ensurepip == bool(sysconfig.get_config_var("WHEEL_PKG_DIR"))


DOUBTFUL = [
    pytest.param({"bits": "32"}, "candidate.wrong_bits", id="B12 32 bit"),
    pytest.param({"platform_tag": "macosx-11.0-sparc"}, "candidate.wrong_machine", id="B12 other processor"),
    pytest.param({"implementation": "PyPy"}, "candidate.not_cpython", id="PyPy"),
    pytest.param({"release": "candidate", "python_full_version": "3.15.0rc1"}, "candidate.prerelease", id="pre-release"),
    pytest.param({"free_threaded": "yes"}, "candidate.free_threaded", id="free-threaded"),
    pytest.param({"conda": "yes"}, "candidate.conda", id="conda"),
]


@pytest.mark.posix
@pytest.mark.parametrize(("changes", "reason"), DOUBTFUL)
async def test_b12_what_fits_badly_is_taken_only_if_it_is_named(
    computer: Computer, changes: dict[str, str], reason: str
) -> None:
    doubtful = fake_interpreter(computer.bin, **changes)
    facts = await computer.detect()
    assert facts.python is None, "a managed one is set up rather"
    row = computer.row(facts, doubtful)
    assert (row.usable, row.reason) == (False, reason)
    named = await computer.detect(computer.choices(python=str(doubtful)))
    assert named.python is not None
    assert (named.python.path, named.python.reason, named.python.source) == (doubtful, reason, "setting")


@pytest.mark.posix
@pytest.mark.parametrize(("changes", "reason"), DOUBTFUL)
async def test_b12_doubtful_ones_stand_behind_fitting_ones(
    computer: Computer, changes: dict[str, str], reason: str
) -> None:
    fake_interpreter(computer.bin, **changes)
    real = link_interpreter(computer.folder / "bin2")
    facts = await computer.detect()
    assert facts.python is not None
    assert next(row.path for row in facts.candidates) == facts.python.path == real


async def test_b21_pythonhome_changes_nothing(computer: Computer) -> None:
    link_interpreter(computer.bin)
    without = await computer.detect()
    computer.env |= {"PYTHONHOME": "/nowhere", "PYTHONPATH": "/nowhere", "PYTHONSTARTUP": "/nowhere"}
    computer.environ |= {"PYTHONHOME": "/nowhere"}
    assert await computer.detect() == without


FAILURES = [
    pytest.param("exit 7", "candidate.does_not_run_silently", id="silent"),
    pytest.param("echo broken >&2; exit 1", "candidate.does_not_run", id="message"),
    pytest.param("kill -SEGV $$", "candidate.signalled", id="signal"),
    pytest.param('echo \'{"amlwizard_probe": "1"}\'', "candidate.no_answer", id="half an answer"),
    pytest.param("echo hello", "candidate.no_answer", id="other program"),
    pytest.param(":", "candidate.no_answer_silently", id="says nothing"),
]


@pytest.mark.posix
@pytest.mark.parametrize(("body", "reason"), FAILURES)
async def test_what_does_not_answer_is_passed_over(computer: Computer, body: str, reason: str) -> None:
    path = stub(computer.bin, "python3", body)
    facts = await computer.detect()
    row = computer.row(facts, path)
    assert (row.usable, row.reason) == (False, reason)
    if reason == "candidate.signalled":
        assert row.arguments == {"signal": int(signal.SIGSEGV)}
    with pytest.raises(RefusedError) as caught:
        await computer.detect(computer.choices(python=str(path)))
    message, hint = error_texts(caught.value, "zh_CN")
    assert caught.value.code == "AML_PYTHON_MISSING"
    assert str(path) in message
    assert text(row.reason, "zh_CN", **row.arguments) in message
    assert hint


@pytest.mark.posix
async def test_files_that_cannot_be_started(computer: Computer) -> None:
    computer.bin.mkdir()
    (computer.bin / "python3").symlink_to(computer.folder / "gone")
    (computer.bin / "python3.11").write_text("no program")
    (computer.bin / "python3.12").mkdir()
    no_shell = stub(computer.bin, "python3.13", "exit 0")
    no_shell.write_text("#!/nowhere/sh\n")
    facts = await computer.detect()
    reasons = {row.path.name: row.reason for row in facts.candidates}
    assert reasons == {
        "python3": "candidate.dangling",
        "python3.11": "candidate.not_executable",
        "python3.12": "candidate.not_executable",
        "python3.13": "candidate.cannot_start",
    }


@pytest.mark.posix
async def test_a_folder_that_may_not_be_entered_breaks_nothing(computer: Computer, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is for a user who is not root, for whom the folder behind the link is closed."""
    closed = computer.folder / "closed"
    hidden = stub(closed, "python3", "exit 0")
    link_interpreter(computer.folder / "bin2")
    computer.bin.mkdir()
    (computer.bin / "python3").symlink_to(hidden)
    real_stat = os.stat

    def fake_stat(path: Any, *arguments: Any, **options: Any) -> os.stat_result:
        if isinstance(path, str | Path) and options.get("follow_symlinks", True) and Path(path) == computer.bin / "python3":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real_stat(path, *arguments, **options)

    monkeypatch.setattr(os, "stat", fake_stat)
    facts = await computer.detect()
    assert facts.python is not None
    assert facts.python.path == computer.folder / "bin2" / "python3"
    assert not computer.row(facts, computer.bin / "python3").usable


@pytest.mark.posix
async def test_a_chatty_wrapper_still_answers(computer: Computer) -> None:
    link = link_interpreter(computer.folder / "hidden")
    wrapper = stub(computer.bin, "python3", f'echo "licence valid"; exec {link} "$@"')
    facts = await computer.detect()
    assert facts.python is not None
    assert facts.python.path == wrapper


@pytest.mark.posix
async def test_the_same_interpreter_is_listed_once(computer: Computer) -> None:
    first = link_interpreter(computer.bin)
    second = link_interpreter(computer.bin, "python")
    wrapper = stub(computer.folder / "bin2", "python3", f'exec {real_interpreter()} "$@"')
    facts = await computer.detect()
    assert computer.row(facts, first).usable
    assert not computer.started(second)
    for other in (second, wrapper):
        row = computer.row(facts, other)
        assert (row.usable, row.reason, row.arguments) == (False, "candidate.duplicate", {"path": first})


@pytest.mark.posix
async def test_the_base_of_an_environment_is_taken(computer: Computer) -> None:
    make_environment(computer.folder / "env")
    computer.environ["PATH"] = str(computer.folder / "env" / "bin")
    path = computer.folder / "env" / "bin" / "python3"
    facts = await computer.detect()
    assert computer.row(facts, path).reason == "candidate.environment"
    assert facts.python is not None
    assert facts.python.path.resolve() == real_interpreter()
    assert not computer.started(path)
    named = await computer.detect(computer.choices(python=str(path)))
    assert named.python is not None
    assert named.python.source == "setting"


@pytest.mark.posix
async def test_environments_that_lead_nowhere(computer: Computer) -> None:
    path = link_interpreter(computer.folder / "env" / "bin")
    computer.environ["PATH"] = str(path.parent)
    config = computer.folder / "env" / "pyvenv.cfg"
    config.write_text("nonsense")
    assert computer.row(await computer.detect(), path).reason == "candidate.broken_environment"
    config.write_text(f"home = {path.parent}\n")
    facts = await computer.detect()
    assert computer.row(facts, path).reason == "candidate.environment"
    assert facts.python is None


@pytest.mark.posix
async def test_pyenv_launchers_are_looked_through(computer: Computer) -> None:
    pyenv = computer.folder / "home" / ".pyenv"
    trap = computer.folder / "trap"
    shim = stub(pyenv / "shims", "python3", f"touch {trap}")
    idle = stub(pyenv / "shims", "python3.9", f"touch {trap}")
    active = fake_interpreter(pyenv / "versions" / "3.12.1" / "bin", version="3.12.1")
    (pyenv / "version").write_text("3.12.1\n")
    computer.environ["PATH"] = str(shim.parent)
    facts = await computer.detect()
    assert (computer.row(facts, shim).reason, computer.row(facts, idle).reason) == ("candidate.shim", "candidate.idle_shim")
    assert facts.python is not None
    assert (facts.python.path, facts.python.source) == (active, "path")
    assert not trap.exists()


@pytest.mark.posix
async def test_a_managed_one_of_the_workspace_comes_first(computer: Computer) -> None:
    link_interpreter(computer.bin)
    old = fake_interpreter(computer.root / "python" / "cpython-3.9.20-linux" / "bin", version="3.9.20")
    new = fake_interpreter(computer.root / "python" / "cpython-3.12.10-linux" / "bin", version="3.12.10")
    fake_interpreter(computer.root / "python" / "cpython-3.12.9-linux" / "bin", version="3.12.9")
    facts = await computer.detect()
    assert facts.python is not None
    assert (facts.python.path, facts.python.source) == (new, "workspace")
    assert computer.row(facts, old).reason == "candidate.python_too_old"


@pytest.mark.posix
async def test_a_named_version_selects_or_nothing_is_taken(computer: Computer) -> None:
    link_interpreter(computer.bin)
    other = fake_interpreter(computer.folder / "bin2", version="3.88.4")
    for version in ("3.88", "3.88.4"):
        facts = await computer.detect(computer.choices(python=version))
        assert facts.python is not None
        assert facts.python.path == other
    for version in ("3.88.5", "3.8", "3.89"):
        assert (await computer.detect(computer.choices(python=version))).python is None


@pytest.mark.posix
async def test_the_declared_range_holds(computer: Computer) -> None:
    new = fake_interpreter(computer.bin, version="3.88.0")
    fitting = fake_interpreter(computer.folder / "bin2", version="3.12.0")
    facts = await computer.detect(python_range=SpecifierSet(">=3.10,<3.14"))
    assert computer.row(facts, new).reason == "candidate.out_of_range"
    assert facts.python is not None
    assert facts.python.path == fitting
    with pytest.raises(RefusedError) as caught:
        await computer.detect(computer.choices(python=str(new)), python_range=SpecifierSet(">=3.10,<3.14"))
    assert "3.14" in error_texts(caught.value)[0]


async def test_an_interpreter_that_was_named_is_never_passed_over(computer: Computer) -> None:
    link_interpreter(computer.bin)
    missing = computer.folder / "gone" / "python3"
    with pytest.raises(RefusedError) as caught:
        await computer.detect(computer.choices(python=str(missing)))
    assert (caught.value.code, caught.value.arguments["path"]) == ("AML_PYTHON_MISSING", str(missing))


@pytest.mark.posix
async def test_usual_places(computer: Computer) -> None:
    system = computer.folder / "system"
    home = computer.folder / "home"
    expected = {
        fake_interpreter(system / "usr" / "local" / "bin", "python3.12"): "usual",
        fake_interpreter(system / "opt" / "homebrew" / "opt" / "python@3.13" / "bin", "python3.13"): "usual",
        fake_interpreter(home / ".local" / "share" / "uv" / "python" / "cpython-3.12" / "bin"): "managed",
        fake_interpreter(home / ".asdf" / "installs" / "python" / "3.12" / "bin"): "usual",
        fake_interpreter(home / "miniconda3" / "bin"): "usual",
    }
    facts = await computer.detect()
    assert {row.path: row.source for row in facts.candidates} == expected


@pytest.mark.posix
async def test_the_report(computer: Computer) -> None:
    link_interpreter(computer.bin)
    stub(computer.folder / "bin2", "python3", "exit 49")
    content = detected_content(await computer.detect(), "en")
    assert set(content) == {"uv", "python", "candidates", "host", "graphics", "environment"}
    assert content["uv"] is None
    assert content["python"]["path"] == str(computer.bin / "python3")
    assert [row["reason"] for row in content["candidates"]] == ["", "Microsoft Store placeholder, skipped."]
    assert content["environment"]["state"] == "absent"
    assert content["host"]["platform"] == host_facts().platform


@pytest.mark.posix
async def test_a_candidate_that_hangs_delays_no_other_row(computer: Computer, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = LeapingClock(monkeypatch)
    for number in range(8):
        fake_interpreter(computer.bin, f"python3.{number + 30}", version=f"3.{number + 30}.0")
    hang = stub(computer.bin, "python3", "sleep 300")
    detecting = asyncio.ensure_future(computer.detect(probe_seconds=1000))
    await until(lambda: len({candidate.path for candidate in computer.told}) == 8)
    facts = await clock.run_out(detecting, 1001)
    assert computer.told[-1].path == hang
    assert computer.row(facts, hang).reason == "candidate.no_answer_in_time"
    assert sum(row.usable for row in facts.candidates) == 8
