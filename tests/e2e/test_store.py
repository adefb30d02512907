"""What the store holds and lacks, and what is left of being able to work offline after it was pruned."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from amlwizard import api
from amlwizard.core.paths import Workspace
from amlwizard.core.workspace_lock import hold_run
from tests.e2e.conftest import REPOSITORY
from tests.support.sources import make_sdist, make_source
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.conftest import Computer, Result, Stock
    from tests.support.namespaces import Circumstances

pytestmark = pytest.mark.e2e


def store(result: Result) -> dict[str, Any]:
    """The one report of a run, which the end follows."""
    assert [event["event"] for event in result.events][-2:] == ["store", "finished"]
    (event,) = (event for event in result.events if event["event"] == "store")
    return event


def names(entries: list[dict[str, Any]]) -> list[str]:
    """The file names of a list of the report."""
    return [entry["path"].rpartition("/")[2] for entry in entries]


def state_of(folder: Path) -> dict[str, str]:
    """Every file below a folder with its hash."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def grow(computer: Computer) -> None:
    """Change the packages twice, two of which are built from sources."""
    notes = computer.folder / "notes.txt"
    source = make_source(computer.folder / "source", "tinyd", "4.0", notes=notes)
    make_sdist(computer.wheels, source, "tinyd", "4.0")
    make_source(computer.folder / "local", "tinyl", "1.0", notes=notes)
    for wanted in ("tinya==1.0\ntinyd\n", "tinya==2.0\ntinyb\ntinyd\n", "tinyb\ntinya==2.0\n./local\n"):
        computer.install(wanted)


@pytest.fixture
def grown(stock: Stock) -> Iterator[Computer]:
    """A computer whose packages were changed twice, and which has built two of them from sources."""
    with stock.lend("grown", grow) as computer:
        yield computer


def test_a_look_tells_everything_and_changes_nothing(grown: Computer) -> None:
    before = state_of(grown.root)
    result = grown.run("store")
    assert (result.code, result.finished["code"]) == (0, "AML_STORE_COMPLETE"), result.finished
    report = store(result)
    assert state_of(grown.root) == before
    assert grown.index.requests() == []
    assert (report["complete"], report["lacking"], report["foreign"], report["freed"]) == (True, [], [], None)
    assert {lock["lock"]: (lock["packages"], lock["lacking"]) for lock in report["locks"]} == {
        "current": (3, 0),
        "previous": (3, 0),
    }
    downloads = grown.root / "downloads"
    held = {kind["kind"]: (kind["files"], kind["bytes"]) for kind in report["kinds"] if kind["files"]}
    wheels = list(downloads.glob("*.whl"))
    assert held["wheels"] == (3, sum(wheel.stat().st_size for wheel in wheels))
    assert held["sources"] == (1, (downloads / "tinyd-4.0.tar.gz").stat().st_size)
    assert held["built"][0] == 2
    assert names(report["freeable"]) == ["tinya-1.0-py3-none-any.whl"]
    assert report["freeable_bytes"] == (downloads / "tinya-1.0-py3-none-any.whl").stat().st_size
    sources = {built["name"]: (built["version"], built["source"]) for built in report["built"]}
    assert sources["tinyd"][0] == "4.0"
    assert sources["tinyd"][1]["url"] == f"{grown.index.url}/packages/tinyd-4.0.tar.gz"
    assert (sources["tinyl"][0], sources["tinyl"][1]["path"]) == ("1.0", str(grown.folder / "local"))
    assert len(sources["tinyl"][1]["fingerprint"]) == 64
    cache = report["cache"]
    assert 0 < cache["shared_bytes"] < cache["bytes"]


def test_after_pruning_rebuild_undo_and_repair_work_without_a_network(
    grown: Computer, circumstances: type[Circumstances]
) -> None:
    cut = circumstances(network=False).command([])
    downloads = grown.root / "downloads"
    for name in ("mine.txt", "mine-1.0-py3-none-any.whl"):
        (downloads / name).write_text("mine")
    (grown.root / "downloads" / "built" / "mine").mkdir()
    (downloads / "tinya-1.0-py3-none-any.whl.part").write_bytes(b"half")
    old = downloads / "tinya-1.0-py3-none-any.whl"
    size = old.stat().st_size
    result = grown.run("store", "--prune", prefix=cut)
    assert (result.code, result.finished["code"]) == (0, "AML_STORE_FREED"), result.finished
    assert result.states()["prune"] == "done"
    report = store(result)
    assert report["freed"]["files"] == 2
    assert report["freed"]["bytes"] == size + 4
    assert (report["freeable"], report["complete"], report["lacking"]) == ([], True, [])
    assert names(report["foreign"]) == ["mine", "mine-1.0-py3-none-any.whl", "mine.txt"]
    assert not old.exists()
    assert (downloads / "mine.txt").read_text() == (downloads / "mine-1.0-py3-none-any.whl").read_text() == "mine"
    assert (downloads / "built" / "mine").is_dir()

    for arguments in (["rebuild", "--offline"], ["undo", "--offline"], ["undo", "--offline"]):
        assert grown.run(*arguments, prefix=cut).code == 0, arguments
    (module,) = (grown.root / ".venv").glob("lib/*/site-packages/tinyl/__init__.py")
    module.write_text("damaged")
    mended = grown.run("repair", "--offline", prefix=cut)
    assert (mended.code, mended.finished["code"]) == (0, "AML_REPAIRED"), mended.finished
    shutil.rmtree(grown.root / ".venv")
    assert grown.run("repair", "--offline", prefix=cut).code == 0
    assert grown.run("verify", "--deep", prefix=cut).code == 0
    assert grown.installed("tinyl") == "1.0"
    again = grown.run("store", "--prune", prefix=cut)
    assert (again.code, store(again)["freed"]["files"]) == (0, 0)


def test_what_the_next_build_of_a_changed_folder_fetches_stays_in_the_cache(
    computer: Computer, circumstances: type[Circumstances]
) -> None:
    notes = computer.folder / "notes.txt"
    project = make_source(computer.folder / "local", "tinyl", "1.0", notes=notes) / "pyproject.toml"
    project.write_text(project.read_text().replace("requires = []", 'requires = ["tinya==1.0"]'))
    for wanted in ("tinya==1.0\n./local\n", "tinya==2.0\n./local\n", "tinyb\n./local\n"):
        assert computer.run("install", "--requirements", computer.requirements(wanted)).code == 0
    report = store(computer.run("store", "--prune"))
    assert report["freed"]["files"] == 1  # the wheel of tinya 1.0, which is a build's now and no longer a package
    (project.parent / "tinyl" / "__init__.py").write_text("__version__ = 'changed'\n")
    look = computer.run("store")
    assert (look.code, look.finished["code"]) == (0, "AML_STORE_TO_BUILD")
    assert [(each["name"], each["build"]) for each in store(look)["lacking"]] == [("tinyl", True)]
    result = computer.run("rebuild", "--offline", prefix=circumstances(network=False).command([]))
    assert result.code == 0, result.finished
    assert computer.installed("tinyl") == "changed"


def test_with_packages_only_the_cache_of_what_was_freed_goes_too(computer: Computer) -> None:
    for wanted in ("tinya==1.0\n", "tinya==2.0\n", "tinyb\ntinya==2.0\n"):
        assert computer.run("install", "--requirements", computer.requirements(wanted)).code == 0

    def cached() -> list[str]:
        return sorted(path.name for path in (computer.root / "cache").rglob("tiny*.dist-info"))

    assert cached() == ["tinya-1.0.dist-info", "tinya-2.0.dist-info", "tinyb-1.0.dist-info"]
    report = store(computer.run("store", "--prune"))
    assert cached() == ["tinyb-1.0.dist-info"]  # those of tinya that are needed come back from the store
    assert report["freed"]["cache_bytes"] > 0
    computer.index.forget()
    assert computer.run("rebuild", "--offline").code == 0
    assert cached() == ["tinya-2.0.dist-info", "tinyb-1.0.dist-info"]
    assert computer.index.requests() == []


def test_what_is_missing_or_cut_short_is_named_with_its_size(installed: Computer) -> None:
    downloads = installed.root / "downloads"
    gone, short = downloads / "tinya-2.0-py3-none-any.whl", downloads / "tinyb-1.0-py3-none-any.whl"
    size, whole = gone.stat().st_size, short.stat().st_size
    gone.unlink()
    short.write_bytes(short.read_bytes()[:50])
    result = installed.run("store")
    assert (result.code, result.finished["code"]) == (0, "AML_STORE_LACKS"), result.finished
    report = store(result)
    assert not report["complete"]
    found = [(lack["file"], lack["size"], lack["found"], lack["needed_by"]) for lack in report["lacking"]]
    assert found == [(gone.name, size, None, ["current"]), (short.name, whole, 50, ["current"])]
    assert installed.run("repair").code == 0  # as the hint says
    assert store(installed.run("store"))["complete"]


def test_a_download_that_was_cut_off_is_kept_and_told(computer: Computer) -> None:
    wheel = make_wheel(computer.wheels, "tinyp", files={"tinyp/data.bin": os.urandom(3_000_000)})
    computer.index.fault("*/tinyp-*.whl", "404")
    computer.index.fault("*/tinyp-*.whl", "truncate", times=1)
    failed = computer.run("install", "--requirements", computer.requirements("tinyp\n"))
    assert failed.code == 1
    part = computer.root / "downloads" / f"{wheel.name}.part"
    for arguments in (["store"], ["store", "--prune"]):
        report = store(computer.run(*arguments))
        told = next(each for each in report["partial"] if each["path"] == f"downloads/{part.name}")
        assert (told["size"], told["total"]) == (part.stat().st_size, wheel.stat().st_size)
        assert told["needed_by"] == ["next"]
    assert 0 < part.stat().st_size < wheel.stat().st_size


def test_where_there_is_no_workspace_a_sentence_says_so(computer: Computer) -> None:
    for arguments in (["store"], ["store", "--prune"]):
        result = computer.run(*arguments)
        assert (result.code, result.finished["code"]) == (2, "AML_NO_WORKSPACE")
        assert str(computer.root) in result.finished["message"]
    assert not computer.root.exists()


def test_a_prune_waits_for_nobody_and_a_look_disturbs_nobody(installed: Computer) -> None:
    with hold_run(Workspace(installed.root), "install"):
        busy = installed.run("store", "--prune")
        assert (busy.code, busy.finished["code"]) == (4, "AML_WORKSPACE_BUSY")
        assert installed.run("store").code == 0


def test_nothing_is_freed_where_a_lock_cannot_be_read(grown: Computer) -> None:
    (grown.root / "runtime" / "pylock.toml").write_text("lost")
    before = state_of(grown.root / "downloads")
    result = grown.run("store", "--prune")
    assert (result.code, result.finished["code"]) == (2, "AML_STORE_LOCK_UNREADABLE"), result.finished
    assert state_of(grown.root / "downloads") == before
    look = grown.run("store")
    assert (look.code, look.finished["code"]) == (0, "AML_STORE_UNREADABLE")


def test_a_uv_that_is_not_what_was_installed_is_not_run(grown: Computer) -> None:
    ran = grown.folder / "ran"
    (grown.root / "tools" / "uv").write_text(f"#!/bin/sh\ntouch '{ran}'\n")
    result = grown.run("store", "--prune")
    assert result.code == 0, result.finished
    assert not ran.exists()


def test_a_cache_that_uv_cannot_shrink_is_told_and_takes_nothing_from_the_rest(grown: Computer) -> None:
    lock = grown.root / "cache" / ".lock"
    lock.unlink()
    lock.mkdir()
    result = grown.run("store", "--prune")
    assert (result.code, store(result)["freed"]["files"]) == (0, 1), result.finished
    assert any("uv's cache was left as it is" in event["line"] for event in result.events if event["event"] == "log")


def test_a_workspace_that_cannot_be_written_can_be_looked_at(grown: Computer, circumstances: type[Circumstances]) -> None:
    result = grown.run("store", prefix=circumstances(read_only=[grown.root]).command([]))
    assert (result.code, store(result)["complete"]) == (0, True)


@pytest.mark.parametrize(("language", "word"), [("en_US.UTF-8", "built here"), ("zh_CN.UTF-8", "在本机构建")])
def test_the_text_is_a_table_with_the_end_below(grown: Computer, language: str, word: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "amlwizard", "store"],
        cwd=REPOSITORY,
        env={**grown.environ, "LANG": language},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert word in done.stdout
    assert "tinya-1.0-py3-none-any.whl" in done.stdout
    assert "tinyd 4.0" in done.stdout
    assert done.stderr == ""


def test_a_program_gets_the_same(grown: Computer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("AML_", "XDG_", "PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(grown.folder / "home"))
    expected = store(grown.run("store"))
    report = api.store_report(grown.root)
    assert {"event": "store", **report} == expected
    assert api.store_report(grown.root, prune=True)["freed"]["files"] == 1
    with pytest.raises(api.RefusedError, match="AML_NO_WORKSPACE"):
        api.store_report(grown.folder / "nothing")


@pytest.mark.linux
def test_uv_comes_back_from_its_wheel_in_the_store_without_a_network(computer: Computer) -> None:
    import platform

    from amlwizard.core.detection import find_bundled_uv

    program = find_bundled_uv()
    assert program is not None
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    members = {f"uv-{version}.data/scripts/uv": program.read_bytes()}
    tag = f"py3-none-manylinux_2_17_{platform.machine()}"
    make_wheel(computer.wheels, "uv", version, tag=tag, files=members, console_script=False)
    settings = computer.folder / "home" / ".config" / "amlwizard" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"format": 1, "uvMethod": "index"}))
    assert computer.run("install", "--requirements", computer.requirements("tinya\n")).code == 0
    report = store(computer.run("store", "--prune"))
    assert next(kind for kind in report["kinds"] if kind["kind"] == "uv")["files"] == 1
    (computer.root / "tools" / "uv").unlink()
    computer.index.forget()
    result = computer.run("repair", "--offline")
    assert (result.code, result.finished["code"]) == (0, "AML_REPAIRED"), result.finished
    assert computer.run("rebuild", "--offline").code == 0
    assert computer.index.requests() == []
    (wheel,) = (computer.root / "downloads").glob("uv-*.whl")
    shutil.copyfile(computer.wheels / "tinya-1.0-py3-none-any.whl", wheel)
    (computer.root / "tools" / "uv").unlink()
    refused = computer.run("rebuild", "--offline")
    assert refused.code == 1
    assert "AML_UV" in refused.finished["code"]
    assert not (computer.root / "tools" / "uv").exists()
