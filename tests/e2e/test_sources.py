"""What has no wheel, by the command line: source archives, git commits, local folders, editable ones."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from amlwizard.core.lock import read_lock
from tests.support.index_server import Fault, IndexServer
from tests.support.namespaces import bare_path
from tests.support.sources import BACKEND, commit_all, make_backend, make_sdist, make_source
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Computer, Result

pytestmark = pytest.mark.e2e
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def notes(computer: Computer) -> Path:
    """The file that gets a line for each wheel that is built."""
    file = computer.folder / "notes.txt"
    file.touch()
    return file


def _builds(result: Result) -> list[str]:
    """Return the commands of a run that build wheels."""
    lines: list[Any] = [event["line"] for event in result.events if event["event"] == "log"]
    return [line for line in lines if line.startswith("$ ") and " build --wheel " in line]


def test_a_source_archive_is_fetched_built_once_and_kept(computer: Computer, notes: Path) -> None:
    source = make_source(computer.folder / "source", "tinyd", "4.0", notes=notes, requires=("tinya",))
    sdist = make_sdist(computer.wheels, source, "tinyd", "4.0")
    result = computer.run("install", "--requirements", computer.requirements("tinyd\n"))
    assert result.code == 0, result.finished
    assert result.finished["packages"] == 2
    assert computer.installed("tinyd") == "4.0"
    assert (computer.root / "downloads" / sdist.name).is_file()
    assert notes.read_text() == "tinyd 4.0\n"

    assert computer.run("verify").code == 0
    shutil.rmtree(computer.root / "cache")  # the store alone has to do
    computer.index.forget()
    for arguments in (["rebuild"], ["rebuild", "--offline"]):
        again = computer.run(*arguments)
        assert again.code == 0, again.finished
        assert again.states()["fetch"] == "skipped"
        assert _builds(again) == []
    assert computer.installed("tinyd") == "4.0"
    assert computer.index.requests() == []


@pytest.mark.usefixtures("with_ready_pip")
def test_without_uv_a_source_archive_of_the_lock_is_built_by_pip(computer: Computer, notes: Path) -> None:
    make_sdist(computer.wheels, make_source(computer.folder / "source", "tinyd", "4.0", notes=notes), "tinyd", "4.0")
    assert computer.run("install", "--requirements", computer.requirements("tinyd\n")).code == 0
    shutil.rmtree(computer.root / "downloads" / "built")
    result = computer.run("rebuild", "--offline", "--uv-method", "none")
    assert result.code == 0, result.finished
    assert _builds(result) == []
    assert notes.read_text() == "tinyd 4.0\n" * 2
    assert computer.installed("tinyd") == "4.0"


@pytest.mark.usefixtures("with_ready_pip")
def test_without_uv_a_local_folder_is_resolved_built_and_kept_as_well(computer: Computer, notes: Path) -> None:
    source = make_source(computer.folder / "source", "tinyd", "4.0", notes=notes, requires=("tinya",))
    wanted = ("--requirements", computer.requirements(f"{source}\n"), "--uv-method", "none")
    result = computer.run("install", *wanted)
    assert result.code == 0, result.finished
    assert computer.installed("tinyd") == "4.0"
    assert computer.installed("tinya") == "2.0"
    again = computer.run("rebuild", "--offline", "--uv-method", "none")
    assert again.code == 0, again.finished
    assert computer.installed("tinyd") == "4.0"


@pytest.mark.usefixtures("with_ready_pip")
@pytest.mark.parametrize("kind", ["source", "other system", "editable"])
def test_without_uv_what_pip_alone_cannot_install_is_told_from_what_is_not_there(
    computer: Computer, notes: Path, kind: str
) -> None:
    source, line = make_source(computer.folder / "source", "tinyd", "4.0", notes=notes), "tinyd\n"
    if kind == "source":
        make_sdist(computer.wheels, source, "tinyd", "4.0")
    elif kind == "other system":
        make_wheel(computer.wheels, "tinyd", "4.0", tag="cp311-cp311-win_arm64")
    else:
        line = f"-e {source}\n"
    result = computer.run("install", "--requirements", computer.requirements(line), "--uv-method", "none")
    expected = "AML_EDITABLE_NEEDS_UV" if kind == "editable" else "AML_NO_WHEEL_FITS"
    assert (result.code, result.finished["code"]) == (1, expected), result.finished
    assert "tinyd" in result.finished["message"]


def test_a_kept_wheel_that_was_changed_is_built_anew(computer: Computer, notes: Path) -> None:
    source = make_source(computer.folder / "source", "tinyd", "4.0", notes=notes)
    make_sdist(computer.wheels, source, "tinyd", "4.0")
    assert computer.run("install", "--requirements", computer.requirements("tinyd\n")).code == 0
    (wheel,) = (computer.root / "downloads").rglob("tinyd-4.0-*.whl")
    wheel.write_bytes(wheel.read_bytes() + b"changed")
    result = computer.run("rebuild", "--offline")  # the archive is in the store as well
    assert result.code == 0, result.finished
    assert len(_builds(result)) == 1
    assert computer.run("verify").code == 0


@needs_git
def test_a_git_commit_is_checked_out_built_once_and_kept(computer: Computer, notes: Path) -> None:
    repository = make_source(computer.folder / "repository", "tinyd", "4.0", notes=notes, requires=("tinya",))
    wanted = commit_all(repository)
    make_source(repository, "tinyd", "5.0", notes=notes)
    commit_all(repository)
    line = f"tinyd @ git+{repository.as_uri()}@{wanted}\n"
    result = computer.run("install", "--requirements", computer.requirements(line))
    assert result.code == 0, result.finished
    assert computer.installed("tinyd") == "4.0"
    (package,) = (each for each in read_lock(computer.root / "runtime" / "pylock.toml").packages if each.vcs is not None)
    assert package.vcs is not None
    assert package.vcs.commit_id == wanted
    assert computer.run("verify").code == 0

    repository.rename(computer.folder / "moved")  # a computer without network cannot reach it either
    shutil.rmtree(computer.root / "cache")
    again = computer.run("rebuild", "--offline")
    assert again.code == 0, again.finished
    assert again.states()["fetch"] == "skipped"
    assert _builds(again) == []
    assert computer.installed("tinyd") == "4.0"


@needs_git
def test_a_private_repository_and_its_submodule_are_fetched_with_the_token_of_the_address(
    computer: Computer, notes: Path
) -> None:
    repository = make_source(computer.folder / "served" / "repository", "tinyd", "4.0", notes=notes)
    commit_all(repository)
    inner = repository.parent / "inner"
    inner.mkdir()
    (inner / "data.txt").write_text("of a submodule")
    commit_all(inner)
    adding = ("git", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "inner")
    subprocess.run(adding, cwd=repository, check=True)
    address = ("git", "config", "-f", ".gitmodules", "submodule.inner.url", "../../inner/.git")
    subprocess.run(address, cwd=repository, check=True)
    commit = commit_all(repository)
    for served in (repository, inner):
        subprocess.run(["git", "update-server-info"], cwd=served, check=True)
    token, wrong_token = "t0ken" * 4, "wr0ng" * 4
    with IndexServer(computer.wheels, repository.parent) as server:
        for served in (repository, inner):
            server.fault(f"/files/{served.name}/*", Fault(auth=(token, "")))
        place = f"127.0.0.1:{server.port}/files/repository/.git"
        wrong = computer.run(
            "install", "--requirements", computer.requirements(f"tinyd @ git+http://{wrong_token}@{place}@{commit}\n")
        )
        assert (wrong.code, wrong.finished["code"]) == (1, "AML_GIT_UNAUTHORIZED"), wrong.finished
        for named in ("tinyd", f"127.0.0.1:{server.port}"):
            assert named in wrong.finished["message"]
        result = computer.run(
            "install", "--requirements", computer.requirements(f"tinyd @ git+http://{token}@{place}@{commit}\n")
        )
        assert result.code == 0, result.finished
        shutil.rmtree(computer.root / "downloads" / "built")
        shutil.rmtree(computer.root / "cache")
        again = computer.run("rebuild")
        assert again.code == 0, again.finished
    assert computer.installed("tinyd") == "4.0"
    assert notes.read_text() == "tinyd 4.0\n" * 2
    said = "".join(str(run.events) + run.stderr for run in (wrong, result, again))
    assert token not in said
    assert wrong_token not in said
    (package,) = read_lock(computer.root / "runtime" / "pylock.toml").packages
    assert package.vcs is not None
    assert package.vcs.url == f"http://{place}"


@needs_git
@pytest.mark.parametrize("given", ["uv", "pip", "lock"])
@pytest.mark.parametrize("fault", ["auth", "403"])
def test_a_repository_that_lets_nobody_in_is_told_from_a_build_that_fails(
    computer: Computer, given: str, fault: str
) -> None:
    computer.index.fault("/files/*", fault)
    host = f"127.0.0.1:{computer.index.port}"
    url = f"http://{host}/files/tinyd.git"
    wanted = computer.requirements(f"tinya\ntinyd @ git+{url}\n")
    if given == "lock":
        wanted = computer.folder / "pylock.toml"
        vcs = f'{{type = "git", url = "{url}", commit-id = "{"0" * 40}"}}'
        wanted.write_text(f'lock-version = "1.0"\ncreated-by = "hand"\n[[packages]]\nname = "tinyd"\nvcs = {vcs}\n')
    result = computer.run("install", "--requirements", wanted, "--uv-method", "none" if given == "pip" else "auto")
    assert (result.code, result.finished["code"]) == (1, "AML_GIT_UNAUTHORIZED"), result.finished
    for named in (host, "tinyd"):
        assert named in result.finished["message"]


@needs_git
def test_two_commits_with_one_version_are_told_apart(computer: Computer, notes: Path) -> None:
    repository = make_source(computer.folder / "repository", "tinyd", "4.0", notes=notes)
    first = commit_all(repository)
    (repository / "tinyd" / "__init__.py").write_text("__version__ = 'second'\n")
    second = commit_all(repository)
    for commit, version in ((first, "4.0"), (second, "second"), (first, "4.0")):
        line = f"tinyd @ git+{repository.as_uri()}@{commit}\n"
        result = computer.run("install", "--requirements", computer.requirements(line))
        assert result.code == 0, result.finished
        assert computer.installed("tinyd") == version


@needs_git
def test_a_commit_that_is_not_there_is_an_error_with_its_package(computer: Computer, notes: Path) -> None:
    repository = make_source(computer.folder / "repository", "tinyd", "4.0", notes=notes)
    commit_all(repository)
    missing = "0" * 39 + "1"
    line = f"tinyd @ git+{repository.as_uri()}@{missing}\n"
    result = computer.run("install", "--requirements", computer.requirements(line))
    assert result.code == 1
    assert result.finished["code"] == "AML_GIT_FAILED", result.finished
    assert "tinyd" in result.finished["message"]
    assert missing in result.finished["message"]
    assert not (computer.root / ".venv").exists()


@needs_git
def test_a_folder_of_a_repository_is_built(computer: Computer, notes: Path) -> None:
    outer = computer.folder / "outer"
    make_source(outer / "python", "tinyd", "4.0", notes=notes)
    commit = commit_all(outer)
    line = f"tinyd @ git+{outer.as_uri()}@{commit}#subdirectory=python\n"
    result = computer.run("install", "--requirements", computer.requirements(line))
    assert result.code == 0, result.finished
    assert computer.installed("tinyd") == "4.0"


def test_a_folder_of_an_archive_is_built(computer: Computer, notes: Path) -> None:
    outer = computer.folder / "outer"
    make_source(outer / "python", "tinyd", "4.0", notes=notes)
    archive = make_sdist(computer.wheels, outer, "outer", "1.0")
    line = f"tinyd @ {computer.index.url}/packages/{archive.name}#subdirectory=python\n"
    result = computer.run("install", "--requirements", computer.requirements(line))
    assert result.code == 0, result.finished
    assert computer.installed("tinyd") == "4.0"


def test_a_local_folder_is_built_when_it_has_changed_and_reused_when_not(computer: Computer, notes: Path) -> None:
    source = make_source(computer.folder / "tinyd", "tinyd", "4.0", notes=notes)
    result = computer.run("install", "--requirements", computer.requirements("./tinyd\ntinya\n"))
    assert result.code == 0, result.finished
    assert computer.installed("tinyd") == "4.0"
    assert notes.read_text() == "tinyd 4.0\n"

    again = computer.run("rebuild", "--offline")
    assert (again.code, again.states()["fetch"]) == (0, "skipped"), again.finished
    assert notes.read_text() == "tinyd 4.0\n"

    (source / "tinyd" / "__init__.py").write_text("__version__ = 'changed'\n")
    again = computer.run("rebuild", "--offline")
    assert again.code == 0, again.finished
    assert computer.installed("tinyd") == "changed"
    assert notes.read_text() == "tinyd 4.0\n" * 2
    assert len(list((computer.root / "downloads").rglob("tinyd-*.whl"))) == 1

    assert computer.run("rebuild", "--refresh").code == 0  # who chooses anew gets what it is built into today
    assert notes.read_text() == "tinyd 4.0\n" * 3


def test_an_editable_folder_stays_where_it_is_and_is_no_addition_by_hand(computer: Computer, notes: Path) -> None:
    source = make_source(computer.folder / "tinyd", "tinyd", "4.0", notes=notes)
    result = computer.run("install", "--requirements", computer.requirements("-e ./tinyd\ntinya\n"))
    assert result.code == 0, result.finished
    (source / "tinyd" / "__init__.py").write_text("__version__ = 'edited'\n")
    assert computer.installed("tinyd") == "edited"
    assert not list((computer.root / "downloads").rglob("tinyd-*.whl"))
    assert "detail" not in result.finished


@needs_git
def test_b91_without_git_a_repository_is_refused_before_anything_is_fetched(computer: Computer, notes: Path) -> None:
    programs = computer.folder / "programs"
    everything = bare_path(programs)
    git = programs / "git"
    at = git.resolve()
    git.unlink(missing_ok=True)
    computer.extra["PATH"] = everything
    repository = make_source(computer.folder / "repository", "tinyd", "4.0", notes=notes)
    commit = commit_all(repository)
    line = f"tinyd @ git+{repository.as_uri()}@{commit}"
    wanted = ("--requirements", computer.requirements(f"tinya\n{line}\n"))
    for command in ("plan", "install"):
        refused = computer.run(command, *wanted)
        assert (refused.code, refused.finished["code"]) == (2, "AML_GIT_MISSING"), refused.finished
        assert "tinyd" in refused.finished["message"]
    assert not computer.root.exists()
    assert computer.index.requests() == []

    elsewhere = computer.requirements(f"tinya\n{line} ; sys_platform == 'nowhere'\n")
    assert computer.run("plan", "--requirements", elsewhere).code == 0

    git.symlink_to(at)  # installed meanwhile
    result = computer.run("install", "--requirements", computer.requirements(f"tinya\n{line}\n"))
    assert result.code == 0, result.finished
    assert computer.installed("tinyd") == "4.0"
    git.unlink()  # the wheel was built and kept
    assert computer.run("rebuild").code == 0


def test_b91_a_lock_with_a_repository_needs_git_as_well(computer: Computer) -> None:
    computer.extra["PATH"] = str(computer.folder)
    lock = computer.folder / "pylock.toml"
    lock.write_text(
        'lock-version = "1.0"\ncreated-by = "hand"\n[[packages]]\nname = "tinyd"\nversion = "4.0"\n'
        f'[packages.vcs]\ntype = "git"\nurl = "https://files.example.org/tinyd"\ncommit-id = "{"0" * 40}"\n'
    )
    refused = computer.run("install", "--requirements", lock)
    assert (refused.code, refused.finished["code"]) == (2, "AML_GIT_MISSING"), refused.finished
    assert not computer.root.exists()


def test_what_an_editable_folder_is_built_with_is_fetched_once_and_serves_without_a_network(
    computer: Computer, notes: Path
) -> None:
    make_backend(computer.wheels, notes)
    source = make_source(computer.folder / "tinyd", "tinyd", "4.0", notes=notes, backend=BACKEND)
    result = computer.run("install", "--requirements", computer.requirements("-e ./tinyd\ntinya\n"))
    assert result.code == 0, result.finished
    (source / "tinyd" / "__init__.py").write_text("__version__ = 'edited'\n")
    assert computer.installed("tinyd") == "edited"
    computer.index.forget()
    (source / "pyproject.toml").write_text((source / "pyproject.toml").read_text() + "# has to be built again\n")
    again = computer.run("rebuild", "--offline")
    assert again.code == 0, again.finished
    assert computer.index.requests() == []
    shutil.rmtree(computer.root / "cache")
    cold = computer.run("rebuild", "--offline")
    assert (cold.code, cold.finished["code"]) == (1, "AML_EDITABLE_OFFLINE"), cold.finished
    assert "tinyd" in cold.finished["message"]
    assert BACKEND in cold.finished["message"]
    assert computer.installed("tinyd") == "edited"
    assert computer.run("rebuild").code == 0
    assert computer.installed("tinyd") == "edited"
