"""Logins of git repositories, as git itself understands them."""

from __future__ import annotations

import os
import shutil
import subprocess
from base64 import b64encode
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.git_logins import git_variables, repository_login
from tests.support.index_server import Fault, IndexServer

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "a-token-of-20-letters"

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("git+https://me:pw@git.example.org/a/b.git@v1#egg=b", ("https://git.example.org/a/b.git", ("me", "pw"))),
        (f"git+https://{TOKEN}@git.example.org:8443/a", ("https://git.example.org:8443/a", (TOKEN, ""))),
        ("git+https://git@git.example.org/a", None),
        ("git+http://me:p%40w@git.example.org/a@b", ("http://git.example.org/a", ("me", "p@w"))),
        ("git+https://git.example.org/a/b@v1", None),
        ("git+https://@git.example.org/a", None),
        ("git+ssh://git@git.example.org/a", None),
        ("git+file:///srv/a", None),
        ("https://me:pw@files.example.org/a-1.0.zip", None),
        ("", None),
    ],
)
def test_a_login_is_told_by_its_repository(url: str, expected: tuple[str, tuple[str, str]] | None) -> None:
    assert repository_login(url) == expected


@needs_git
def test_git_sends_a_login_to_its_own_repository_alone(tmp_path: Path) -> None:
    variables = git_variables({"https://git.example.org/a.git": ("me", "pw"), "https://git.example.org/b": (TOKEN, "")})

    def header(url: str) -> str:
        kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
        environ = {**kept, "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1", **variables}
        asked = ["git", "config", "--get-urlmatch", "http.extraHeader", url]
        return subprocess.run(asked, env=environ, cwd=tmp_path, capture_output=True, text=True, check=False).stdout.strip()

    assert header("https://git.example.org/a.git") == f"Authorization: Basic {b64encode(b'me:pw').decode()}"
    assert header("https://git.example.org/a.git/info/refs") == header("https://git.example.org/a.git")
    assert header("https://git.example.org/b") == f"Authorization: Basic {b64encode(f'{TOKEN}:'.encode()).decode()}"
    for other in ("https://git.example.org/bc", "https://git.example.org/", "https://elsewhere.example.org/b"):
        assert header(other) == ""


@needs_git
def test_a_login_is_not_taken_to_where_a_server_redirects(tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    with IndexServer(tmp_path / "wheels") as elsewhere, IndexServer(tmp_path / "wheels") as server:
        server.fault("/a/*", Fault(redirect=f"http://127.0.0.1:{elsewhere.port}/a/info/refs?service=git-upload-pack"))
        repository = f"http://127.0.0.1:{server.port}/a"
        environ = {**os.environ, "HOME": str(tmp_path), **git_variables({repository: ("me", "pw")})}
        asked = subprocess.run(
            ["git", "ls-remote", repository], env=environ, cwd=tmp_path, capture_output=True, check=False
        )
        assert asked.returncode != 0
        assert len(server.requests()) == 1
        assert elsewhere.requests() == []


def test_without_logins_there_are_no_variables() -> None:
    assert git_variables({}) == {}
