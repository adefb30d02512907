"""The cases that the frozen program has to come out right in: ``--program PATH``; without it, the checkout in its place."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.windows.conftest import ON_WINDOWS

if TYPE_CHECKING:
    from tests.windows.conftest import WindowsComputer

pytestmark = ON_WINDOWS


def test_b29_neither_libraries_nor_variables_of_the_program_reach_a_child(computer: WindowsComputer) -> None:
    computer.install("--python", sys.executable)
    seen = computer.folder / "seen.json"
    script = computer.folder / "look.py"
    script.write_text(
        "import ctypes, json, os, pathlib, ssl\n"
        "text = ctypes.create_unicode_buffer(1000)\n"
        "ctypes.WinDLL('kernel32').GetDllDirectoryW(1000, text)\n"
        f"told = {{'folder': text.value, 'variables': dict(os.environ)}}\n"
        f"pathlib.Path({str(seen)!r}).write_text(json.dumps(told))\n",
        encoding="utf-8",
    )
    computer.extra |= {"_PYI_ARCHIVE_FILE": "x", "QT_PLUGIN_PATH": "x"}
    with computer.start("run", "--", script) as process:
        _, errors = process.communicate()
    assert process.returncode == 0, errors
    told = json.loads(seen.read_text(encoding="utf-8"))
    assert told["folder"] == ""
    place = str(Path(computer.program[0]).parent).lower()
    for name, value in told["variables"].items():
        assert not name.startswith(("_PYI", "QT_", "_MEI", "TCL_")), name
        assert name == "PATH" or place not in value.lower(), name


def test_b29_the_search_path_for_libraries_is_given_back(tmp_path: Path) -> None:
    code = (
        "import ctypes, sys\n"
        "kernel = ctypes.WinDLL('kernel32')\n"
        "sys._MEIPASS = sys.argv[1]\n"
        "kernel.SetDllDirectoryW(sys.argv[1])\n"
        "from amlwizard.frozen_start import keep_libraries\n"
        "keep_libraries()\n"
        "text = ctypes.create_unicode_buffer(1000)\n"
        "kernel.GetDllDirectoryW(1000, text)\n"
        "sys.exit(bool(text.value))\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == 0


def test_b57_uv_is_there_without_any_script(computer: WindowsComputer) -> None:
    called, programs = computer.folder / "called", computer.folder / "programs"
    programs.mkdir()
    for name in ("powershell", "pwsh", "curl"):
        (programs / f"{name}.bat").write_text(f'@echo called>> "{called}"\n@exit /b 1\n')
    computer.extra["PATH"] = str(programs)
    result = computer.install("--python", sys.executable)
    assert result.states()["install_uv"] == "done"
    assert json.loads((computer.root / "runtime" / "uv.json").read_text(encoding="utf-8"))["method"] in {"bundled", "index"}
    assert not called.exists()


def test_b57_what_kept_uv_away_is_said(computer: WindowsComputer) -> None:
    computer.index.fault("/simple/uv/*", "403")
    requirements = computer.requirements()
    result = computer.run("install", "--requirements", requirements, "--uv-method", "index", "--python", sys.executable)
    assert (result.code, result.finished["code"]) == (1, "AML_UV_INSTALL_FAILED")
    assert "403" in result.finished["message"]


def test_b70_a_uv_that_vanished_or_was_changed_is_named_and_set_up_anew(computer: WindowsComputer) -> None:
    computer.install("--python", sys.executable)
    uv = computer.root / "tools" / "uv.exe"
    whole = uv.read_bytes()
    for changed in (None, b"", whole + b"\0"):
        uv.unlink() if changed is None else uv.write_bytes(changed)
        result = computer.run("rebuild", "--offline")
        assert result.code == 0, result.finished
        assert any("security product" in event["line"] for event in result.events if event["event"] == "log")
        assert uv.read_bytes() == whole


def test_b107_a_library_that_is_missing_is_named_and_the_text_mode_works(computer: WindowsComputer) -> None:
    program = Path(computer.program[0])
    if program.name != "amlwizard-cli.exe":
        pytest.skip("the libraries of the frozen program are missing here")
    copy = computer.folder / "program"
    shutil.copytree(program.parent, copy)
    (copy / "_internal" / "PySide6" / "Qt6Gui.dll").unlink()
    computer.program = (str(copy / program.name),)
    done = subprocess.run(
        [*computer.program, "gui"],
        env=computer.environ,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
    assert "AML_NO_QT" in done.stderr
    assert computer.run("detect").code == 0
