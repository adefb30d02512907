"""Real uv, real pip, real environments of tiny wheels."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from amlwizard.core import pip_cli
from amlwizard.core.environment import commit
from amlwizard.core.environment.build import build_staged, run_watched
from amlwizard.core.environment.findings import VerifyReport
from amlwizard.core.environment.layout import site_folders
from amlwizard.core.environment.marker import Marker
from amlwizard.core.environment.pip_build import build_in_place
from amlwizard.core.environment.state import inspect_environment
from amlwizard.core.environment.verify import verify_environment
from amlwizard.core.errors import AmlError
from amlwizard.core.journal import read_journal
from amlwizard.core.lock import StoredWheel
from amlwizard.core.paths import Workspace, venv_python
from amlwizard.core.running import Command
from tests.core.environment.support import BASE_PYTHON, make_store, uv_for, variables, write_lock
from tests.support.processes import is_alive
from tests.support.recording_runner import RecordingRunner
from tests.support.wheels import make_wheel, sha256_of

DIGEST = "0123456789ab"
JOB = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}


def stored(wheel: Path) -> StoredWheel:
    """Return a tiny wheel as the store has it."""
    return StoredWheel(wheel.name.partition("-")[0], "1.0", wheel, wheel.stat().st_size, sha256_of(wheel))


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "工作 space"
    root.mkdir()
    return Workspace(root)


async def stage(workspace: Workspace, wheels: dict[str, Path], expected: dict[str, str] | None = None) -> str:
    uv = uv_for(workspace)
    journal = await build_staged(
        uv,
        RecordingRunner(),
        variables(uv) | {"UV_LINK_MODE": "copy"},
        python=BASE_PYTHON,
        lock=write_lock(workspace, wheels),
        expected=expected or dict(key.split() for key in wheels),
        pip_settings=pip_cli.PipSettings("https://name:secret@index.example.org/simple", ca_file=Path("/etc/ca.pem")),
        on_line=lambda _line: None,
    )
    return journal.build


async def install(workspace: Workspace, wheels: dict[str, Path]) -> None:
    build = await stage(workspace, wheels)
    commit.commit_staged(workspace, Marker(DIGEST, str(workspace.root), "3.11", "a" * 64, build))
    assert commit.remove_old(workspace)


async def verify(workspace: Workspace, **options: object) -> VerifyReport:
    return await verify_environment(workspace.venv, RecordingRunner(), JOB, **options)  # type: ignore[arg-type]


def site(workspace: Workspace) -> Path:
    return site_folders(workspace.venv)[0]


async def test_a_staged_environment_is_built_verified_and_put_in_place(workspace: Workspace) -> None:
    await install(workspace, make_store(workspace, "tinya", "tinyb"))
    facts = inspect_environment(workspace, DIGEST)
    assert (facts.state, facts.packages) == ("ready", 2)
    config = (workspace.venv / ("pip.ini" if os.name == "nt" else "pip.conf")).read_text()
    assert "index.example.org" in config
    assert "secret" not in config
    report = await verify(workspace, main_imports=["tinya"], expected={"tinya": "1.0", "tinyb": "1.0"})
    assert report == VerifyReport((), (), (), 2, report.python_version)
    assert list(site(workspace).glob("tinya/__pycache__/*.pyc"))
    script = [venv_python(workspace.venv).with_name("tinya.exe" if os.name == "nt" else "tinya")]
    output = (await asyncio.to_thread(subprocess.run, script, capture_output=True, text=True, check=True)).stdout
    assert output == "tinya 1.0\n"


async def test_a_failed_build_leaves_nothing_and_keeps_the_old_environment(workspace: Workspace) -> None:
    await install(workspace, make_store(workspace, "tinya"))
    wheels = make_store(workspace, "tinyb")
    lock = write_lock(workspace, wheels, workspace.next_local_lock)  # as a run does
    wheels["tinyb 1.0"].write_bytes(b"damaged")
    uv = uv_for(workspace)
    with pytest.raises(AmlError) as caught:
        await build_staged(
            uv,
            RecordingRunner(),
            variables(uv),
            python=BASE_PYTHON,
            lock=lock,
            expected={"tinyb": "1.0"},
            pip_settings=pip_cli.PipSettings(),
            on_line=lambda _line: None,
        )
    assert caught.value.code == "AML_DOWNLOAD_DAMAGED"
    assert caught.value.detail
    assert not workspace.staged.exists()
    assert read_journal(workspace) is None
    assert inspect_environment(workspace, DIGEST).state == "ready"


async def test_an_installer_that_stands_still_is_stopped_and_what_it_said_is_kept(workspace: Workspace) -> None:
    workspace.staged.mkdir()
    code = "import os, sys, threading; print('tinya of', os.getpid(), flush=True); threading.Event().wait()"
    heard: list[str] = []
    with pytest.raises(AmlError) as caught:
        await run_watched(
            RecordingRunner(),
            Command((sys.executable, "-I", "-c", code), JOB, workspace.root),
            lambda line: heard.append(line.text),
            workspace.staged,
            1,
            lambda _done, _total: None,
            idle_seconds=3,
        )
    error = caught.value
    assert (error.code, error.arguments["command"], error.arguments["seconds"]) == ("AML_STEP_STALLED", sys.executable, 3)
    assert heard == [error.detail]
    assert error.detail.startswith("tinya of ")
    assert not is_alive(int(error.detail.rpartition(" ")[2]))


async def test_b24_a_success_of_the_tool_is_not_believed(workspace: Workspace) -> None:
    with pytest.raises(AmlError) as caught:
        await stage(workspace, make_store(workspace, "tinya"), {"tinya": "1.0", "tinyb": "1.0"})
    assert caught.value.code == "AML_PACKAGES_NOT_INSTALLED"
    assert caught.value.arguments["packages"] == "tinyb"
    assert not workspace.staged.exists()


async def test_without_uv_the_environment_is_built_in_place(workspace: Workspace) -> None:
    wheels = make_store(workspace, "tinya")
    local = [stored(path) for path in wheels.values()]

    async def build(chosen: list[StoredWheel]) -> str:
        journal = await build_in_place(
            workspace,
            RecordingRunner(),
            {"PATH": os.environ["PATH"], **pip_cli.environment()},
            python=BASE_PYTHON,
            wheels=chosen,
            expected={"tinya": "1.0"},
            pip_settings=pip_cli.PipSettings(),
            on_line=lambda _line: None,
        )
        return journal.build

    commit.commit_in_place(workspace, Marker(DIGEST, str(workspace.root), "3.11", "a" * 64, await build(local)))
    report = await verify(workspace, expected={"tinya": "1.0"})
    assert (report.problems, report.warnings, report.remarks) == ((), (), ())  # pip and setuptools are venv's own
    with pytest.raises(AmlError) as caught:
        await build([replace(local[0], sha256="0" * 64)])
    assert caught.value.code == "AML_HASH_REFUSED"
    assert inspect_environment(workspace, DIGEST).state == "ready"
    assert not workspace.aside.exists()


async def test_a_cancelled_build_leaves_nothing(workspace: Workspace) -> None:
    task = asyncio.ensure_future(stage(workspace, make_store(workspace, "tinya")))
    async with asyncio.timeout(30):
        while not workspace.journal.exists():  # noqa: ASYNC110 - the disk is what is waited for
            await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not workspace.staged.exists()
    assert read_journal(workspace) is None


async def test_damaged_files_are_found_and_named(workspace: Workspace) -> None:
    await install(workspace, make_store(workspace, "tinya", "tinyb", "tinyc", "tinyd"))
    original = (site(workspace) / "tinya" / "__init__.py").read_bytes()
    (site(workspace) / "tinya" / "__init__.py").write_bytes(b"#" + original[1:])
    (site(workspace) / "tinyb" / "__init__.py").unlink()
    (site(workspace) / "tinyc-1.0.dist-info" / "RECORD").unlink()
    with (site(workspace) / "tinyd-1.0.dist-info" / "RECORD").open("a") as record:
        record.write("../../../../outside.txt,,\n")
    report = await verify(workspace)
    keys = {finding.package: finding.key for finding in report.problems}
    assert keys == {
        "tinya": "verify.files_changed",
        "tinyb": "verify.files_missing",
        "tinyc": "verify.record_missing",
        "tinyd": "verify.record_outside",
    }
    assert report.broken_packages == ("tinya", "tinyb", "tinyc", "tinyd")


async def test_versions_duplicates_and_additions_are_found(workspace: Workspace) -> None:
    await install(workspace, make_store(workspace, "tinya", "tinyb"))
    (site(workspace) / "tinyb-1.0.dist-info").rename(site(workspace) / "tinyb-2.0.dist-info")
    copy = site(workspace) / "tinyb-3.0.dist-info"
    copy.mkdir()
    (copy / "RECORD").write_text("tinyb-3.0.dist-info/RECORD,,\n")
    report = await verify(workspace, expected={"tinyc": "1.0"})
    assert {"verify.duplicate", "verify.package_missing"} <= {finding.key for finding in report.problems}
    assert {finding.package for finding in report.remarks} == {"tinya", "tinyb"}


@pytest.mark.posix
async def test_imports_tell_broken_packages_from_missing_surroundings(workspace: Workspace) -> None:
    sources = {
        "own": "import own.gone",
        "optional": "import nowhere",
        "extra": "import nowhere.inside",
        "first": "import nowhere",
        "needy": "import nowhere",
        "stdlib": "raise ModuleNotFoundError('No module named _tkinter', name='_tkinter')",
        "driver": "raise ImportError('libcuda.so.1: cannot open shared object file')",
        "crashing": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "noisy": "print('aml-import nonsense'); print('x' * 10000)",
        "zlast": "",
    }
    requires = {"needy": ["nowhere-else"], "extra": ["nowhere; extra == 'all'", "nowhere; python_version < '3'"]}
    wheels = {
        f"{name} 1.0": make_wheel(workspace.downloads, name, init=source, requires=requires.get(name, ()))
        for name, source in sources.items()
    }
    await install(workspace, wheels)
    report = await verify(workspace, main_imports=["first"])
    assert {(finding.package, finding.key) for finding in report.problems} == {("own", "verify.import_file")}
    assert {(finding.package, finding.key) for finding in report.warnings} == {
        ("first", "verify.import_other"),
        ("needy", "verify.import_other"),
        ("stdlib", "verify.import_other"),
        ("driver", "verify.import_other"),
        ("crashing", "verify.import_crash"),
    }
    assert {finding.package for finding in report.notes} == {"optional", "extra"}


async def test_an_interpreter_that_does_not_start_is_a_problem(workspace: Workspace) -> None:
    await install(workspace, make_store(workspace, "tinya"))
    venv_python(workspace.venv).unlink()
    report = await verify(workspace)
    assert [finding.key for finding in report.problems] == ["verify.python_start"]


@pytest.mark.posix
async def test_states_follow_the_disk(workspace: Workspace, tmp_path: Path) -> None:
    assert inspect_environment(workspace).state == "absent"
    await install(workspace, make_store(workspace, "tinya"))
    assert inspect_environment(workspace, "ffffffffffff").state == "stale"

    python = venv_python(workspace.venv)
    target = python.readlink()
    python.unlink()
    assert inspect_environment(workspace).reason == "environment.no_python"
    python.symlink_to(tmp_path / "gone" / "python3")
    assert inspect_environment(workspace).state == "base_missing"
    python.unlink()
    python.symlink_to(target)
    assert inspect_environment(workspace).state == "ready"

    moved = Workspace(tmp_path / "moved")
    workspace.root.rename(moved.root)
    assert inspect_environment(moved).state == "moved"
    moved.root.rename(workspace.root)

    (workspace.venv / "pyvenv.cfg").unlink()
    assert inspect_environment(workspace).reason == "environment.no_pyvenv_cfg"
    workspace.marker(DIGEST).unlink()
    assert inspect_environment(workspace).reason == "environment.marker_missing"
    workspace.receipt.unlink()
    assert inspect_environment(workspace).state == "foreign"
    workspace.venv.rename(workspace.staged)
    assert inspect_environment(workspace).state == "unfinished"
    workspace.venv.symlink_to(workspace.staged)
    assert inspect_environment(workspace).reason == "environment.link"


async def test_a_cancel_brings_the_old_environment_back_from_aside(workspace: Workspace) -> None:
    wheels = make_store(workspace, "tinya")
    await install(workspace, wheels)
    task = asyncio.ensure_future(
        build_in_place(
            workspace,
            RecordingRunner(),
            {"PATH": os.environ["PATH"], **pip_cli.environment()},
            python=BASE_PYTHON,
            wheels=[stored(path) for path in wheels.values()],
            expected={"tinya": "1.0"},
            pip_settings=pip_cli.PipSettings(),
            on_line=lambda _line: None,
        )
    )
    async with asyncio.timeout(30):
        while not workspace.aside.exists():  # noqa: ASYNC110 - the disk is what is waited for
            await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert inspect_environment(workspace, DIGEST).state == "ready"
    assert not workspace.aside.exists()
    assert read_journal(workspace) is None
