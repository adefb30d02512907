"""Whole runs over networks as people have them: inspected, cut off, behind a sign-in, broken."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from amlwizard.core.detection import find_bundled_uv
from tests.support.certificates import Authority
from tests.support.index_server import FAULTS, IndexServer
from tests.support.namespaces import bare_path
from tests.support.wheels import make_wheel, sha256_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.e2e.conftest import Computer, Result
    from tests.support.interpreter_archives import InterpreterArchive
    from tests.support.namespaces import Circumstances

pytestmark = pytest.mark.e2e

METHODS = ["auto", "none"]
"""With uv, and with pip alone."""


def shown(result: Result) -> str:
    """Return everything that a command said."""
    return json.dumps(result.events, ensure_ascii=False) + result.stderr


def fetched(result: Result, step: str) -> list[tuple[int, int | None]]:
    """Return how far a step said that its bytes were, with the totals."""
    moved = [event for event in result.events if event.get("id") == step and event["state"] == "progress"]
    return [(event["done"], event["total"]) for event in moved if event["unit"] == "bytes"]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """A company's own authority, which nothing here trusts."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def uv_wheel(computer: Computer) -> Path:
    """Put a wheel with the real uv on the index."""
    program = find_bundled_uv()
    assert program is not None
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    tag = f"py3-none-manylinux_2_17_{platform.machine()}"
    files = {f"uv-{version}.data/scripts/uv": program.read_bytes()}
    return make_wheel(computer.wheels, "uv", version, tag=tag, files=files, console_script=False)


@pytest.fixture
def archives(interpreter_archive: InterpreterArchive) -> Iterator[IndexServer]:
    """Another host than the index: that of the interpreters."""
    with IndexServer(files=interpreter_archive.file.parent) as server:
        yield server


@pytest.fixture
def bootstrap(
    computer: Computer, own_python: Path, interpreter_archive: InterpreterArchive, circumstances: type[Circumstances]
) -> Callable[..., Result]:
    """Install with a list of interpreters, where no Python is left but the one that amlwizard itself runs on."""
    prefix = circumstances(hidden=computer.leave_no_python(own_python)).command([])
    wanted = ("--requirements", computer.requirements("tinya\n"), "--python", interpreter_archive.minor)

    def install(listed: Path, *more: str | Path) -> Result:
        return computer.run("install", *wanted, "--python-downloads-json", listed.as_uri(), *more, prefix=prefix)

    return install


def served(server: IndexServer, archive: InterpreterArchive, target: Path) -> Path:
    """Write a list of downloads that names the server."""
    return archive.downloads_json(target, f"{server.url}/files/{archive.file.name.replace('+', '%2B')}")


@pytest.fixture
def listed(computer: Computer, archives: IndexServer, interpreter_archive: InterpreterArchive) -> Path:
    """A list of downloads that names that host."""
    return served(archives, interpreter_archive, computer.folder / "list.json")


def assert_fetched_once(result: Result, step: str, size: int) -> None:
    """Make sure that a step fetched so many bytes and never said less than before."""
    progress = fetched(result, step)
    assert progress[-1] == (size, size)
    assert progress == sorted(progress, key=lambda each: each[0])


# -- B46: HTTPS that is inspected


@pytest.mark.parametrize("method", METHODS)
def test_b46_a_companys_authority_serves_every_part_once_it_is_named(
    computer: Computer, authority: Authority, uv_wheel: Path, method: str
) -> None:
    with IndexServer(computer.wheels, tls=authority.server_context()) as index:
        computer.extra["AML_INDEX_URL"] = index.index_url
        wanted = ("--requirements", computer.requirements("tinyb\n"))
        given = (*wanted, "--uv-method", "index" if method == "auto" else method)
        if method == "auto":  # pip tries for half a minute what can never be
            refused = computer.run("install", *given)
            assert refused.code == 1
            assert not index.requests()
            assert "Example Inspection CA" in refused.finished["message"]
            assert "insecure" not in shown(refused).lower()
            assert "trusted-host" not in shown(refused).lower()
        result = computer.run("install", *given, "--ca-file", authority.certificate)
        assert result.code == 0, result.finished
        assert computer.installed("tinyb") == "1.0"
        assert any(".whl" in each.path for each in index.requests())


def test_b46_the_authority_that_is_not_trusted_is_named(
    computer: Computer,
    authority: Authority,
    interpreter_archive: InterpreterArchive,
    bootstrap: Callable[..., Result],
) -> None:
    with IndexServer(files=interpreter_archive.file.parent, tls=authority.server_context()) as archives:
        listed = served(archives, interpreter_archive, computer.folder / "list.json")
        refused = bootstrap(listed)
        assert (refused.code, refused.finished["code"]) == (1, "AML_NET_CERTIFICATE")
        assert "Example Inspection CA" in refused.finished["message"]
        assert "--ca-file" in refused.finished["hint"]
        assert not archives.requests()
        result = bootstrap(listed, "--ca-file", authority.certificate)
        assert result.code == 0, result.finished


# -- B47: the host of the interpreters out of reach


@pytest.mark.parametrize("fault", ["refused", "403"])
def test_b47_the_host_without_the_interpreter_is_named_and_the_packages_are_not_begun(
    computer: Computer, archives: IndexServer, listed: Path, bootstrap: Callable[..., Result], fault: str
) -> None:
    host = f"127.0.0.1:{archives.port}"
    if fault == "refused":
        computer.hurried = True
        archives.close()
    else:
        archives.fault("/files/*", fault)
    result = bootstrap(listed)
    assert (result.code, result.finished["code"]) == (1, "AML_PYTHON_UNREACHABLE")
    assert host in result.finished["message"]
    for way_out in ("--python-downloads-json", "pythonDownloadsJson", "--python PATH", "bundle"):
        assert way_out in result.finished["hint"]
    assert "resolve" not in result.states()
    assert [each.method for each in computer.index.requests()] == ["HEAD"]  # the look at all hosts beforehand
    assert not (computer.root / ".venv").exists()


def test_b47_a_mirror_out_of_the_settings_serves(
    archives: IndexServer, interpreter_archive: InterpreterArchive, listed: Path, bootstrap: Callable[..., Result]
) -> None:
    result = bootstrap(listed)
    assert result.code == 0, result.finished
    size = interpreter_archive.file.stat().st_size
    assert_fetched_once(result, "install_python", size)
    assert archives.sent() == size


# -- B48: credentials


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("fault", ["404", "truncate", "corrupt"])
def test_b48_a_password_of_the_index_is_shown_nowhere_when_a_fetch_goes_wrong(
    computer: Computer, fault: str, method: str
) -> None:
    """Not in events, log files, records, partial files or their notes, nor in any command line."""
    computer.index.fault("*", "auth", auth=("bob", "s3cr3tTOK"))
    computer.index.fault("/packages/*.whl", FAULTS[fault], auth=("bob", "s3cr3tTOK"), after=1000)
    computer.extra["AML_INDEX_URL"] = computer.index.index_url.replace("http://", "http://bob:s3cr3tTOK@")
    computer.anew = True  # its command line is looked at
    commands: set[str] = set()
    over = threading.Event()

    def look() -> None:
        me = psutil.Process()
        while not over.wait(0.005):
            for process in me.children(recursive=True):
                with suppress(psutil.Error):
                    commands.add(" ".join(process.cmdline()))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        wanted = computer.requirements("tinya\n")
        result = computer.run("install", "--requirements", wanted, "--uv-method", method)
    finally:
        over.set()
        watcher.join()
    assert result.code == (0 if (fault, method) == ("truncate", "auto") else 1)  # pip resumes nothing
    assert "s3cr3tTOK" not in shown(result)
    assert any("amlwizard" in command for command in commands)
    assert "s3cr3tTOK" not in " ".join(commands)
    files = [file for file in computer.folder.rglob("*") if file.is_file() and not file.is_symlink()]
    assert [file for file in files if b"s3cr3tTOK" in file.read_bytes()] == []


# -- B49: an index that does not let anybody in is not one without the package


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("auth", "AML_INDEX_UNAUTHORIZED"),
        ("403", "AML_INDEX_FORBIDDEN"),
        ("404", "AML_INDEX_NOT_FOUND"),
        ("sign-in", "AML_NET_NOT_AN_INDEX"),
    ],
)
def test_b49_an_index_that_refuses_is_told_from_a_package_that_is_not_there(
    computer: Computer, fault: str, code: str, method: str
) -> None:
    computer.index.fault("/simple/*", fault)
    wanted = computer.requirements("tinya==2.0\n" if fault == "sign-in" else "tinya\n")
    result = computer.run("install", "--requirements", wanted, "--uv-method", method)
    assert result.code == 1
    assert result.finished["code"] == code
    assert f"127.0.0.1:{computer.index.port}" in result.finished["message"]
    assert not (computer.root / ".venv").exists()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("line", ["no-such-thing", "tinya==9.0"])
def test_b49_a_package_that_is_not_there_is_said_to_be_that(computer: Computer, line: str, method: str) -> None:
    result = computer.run("install", "--requirements", computer.requirements(f"{line}\n"), "--uv-method", method)
    assert result.code == 1
    assert result.finished["code"] in {"AML_PACKAGE_NOT_FOUND", "AML_NO_SUCH_VERSION"}
    assert line.partition("=")[0] in result.finished["message"]


@pytest.mark.parametrize("method", METHODS)
def test_b49_a_file_that_forbids_every_index_is_said_to(computer: Computer, method: str) -> None:
    wanted = computer.requirements("--no-index\ntinya\n")
    result = computer.run("install", "--requirements", wanted, "--uv-method", method)
    assert (result.code, result.finished["code"]) == (1, "AML_PACKAGE_WITHOUT_INDEX")
    assert "tinya" in result.finished["message"]


@pytest.mark.parametrize("method", METHODS)
def test_b49_an_index_in_a_folder_that_is_not_there_is_named(computer: Computer, method: str) -> None:
    gone = computer.folder / "unplugged"
    given = ("--requirements", computer.requirements("tinya\n"), "--uv-method", method, "--index-url", gone.as_uri())
    result = computer.run("install", *given)
    assert (result.code, result.finished["code"]) == (1, "AML_INDEX_FOLDER_MISSING")
    assert str(gone) in result.finished["message"]


def test_a_profile_that_the_index_lacks_is_not_taken_for_a_file_of_the_users(computer: Computer) -> None:
    result = computer.run("install", "--profile", "minimal")
    assert result.code == 1
    assert result.finished["code"] == "AML_PROFILE_NOT_ON_INDEX"
    assert "minimal" in result.finished["message"]
    assert "--index-url" in result.finished["hint"]


@pytest.mark.parametrize("named_in", ["file", "option"])
def test_b49_the_second_index_is_the_one_that_is_named(computer: Computer, named_in: str) -> None:
    with IndexServer(computer.wheels) as second:
        second.fault("/simple/*", "sign-in")
        line = f"--extra-index-url {second.index_url}\n" if named_in == "file" else ""
        options = () if named_in == "file" else ("--extra-index-url", second.index_url)
        wanted = computer.requirements(f"{line}only-there\n")
        result = computer.run("install", "--requirements", wanted, *options)
        assert result.finished["code"] == "AML_NET_NOT_AN_INDEX"
        assert f"127.0.0.1:{second.port}" in result.finished["message"]


@pytest.mark.parametrize(("fault", "word"), [("auth", "sign-in"), ("403", "403"), ("404", "404"), ("sign-in", "sign-in")])
def test_b49_uv_itself_is_not_to_be_had_from_such_an_index(
    computer: Computer, uv_wheel: Path, fault: str, word: str
) -> None:
    computer.index.fault("/simple/*", fault)
    wanted = computer.requirements("tinya\n")
    result = computer.run("install", "--requirements", wanted, "--uv-method", "index")
    assert (result.code, result.finished["code"]) == (1, "AML_UV_INSTALL_FAILED")
    assert f"127.0.0.1:{computer.index.port}" in result.finished["message"]
    assert word in result.finished["message"]


# -- B54: bodies that are cut off or corrupt


def test_b54_a_corrupt_wheel_leaves_the_old_environment_and_no_file(installed: Computer) -> None:
    before = {path: path.stat().st_mtime_ns for path in (installed.root / ".venv").rglob("*")}
    installed.index.fault("/packages/tinya-1.0*.whl", "corrupt")
    wanted = installed.requirements("tinya==1.0\n")
    result = installed.run("install", "--requirements", wanted)
    assert (result.code, result.finished["code"]) == (1, "AML_HASH_MISMATCH")
    for named in ("tinya-1.0-py3-none-any.whl", f"127.0.0.1:{installed.index.port}"):
        assert named in result.finished["message"]
    assert {path: path.stat().st_mtime_ns for path in (installed.root / ".venv").rglob("*")} == before
    assert not list((installed.root / "downloads").glob("tinya-1.0*"))
    installed.index.heal()
    again = installed.run("install", "--requirements", wanted)
    assert again.code == 0, again.finished
    assert installed.installed("tinya") == "1.0"


@pytest.mark.parametrize("fault", ["truncate", "corrupt"])
def test_b54_a_wheel_that_is_damaged_once_is_mended_within_the_run(computer: Computer, fault: str) -> None:
    computer.index.fault("/packages/tinya-*.whl", fault, after=1000, times=1)
    result = computer.run("install", "--requirements", computer.requirements("tinya\n"))
    assert result.code == 0, result.finished
    assert computer.installed("tinya") == "2.0"
    assert not list((computer.root / "downloads").glob("*.part"))


def test_b54_a_damaged_interpreter_archive_is_mended_by_one_clean_retry(
    archives: IndexServer, interpreter_archive: InterpreterArchive, listed: Path, bootstrap: Callable[..., Result]
) -> None:
    archives.fault("/files/*", "corrupt", times=1)
    result = bootstrap(listed)
    assert result.code == 0, result.finished
    assert_fetched_once(result, "install_python", interpreter_archive.file.stat().st_size)


def test_b54_an_interpreter_archive_that_stays_wrong_asks_for_another_list_and_not_for_an_index(
    archives: IndexServer, listed: Path, bootstrap: Callable[..., Result]
) -> None:
    archives.fault("/files/*", "corrupt")
    result = bootstrap(listed)
    assert (result.code, result.finished["code"]) == (1, "AML_PYTHON_ALTERED"), result.finished
    assert f"127.0.0.1:{archives.port}" in result.finished["message"]
    assert "index" not in result.finished["hint"]
    for way_out in ("--python-downloads-json", "--python PATH"):
        assert way_out in result.finished["hint"]


# -- one file, several addresses


@pytest.mark.parametrize("copy", ["right", "damaged", "missing"])
def test_a_lock_that_names_a_file_and_an_address_is_served_by_either(computer: Computer, copy: str) -> None:
    wheel = computer.wheels / "tinya-2.0-py3-none-any.whl"
    body = wheel.read_bytes()
    beside = computer.folder / "beside" / wheel.name
    beside.parent.mkdir()
    if copy != "missing":
        beside.write_bytes(body if copy == "right" else body[::-1])
    lock = computer.folder / "pylock.toml"
    lock.write_text(
        'lock-version = "1.0"\ncreated-by = "hand"\n[[packages]]\nname = "tinya"\nversion = "2.0"\n'
        f'wheels = [{{name = "{wheel.name}", url = "{computer.index.url}/packages/{wheel.name}", '
        f'path = "beside/{wheel.name}", size = {len(body)}, hashes = {{sha256 = "{sha256_of(wheel)}"}}}}]\n'
    )
    offline = ["--offline"] if copy == "right" else []
    result = computer.run("install", "--requirements", lock, *offline)
    assert result.code == 0, result.finished
    assert len(computer.index.requests("/packages/*", "GET")) == (0 if copy == "right" else 1)
    plans = [event for event in result.events if event["event"] == "plan"]
    assert plans[-1]["download_bytes"] == (len(body) if copy == "missing" else 0)


# -- B57: uv without any script


@pytest.mark.linux
def test_b57_uv_is_fetched_by_the_program_itself(
    computer: Computer, uv_wheel: Path, circumstances: type[Circumstances]
) -> None:
    """No curl, no shell script, no PowerShell; by the proxy that is set; hashed; nothing outside the workspace."""
    programs = Path(bare_path(computer.folder / "programs"))
    for downloader in ("curl", "wget", "powershell", "pwsh"):
        (programs / downloader).unlink(missing_ok=True)
        (programs / downloader).write_text('#!/bin/sh\necho called >> "$HOME/called"\nexit 1\n')
        (programs / downloader).chmod(0o755)
    computer.extra["PATH"] = str(programs)
    computer.extra["HTTP_PROXY"] = computer.index.url  # it answers for every host
    computer.extra["AML_INDEX_URL"] = "http://index.example.org/simple/"
    result = computer.run(
        "install", "--requirements", computer.requirements("tinya\n"), "--uv-method", "index", "--python", sys.executable
    )
    assert result.code == 0, result.finished
    asked = computer.index.requests("/packages/uv-*.whl")
    assert [(each.proxied, each.host) for each in asked] == [(True, "index.example.org")]
    size = uv_wheel.stat().st_size
    progress = fetched(result, "install_uv")
    assert progress[-1] == (size, size)
    assert (computer.root / "downloads" / uv_wheel.name).stat().st_size == size
    assert (computer.root / "tools" / "uv").is_file()
    assert list((computer.folder / "home").iterdir()) == []


@pytest.mark.linux
@pytest.mark.parametrize(
    ("fault", "cause"),
    [("403", "403"), ("corrupt", "SHA-256"), ("wrong proxy", "127.0.0.1:9"), ("407", "proxy")],
)
def test_b57_what_kept_uv_away_is_said(computer: Computer, uv_wheel: Path, fault: str, cause: str) -> None:
    if fault == "wrong proxy":
        computer.hurried = True
        computer.extra["HTTP_PROXY"] = "http://127.0.0.1:9"
        computer.extra["AML_INDEX_URL"] = "http://index.example.org/simple/"
    else:
        computer.index.fault("/packages/uv-*.whl", fault)
    result = computer.run("install", "--requirements", computer.requirements("tinya\n"), "--uv-method", "index")
    assert (result.code, result.finished["code"]) == (1, "AML_UV_INSTALL_FAILED")
    assert cause in result.finished["message"]
    assert not (computer.root / "tools" / "uv").exists()


# -- B55: a private index without credentials


@pytest.mark.parametrize("method", METHODS)
def test_b90_a_hash_that_does_not_match_stops_everything(computer: Computer, method: str) -> None:
    """No other tool takes over, and nothing is tried without hashes."""
    wanted = computer.requirements(f"tinya==2.0 --hash=sha256:{'0' * 64}\n")
    result = computer.run("install", "--requirements", wanted, "--uv-method", method)
    expected = "AML_REQUIREMENTS_HASH_MISMATCH" if method == "auto" else "AML_HASH_REFUSED"
    assert (result.code, result.finished["code"]) == (1, expected), result.finished
    assert not (computer.root / ".venv").exists()
    assert list((computer.root / "downloads").glob("*.whl")) == []
    found = sha256_of(computer.wheels / "tinya-2.0-py3-none-any.whl")
    assert all(word in result.finished["message"] for word in ("127.0.0.1", found, "0" * 64)), result.finished
    if method == "auto":
        assert not [event for event in result.events if event["event"] == "log" and "-m pip" in event["line"]]


def test_b90_hashes_in_part_are_told_before_any_network_is_used(computer: Computer) -> None:
    wanted = computer.requirements(f"tinya==2.0 --hash=sha256:{'0' * 64}\ntinyb\n")
    refused = computer.run("install", "--requirements", wanted)
    assert (refused.code, refused.finished["code"]) == (2, "AML_REQUIREMENTS_PARTIAL_HASHES")
    assert "ine 2" in refused.finished["message"]
    assert computer.index.requests() == []


@pytest.mark.posix
@pytest.mark.parametrize("method", [*METHODS, "git"])
def test_b55_nobody_is_asked_for_a_name_although_a_terminal_is_there(computer: Computer, method: str) -> None:
    import fcntl
    import pty
    import termios

    asked, trap = computer.folder / "asked", computer.folder / "askpass"
    trap.write_text(f"#!/bin/sh\ntouch {asked}\n")
    trap.chmod(0o755)
    computer.extra |= dict.fromkeys(("GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS"), str(trap)) | {"DISPLAY": ":0"}
    computer.index.fault("*", "auth")
    host = f"127.0.0.1:{computer.index.port}"
    line = f"tinyd @ git+http://{host}/simple/tinyd" if method == "git" else "tinya"
    arguments = ["--requirements", computer.requirements(f"{line}\n"), "--uv-method", "auto" if method == "git" else method]
    screen, terminal = pty.openpty()
    try:
        done = subprocess.run(
            computer.argv("install", *arguments),
            stdin=terminal,  # of a session of its own, so that /dev/tty is there as well
            capture_output=True,
            text=True,
            env=computer.environ,
            cwd=computer.cwd,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            timeout=120,
        )
        finished = json.loads(done.stdout.splitlines()[-1])
        os.set_blocking(screen, False)
        with pytest.raises(BlockingIOError):
            os.read(screen, 1)  # nothing was written there
    finally:
        os.close(screen)
        os.close(terminal)
    assert done.returncode == 1
    assert not asked.exists()
    if method == "git":
        assert finished["code"] == "AML_GIT_UNAUTHORIZED"
        assert host in finished["message"]
    else:
        assert finished["code"] == "AML_INDEX_UNAUTHORIZED"
        assert f"{host} asks for sign-in" in finished["message"]
        assert "netrc" in finished["hint"]


# -- B86: one index hides what another one has


@pytest.mark.parametrize("line", ["tinya==2.0", "tinya>=2", "tinyb"])
@pytest.mark.parametrize("named_in", ["file", "option"])
def test_b86_an_index_that_hides_newer_versions_is_named_and_the_strategy_offered_with_its_risk(
    computer: Computer, line: str, named_in: str
) -> None:
    if line == "tinyb":
        make_wheel(computer.wheels, "tinyb", "1.0", requires=["tinya==2.0"])
    make_wheel(computer.folder / "second", "tinya", "1.0")
    with IndexServer(computer.folder / "second") as second:
        extra = f"--extra-index-url {second.index_url}\n" if named_in == "file" else ""
        given = ["--requirements", computer.requirements(f"{extra}{line}\n")]
        given += [] if named_in == "file" else ["--extra-index-url", second.index_url]
        refused = computer.run("install", *given)
        assert (refused.code, refused.finished["code"]) == (1, "AML_INDEX_SHADOWS"), refused.finished
        assert f"127.0.0.1:{second.port}" in refused.finished["message"]
        assert "tinya" in refused.finished["message"]
        assert "--index-strategy unsafe-best-match" in refused.finished["hint"]
        assert "risk" in refused.finished["hint"]
        assert not [event for event in refused.events if event["event"] == "log" and "-m pip" in event["line"]]
        assert not (computer.root / ".venv").exists()
        result = computer.run("install", *given, "--index-strategy", "unsafe-best-match")
        assert result.code == 0, result.finished
        assert computer.installed("tinya") == "2.0"


# -- B87: builds for different accelerators


def test_b87_the_build_and_its_index_are_told_and_no_step_exchanges_it_in_silence(computer: Computer) -> None:
    def torchx(folder: Path, label: str, cuda: str | None) -> None:
        about = f"from typing import Optional\n__version__ = '1.0+{label}'\ncuda: Optional[str] = {cuda!r}\nhip = None\n"
        make_wheel(folder, "torchx", f"1.0+{label}", files={"torchx/version.py": about.encode()})

    def told(result: Result) -> str:
        return "\n".join(event["line"] for event in result.events if event["event"] == "log")

    torchx(computer.wheels, "cpu", None)
    torchx(computer.folder / "second", "cu128", "12.8")
    wanted = ("--requirements", computer.requirements("torchx\ntinya\n"))
    with IndexServer(computer.folder / "second") as second:
        result = computer.run("install", *wanted, "--extra-index-url", second.index_url)
        assert result.code == 0, result.finished
        assert f"torchx 1.0+cu128 was chosen, from 127.0.0.1:{second.port}." in told(result)
        assert "torchx is built for CUDA 12.8." in told(result)
        assert "tinya 2.0 was chosen" not in told(result)
    rebuilt = computer.run("rebuild")
    assert rebuilt.code == 0
    assert computer.installed("torchx") == "1.0+cu128"
    assert "becomes another build" not in told(rebuilt)

    refreshed = computer.run("rebuild", "--refresh", "--extra-index-url", computer.index.index_url)
    assert refreshed.code == 0, refreshed.finished
    (changes,) = (event for event in refreshed.events if event["event"] == "changes")
    assert changes["changed"] == [{"name": "torchx", "from": "1.0+cu128", "to": "1.0+cpu"}]
    assert "torchx becomes another build: 1.0+cu128 is replaced by 1.0+cpu." in told(refreshed)
    assert "torchx is built for the processor alone" in told(refreshed)
