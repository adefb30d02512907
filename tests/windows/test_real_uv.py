"""The whole way on Windows with the real uv.exe: detect, install, rebuild, cancel, long and foreign paths, open files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from amlwizard.core.path_lengths import _long_paths_enabled
from tests.windows.conftest import ON_WINDOWS, cancel

if TYPE_CHECKING:
    from tests.windows.conftest import WindowsComputer

pytestmark = ON_WINDOWS


def test_detect_lists_candidates_and_writes_nothing(computer: WindowsComputer) -> None:
    result = computer.run("detect")
    (detected,) = [event for event in result.events if event["event"] == "detected"]
    assert result.code == 0
    assert detected["host"]["system"] == "windows"
    assert {candidate["kind"] for candidate in detected["candidates"]} >= {"uv", "python"}
    assert not computer.root.exists()


def test_uv_and_the_environment_are_installed_verified_and_rebuilt_without_an_index(computer: WindowsComputer) -> None:
    result = computer.install("--python", sys.executable)
    states = result.states()
    assert {states[step] for step in ("install_uv", "resolve", "fetch", "build", "verify", "commit")} == {"done"}
    assert (computer.installed("tinya"), computer.installed("tinyb")) == ("1.0", "1.0")
    recorded = json.loads((computer.root / "runtime" / "uv.json").read_text(encoding="utf-8"))
    assert computer.root / "tools" in Path(recorded["uvPath"]).parents
    assert computer.run("verify").code == 0
    computer.index.close()
    rebuilt = computer.run("rebuild", "--offline")
    assert rebuilt.code == 0, rebuilt.finished
    assert computer.installed("tinyb") == "1.0"
    assert computer.run("verify", "--deep").code == 0
    assert computer.run("uninstall").code == 0
    assert not (computer.root / ".venv").exists()


def test_an_interpreter_is_bootstrapped_from_a_list(computer: WindowsComputer, downloads_json: Path) -> None:
    computer.extra["PATH"] = os.environ["SYSTEMROOT"]  # on which there is no Python
    version = ".".join(map(str, sys.version_info[:2]))
    result = computer.install("--python", version, "--python-downloads-json", downloads_json.as_uri())
    assert result.states()["install_python"] == "done", result.events
    base = subprocess.run(
        [computer.python, "-c", "import sys; print(sys.base_prefix)"],
        capture_output=True,
        text=True,
        check=True,
        env=computer.environ,
    ).stdout.strip()
    assert computer.root / "python" in Path(base).parents
    assert computer.run("verify").code == 0


@pytest.mark.parametrize(
    "name",
    ["a folder with spaces", "数据科学 环境", "ä & b (1)", "l" * 100 + "/" + "o" * 100],
    ids=["spaces", "chinese", "signs", "long"],
)
def test_workspaces_at_unusual_places(computer: WindowsComputer, name: str) -> None:
    computer.root = computer.folder / name
    if (
        "/" in name
    ):  # to 200 characters in all; package paths get longer than Windows allows where it does not know long ones
        computer.root = Path(str(computer.folder / name)[:199] + "x")
        assert len(str(computer.root)) == 200
        if not _long_paths_enabled():
            refused = computer.run("install", "--requirements", computer.requirements(), "--python", sys.executable)
            assert refused.finished["code"] == "AML_PATH_TOO_LONG"
            assert not (computer.root / ".venv").exists()
            return
    computer.install("--python", sys.executable)
    assert computer.installed("tinyb") == "1.0"
    script = computer.root / ".venv" / "Scripts" / "tinyb.exe"
    said = subprocess.run([script], capture_output=True, text=True, check=True, env=computer.environ).stdout
    assert said.split() == ["tinyb", "1.0"]
    assert computer.run("rebuild", "--offline").code == 0
    assert computer.run("verify").code == 0


def test_cancel_leaves_no_process_and_the_old_environment(computer: WindowsComputer) -> None:
    computer.install("--python", sys.executable)
    with computer.start("rebuild") as process:
        assert process.stdout is not None
        for line in process.stdout:
            event = json.loads(line)
            if (event.get("id"), event.get("state")) == ("build", "started"):
                break
        cancel(process)
        events = [json.loads(line) for line in process.stdout]
    assert process.returncode == 130, events
    assert events[-1]["state"] == "cancelled"
    _nothing_of(computer)
    assert computer.installed("tinyb") == "1.0"
    assert computer.run("verify").code == 0


def test_the_children_of_a_killed_wizard_end_with_it(computer: WindowsComputer) -> None:
    computer.install("--python", sys.executable)
    ready = computer.folder / "ready"
    with computer.start("run", "--", _sleeper(computer.folder)) as process:
        deadline = time.monotonic() + 60
        while not ready.exists():
            assert process.poll() is None
            assert time.monotonic() < deadline, "the job did not start"
        process.kill()
    _nothing_of(computer)


def test_a_file_in_use_is_named_at_a_rebuild_and_the_environment_stays(computer: WindowsComputer) -> None:
    computer.install("--python", sys.executable)
    held = computer.root / ".venv" / "Lib" / "site-packages" / "tinya" / "__init__.py"
    with _HeldWithoutSharing(held):
        result = computer.run("rebuild", "--offline")
        assert result.code == 1, result.finished
        assert result.finished["message"]
    assert computer.installed("tinyb") == "1.0"
    assert computer.run("verify").code == 0
    assert computer.run("rebuild", "--offline").code == 0


def _sleeper(folder: Path) -> Path:
    script = folder / "sleeper.py"
    ready = str(folder / "ready")
    script.write_text(
        "import pathlib, subprocess, sys, time\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"pathlib.Path({ready!r}).touch()\n"
        "time.sleep(600)\n",
        encoding="utf-8",
    )
    return script


def _nothing_of(computer: WindowsComputer) -> None:
    deadline = time.monotonic() + 20
    while left := [process for process in psutil.process_iter() if _belongs(process, str(computer.root))]:
        assert time.monotonic() < deadline, left


def _belongs(process: psutil.Process, root: str) -> bool:
    """Tell whether a process works in a workspace: by its program, its arguments, or the variable of jobs."""
    try:
        return root in " ".join([process.exe(), *process.cmdline()]) or process.environ().get("AML_ROOT") == root
    except psutil.Error:
        return False


class _HeldWithoutSharing:
    """A file that another program keeps open and shares with nobody, as a virus scanner or an editor does."""

    def __init__(self, file: Path) -> None:
        code = (
            "import ctypes, sys\n"
            "k = ctypes.WinDLL('kernel32', use_last_error=True)\n"
            "k.CreateFileW.restype = ctypes.c_void_p\n"
            "handle = k.CreateFileW(ctypes.c_wchar_p(sys.argv[1]), 0x80000000, 0, None, 3, 0x80, None)\n"
            "print(handle not in (None, 2**64 - 1), flush=True)\n"
            "sys.stdin.read()\n"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline().strip() == "True"

    def __exit__(self, *_failure: object) -> None:
        self._process.communicate()
