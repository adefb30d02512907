"""The command lines of uv and pip, accepted by the real programs, and their variables."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from amlwizard.core import pip_cli
from amlwizard.core.paths import Workspace, venv_python
from amlwizard.core.running import IDLE_SECONDS
from amlwizard.core.tool_output import failure_from_output
from amlwizard.core.uv_cli import ACCELERATORS, Index
from tests.core.environment.support import BASE_PYTHON, make_store, uv_for, variables, write_lock
from tests.support.index_server import Fault, IndexServer
from tests.support.wheels import make_wheel

SECRET = Index("https://index.example.org/simple", "mei", "s3cret/@")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def run(argv: tuple[str, ...], env: dict[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, env=env, cwd=cwd, capture_output=True, text=True, timeout=120)


def test_uv_accepts_what_is_built_for_it(workspace: Workspace) -> None:
    uv = uv_for(workspace)
    env = variables(uv)
    assert run(uv.version(), env, workspace.root).stdout.startswith("uv ")
    make_store(workspace, "tinya")
    requirements = workspace.root / "in.txt"
    requirements.write_text("tinya\n")
    python = BASE_PYTHON
    find_links = [str(workspace.downloads)]
    lock = workspace.root / "pylock.toml"
    compiled = run(uv.pip_compile([requirements], lock, python, find_links=find_links, offline=True), env, workspace.root)
    assert compiled.returncode == 0, compiled.stderr
    assert 'name = "tinya"' in lock.read_text()
    listed = run(uv.python_list_downloads("3.12"), env, workspace.root)
    assert listed.returncode == 0, listed.stderr
    assert listed.stdout.startswith("[")
    assert run(uv.cache_clean(["tinya"]), env, workspace.root).returncode == 0
    assert run(uv.cache_prune(), env, workspace.root).returncode == 0
    install_env = env | uv.environment(python_downloads=True, offline=True)
    installed = run(uv.python_install("3.12", mirror=workspace.root.as_uri(), offline=True), install_env, workspace.root)
    assert "unexpected argument" not in installed.stderr
    built = run(uv.build_wheel(workspace.root / "nowhere", workspace.root, python), env, workspace.root)
    assert "does not exist" in built.stderr


@pytest.mark.posix
@pytest.mark.parametrize("python", [BASE_PYTHON, None])
def test_no_environment_that_does_not_start_is_asked_for_the_index(workspace: Workspace, python: Path | None) -> None:
    (workspace.venv / "bin").mkdir(parents=True)
    (workspace.venv / "pyvenv.cfg").write_text("home = /nowhere\n")
    (workspace.venv / "bin" / "python").write_text("#!/bin/sh\nexit 7\n")
    (workspace.venv / "bin" / "python").chmod(0o755)
    empty = workspace.root / "empty.txt"
    empty.touch()
    uv = uv_for(workspace)
    env = variables(uv) | {"UV_DEFAULT_INDEX": "https://index.example.org/simple"}
    shown = run(uv.show_index(empty, python), env, workspace.root)
    assert "--index-url https://index.example.org/simple" in shown.stdout, shown.stderr


def test_uv_knows_the_accelerators_that_are_offered_and_no_other(workspace: Workspace) -> None:
    uv = uv_for(workspace)
    wanted = workspace.root / "in.txt"
    wanted.touch()
    lock = workspace.root / "pylock.toml"
    refused = run(uv.pip_compile([wanted], lock, BASE_PYTHON, accelerator="gpu"), variables(uv), workspace.root)
    assert refused.returncode == 2
    assert f"[possible values: {', '.join(ACCELERATORS)}]" in refused.stderr
    argv = uv.pip_compile([wanted], lock, BASE_PYTHON, accelerator="cpu")
    assert argv[argv.index("--torch-backend") + 1] == "cpu"
    assert "--torch-backend" not in uv.pip_compile([wanted], lock, BASE_PYTHON)


def test_uv_gives_up_before_it_is_stopped_for_its_silence(workspace: Workspace) -> None:
    told = uv_for(workspace).environment()
    waits = int(told["UV_HTTP_TIMEOUT"]) * (1 + int(told["UV_HTTP_RETRIES"]))
    assert waits <= IDLE_SECONDS / 2  # there are pauses in between


def test_an_index_that_stalls_is_named(workspace: Workspace) -> None:
    uv = uv_for(workspace)
    requirements, lock = workspace.root / "requirements.txt", workspace.root / "pylock.toml"
    requirements.write_text("tinya\n")
    make_wheel(workspace.root / "wheels", "tinya")
    with IndexServer(workspace.root / "wheels") as index:
        index.fault("/simple/*", Fault(stop="stall", after=0))
        env = variables(uv) | uv.environment(default_index=Index(index.index_url))
        env |= {"UV_HTTP_TIMEOUT": "1", "UV_HTTP_RETRIES": "0"}
        del env["UV_OFFLINE"]
        done = run(uv.pip_compile([requirements], lock, BASE_PYTHON), env, workspace.root)
        host = index.url.removeprefix("http://")
    error = failure_from_output(done.stderr.splitlines(), otherwise="AML_RESOLVE_FAILED")
    assert (error.code, error.arguments["host"]) == ("AML_INDEX_TIMEOUT", host)


def test_uv_makes_and_fills_an_environment(workspace: Workspace) -> None:
    uv = uv_for(workspace)
    env = variables(uv)
    lock = write_lock(workspace, make_store(workspace, "tinya"))
    made = run(uv.venv(workspace.staged, BASE_PYTHON), env, workspace.root)
    assert made.returncode == 0, made.stderr
    python = venv_python(workspace.staged)
    filled = run(uv.sync(lock, python), env, workspace.root)
    assert filled.returncode == 0, filled.stderr


def test_credentials_go_by_environment_only(workspace: Workspace) -> None:
    uv = uv_for(workspace)
    env = uv.environment(default_index=SECRET, indexes=[Index("https://files.example.org/simple", "x", "y")])
    assert env["UV_DEFAULT_INDEX"] == "amldefault=https://index.example.org/simple"
    assert (env["UV_INDEX_AMLDEFAULT_USERNAME"], env["UV_INDEX_AMLDEFAULT_PASSWORD"]) == ("mei", "s3cret/@")
    assert env["UV_INDEX_AML0_PASSWORD"] == "y"
    assert env["UV_PYTHON_DOWNLOADS"] == "never"
    pip = pip_cli.environment(index=SECRET)
    assert pip["PIP_INDEX_URL"] == "https://mei:s3cret%2F%40@index.example.org/simple"
    assert "PIP_NO_INDEX" not in pip
    settings = pip_cli.PipSettings(pip["PIP_INDEX_URL"], ("https://a:b@files.example.org/",))
    pip_cli.write_pip_conf(workspace.root, settings)
    text = next(workspace.root.glob("pip.*")).read_text()
    assert "s3cret" not in text
    assert "a:b" not in text


_BACKEND = """
import pathlib, subprocess, sys
import tinya

def build_wheel(folder, settings=None, metadata=None):
    code = "import urllib.request; urllib.request.urlopen('ADDRESS')"
    for flags in ([], ["-X", "utf8"], ["-W", "ignore"], ["-I", "-S"]):
        asked = subprocess.run([pathlib.Path(sys.executable), *flags, "-c", code], stderr=-1, text=True)
        assert "no host given" in asked.stderr
    cloned = subprocess.run(["git", "clone", "ADDRESS/far.git", "far"], stderr=-1, text=True).stderr
    assert "transport 'http' not allowed" in cloned
    pathlib.Path(folder, "tinyproject-1.0-py3-none-any.whl").write_bytes(pathlib.Path("made.whl").read_bytes())
    return "tinyproject-1.0-py3-none-any.whl"
"""


def _project(folder: Path, requires: str, backend: str) -> Path:
    project = folder / "tinyproject"
    project.mkdir()
    lines = ("[build-system]", f"requires = [{requires!r}]", 'build-backend = "backend"', 'backend-path = ["."]')
    (project / "pyproject.toml").write_text("\n".join(lines))
    (project / "backend.py").write_text(backend)
    make_wheel(project / "made", "tinyproject").rename(project / "made.whl")
    return project


def test_offline_neither_the_requirements_of_a_build_nor_the_build_reach_anybody(tmp_path: Path) -> None:
    make_wheel(tmp_path / "wheels", "tinya")
    env = {"PATH": os.environ["PATH"]} | pip_cli.environment(offline=True, pages=[(tmp_path / "wheels").as_uri()])
    with IndexServer(tmp_path / "wheels") as index:
        backend = _BACKEND.replace("ADDRESS", index.url)
        project = _project(tmp_path, "tinya", backend)
        built = run(pip_cli.build_wheel(Path(sys.executable), project, tmp_path / "out"), env, tmp_path)
        assert built.returncode == 0, built.stdout + built.stderr
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["tinyproject-1.0-py3-none-any.whl"]
        named = f"tinya @ {index.url}/packages/tinya-1.0-py3-none-any.whl"
        project = _project(tmp_path / "wheels", named, backend)
        refused = run(pip_cli.build_wheel(Path(sys.executable), project, tmp_path / "none"), env, tmp_path)
        assert refused.returncode != 0
        assert index.requests() == []
