"""The environments of children."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from amlwizard.core import child_env
from amlwizard.core.child_env import job_environment, private_tmp, session_environment, tool_environment
from amlwizard.core.paths import Workspace

TMP = Path("/w/runtime/tmp/1")
PLAIN = {"PATH": "/usr/bin", "HOME": "/home/u", "LANG": "zh_CN.UTF-8"}


def tool(parent: dict[str, str], **options: object) -> dict[str, str]:
    return tool_environment(parent, tmp=TMP, **options).variables  # type: ignore[arg-type]


def test_plain_environment_is_kept_and_completed() -> None:
    assert tool(PLAIN) == PLAIN | {
        "NO_COLOR": "1",
        "PYTHONUTF8": "1",
        "PYTHONUNBUFFERED": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "TMPDIR": str(TMP),
        "TEMP": str(TMP),
        "TMP": str(TMP),
        "UV_CREDENTIALS_DIR": str(TMP / "uv-credentials"),
    }


@pytest.mark.parametrize("name", ["PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_DRY_RUN", "PIP_CONFIG_FILE"])
def test_b24_ambient_pip_variables_change_nothing(name: str) -> None:
    made = tool_environment(PLAIN | {name: "secret"}, tmp=TMP)
    assert made.variables == tool(PLAIN)
    assert made.dropped == (name,)


@pytest.mark.parametrize(
    "name",
    [
        *("UV_WORKING_DIR", "UV_RESOLUTION", "UV_REQUIRE_HASHES", "UV_CONSTRAINT", "UV_CONFIG_FILE", "UV_HTTP_TIMEOUT"),
        *("UV_LINK_MODE", "UV_CACHE_DIR", "UV_PROJECT", "UV_VENV_SEED"),
        *("PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX", "__PYVENV_LAUNCHER__", "AWS_SECRET_ACCESS_KEY"),
    ],
)
def test_b25_ambient_variables_give_the_same_environment_as_none(name: str) -> None:
    made = tool_environment(PLAIN | {name: "secret"}, tmp=TMP)
    assert made.variables == tool(PLAIN)
    assert made.dropped == (name,)


def test_what_the_caller_decides_wins() -> None:
    made = tool_environment(PLAIN | {"UV_CACHE_DIR": "/else"}, tmp=TMP, extra={"UV_CACHE_DIR": "/w/cache"})
    assert made.variables["UV_CACHE_DIR"] == "/w/cache"
    assert made.dropped == ()


@pytest.mark.parametrize(
    "name",
    [
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT", "GIT_SSL_CAINFO"),
        *("SYSTEMROOT", "PATHEXT", "HOME", "USERPROFILE", "LANG", "LC_ALL"),
    ],
)
def test_b28_network_and_system_variables_reach_the_child(name: str) -> None:
    assert tool({name: "value"})[name] == "value"


def test_b28_windows_names_are_compared_without_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_env, "_case_counts", lambda: False)
    made = tool_environment({"SystemRoot": "C:\\Windows", "Path": "C:\\bin", "Uv_Cache_Dir": "x"}, tmp=TMP)
    assert made.variables["SystemRoot"] == "C:\\Windows"
    assert made.variables["Path"] == "C:\\bin"
    assert made.dropped == ("Uv_Cache_Dir",)


def test_b29_a_frozen_programs_libraries_do_not_reach_children() -> None:
    parent = PLAIN | {
        "LD_LIBRARY_PATH": "/app/lib",
        "DYLD_LIBRARY_PATH": "/app/lib",
        "QT_PLUGIN_PATH": "/app/plugins",
        "_PYI_ARCHIVE_FILE": "/app/x",
        "PYINSTALLER_RESET_ENVIRONMENT": "1",
    }
    assert tool(parent, frozen=True) == tool(PLAIN)
    assert tool(parent, frozen=False) == tool(PLAIN)
    with_original = parent | {"LD_LIBRARY_PATH_ORIG": "/opt/lib"}
    assert tool(with_original, frozen=True) == tool(PLAIN) | {"LD_LIBRARY_PATH": "/opt/lib"}
    assert tool(with_original, frozen=False) == tool(PLAIN)


@pytest.mark.skipif(sys.platform == "win32", reason="a loader path is not used on Windows")
def test_b29_a_child_starts_although_the_loader_path_holds_rubbish(tmp_path: Path) -> None:
    for library in ("libz.so.1", "libssl.so.3", "libc.so.6"):
        (tmp_path / library).write_text("x")
    environment = tool(dict(os.environ) | {"LD_LIBRARY_PATH": str(tmp_path)}, frozen=True)
    subprocess.run([sys.executable, "-c", "import zlib"], env=environment, check=True)


def test_a_program_that_outlives_the_window_gets_the_users_environment_without_ours() -> None:
    ours = {"QT_API": "pyside6", "PYTHONHOME": "/app", "PYTHONPATH": "/src"}
    opened = {"AML_RUN_TAG": "opened"}  # that of no run
    users = PLAIN | {"CUDA_VISIBLE_DEVICES": "0", "LD_LIBRARY_PATH": "/opt/lib"} | opened
    assert session_environment(users | ours | {"QT_SCALE_FACTOR": "2"}, frozen=False) == users | {"QT_SCALE_FACTOR": "2"}
    packed = {"LD_LIBRARY_PATH": "/app/lib", "LD_LIBRARY_PATH_ORIG": "/opt/lib", "_PYI_ARCHIVE_FILE": "/app/x"}
    frozen = users | ours | packed | {"QT_PLUGIN_PATH": "/app/plugins"}
    assert session_environment(frozen, frozen=True) == users
    assert session_environment(PLAIN | {"LD_LIBRARY_PATH": "/app/lib"}, frozen=True) == PLAIN | opened


def test_job_environment_is_exactly_the_listed_variables() -> None:
    workspace = Workspace(Path("/w"))
    parent = PLAIN | {"HTTP_PROXY": "http://u:p@proxy", "AWS_SECRET_ACCESS_KEY": "s", "PYTHONHOME": "/x", "LC_ALL": "C"}
    made = job_environment(parent, workspace=workspace, job_dir=Path("/w/jobs/1"), tmp=TMP)
    home = Path("/w/runtime/home")
    assert made == {
        "PATH": "/usr/bin",
        "LANG": "zh_CN.UTF-8",
        "LC_ALL": "C",
        "TMPDIR": str(TMP),
        "TEMP": str(TMP),
        "TMP": str(TMP),
        "HOME": str(home),
        "USERPROFILE": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "MPLCONFIGDIR": str(home / ".config" / "matplotlib"),
        "AML_ROOT": str(Path("/w")),
        "AML_JOB_DIR": str(Path("/w/jobs/1")),
        "PYTHONPATH": str(Path("/w/runtime/kit")),
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONIOENCODING": "utf-8",
        "PYTHONUTF8": "1",
        "NO_COLOR": "1",
        "HTTP_PROXY": "",
        "HTTPS_PROXY": "",
        "http_proxy": "",
        "https_proxy": "",
    }


def test_named_variables_pass_into_a_job() -> None:
    parent = {"HTTPS_PROXY": "http://proxy", "TOKEN": "t", "OTHER": "o"}
    made = job_environment(
        parent,
        workspace=Workspace(Path("/w")),
        job_dir=Path("/w/jobs/1"),
        tmp=TMP,
        let_through=["HTTPS_PROXY", "TOKEN", "ABSENT"],
    )
    assert made["HTTPS_PROXY"] == "http://proxy"
    if os.name != "nt":  # where variables are the same in both cases
        assert made["https_proxy"] == ""
    assert made["TOKEN"] == "t"
    assert "OTHER" not in made
    assert "ABSENT" not in made


def test_private_tmp_is_in_the_workspace_where_sockets_fit() -> None:
    workspace = Workspace(Path("/home/u/aml"))
    assert private_tmp(workspace, "20260101-1") == workspace.tmp / "20260101-1"


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit on Windows")
def test_private_tmp_is_short_where_the_workspace_is_deep() -> None:
    workspace = Workspace(Path("/home/u") / "数据科学" / ("d" * 40))
    made = private_tmp(workspace, "run")
    assert len(os.fsencode(made)) + 50 <= 104
    assert made != private_tmp(workspace, "other run")
    assert made == private_tmp(workspace, "run")
