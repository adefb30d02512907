"""Jobs with a real environment, real scripts and the whole command line around them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amlwizard.core import jobs
from amlwizard.core.errors import AmlError
from amlwizard.core.paths import Workspace
from amlwizard.core.records import write_record
from amlwizard.core.running import NotStarted, Signalled
from amlwizard.core.workspace_lock import hold_use
from tests.support.namespaces import SmallFileSystem
from tests.support.processes import is_alive

if TYPE_CHECKING:
    from amlwizard.core.running import Command, OnLine, OnStart, Outcome, Remains
    from tests.support.namespaces import Circumstances

PROJECT = Path(__file__).resolve().parent.parent.parent
posix = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
Start = "Callable[..., subprocess.Popen[bytes]]"


@pytest.fixture(scope="module")
def shared_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that looks ready: an environment with its marker, and a job kit."""
    root = tmp_path_factory.mktemp("workspace") / "ws"
    workspace = Workspace(root)
    venv.create(workspace.venv, with_pip=False, symlinks=os.name != "nt")
    _add_package(workspace)
    record = {"root": str(root), "python": "3.11.0", "lock": "0" * 64, "build": "1", "created": "2026-01-01T00:00:00Z"}
    write_record(workspace.marker("0123456789ab"), record)
    workspace.kit.mkdir(parents=True)
    (workspace.kit / "amlkit.py").write_text("NAME = 'kit'\n", encoding="utf-8")
    (workspace.kit / "sample_job.py").write_text("import amlkit\nprint('sample', amlkit.NAME)\n", encoding="utf-8")
    return root


def _add_package(workspace: Workspace) -> None:
    """Put the least that counts as an installed package into the environment."""
    place = {"base": str(workspace.venv), "platbase": str(workspace.venv)}
    info = Path(sysconfig.get_path("purelib", sysconfig.get_preferred_scheme("prefix"), place)) / "tiny-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n", encoding="utf-8")


@pytest.fixture
def workspace(shared_root: Path) -> Workspace:
    return Workspace(shared_root)


@pytest.fixture
def caller(tmp_path: Path) -> Path:
    """The folder in which the caller stands."""
    folder = tmp_path / "caller"
    folder.mkdir()
    return folder


@pytest.fixture
def start(workspace: Workspace, caller: Path) -> Start:
    """Start ``amlwizard run`` in the caller's folder."""

    def start_run(*arguments: str, **variables: str) -> subprocess.Popen[bytes]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("AML_", "LC_"))}
        return subprocess.Popen(
            [sys.executable, "-m", "amlwizard", "run", "--root", str(workspace.root), *arguments],
            env={**kept, "LANG": "en_US.UTF-8", "PYTHONPATH": str(PROJECT), "HOME": str(caller), **variables},
            cwd=caller,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    return start_run


class FakeRunner:
    """Ends every command as told: the way another system would."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome
        self.run_tag = "fake"

    def tell_starts(self, on_start: OnStart) -> None:
        """Nothing is started."""

    async def end_remains(self, remains: Remains) -> int:
        return 0

    async def run(self, command: Command, on_line: OnLine) -> Outcome:
        return self._outcome

    def touch(self) -> None:
        """Nothing is timed."""

    def processes(self) -> int:
        return 0

    async def sweep(self) -> int:
        return 0


def finish(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    stdout, stderr = process.communicate(timeout=60)
    return process.returncode, stdout, stderr


class TestRunning:
    def test_output_and_exit_code_are_the_scripts_own(self, start: Start, caller: Path) -> None:
        (caller / "train.py").write_text(
            "import sys\n"
            "sys.stdout.buffer.write(b'\\xff\\x00\\r\\n\\x1b[0m')\n"
            "sys.stderr.buffer.write(b'\\xfe')\n"
            "sys.exit(37)\n",
            encoding="utf-8",
        )
        assert finish(start("--", "train.py")) == (37, b"\xff\x00\r\n\x1b[0m", b"\xfe")

    def test_script_gets_its_arguments_folder_and_variables(self, start: Start, caller: Path, workspace: Workspace) -> None:
        (caller / "show.py").write_text(
            "import amlkit, json, os, sys, tempfile\n"
            "print(json.dumps([sys.argv, os.getcwd(), sys.prefix, tempfile.gettempdir(), dict(os.environ)]))\n",
            encoding="utf-8",
        )
        code, stdout, stderr = finish(
            start("--env", "WANTED", "--", "show.py", "--root", "x y", WANTED="1", TOKEN="secret")
        )
        assert (code, stderr) == (0, b"")
        argv, cwd, prefix, tmp, environment = json.loads(stdout)
        assert argv == [str(caller / "show.py"), "--root", "x y"]
        assert Path(cwd).parent == workspace.jobs
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ(-\d+)?", Path(cwd).name)
        assert environment["AML_JOB_DIR"] == cwd
        assert Path(prefix) == workspace.venv
        assert environment["WANTED"] == "1"
        assert "TOKEN" not in environment
        assert not Path(tmp).exists()  # private, and gone with the job

    def test_each_job_gets_a_folder_of_its_own(self, start: Start, caller: Path) -> None:
        (caller / "where.py").write_text("import os\nprint(os.getcwd())\n", encoding="utf-8")
        results = [finish(process) for process in [start("--", "where.py") for _ in range(3)]]
        assert [code for code, _, _ in results] == [0, 0, 0]
        assert len({stdout for _, stdout, _ in results}) == 3

    def test_named_folder_counts_from_the_callers(self, start: Start, caller: Path) -> None:
        (caller / "where.py").write_text("import os\nprint(os.getcwd())\n", encoding="utf-8")
        code, stdout, _ = finish(start("--job-dir", "deep/out", "--", "where.py"))
        assert (code, Path(stdout.decode().strip())) == (0, caller / "deep" / "out")

    def test_sample(self, start: Start) -> None:
        code, stdout, _ = finish(start("--sample"))
        assert (code, stdout.split()) == (0, [b"sample", b"kit"])

    @posix
    def test_death_by_signal_is_told_as_a_shell_does(self, start: Start, caller: Path) -> None:
        (caller / "die.py").write_text("import os\nos.kill(os.getpid(), 9)\n", encoding="utf-8")
        assert finish(start("--", "die.py"))[0] == 137

    @posix
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_cancel_ends_the_tree(self, start: Start, caller: Path, number: int) -> None:
        (caller / "long.py").write_text(
            "import subprocess, sys, time\n"
            "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
            "print(child.pid, flush=True)\n"
            "time.sleep(600)\n",
            encoding="utf-8",
        )
        process = start("--", "long.py")
        assert process.stdout is not None
        grandchild = int(process.stdout.readline())
        process.send_signal(number)
        code, _, stderr = finish(process)
        assert code == 130
        assert stderr.decode().splitlines() == ["Stopping...", "Cancelled."]
        assert not is_alive(grandchild)

    def test_environment_is_held_while_a_job_runs(self, start: Start, caller: Path, workspace: Workspace) -> None:
        (caller / "hold.py").write_text(
            "import pathlib, time\n"
            "print(flush=True)\n"
            f"while not pathlib.Path({str(caller / 'go')!r}).exists():\n"
            "    time.sleep(0.02)\n",
            encoding="utf-8",
        )
        first, second = start("--", "hold.py"), start("--", "hold.py")
        for process in (first, second):
            assert process.stdout is not None
            process.stdout.readline()
        with pytest.raises(AmlError), hold_use(workspace, "commit", alone=True):
            pass
        (caller / "go").touch()
        assert [finish(first)[0], finish(second)[0]] == [0, 0]
        with hold_use(workspace, "commit", alone=True):
            pass


WHERE = """
import os, pathlib, tempfile
home, job = pathlib.Path.home(), pathlib.Path(os.environ["AML_JOB_DIR"])
(home / "kept").touch()
print(pathlib.Path.cwd() == job, home.is_relative_to(job), pathlib.Path(tempfile.mkstemp()[1]).is_relative_to(job))
"""


def _outside(caller: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AML_", "LC_"))}
    return {**kept, "LANG": "en_US.UTF-8", "PYTHONPATH": str(PROJECT), "HOME": str(caller)}


@pytest.mark.linux
def test_a_job_from_a_workspace_that_takes_nothing_gets_a_folder_among_the_users_data(
    workspace: Workspace, caller: Path, circumstances: type[Circumstances]
) -> None:
    (caller / "train.py").write_text("import os\nprint(os.getcwd())\n", encoding="utf-8")
    workspace.use_lock_file.touch()
    workspace.jobs.mkdir(exist_ok=True)
    argv = [sys.executable, "-m", "amlwizard", "run", "--root", str(workspace.root), "--", "train.py"]
    read_only = circumstances(read_only=(workspace.root,)).command(argv)
    done = subprocess.run(
        read_only, cwd=caller, capture_output=True, text=True, env={**_outside(caller), "XDG_DATA_HOME": ""}
    )
    assert done.returncode == 0, done.stderr
    assert f"{caller}/.local/share/amlwizard/jobs" in done.stderr
    (folder,) = (caller / ".local" / "share" / "amlwizard" / "jobs").iterdir()
    assert str(folder) in done.stdout


@pytest.mark.linux
@pytest.mark.parametrize("full", [False, True])
def test_a_job_elsewhere_runs_from_a_workspace_that_takes_nothing(
    workspace: Workspace, caller: Path, circumstances: type[Circumstances], *, full: bool
) -> None:
    (caller / "train.py").write_text(WHERE, encoding="utf-8")
    workspace.use_lock_file.touch()
    here = circumstances(read_only=(workspace.root,))
    if full:  # what a run notes has no room
        for folder in (workspace.runs, workspace.tmp):
            folder.mkdir(exist_ok=True)
        systems = tuple(SmallFileSystem(folder, size_bytes=4096) for folder in (workspace.runs, workspace.tmp))
        here = circumstances(file_systems=systems)
    program = [
        sys.executable,
        "-m",
        "amlwizard",
        "run",
        "--root",
        str(workspace.root),
        "--job-dir",
        "out",
        "--",
        "train.py",
    ]
    fill = ["sh", "-c", 'for f in "$0"/runs "$0"/tmp; do cp /dev/zero $f/x 2>/dev/null; done; exec "$@"']
    argv = [*fill, str(workspace.runtime), *program] if full else program
    done = subprocess.run(here.command(argv), cwd=caller, capture_output=True, text=True, env=_outside(caller))
    assert (done.returncode, done.stdout) == (0, "True True True\n"), done.stderr
    left = sorted(path.relative_to(caller / "out").as_posix() for path in (caller / "out").rglob("*"))
    assert left == [".aml-home", ".aml-home/kept"]


class TestNotStarted:
    def test_missing_script(self, start: Start) -> None:
        code, stdout, stderr = finish(start("--", "absent.py"))
        assert (code, stdout) == (125, b"")
        assert b"absent.py" in stderr
        assert b"AML_JOB_SCRIPT_MISSING" in stderr

    def test_environment_is_being_exchanged(self, start: Start, caller: Path, workspace: Workspace) -> None:
        (caller / "train.py").write_text("print('never')\n", encoding="utf-8")
        with hold_use(workspace, "commit", alone=True):
            code, stdout, _ = finish(start("--", "train.py"))
        assert (code, stdout) == (125, b"")

    def test_job_folder_that_cannot_be_made(self, start: Start, caller: Path) -> None:
        (caller / "train.py").write_text("print('never')\n", encoding="utf-8")
        code, stdout, stderr = finish(start("--job-dir", "train.py", "--", "train.py"))
        assert (code, stdout) == (125, b"")
        assert b"AML_JOB_FOLDER" in stderr

    @pytest.mark.parametrize(
        ("missing", "code"),
        [("marker", "AML_JOB_NOT_READY"), ("python", "AML_JOB_NEEDS_REPAIR"), ("kit", "AML_JOB_KIT_INCOMPLETE")],
    )
    def test_workspace_that_is_not_ready(self, workspace: Workspace, missing: str, code: str) -> None:
        path = {"marker": workspace.marker("0123456789ab"), "python": workspace.python, "kit": workspace.kit}[missing]
        aside = path.with_name("aside")
        path.rename(aside)
        try:
            with pytest.raises(AmlError) as caught:
                jobs.ready_python(workspace)
        finally:
            aside.rename(path)
        assert caught.value.code == code
        assert jobs.ready_python(workspace) == workspace.python

    @pytest.mark.posix
    def test_a_workspace_that_nobody_can_look_into_is_not_sent_to_a_repair(self, tmp_path: Path) -> None:
        (tmp_path / "one").symlink_to(tmp_path / "other")
        (tmp_path / "other").symlink_to(tmp_path / "one")
        with pytest.raises(AmlError) as caught:
            jobs.ready_python(Workspace(tmp_path / "one"))
        assert caught.value.code == "AML_ROOT_DANGLING_LINK"

    def test_sample_that_needs_what_is_not_installed(self, start: Start, workspace: Workspace) -> None:
        sample = workspace.kit / "sample_job.py"
        content = sample.read_bytes()
        sample.write_text("import json\nimport amlkit\nfrom sklearn.metrics import log_loss\n", encoding="utf-8")
        try:
            code, stdout, stderr = finish(start("--sample"))
        finally:
            sample.write_bytes(content)
        assert (code, stdout) == (125, b"")
        assert b"scikit-learn" in stderr
        assert b"Traceback" not in stderr
        assert b"amlkit" not in stderr

    def test_sample_of_an_incomplete_kit(self, tmp_path: Path, workspace: Workspace) -> None:
        sample = workspace.kit / "sample_job.py"
        content = sample.read_bytes()
        sample.unlink()
        try:
            with pytest.raises(AmlError) as caught:
                jobs.make_job(workspace, (), cwd=tmp_path)
        finally:
            sample.write_bytes(content)
        assert caught.value.code == "AML_JOB_KIT_INCOMPLETE"

    async def test_interpreter_that_does_not_run(self, workspace: Workspace, tmp_path: Path) -> None:
        job = jobs.Job(workspace, tmp_path / "x.py", job_dir=tmp_path)
        with pytest.raises(AmlError) as caught:
            await jobs.run_job(job, FakeRunner(NotStarted("Exec format error", 8)), os.environ)
        assert caught.value.code == "AML_JOB_NOT_STARTED"

    async def test_crash_status_of_windows_stays_an_exit_code(self, workspace: Workspace, tmp_path: Path) -> None:
        job = jobs.Job(workspace, tmp_path / "x.py", job_dir=tmp_path)
        code = await jobs.run_job(job, FakeRunner(Signalled(0xC0000005)), os.environ)
        assert code & 0xFFFFFFFF == 0xC0000005


class TestPrintEnv:
    def test_json_is_the_environment_and_nothing_is_made(self, start: Start, workspace: Workspace) -> None:
        before = sorted(workspace.jobs.glob("*"))
        code, stdout, _ = finish(start("--print-env", "--json", "--env", "WANTED", WANTED="1", TOKEN="secret"))
        variables = json.loads(stdout)
        assert code == 0
        assert variables["WANTED"] == "1"
        assert "TOKEN" not in variables
        assert Path(variables["AML_JOB_DIR"]).parent == workspace.jobs
        assert sorted(workspace.jobs.glob("*")) == before

    def test_a_variable_that_is_not_set_is_told(self, start: Start) -> None:
        code, stdout, stderr = finish(start("--print-env", "--json", "--env", "NOWHERE_SET", "--env", "WANTED", WANTED="1"))
        assert (code, "NOWHERE_SET" in json.loads(stdout)) == (0, False)
        assert stderr.splitlines() == [b"NOWHERE_SET is not set here, so the job does not see it (--env)."]

    def test_text_is_one_variable_a_line(self, start: Start, caller: Path) -> None:
        _, stdout, _ = finish(start("--print-env", "--job-dir", "out"))
        assert f"AML_JOB_DIR={caller / 'out'}" in stdout.decode().splitlines()
        assert not (caller / "out").exists()


def test_folder_names_are_unique_within_a_second(tmp_path: Path) -> None:
    folders = set()
    for _ in range(5):
        folder = jobs.new_job_folder(tmp_path)
        folder.mkdir(parents=True)
        folders.add(folder)
    assert len(folders) == 5
