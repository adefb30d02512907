"""No secret gets into a lock, a bundle, the store, a record or an output, whatever it came from (DESIGN P6)."""

from __future__ import annotations

import asyncio
import base64
import ensurepip
import json
import os
import shutil
import subprocess
import threading
import zipfile
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging.version import Version

from amlwizard.core.choices import Choices
from amlwizard.core.events import RunState
from amlwizard.core.redact import MASK
from amlwizard.text_mode import build_engine
from tests.support.index_server import Fault, IndexServer
from tests.support.sources import commit_all, make_source
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.conftest import Computer, Result
    from tests.support.interpreter_archives import InterpreterArchive

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.linux,
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed"),
]

SOURCES = (
    *("variable", "line", "direct", "filled", "uvtoml", "named", "pipconf", "netrc", "links", "git"),
    *("keyring", "proxy"),
)
"""Where a secret comes from; each has a server of its own, which asks for that secret, with a package of its own."""


BEHIND_PROXY = "127.0.0.2:8"
"""An address that only the proxy knows, which answers for it; without TLS, pip takes none but those of this computer."""


def secret(source: str) -> str:
    """Return the secret of a source, as it looks nowhere else."""
    return f"PLANTED{source}s3cr3t"


def forms(source: str) -> list[bytes]:
    """Return what the secret of a source looks like wherever it might be."""
    plain = secret(source)
    return [plain.encode(), base64.b64encode(f"user:{plain}".encode())]


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[dict[str, IndexServer]]:
    """The servers by the sources of their secrets."""
    with ExitStack() as stack:
        found = {}
        for source in SOURCES:
            folder = tmp_path / "served" / source
            make_wheel(folder, f"via{source}")
            found[source] = stack.enter_context(IndexServer(folder, folder))
            asks = Fault(auth=("user", secret(source)))
            found[source].fault("/*", asks if source != "proxy" else Fault(proxy_auth=("user", secret(source))))
        yield found


def address(server: IndexServer, password: str, path: str = "/simple/") -> str:
    """Return an address with a user and a password in it."""
    return f"http://user:{password}@127.0.0.1:{server.port}{path}"


def plant(computer: Computer, servers: dict[str, IndexServer]) -> Path:
    """Plant every secret; return the requirements file that needs each of them."""
    repository = make_source(computer.folder / "served" / "git" / "repo", "viagit", "1.0", notes=computer.folder / "notes")
    commit = commit_all(repository)
    subprocess.run(["git", "update-server-info"], cwd=repository, check=True)
    called = computer.folder / "called"
    called.mkdir()
    wrapper = called / "git"  # whatever starts git, by whatever name it was found on PATH
    wrapper.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> "{called}/git.txt"\nexec "{shutil.which("git")}" "$@"\n')
    wrapper.chmod(0o755)
    home = computer.folder / "home"
    (home / ".config" / "uv").mkdir(parents=True)
    (home / ".config" / "uv" / "uv.toml").write_text(
        f'[[index]]\nurl = "{address(servers["uvtoml"], secret("uvtoml"))}"\n'
        f'[[index]]\nname = "corp"\nurl = "{servers["named"].index_url}"\n'
    )
    (home / "pip.conf").write_text(f"[global]\nextra-index-url = {address(servers['pipconf'], secret('pipconf'))}\n")
    netrc = home / ".netrc"
    netrc.write_text(f"machine localhost login user password {secret('netrc')}\n")
    netrc.chmod(0o600)
    computer.keyring = home / "keyring.json"
    computer.keyring.write_text(json.dumps({servers["keyring"].url: f"user:{secret('keyring')}"}))
    computer.extra |= {
        "HTTP_PROXY": address(servers["proxy"], secret("proxy"), ""),
        "NO_PROXY": "127.0.0.1,localhost",
        "AML_INDEX_URL": "",
        "UV_DEFAULT_INDEX": address(servers["variable"], secret("variable")),
        "UV_INDEX_CORP_USERNAME": "user",
        "UV_INDEX_CORP_PASSWORD": secret("named"),
        "PIP_CONFIG_FILE": str(home / "pip.conf"),
        "TOKEN": secret("filled"),
        "PATH": f"{called}{os.pathsep}{os.environ['PATH']}",
    }
    return computer.requirements(
        f"--extra-index-url {address(servers['line'], secret('line'))}\n"
        f"--extra-index-url http://localhost:{servers['netrc'].port}/simple/\n"
        f"--extra-index-url {servers['keyring'].index_url}\n"
        f"--extra-index-url http://{BEHIND_PROXY}/simple/\n"
        f"--find-links {address(servers['links'], secret('links'), '/simple/vialinks/')}\n"
        f"viadirect @ {address(servers['direct'], secret('direct'), '/packages/viadirect-1.0-py3-none-any.whl')}\n"
        f"viafilled @ {address(servers['filled'], '${TOKEN}', '/packages/viafilled-1.0-py3-none-any.whl')}\n"
        f"viagit @ git+{address(servers['git'], secret('git'), '/files/repo/.git')}@{commit}\n"
        + "".join(
            f"via{source}\n"
            for source in ("variable", "line", "uvtoml", "named", "pipconf", "netrc", "links", "keyring", "proxy")
        )
    )


def leaks(*places: Path) -> list[str]:
    """Return every file below these places that holds a secret."""
    found = []
    for place in places:
        for file in (file for file in place.rglob("*") if file.is_file() and not file.is_symlink()):
            body = file.read_bytes()
            found += [f"{file}: {source}" for source in SOURCES if any(form in body for form in forms(source))]
    return found


@contextmanager
def command_lines() -> Iterator[set[bytes]]:
    """Read the command line of every process over and over; what stood in any of them is in the set at the end."""
    seen: set[bytes] = set()
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.005):
            for process in Path("/proc").glob("[0-9]*/cmdline"):
                with suppress(OSError):  # it has ended meanwhile
                    seen.add(process.read_bytes())

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield seen
    finally:
        over.set()
        watcher.join()


def test_no_secret_gets_anywhere(
    computer: Computer,
    servers: dict[str, IndexServer],
    interpreter_archive: InterpreterArchive,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = plant(computer, servers)
    listed = interpreter_archive.downloads_json(computer.folder / "downloads.json").as_uri()
    results: list[Result] = []
    shown: set[bytes] = set()

    def run(*arguments: str | Path, code: int = 0) -> None:
        with command_lines() as seen:
            results.append(computer.run(*arguments))
        shown.update(seen)
        assert results[-1].code == code, results[-1].finished

    made = computer.folder / "made"
    made.mkdir()
    run("detect")
    run("plan", "--requirements", wanted)
    run("install", "--requirements", wanted)  # which no server would allow without its secret
    for_pip = computer.folder / "for-pip.txt"  # which wants hashes
    lines = wanted.read_text(encoding="utf-8").splitlines(keepends=True)
    # before 23.1, pip tells no hash of what is named by its address
    left_out = ("git", "links", *(("direct", "filled") if Version(ensurepip.version()) < Version("23.1") else ()))
    kept = [line for line in lines if not any(source in line for source in left_out)]
    for_pip.write_text("".join(kept), encoding="utf-8")
    plain = computer.folder / "plain"
    run("install", "--root", plain, "--requirements", for_pip, "--uv-method", "none")
    run("bundle", "create", made / "here.amlbundle", "--python-downloads-json", listed)
    run("diagnose", "--out", made / "report.zip")
    results.append(computer.run("install", "--index-url", address(servers["variable"], secret("variable"))))
    assert results[-1].code == 2  # a command line is where the user should not have put it
    assert any(b"uv\0pip\0compile" in line for line in shown)
    assert any(b"--dry-run\0" in line for line in shown)
    assert [line for line in shown if any(form in line for source in SOURCES for form in forms(source))] == []
    for name, value in computer.environ.items():
        monkeypatch.setenv(name, value)
    lock = made / "pylock.team.toml"
    shared = asyncio.run(build_engine("en").share(Choices(root=computer.root, share=lock), lambda _event: None))
    assert shared.state is RunState.DONE, shared
    assert "viagit" in shared.message
    for name in ("here.amlbundle", "report.zip"):
        with zipfile.ZipFile(made / name) as archive:
            archive.extractall(made / "unpacked")
    (made / "output.txt").write_text(
        "\n".join(json.dumps(result.events, ensure_ascii=False) + result.stderr for result in results), encoding="utf-8"
    )
    echoed = [event["line"] for result in results for event in result.events if event["event"] == "log"]
    assert not [line for line in echoed if line.startswith("$ ") and MASK in line]  # what is masked there was in a command
    assert "fetch" in (computer.folder / "called" / "git.txt").read_text()
    assert leaks(computer.root, plain, made, computer.folder / "called") == []

    # the shared lock serves whoever has logins of their own
    there = computer.folder / "colleague"
    run("plan", "--root", there, "--requirements", lock, "--refresh")
    text = lock.read_text(encoding="utf-8")
    assert "${TOKEN}" not in text
    assert str(computer.folder) not in text

    # and the search would have found one
    (computer.root / "notes.txt").write_text(f"Authorization: Basic {forms('netrc')[1].decode()}")
    (made / "notes.txt").write_text(secret("git"))
    assert leaks(computer.root, made) == [f"{computer.root}/notes.txt: netrc", f"{made}/notes.txt: git"]
    assert os.environ["TOKEN"] == secret("filled")
