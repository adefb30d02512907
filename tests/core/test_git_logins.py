"""Logins of git repositories, as git itself understands them."""

from __future__ import annotations

import os
import shutil
import subprocess
from base64 import b64encode
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from amlwizard.core.git_logins import git_logins, git_variables, repository_login
from tests.support.index_server import Fault, IndexServer
from tests.support.sources import commit_all

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "a-token-of-20-letters"
PASSWORD = 'p"w\\n$HOME%s'
SHARED = {"https://git.example.org": ("me", "pw")}

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


@pytest.mark.parametrize(
    ("urls", "origins"),
    [
        (["git+https://me:pw@git.example.org/a@v1"], {"https://git.example.org": ("me", "pw")}),
        (["git+https://me:pw@git.example.org/a", "git+https://me:pw@git.example.org/b"], SHARED),
        (["git+https://me:pw@git.example.org/a", "git+https://you:pw@git.example.org/b"], {}),
        (["git+https://me:pw@git.example.org/a", "git+https://git.example.org/b"], {}),
        (["git+https://me:pw@git.example.org/a", "https://git.example.org/b-1.0.zip"], SHARED),
        (["git+https://me:p%0Aw@git.example.org/a"], {}),
        (["git+ssh://git@git.example.org/a", "git+file:///srv/a", "https://me:pw@git.example.org/b-1.0.zip", ""], {}),
    ],
)
def test_an_origin_whose_requirements_share_a_login_has_it(urls: list[str], origins: dict[str, tuple[str, str]]) -> None:
    found = git_logins(urls)
    assert {place: login for place, login in found.items() if place.count("/") == 2} == origins


@needs_git
def test_a_submodule_on_the_same_origin_gets_the_login_where_it_is_asked_for_and_no_other(tmp_path: Path) -> None:
    served = {name: tmp_path / "here" / name for name in ("outer", "private", "public")}
    served["elsewhere"] = tmp_path / "there" / "elsewhere"
    for folder in served.values():
        folder.mkdir(parents=True)
        (folder / "file.txt").write_text(folder.name)
        commit_all(folder)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[credential]\n\thelper = store\n")
    with IndexServer(tmp_path, tmp_path / "here") as server, IndexServer(tmp_path, tmp_path / "there") as other:
        places = {name: f"../../{name}/.git" for name in ("private", "public")}
        places["elsewhere"] = f"{other.url}/files/elsewhere/.git"

        def git(*arguments: str | Path, cwd: Path = tmp_path, **variables: str) -> subprocess.CompletedProcess[str]:
            environ = {**os.environ, "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", **variables}
            return subprocess.run(["git", *arguments], env=environ, cwd=cwd, capture_output=True, text=True, check=False)

        for name, place in places.items():
            added = git("-c", "protocol.file.allow=always", "submodule", "add", served[name], name, cwd=served["outer"])
            assert added.returncode == 0, added.stderr
            git("config", "-f", ".gitmodules", f"submodule.{name}.url", place, cwd=served["outer"])
        commit_all(served["outer"])
        for folder in served.values():
            git("update-server-info", cwd=folder)
        for name in ("outer", "private"):
            server.fault(f"/files/{name}/*", Fault(auth=("me", PASSWORD)))
        other.fault("*", Fault(auth=("me", PASSWORD)))
        outer = f"{server.url}/files/outer/.git"
        variables = git_variables(git_logins([f"git+{outer.replace('//', f'//me:{quote(PASSWORD)}@')}@v1"]))
        assert git("clone", "--quiet", outer, "made", **variables).returncode == 0
        updated = {
            name: git("submodule", "--quiet", "update", "--init", name, cwd=tmp_path / "made", **variables).returncode
            for name in places
        }
        assert (updated["private"], updated["public"]) == (0, 0)
        assert updated["elsewhere"] != 0
        sent = {request.path: request.headers.get("authorization") for request in server.requests()}
        assert not any(login for path, login in sent.items() if "/public/" in path)
        assert other.requests()
        assert not any(request.headers.get("authorization") for request in other.requests())
    assert [file.name for file in home.iterdir()] == [".gitconfig"]


def test_without_logins_there_are_no_variables() -> None:
    assert git_variables({}) == {}
