"""Mending the interpreter that an environment stands on: a managed one by its archive, a system one by another."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.namespaces import interpreters_and_uv

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.conftest import Computer, Result, Stock
    from tests.support.interpreter_archives import InterpreterArchive
    from tests.support.namespaces import Circumstances

pytestmark = [pytest.mark.e2e, pytest.mark.linux]


@dataclass
class Bare:
    """A computer whose only Python is the one that amlwizard itself runs on, with an environment on a managed one."""

    computer: Computer
    offline: list[str]
    online: list[str]

    @property
    def root(self) -> Path:
        """The workspace."""
        return self.computer.root

    @property
    def interpreter(self) -> Path:
        """The folder of the managed interpreter."""
        return next(path for path in (self.root / "python").glob("cpython-3*") if not path.is_symlink())

    @property
    def archive(self) -> Path:
        """Its archive in the store."""
        return next((self.root / "downloads").glob("cpython-*.tar.gz"))

    def run(self, *arguments: str | Path, network: bool = False) -> Result:
        """Run a command where there is no other Python."""
        return self.computer.run(*arguments, prefix=self.online if network else self.offline)


@pytest.fixture
def bare(
    stock: Stock, own_python: Path, interpreter_archive: InterpreterArchive, circumstances: type[Circumstances]
) -> Iterator[Bare]:
    """tinyb on a managed interpreter; nothing else on the computer could stand in for that."""

    def make(computer: Computer) -> None:
        prefix = circumstances(hidden=computer.leave_no_python(own_python)).command([])
        listed = interpreter_archive.downloads_json(computer.folder / "downloads.json").as_uri()
        options = ("--python-downloads-json", listed, "--python", interpreter_archive.minor)
        computer.install("tinyb\n", *options, prefix=prefix)

    with stock.lend("bare", make) as computer:
        hidden = computer.leave_no_python(own_python)
        offline, online = (circumstances(hidden=hidden, network=network).command([]) for network in (False, True))
        yield Bare(computer, offline, online)


def assert_mended(bare: Bare) -> None:
    """The environment stands on the workspace's interpreter and passes its check."""
    result = bare.run("verify")
    assert result.code == 0, result.finished
    assert (bare.root / ".venv" / "bin" / "python").resolve().is_relative_to(bare.root / "python")


def test_b66_a_workspace_with_its_own_interpreter_is_moved_and_relinked(bare: Bare) -> None:
    computer = bare.computer
    old = computer.root
    moved = computer.folder / "moved" / "aml 2"
    moved.parent.mkdir()
    old.rename(moved)
    detected = bare.run("detect", "--root", moved).events[0]["environment"]
    assert detected["state"] == "moved"
    assert str(old) in detected["reason"]
    result = bare.run("repair", "--root", moved)
    assert result.code == 0, result.finished
    assert set(result.states()) == {"relink", "inspect"}
    python = moved / ".venv" / "bin" / "python"
    assert python.readlink().is_relative_to(moved / "python")
    assert python.resolve().is_relative_to(moved / "python")
    assert f"home = {moved / 'python'}" in (moved / ".venv" / "pyvenv.cfg").read_text()
    stale = [
        path
        for path in moved.rglob("*")
        if path.is_file()
        and path.suffix not in {".pyc", ".log", ".gz"}
        and "logs" not in path.parts
        and str(old).encode() in path.read_bytes()
        and moved / "cache" not in path.parents
    ]
    assert stale == []
    assert [path for path in moved.rglob("*") if path.is_symlink() and str(path.readlink()).startswith(str(old))] == []
    assert bare.run("rebuild", "--offline", "--root", moved).code == 0


def test_b71_a_damaged_managed_interpreter_is_unpacked_again(bare: Bare) -> None:
    (library,) = (bare.interpreter / "lib").glob("python3.*")
    (settings,) = library.glob("_sysconfigdata_*.py")
    files = [library / "shutil.py", library / "json" / "decoder.py", library / "bisect.py", settings]
    whole = [file.read_bytes() for file in files]

    def flipped(content: bytes, place: int) -> bytes:
        return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]

    def repair(count: int) -> None:
        result = bare.run("repair", "--offline")
        assert result.code == 0, result.finished
        assert result.states()["restore_python"] == "done"
        assert "build" not in result.states()
        assert any(f"({count} file" in event["line"] for event in result.events if event["event"] == "log")
        assert [file.read_bytes() for file in files] == whole

    files[0].write_bytes(whole[0][: len(whole[0]) // 2])
    files[1].write_bytes(flipped(whole[1], 100))
    files[2].unlink()
    files[3].write_bytes(b"")
    repair(4)
    files[3].write_bytes(flipped(whole[3], whole[3].index(b"EXT_SUFFIX")))
    deep = bare.run("verify", "--deep")
    assert deep.code == 3
    assert files[3].name in deep.finished["message"]
    repair(1)
    assert_mended(bare)
    assert bare.run("verify", "--deep").code == 0
    assert bare.run("repair", "--offline").finished["code"] == "AML_NOTHING_TO_REPAIR"


def test_a_managed_interpreter_that_is_gone_comes_back_from_its_archive(bare: Bare) -> None:
    for gone in (bare.interpreter, bare.root / "python"):
        shutil.rmtree(gone)
        assert bare.run("detect").events[0]["environment"]["state"] == "base_missing"
        result = bare.run("repair", "--offline")
        assert result.code == 0, result.finished
        assert result.states()["restore_python"] == "done"
        assert "build" not in result.states()
    assert_mended(bare)


@pytest.mark.parametrize("harm", ["a damaged file", "the link alone", "another Python", "nothing there"])
def test_a_link_that_was_led_out_of_the_workspace_hides_no_damage_and_is_put_right(bare: Bare, harm: str) -> None:
    interpreter, outside = bare.interpreter, bare.computer.folder / "oj" / "py"
    (link,) = [path for path in (bare.root / "python").iterdir() if path.is_symlink()]
    outside.parent.mkdir()
    file = next(interpreter.glob("lib/python3.*/json/decoder.py"))
    whole = file.read_bytes()
    if harm == "another Python":
        shutil.copytree(interpreter, outside, symlinks=True)
    elif harm == "nothing there":
        shutil.rmtree(interpreter)
    else:
        outside.symlink_to(interpreter)
    link.unlink()
    link.symlink_to(outside)
    if harm == "a damaged file":
        file.write_bytes(whole + b"# damaged\n")
    if harm != "nothing there":  # what does not start is told as that
        deep = bare.run("verify", "--deep")
        assert (deep.code, deep.finished["code"]) == (3, "AML_STORE_DAMAGED"), deep.finished
        assert str(outside) in str(deep.finished)
        assert (file.name in str(deep.finished)) == (harm == "a damaged file")
    result = bare.run("repair", "--offline")
    assert (result.code, result.finished["code"]) == (0, "AML_REPAIRED"), result.finished
    assert "build" not in result.states()
    assert file.read_bytes() == whole
    assert link.resolve() == interpreter
    assert outside.parent.exists()
    assert bare.run("verify", "--deep").code == 0
    assert bare.run("repair", "--offline").finished["code"] == "AML_NOTHING_TO_REPAIR"


def test_pruning_the_store_keeps_the_archive_that_the_interpreter_comes_back_from(bare: Bare) -> None:
    pruned = bare.run("store", "--prune")
    assert pruned.code == 0, pruned.finished
    report = pruned.events[-2]
    assert {kind["kind"]: kind["files"] for kind in report["kinds"]}["python"] == 2  # with its description
    assert (report["complete"], report["bundle"]) == (True, True)
    made = bare.run("bundle", "create", bare.computer.folder / "made.amlbundle", "--offline")
    assert made.code == 0, made.finished
    shutil.rmtree(bare.root / "python")
    assert bare.run("repair", "--offline").code == 0
    assert_mended(bare)
    size, name = bare.archive.stat().st_size, bare.archive.name
    bare.archive.unlink()
    report = bare.run("store").events[-2]
    assert [(lack["file"], lack["size"], lack["needed_by"]) for lack in report["lacking"]] == [(name, size, ["python"])]
    assert (report["complete"], report["bundle"]) == (False, False)


def test_a_damaged_archive_is_fetched_again_and_named_where_it_cannot_be(bare: Bare) -> None:
    whole = bare.archive.read_bytes()
    place = len(whole) // 2
    flipped = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
    bare.archive.write_bytes(flipped)
    deep = bare.run("verify", "--deep")
    assert deep.code == 3
    assert bare.archive.name in deep.finished["message"]
    out = bare.computer.folder / "made.amlbundle"
    bundle = bare.run("bundle", "create", out, "--offline")
    assert (bundle.code, bundle.finished["code"]) == (1, "AML_BUNDLE_SOURCE"), bundle.finished
    assert str(bare.archive) in bundle.finished["message"]
    assert not out.exists()
    result = bare.run("repair", "--offline")
    assert (result.code, result.finished["code"]) == (0, "AML_REPAIR_STORE_LACKS"), result.finished
    assert bare.archive.name in result.finished["message"]
    assert bare.archive.read_bytes() == flipped
    result = bare.run("repair")
    assert result.code == 0, result.finished
    assert result.states()["fetch"] == "done"
    assert bare.archive.read_bytes() == whole
    assert bare.run("bundle", "create", out, "--offline").code == 0
    bare.archive.write_bytes(flipped)
    shutil.rmtree(bare.root / "python")
    lost = bare.run("repair", "--offline")  # nothing is unpacked from it either
    assert lost.code == 1, lost.finished
    assert not list((bare.root / "python").glob("cpython-3*/bin"))


def lose_python(bare: Bare) -> str:
    """Take away the interpreter, what its archive holds, and the place that it came from; return the archive's name."""
    archive, folder = bare.archive, bare.computer.folder
    archive.write_bytes(b"damaged")
    record, listed = bare.root / "runtime" / "python.json", folder / "downloads.json"
    noted, offered = json.loads(record.read_text()), json.loads(listed.read_text())
    for entry in (*(each["entry"] for each in noted["interpreters"].values()), *offered.values()):
        entry["url"] = f"http://127.0.0.1:9/{archive.name}"
    record.write_text(json.dumps(noted))
    listed.write_text(json.dumps(offered))
    settings = folder / "home" / ".config" / "amlwizard" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"format": 1, "pythonDownloadsJson": listed.as_uri()}))
    shutil.rmtree(bare.root / "python")
    bare.computer.hurried = True
    return archive.name


def told(result: Result) -> str:
    """Return all that the end of a run says."""
    return " ".join(str(result.finished.get(key)) for key in ("message", "hint", "detail"))


@pytest.fixture
def other_python(bare: Bare) -> Path:
    """A Python of another minor version than the running one, from wherever this computer has it."""
    computer = replace(bare.computer, extra={**bare.computer.extra, "HOME": str(Path.home()), "PATH": os.environ["PATH"]})
    found = [Path(each["path"]) for each in computer.run("detect").events[0]["candidates"] if each["kind"] == "python"]
    question = "import sys; print(*sys.version_info[:2], sys.executable)"
    for path in found:
        answer = subprocess.run([path, "-Ic", question], capture_output=True, text=True, check=False).stdout.split(
            maxsplit=2
        )
        if len(answer) == 3 and (3, 10) <= (int(answer[0]), int(answer[1])) != sys.version_info[:2]:
            return Path(answer[2].strip()).resolve()
    pytest.skip("all Pythons of this computer are of one minor version")


@pytest.mark.parametrize("harm", ["the interpreter alone", "pyvenv.cfg as well"])
def test_where_its_own_python_cannot_be_had_a_repair_builds_on_another_one_as_a_rebuild_does(
    bare: Bare, other_python: Path, circumstances: type[Circumstances], harm: str
) -> None:
    archive = lose_python(bare)
    if harm == "pyvenv.cfg as well":
        (bare.root / ".venv" / "pyvenv.cfg").unlink()
    bare.computer.extra["PATH"] += os.pathsep + str(other_python.parent)
    hidden = [
        path
        for path in interpreters_and_uv()
        if not other_python.is_relative_to(path) and not Path(sys.prefix).is_relative_to(path)
    ]
    prefix = circumstances(hidden=hidden).command([])
    result = bare.computer.run("repair", prefix=prefix)
    assert (result.code, result.finished["code"]) == (0, "AML_READY"), result.finished
    assert archive not in told(result)
    assert (bare.root / ".venv" / "bin" / "python").resolve() == other_python
    deep = bare.computer.run("verify", "--deep", prefix=prefix)
    assert deep.code == 0, deep.finished
    assert bare.computer.run("repair", "--offline", prefix=prefix).finished["code"] == "AML_NOTHING_TO_REPAIR"


@pytest.mark.parametrize("command", ["repair", "rebuild"])
def test_a_python_that_cannot_be_had_is_named_in_the_version_of_the_environment(bare: Bare, command: str) -> None:
    archive = lose_python(bare)
    result = bare.run(command, "--offline")
    assert (result.code, result.finished["code"]) == (1, "AML_STORE_INCOMPLETE"), result.finished
    assert archive in told(result)
    result = bare.run(command, network=True)
    assert (result.code, result.finished["code"]) == (1, "AML_PYTHON_UNREACHABLE"), result.finished
    assert ("(amlwizard rebuild --python-downloads-json URL" in result.finished["hint"]) == (command == "repair")


def test_an_archive_that_nothing_needs_any_more_is_not_named(bare: Bare, own_python: Path, tmp_path: Path) -> None:
    archive = lose_python(bare)
    base = tmp_path / "system"
    subprocess.run(["cp", "-a", own_python.parents[1], base], check=True)
    bare.computer.extra["PATH"] += os.pathsep + str(base / "bin")
    result = bare.run("repair", "--offline")
    assert (result.code, result.finished["code"]) == (0, "AML_REPAIRED"), result.finished
    assert archive not in told(result)
    assert "build" not in result.states()
    assert bare.run("verify", "--deep").code == 0


def test_b63_an_interpreter_of_the_system_that_is_gone_is_named_and_replaced(
    computer: Computer, interpreter_archive: InterpreterArchive, tmp_path: Path
) -> None:
    base = interpreter_archive.unpack(tmp_path / "base")
    result = computer.run("install", "--requirements", computer.requirements("tinyb\n"), "--python", base)
    assert result.code == 0, result.finished
    mine = computer.root / "notebooks" / "mine.ipynb"
    mine.write_text("{}")
    computer.index.forget()
    shutil.move(tmp_path / "base", tmp_path / "gone")
    found = computer.run("detect").events[0]["environment"]
    assert found["state"] == "base_missing"
    assert interpreter_archive.version in found["reason"]
    assert str(base) in found["reason"]
    assert (computer.root / ".venv" / "bin" / "python").is_symlink()
    result = computer.run("repair", "--offline")
    assert result.code == 0, result.finished
    assert result.states()["restore_python"] == "done"
    assert "build" not in result.states()
    assert computer.run("verify").code == 0
    assert computer.installed("tinya") == "2.0"
    assert mine.read_text() == "{}"
    assert computer.index.requests() == []


def test_b63_a_managed_interpreter_takes_over_where_there_is_no_other(bare: Bare, own_python: Path, tmp_path: Path) -> None:
    computer, archive = bare.computer, bare.archive
    base = tmp_path / "system"
    subprocess.run(["cp", "-a", own_python.parents[1], base], check=True)
    (program,) = (base / "bin").glob("python3.*[0-9]")
    settings = computer.folder / "home" / ".config" / "amlwizard" / "settings.json"
    settings.parent.mkdir(parents=True)
    listed = (computer.folder / "downloads.json").as_uri()
    settings.write_text(json.dumps({"format": 1, "pythonDownloadsJson": listed}))
    shutil.rmtree(bare.root / "python")
    archive.unlink()
    (bare.root / "runtime" / "python.json").unlink()
    assert bare.run("install", "--python", program).code == 0
    assert not (bare.root / "python").exists()
    shutil.rmtree(base)
    assert bare.run("detect").events[0]["environment"]["state"] == "base_missing"
    result = bare.run("repair")
    assert result.code == 0, result.finished
    assert result.states()["restore_python"] == "done"
    assert "build" not in result.states()
    assert_mended(bare)
