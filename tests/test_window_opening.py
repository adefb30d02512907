"""JupyterLab, terminals, shortcuts and kernels with real processes and files; other programs have stand-ins."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import stat
import subprocess
import sys
import threading
import venv
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from amlwizard.core import receipt
from amlwizard.core.environment.layout import site_folders
from amlwizard.core.errors import AmlError, BusyError
from amlwizard.core.file_hash import file_sha256
from amlwizard.core.opening.jupyter import JupyterState, jupyter_log
from amlwizard.core.opening.starter import NAMES
from amlwizard.core.paths import Workspace
from amlwizard.core.running import Command
from amlwizard.core.uninstall import Removal, remove_listed, remove_records
from amlwizard.core.workspace_lock import hold_run
from amlwizard.process.asyncio_runner import AsyncioRunner
from amlwizard.window_opening import WindowOpening
from tests.support.fake_labapp import put_jupyterlab_into
from tests.support.processes import is_alive
from tests.support.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.support.namespaces import Circumstances

SECONDS = 60.0


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace whose environment holds a JupyterLab that stands in for the real one."""
    workspace = Workspace(tmp_path / "it's 环境 & more")
    venv.EnvBuilder(symlinks=os.name != "nt").create(workspace.venv)
    put_jupyterlab_into(workspace)
    return workspace


@pytest.fixture
def opening(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[WindowOpening]:
    """The service; nothing that it started is left after the test."""
    monkeypatch.setenv("BROWSER", "true")
    service = WindowOpening(os.environ)
    yield service
    service.stop_jupyter(workspace.root)
    wait_for(lambda: service.jupyter(workspace.root) is JupyterState.STOPPED and not service._opened)


def running(service: WindowOpening, workspace: Workspace) -> dict[str, Any]:
    """Start JupyterLab and return what it says about itself once it runs."""
    service.start_jupyter(workspace.root, "en")
    wait_for(lambda: service.jupyter(workspace.root) is JupyterState.RUNNING)
    (note,) = workspace.jupyter.glob("jpserver-*.json")
    found: dict[str, Any] = json.loads(note.read_text(encoding="utf-8"))
    return found


def processes(workspace: Workspace) -> list[psutil.Process]:
    """Return whatever runs by the environment's Python."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.cmdline()[:1] == [str(workspace.python)] and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def test_jupyterlab_runs_in_notebooks_as_the_users_own_program(
    opening: WindowOpening, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert opening.has_jupyter(workspace.root)
    told = running(opening, workspace)
    assert told["cwd"] == str(workspace.notebooks)
    assert told["env"]["CUDA_VISIBLE_DEVICES"] == "0"
    assert told["env"]["VIRTUAL_ENV"] == str(workspace.venv)
    assert told["env"]["PATH"].split(os.pathsep)[0] == str(workspace.python.parent)
    assert "QT_API" not in told["env"]


@pytest.mark.posix
def test_the_token_is_in_no_command_no_variable_no_log_and_no_file_for_others(
    opening: WindowOpening, workspace: Workspace
) -> None:
    told = running(opening, workspace)
    token = told.pop("token")
    assert len(token) == 48
    assert token not in json.dumps(told)
    assert token not in " ".join(psutil.Process(told["pid"]).cmdline())
    assert token not in jupyter_log(workspace).read_text(encoding="utf-8")
    assert stat.S_IMODE((workspace.jupyter / "token").stat().st_mode) == 0o600
    assert stat.S_IMODE(workspace.jupyter.stat().st_mode) == 0o700


@pytest.mark.parametrize("kind", ["", "stubborn"])
def test_stop_leaves_no_process_not_even_a_kernel_of_its_own_session(
    opening: WindowOpening, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("FAKE_JUPYTER", kind)
    monkeypatch.setattr("amlwizard.core.opening.servers._STOP_SECONDS", 1.0 if kind else SECONDS)
    told = running(opening, workspace)
    assert is_alive(told["kernel"])
    opening.stop_jupyter(workspace.root)
    assert processes(workspace) == []
    assert opening.jupyter(workspace.root) is JupyterState.STOPPED


@pytest.mark.posix
def test_stop_spares_a_browser_that_jupyterlab_has_started(opening: WindowOpening, workspace: Workspace) -> None:
    told = running(opening, workspace)
    browser = subprocess.Popen(["/bin/sh", "-c", "read line"], stdin=subprocess.PIPE)
    server = psutil.Process(told["pid"])
    children = [psutil.Process(told["kernel"]), psutil.Process(browser.pid)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psutil.Process, "children", lambda self, recursive=False: children if self == server else [])
        opening.stop_jupyter(workspace.root)
    assert browser.poll() is None
    browser.communicate()


def test_it_goes_on_without_its_window_and_the_next_one_finds_and_stops_it(
    opening: WindowOpening, workspace: Workspace
) -> None:
    code = (
        "import os, pathlib, sys\n"
        "from amlwizard.window_opening import WindowOpening\n"
        "WindowOpening(os.environ).start_jupyter(pathlib.Path(sys.argv[1]), 'en')\n"
        "os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, workspace.root], check=True)
    wait_for(lambda: opening.jupyter(workspace.root) is JupyterState.RUNNING)
    opening.stop_jupyter(workspace.root)
    assert processes(workspace) == []


@pytest.mark.posix
def test_a_second_start_shows_the_one_that_runs(
    opening: WindowOpening, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = tmp_path / "shown"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > "{shown}.part"; mv "{shown}.part" "{shown}"\n')
    browser.chmod(0o755)
    told = running(opening, workspace)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    opening.start_jupyter(workspace.root, "en")
    wait_for(shown.exists)
    page = workspace.jupyter / f"jpserver-{told['pid']}-open.html"
    assert shown.read_text(encoding="utf-8") == page.as_uri()
    assert len(list(workspace.jupyter.glob("jpserver-*.json"))) == 1
    assert told["token"] == (workspace.jupyter / "token").read_text(encoding="ascii")


def test_it_outlives_a_run_of_its_window_that_is_cancelled(opening: WindowOpening, workspace: Workspace) -> None:
    told = running(opening, workspace)

    async def run() -> None:
        started = asyncio.Event()
        code = "import time; print('here', flush=True); time.sleep(600)"
        command = Command((sys.executable, "-c", code), dict(os.environ), workspace.root, None, None)
        task = asyncio.ensure_future(AsyncioRunner("run").run(command, lambda _line: started.set()))
        await started.wait()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert is_alive(told["kernel"])
    assert opening.jupyter(workspace.root) is JupyterState.RUNNING


def test_one_that_does_not_start_is_told_until_the_next_start_and_says_why_in_its_log(
    opening: WindowOpening, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_JUPYTER", "fail")
    opening.start_jupyter(workspace.root, "en")
    wait_for(lambda: opening.jupyter(workspace.root) is JupyterState.FAILED)
    failure = opening.jupyter_failure(workspace.root)
    assert failure.arguments == {"cause": "the configuration is wrong", "path": str(jupyter_log(workspace))}
    monkeypatch.setenv("FAKE_JUPYTER", "")
    running(opening, workspace)


def test_what_a_killed_one_left_behind_counts_for_nothing(opening: WindowOpening, workspace: Workspace) -> None:
    workspace.jupyter.mkdir(parents=True)
    for name, content in {"1": f'{{"pid": {os.getpid()}}}', "2": "{", "3": '{"pid": "x"}', "4": "[]"}.items():
        (workspace.jupyter / f"jpserver-{name}.json").write_text(content)
    assert opening.jupyter(workspace.root) is JupyterState.STOPPED
    opening.stop_jupyter(workspace.root)


def test_an_environment_that_is_gone_is_told(workspace: Workspace) -> None:
    shutil.rmtree(workspace.venv)
    with pytest.raises(AmlError) as caught:
        WindowOpening(os.environ).start_jupyter(workspace.root, "en")
    assert caught.value.code == "AML_JUPYTER_NOT_STARTED"


@pytest.mark.posix
@pytest.mark.parametrize(
    ("folder", "asked"),
    [
        *((folder, asked) for folder in ("runtime", "jupyter") for asked in ("start", "shortcut", "kernel")),
        *((folder, "terminal") for folder in ("runtime", "terminal")),
    ],
)
def test_nothing_is_written_behind_a_link(
    opening: WindowOpening, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, asked: str
) -> None:
    elsewhere, outside = tmp_path / "elsewhere", tmp_path / "outside"
    elsewhere.mkdir(mode=0o755)
    link: Path = getattr(workspace, folder)
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(elsewhere)
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(outside))
    ask: dict[str, Callable[[], object]] = {
        "start": lambda: opening.start_jupyter(workspace.root, "en"),
        "shortcut": lambda: opening.add_shortcut(workspace.root, outside),
        "kernel": lambda: opening.add_kernel(workspace.root),
        "terminal": lambda: opening.open_terminal(workspace.root),
    }
    with pytest.raises(AmlError) as caught:
        ask[asked]()
    assert (caught.value.code, caught.value.arguments["path"]) == ("AML_FOLDER_LINK", str(link))
    assert list(elsewhere.iterdir()) == []
    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o755
    assert not outside.exists()
    assert not workspace.notebooks.exists()


@pytest.mark.parametrize("language", NAMES)
def test_a_first_notebook_waits_in_an_empty_folder_alone(
    opening: WindowOpening, workspace: Workspace, language: str
) -> None:
    opening.start_jupyter(workspace.root, language)
    assert [path.name for path in workspace.notebooks.iterdir()] == [NAMES[language]]
    mine = workspace.notebooks / NAMES[language]
    mine.write_text("mine")
    for other in NAMES:
        opening.start_jupyter(workspace.root, other)
    assert [(path.name, path.read_text()) for path in workspace.notebooks.iterdir()] == [(mine.name, "mine")]


def test_there_is_no_first_notebook_where_it_could_not_run(opening: WindowOpening, workspace: Workspace) -> None:
    (site,) = site_folders(workspace.venv)
    (site / "sklearn").rmdir()
    opening.start_jupyter(workspace.root, "en")
    assert not workspace.notebooks.exists() or list(workspace.notebooks.iterdir()) == []


@pytest.mark.posix
@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has a terminal of its own")
def test_a_terminal_gets_a_script_that_makes_the_environment_active(workspace: Workspace, tmp_path: Path) -> None:
    programs, said = tmp_path / "programs", tmp_path / "said"
    programs.mkdir()
    terminal = programs / "konsole"
    asked = "python -c 'import sys; print(sys.prefix)'; pwd"
    terminal.write_text(f'#!/bin/sh\nshift\necho "{asked}" | "$@" > "{said}.part" 2>&1\n/bin/mv "{said}.part" "{said}"\n')
    terminal.chmod(0o755)
    environ = dict(os.environ) | {"PATH": str(programs), "SHELL": "/bin/bash"}
    opening = WindowOpening(environ)
    opening.open_terminal(workspace.root)
    wait_for(lambda: opening.jupyter(workspace.root) is JupyterState.STOPPED and not opening._opened)
    lines = said.read_text(encoding="utf-8").splitlines()
    assert str(workspace.venv) in lines
    assert str(workspace.root) in lines


@pytest.mark.posix
@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has a terminal of its own")
def test_a_computer_without_a_terminal_is_told_so(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(AmlError) as caught:
        WindowOpening({"PATH": str(tmp_path)}).open_terminal(workspace.root)
    assert caught.value.code == "AML_TERMINAL_NONE"
    assert not workspace.terminal.exists()


@pytest.mark.posix
@pytest.mark.skipif(sys.platform == "darwin", reason="there are no desktop entries")
def test_a_shortcut_starts_jupyterlab_and_the_window_knows_it(
    opening: WindowOpening, workspace: Workspace, tmp_path: Path
) -> None:
    shortcut = opening.add_shortcut(workspace.root, tmp_path / "menu")
    line = next(line for line in shortcut.read_text(encoding="utf-8").splitlines() if line.startswith("Exec="))
    command = line.removeprefix("Exec=").replace("\\\\", "\\").replace("%%", "%")
    started = subprocess.Popen(["/bin/sh", "-c", f"exec {command}"])  # whose double quotes are those of desktop entries
    wait_for(lambda: opening.jupyter(workspace.root) is JupyterState.RUNNING)
    opening.stop_jupyter(workspace.root)
    started.wait(SECONDS)


def test_shortcut_and_kernel_are_in_the_receipt_and_go_with_an_uninstallation(workspace: Workspace, tmp_path: Path) -> None:
    opening = WindowOpening(dict(os.environ) | {"JUPYTER_DATA_DIR": str(tmp_path / "jupyter")})
    receipt.note_created(workspace, workspace.runtime, workspace.venv, kind="folder")
    shortcut = opening.add_shortcut(workspace.root, tmp_path / "menu")
    assert opening.add_shortcut(workspace.root, tmp_path / "menu") == shortcut  # once more is no harm
    spec = tmp_path / "jupyter" / "kernels" / opening.add_kernel(workspace.root) / "kernel.json"
    told = json.loads(spec.read_text(encoding="utf-8"))
    assert (told["display_name"], told["argv"][0]) == (workspace.root.name, str(workspace.python))
    listed = receipt.created(workspace)
    assert [listed[str(path)]["kind"] for path in (shortcut, spec)] == ["shortcut", "kernel"]
    assert uninstalled(workspace).stuck == []
    assert [path.exists() for path in (shortcut, spec.parent, workspace.runtime)] == [False, False, False]


def test_what_the_user_made_of_a_shortcut_stays_and_what_is_not_ours_is_never_replaced(
    workspace: Workspace, tmp_path: Path
) -> None:
    opening = WindowOpening(os.environ)
    receipt.note_created(workspace, workspace.runtime, kind="folder")
    shortcut = opening.add_shortcut(workspace.root, tmp_path)
    shortcut.write_text("mine", encoding="utf-8")
    with pytest.raises(AmlError) as caught:
        opening.add_shortcut(workspace.root, tmp_path)
    assert caught.value.code == "AML_PLACE_TAKEN"
    uninstalled(workspace)
    assert shortcut.read_text(encoding="utf-8") == "mine"


@pytest.mark.posix
def test_a_receipt_can_be_made_to_name_anything_and_removes_nothing_else(workspace: Workspace, tmp_path: Path) -> None:
    precious, folder = tmp_path / "precious", tmp_path / "folder"
    precious.write_text("keep")
    folder.mkdir()
    link = tmp_path / "link"
    link.symlink_to(precious)
    digest = file_sha256(precious)
    for path, known in ((precious, "0" * 64), (folder, digest), (link, digest), (tmp_path / "gone", digest)):
        receipt.note_outside(workspace, path, kind="shortcut", sha256=known)
    assert uninstalled(workspace).stuck == []
    assert [path.name for path in (precious, folder, link) if os.path.lexists(path)] == ["precious", "folder", "link"]


def test_nothing_is_put_outside_while_a_run_holds_the_workspace(workspace: Workspace, tmp_path: Path) -> None:
    with hold_run(workspace, "install"), pytest.raises(BusyError):
        WindowOpening(os.environ).add_shortcut(workspace.root, tmp_path / "menu")
    assert not (tmp_path / "menu").exists()


def uninstalled(workspace: Workspace) -> Removal:
    """Remove what the receipt lists."""
    removal = Removal()
    remove_listed(workspace, removal, threading.Event())
    remove_records(workspace, removal)
    return removal


_AS_GUEST = """
import os, sys
from pathlib import Path
from amlwizard.core.opening.jupyter import JupyterState, jupyter_log
from amlwizard.window_opening import WindowOpening
from tests.support.waiting import wait_for

root, service = Path(sys.argv[1]), WindowOpening(os.environ)
service.start_jupyter(root, "en")
wait_for(lambda: service.jupyter(root) is JupyterState.RUNNING)
service.open_terminal(root)
log = service.jupyter_failure(root).arguments["path"]
service.stop_jupyter(root)
wait_for(lambda: service.jupyter(root) is JupyterState.STOPPED and not service._opened)
print(log)
"""


@pytest.mark.linux
def test_a_workspace_that_cannot_be_written_is_opened_from_a_folder_of_the_guests_own(
    workspace: Workspace, tmp_path: Path, circumstances: type[Circumstances]
) -> None:
    programs, data = tmp_path / "programs", tmp_path / "data"
    programs.mkdir()
    terminal = programs / "xterm"
    terminal.write_text("#!/bin/sh\nexit 0\n")
    terminal.chmod(0o755)
    kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    environ = {
        **kept,
        "PATH": f"{programs}:{os.defpath}",
        "XDG_DATA_HOME": str(data),
        "BROWSER": "true",
        "SHELL": "/bin/sh",
    }
    argv = [sys.executable, "-c", _AS_GUEST, str(workspace.root)]
    read_only = circumstances(read_only=(workspace.root,)).command(argv)
    done = subprocess.run(
        read_only, env={**environ, "PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (own,) = (data / "amlwizard" / "opened").iterdir()
    assert done.stdout.strip() == str(own / "runtime" / "logs" / "jupyter.log")
    assert (own / "notebooks").is_dir()
    assert "环境 & more/.venv/bin" in (own / "runtime" / "terminal" / "shrc").read_text(encoding="utf-8")
    assert str(own) in (own / "runtime" / "terminal" / "open.command").read_text(encoding="utf-8")
    assert not processes(workspace)
