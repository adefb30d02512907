"""What is said where Qt cannot start: a code and a way out, and never a signal."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amlwizard import qt_start
from amlwizard.core.catalogue import LANGUAGES, error_texts

if TYPE_CHECKING:
    from tests.support.namespaces import Circumstances

PROJECT = Path(__file__).resolve().parent.parent
linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Qt brings all that it needs")


def open_window(
    tmp_path: Path, prefix: list[str] | None = None, folder: Path = PROJECT, **variables: str
) -> tuple[int, str]:
    """Open the window as a program; return its exit code and what it said."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    done = subprocess.run(
        [*(prefix or []), sys.executable, "-m", "amlwizard", "gui"],
        cwd=folder,
        env={**kept, "HOME": str(tmp_path), "LANG": "en_US.UTF-8", **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    return done.returncode, done.stderr


def _loaded(name: str) -> Path:
    """Return the file of a library of this system."""
    ctypes.CDLL(name)
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    return next(Path(line.split(maxsplit=5)[5]) for line in maps if f"/{name}" in line)


@linux
def test_a_screen_that_does_not_answer_is_named(tmp_path: Path) -> None:
    code, said = open_window(tmp_path, DISPLAY="no-screen-here")
    assert code == 2
    assert "AML_SCREEN_SILENT" in said
    assert "no-screen-here" in said
    assert "amlwizard install" in said


@linux
def test_no_screen_at_all(tmp_path: Path) -> None:
    code, said = open_window(tmp_path)
    assert code == 2
    assert "AML_NO_SCREEN" in said


def test_a_platform_that_qt_does_not_have_is_named(tmp_path: Path) -> None:
    code, said = open_window(tmp_path, QT_QPA_PLATFORM="nonsense")
    assert code == 2
    assert "AML_NO_QT" in said
    assert '"nonsense"' in said


@linux
def test_a_screen_that_is_there_is_tried_after_a_foreign_platform(tmp_path: Path) -> None:
    code, said = open_window(tmp_path, QT_QPA_PLATFORM="nonsense", DISPLAY="no-screen-here", LANG="zh_CN.UTF-8")
    assert code == 2
    assert "AML_SCREEN_SILENT" in said
    assert "no-screen-here" in said


def test_a_locale_that_the_system_lacks_is_not_taken_for_the_cause(tmp_path: Path) -> None:
    code, said = open_window(tmp_path, QT_QPA_PLATFORM="nonsense", LANG="zh_CN.UTF-8")
    assert code == 2
    assert '"nonsense"' in said


@pytest.mark.parametrize("name", ["libxcb-cursor.so.0", "libEGL.so.1"])  # of the plugin, and of Qt itself
def test_b107_a_library_that_the_system_lacks_is_named_with_its_command_and_text_mode_works(
    tmp_path: Path, circumstances: type[Circumstances], name: str
) -> None:
    prefix = circumstances(hidden=(_loaded(name),)).command([])
    code, said = open_window(tmp_path, prefix, DISPLAY="no-screen-here")
    assert code == 2
    assert "AML_QT_LIBRARIES_MISSING" in said
    assert name in said
    assert (qt_start.install_command([name]) or qt_start.DEBIAN_PACKAGES[name]) in said
    assert "amlwizard install" in said
    done = subprocess.run(
        [*prefix, sys.executable, "-m", "amlwizard", "detect", "--json"],
        cwd=PROJECT,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "en_US.UTF-8"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0
    assert [json.loads(line)["event"] for line in done.stdout.splitlines()] == ["detected"]


@pytest.mark.parametrize(
    ("manager", "command"),
    [
        ("apt-get", "apt-get install libgl1 libglib2.0-0"),
        ("dnf", "dnf install 'libGL.so.1()(64bit)' 'libgthread-2.0.so.0()(64bit)' 'libglib-2.0.so.0()(64bit)'"),
        ("zypper", "zypper install 'libGL.so.1()(64bit)' 'libgthread-2.0.so.0()(64bit)' 'libglib-2.0.so.0()(64bit)'"),
    ],
)
@pytest.mark.parametrize("become", ["", "sudo "])
def test_b107_the_command_is_that_of_the_systems_package_manager(
    monkeypatch: pytest.MonkeyPatch, manager: str, command: str, become: str
) -> None:
    monkeypatch.setattr(qt_start, "_is_root", lambda: not become)
    missing = ["libGL.so.1", "libgthread-2.0.so.0", "libglib-2.0.so.0"]
    found = qt_start.install_command(missing, lambda name: name if name == manager else None)
    assert found == become + command


@pytest.mark.parametrize("language", LANGUAGES)
def test_b107_where_no_package_manager_is_known_the_packages_are(monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    monkeypatch.setattr(qt_start, "missing_libraries", lambda: ["libEGL.so.1"])
    monkeypatch.setattr(qt_start, "install_command", lambda _missing: None)
    message, hint = error_texts(qt_start.not_imported(ImportError("libEGL.so.1: cannot open")), language)
    assert "libEGL.so.1" in message
    assert "libegl1" in hint
    assert "amlwizard install" in hint


@linux
def test_b107_what_a_frozen_program_carries_is_not_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It may not load for the lack of another one, which is named."""
    names = {"libcarried.so.1": "libcarried1", "libother.so.1": "libother1"}
    monkeypatch.setattr(qt_start, "DEBIAN_PACKAGES", names)
    assert qt_start.missing_libraries() == list(names)
    (tmp_path / "libcarried.so.1").touch()
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    assert qt_start.missing_libraries() == ["libother.so.1"]


def test_a_qt_that_is_not_installed_is_not_taken_for_missing_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qt_start, "missing_libraries", lambda: ["libEGL.so.1"])
    error = qt_start.not_imported(ModuleNotFoundError("No module named 'PySide6'", name="PySide6"))
    assert (error.code, error.arguments["reason"]) == ("AML_NO_QT", "No module named 'PySide6'")


@pytest.fixture
def own_qt(tmp_path: Path) -> Path:
    """A folder of its own with a PySide6 whose files can be taken away; returned is the one with Qt."""
    import PySide6

    source, copy = Path(PySide6.__path__[0]), tmp_path / "libraries" / "PySide6"
    shutil.copytree(source, copy, copy_function=os.link, symlinks=True)
    shutil.copytree(source.with_name("shiboken6"), copy.with_name("shiboken6"), copy_function=os.link, symlinks=True)
    return copy / "Qt"


@linux
@pytest.mark.parametrize("lost", ["plugins/platforms/libqxcb.so", "plugins", "lib/libQt6Gui.so.6"])
def test_a_part_of_qt_that_is_lost_is_not_taken_for_a_library_of_the_system(
    own_qt: Path, tmp_path: Path, circumstances: type[Circumstances], lost: str
) -> None:
    """Even where one of those is missing as well: what helps first is told."""
    part = own_qt / lost
    shutil.rmtree(part) if part.is_dir() else part.unlink()
    file = _loaded("libxcb-cursor.so.0")
    prefix = circumstances(hidden=(file,)).command([])
    foreign = {"QT_QPA_PLATFORM": "xcb"} if "Gui" in lost else {}  # which has no say in what is imported
    code, said = open_window(tmp_path, prefix, DISPLAY="no-screen-here", PYTHONPATH=str(own_qt.parents[1]), **foreign)
    assert code == 2
    assert "AML_NO_QT" in said
    assert Path(lost).stem.removeprefix("libq").partition(".")[0] in said or lost == "plugins"
    assert "Install amlwizard again." in said
    assert "libxcb" not in said
    assert "QT_QPA_PLATFORM" not in said


def test_words_that_are_lost_as_well_end_in_no_signal(tmp_path: Path) -> None:
    """The screen does not answer, and the catalogue that would say so is empty."""
    program = tmp_path / "program"
    shutil.copytree(PROJECT / "amlwizard", program / "amlwizard")
    (program / "resources" / "messages").mkdir(parents=True)
    (program / "resources" / "messages" / "cli.json").write_text("{")
    code, said = open_window(tmp_path, folder=program, QT_QPA_PLATFORM="nonsense", TMPDIR=str(tmp_path))
    assert code == 1
    assert "amlwizard cannot start" in said
    assert str(tmp_path / "amlwizard-start-") in said
