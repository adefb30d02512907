"""What the user added by hand, with pip in a notebook say: found, named, and kept or left out as chosen."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from amlwizard.core.paths import Workspace
from amlwizard.core.store.ledger import noted_files
from tests.e2e.conftest import REPOSITORY
from tests.support.index_server import IndexServer
from tests.support.namespaces import SmallFileSystem
from tests.support.sources import BACKEND, make_backend, make_source
from tests.support.wheels import make_wheel, sha256_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tests.e2e.conftest import Computer, Result, Stock
    from tests.support.namespaces import Circumstances

pytestmark = pytest.mark.e2e


@pytest.fixture
def installed(installed: Computer) -> Computer:
    """A computer with tinyb and tinya 2.0, and an index that has tinyx, which needs tinyq, besides."""
    offer_tinyx(installed)
    return installed


def offer_tinyx(computer: Computer) -> None:
    """Put tinyx and what it needs on the index."""
    make_wheel(computer.wheels, "tinyx", "1.0", requires=["tinyq"])
    make_wheel(computer.wheels, "tinyq", "1.0")
    make_wheel(computer.wheels, "tinyq", "2.0")


@pytest.fixture
def added(stock: Stock) -> Iterator[Computer]:
    """That computer after tinyx and tinyq 2.0 were added by hand."""

    def make(computer: Computer) -> None:
        computer.install("tinyb\n")
        offer_tinyx(computer)
        computer.pip_install("tinyx")

    with stock.lend("added", make) as made:
        yield made


def lock_text(computer: Computer) -> str:
    """The lock."""
    return (computer.root / "runtime" / "pylock.toml").read_text()


def remarks(result: Result) -> str:
    """Every line of the log."""
    return "\n".join(event["line"] for event in result.events if event["event"] == "log")


def changed(result: Result) -> dict[str, Any]:
    """What the run said that it would change, before it fetched or built anything."""
    (found,) = (event for event in result.events if event["event"] == "changes")
    started = [event["id"] for event in result.events[: result.events.index(found)] if event["event"] == "step"]
    assert not {"fetch", "build"} & set(started)
    return {key: value for key, value in found.items() if key != "event"}


NOTHING = {"python": None, "uv": None, "added": [], "removed": [], "changed": []}


def test_what_was_added_is_named_and_a_rebuild_keeps_it_and_its_dependencies_as_they_are(installed: Computer) -> None:
    before = lock_text(installed)
    installed.pip_install("tinyx", "tinyq==1.0")
    shutil.rmtree(installed.root / "cache")
    detected = installed.run("detect").events[0]["environment"]
    assert detected["state"] == "ready"
    assert detected["added"] == [
        {"name": "tinyq", "version": "1.0", "locked": None},
        {"name": "tinyx", "version": "1.0", "locked": None},
    ]
    verified = installed.run("verify")
    assert verified.code == 0
    assert "tinyx" in verified.finished["detail"]
    ready = installed.run("install")
    assert ready.finished["code"] == "AML_ALREADY_READY"
    assert lock_text(installed) == before

    result = installed.run("rebuild")
    assert result.code == 0, result.finished
    assert "kept: tinyq 1.0, tinyx 1.0" in remarks(result)
    assert changed(result) == NOTHING
    assert installed.installed("tinyx") == "1.0"
    assert installed.installed("tinyq") == "1.0"
    assert installed.run("install").finished["code"] == "AML_ALREADY_READY"
    environment = installed.run("detect").events[0]["environment"]
    assert environment["added"] == []
    assert environment["kept"] == [{"name": "tinyq", "version": "1.0"}, {"name": "tinyx", "version": "1.0"}]
    assert "kept: tinyq 1.0, tinyx 1.0." in installed.run("verify").finished["detail"]

    kept = lock_text(installed)
    assert "tinyx-1.0-py3-none-any.whl" in kept
    installed.index.forget()
    shutil.rmtree(installed.root / "cache")
    again = installed.run("rebuild", "--offline")
    assert again.code == 0, again.finished
    assert lock_text(installed) == kept
    assert installed.installed("tinyx") == "1.0"
    assert installed.index.requests() == []


def test_a_rebuild_without_additions_reproduces_lock_and_files(installed: Computer) -> None:
    def files() -> dict[str, bytes]:
        venv = installed.root / ".venv"
        found = [path for path in venv.rglob("*") if path.is_file() and not path.is_symlink()]
        passing = ("uv_cache.json", ".pyc")  # the one holds times, the other is bytecode
        return {
            str(path.relative_to(venv)): path.read_bytes()
            for path in found
            if not path.name.endswith(passing) and not path.name.startswith(".aml-ok-") and path.name != "RECORD"
        }

    lock, before = lock_text(installed), files()
    result = installed.run("rebuild")
    assert result.code == 0, result.finished
    assert changed(result) == NOTHING
    assert lock_text(installed) == lock
    assert files() == before


def test_what_was_kept_is_left_out_again_without_a_network(installed: Computer) -> None:
    packages = packages_of(installed)
    installed.pip_install("tinyx", "tinya==1.0")
    assert installed.run("rebuild").code == 0
    assert (installed.installed("tinyx"), installed.installed("tinya")) == ("1.0", "1.0")
    assert packages_of(installed) != packages
    installed.index.forget()
    dropped = installed.run("rebuild", "--drop-added", "--offline")
    assert dropped.code == 0, dropped.finished
    assert "tinyx" in remarks(dropped)
    assert changed(dropped) == {
        "python": None,
        "uv": None,
        "added": [],
        "removed": [{"name": "tinyq", "version": "2.0"}, {"name": "tinyx", "version": "1.0"}],
        "changed": [{"name": "tinya", "from": "1.0", "to": "2.0"}],
    }
    assert packages_of(installed) == packages
    assert installed.index.requests() == []
    undone = installed.run("undo", "--offline")
    assert undone.code == 0, undone.finished
    assert (installed.installed("tinyx"), installed.installed("tinya")) == ("1.0", "1.0")
    assert [each["name"] for each in changed(undone)["added"]] == ["tinyq", "tinyx"]
    assert installed.run("install").finished["code"] == "AML_ALREADY_READY"
    assert installed.run("rebuild", "--offline").code == 0
    assert installed.installed("tinyx") == "1.0"


def test_after_pruning_what_was_kept_and_what_gave_way_to_it_need_no_network(
    installed: Computer, circumstances: type[Circumstances]
) -> None:
    packages = packages_of(installed)
    installed.pip_install("tinyx", "tinya==1.0")
    assert installed.run("rebuild").code == 0
    make_wheel(installed.wheels, "tinyz", "1.0")
    installed.pip_install("tinyz")
    assert installed.run("rebuild").code == 0  # now tinya 2.0 is in no lock but as what gave way
    cut = circumstances(network=False).command([])
    shutil.rmtree(installed.root / "cache")
    pruned = installed.run("store", "--prune", prefix=cut)
    assert pruned.code == 0, pruned.finished
    for arguments in (["rebuild", "--offline"], ["undo", "--offline"], ["undo", "--offline"]):
        again = installed.run(*arguments, prefix=cut)
        assert again.code == 0, again.finished
        assert (installed.installed("tinyx"), installed.installed("tinya")) == ("1.0", "1.0")
    assert installed.installed("tinyz") == "1.0"
    dropped = installed.run("rebuild", "--drop-added", "--offline", prefix=cut)
    assert dropped.code == 0, dropped.finished
    assert packages_of(installed) == packages
    assert installed.installed("tinya") == "2.0"


def test_after_pruning_what_is_in_no_lock_yet_is_kept_and_comes_back_without_a_network(
    installed: Computer, circumstances: type[Circumstances]
) -> None:
    for wanted in ("tinyb\ntinyx\n", "tinyb\n", "tinyb\ntinya==1.0\n"):
        assert installed.run("install", "--requirements", installed.requirements(wanted)).code == 0
    own = make_wheel(installed.folder / "own", "tinyo", "1.0", init="__version__ = 'own'\n")
    cut = circumstances(network=False).command([])
    installed.pip_install("tinyx", own)  # the store has tinyx and tinyq from before, and no lock names them any more

    def is_there(version: str) -> bool:
        assert installed.installed("tinyx") == "1.0"
        return installed.installed("tinyo") == version

    pruned = installed.run("store", "--prune", prefix=cut)
    assert pruned.code == 0, pruned.finished
    assert pruned.events[-2]["freed"]["files"] == 0
    repaired = damaged(installed).run("repair", "--offline", prefix=cut)
    assert repaired.code == 0, repaired.finished
    assert is_there("own")
    dropped = installed.run("rebuild", "--drop-added", "--offline", prefix=cut)
    assert dropped.code == 0, dropped.finished
    own.unlink()
    assert installed.run("store", "--prune", prefix=cut).code == 0
    back = installed.run("undo", "--offline", prefix=cut)
    assert back.code == 0, back.finished
    assert is_there("own")


def damaged(computer: Computer) -> Computer:
    """The same computer with an environment that has to be built afresh."""
    (computer.root / ".venv" / "pyvenv.cfg").unlink()
    return computer


def test_what_was_left_out_before_it_was_kept_once_comes_back_after_pruning(
    installed: Computer, circumstances: type[Circumstances]
) -> None:
    own = make_wheel(installed.folder / "own", "tinyo", "1.0", init="__version__ = 'own'\n")
    installed.pip("install", "--no-index", own)
    cut = circumstances(network=False).command([])
    dropped = installed.run("rebuild", "--drop-added", "--offline", prefix=cut)
    assert dropped.code == 0, dropped.finished
    own.unlink()
    assert installed.run("store", "--prune", prefix=cut).code == 0
    back = installed.run("undo", "--offline", prefix=cut)
    assert back.code == 0, back.finished
    assert installed.installed("tinyo") == "own"


def test_a_wheel_does_not_take_the_place_of_another_of_its_name(
    installed: Computer, circumstances: type[Circumstances]
) -> None:
    cut = circumstances(network=False).command([])
    first = make_wheel(installed.folder / "own", "tinyo", "1.0", init="__version__ = 'first'\n")
    wanted = installed.requirements(f"tinyb\n{first.as_uri()}\n")
    assert installed.run("install", "--requirements", wanted).code == 0
    assert installed.run("install", "--requirements", installed.requirements("tinyb\n")).code == 0
    second = make_wheel(installed.folder / "own", "tinyo", "1.0", init="__version__ = 'second'\n")
    installed.pip("install", "--no-index", second)
    second.unlink()  # so that each of them is in the store alone

    def rebuild() -> None:
        result = installed.run("rebuild", "--offline", prefix=cut)
        assert result.code == 0, result.finished
        assert installed.installed("tinyo") == "second"
        assert installed.run("verify", "--deep", prefix=cut).code == 0

    missed = installed.run("rebuild", "--offline", prefix=cut)  # it was gone before the store had it
    assert (missed.code, missed.finished["code"]) == (1, "AML_ADDED_OFFLINE"), missed.finished
    assert installed.installed("tinyo") == "second"
    make_wheel(installed.folder / "own", "tinyo", "1.0", init="__version__ = 'second'\n")
    rebuild()
    second.unlink()
    rebuild()
    assert installed.run("store", "--prune", prefix=cut).code == 0
    rebuild()


@pytest.mark.parametrize("way", ["file", "index", "by hand"])
def test_undo_finds_the_file_of_before_although_another_of_its_name_came(
    installed: Computer, circumstances: type[Circumstances], way: str
) -> None:
    folder = installed.wheels if way == "index" else installed.folder / "own"
    made = {name: f"__version__ = '{name}'\n" for name in ("first", "second")}
    first = make_wheel(folder, "tinyo", "1.0", init=made["first"])
    line = "tinyo" if way == "index" else first.as_uri()
    assert installed.run("install", "--requirements", installed.requirements(f"tinyb\n{line}\n")).code == 0
    assert installed.installed("tinyo") == "first"
    if way == "by hand":
        assert installed.run("install", "--requirements", installed.requirements("tinyb\n")).code == 0
    second = make_wheel(folder, "tinyo", "1.0", init=made["second"])
    if way == "by hand":
        installed.pip("install", "--no-index", second)
        result = installed.run("undo", "--drop-added", "--offline")  # to the first, and back to the second
    else:
        result = installed.run("rebuild", "--refresh")
    assert result.code == 0, result.finished
    second.unlink()
    installed.index.close()
    cut = circumstances(network=False).command([])
    now, other = ("first", "second") if way == "by hand" else ("second", "first")
    assert installed.installed("tinyo") == now
    assert installed.run("store", "--prune", prefix=cut).code == 0
    for expected in (other, now, other):
        back = installed.run("undo", "--offline", prefix=cut)
        assert back.code == 0, back.finished
        assert installed.installed("tinyo") == expected
        assert installed.run("rebuild", "--offline", prefix=cut).code == 0
        assert installed.run("verify", "--deep", prefix=cut).code == 0
        assert installed.run("store", prefix=cut).finished["code"] == "AML_STORE_COMPLETE"


def packages_of(computer: Computer) -> list[dict[str, Any]]:
    """The packages of the lock."""
    packages: list[dict[str, Any]] = tomllib.loads(lock_text(computer))["packages"]
    return packages


def test_what_was_added_is_left_out_where_that_is_chosen(added: Computer) -> None:
    packages = packages_of(added)
    result = added.run("rebuild", "--drop-added", "--offline")
    assert result.code == 0, result.finished
    assert "left out as chosen: tinyq 2.0, tinyx 1.0" in remarks(result)
    assert packages_of(added) == packages
    assert not list((added.root / ".venv").glob("lib/*/site-packages/tinyx*"))


def test_a_version_that_was_changed_by_hand_is_kept_against_the_requirements(installed: Computer) -> None:
    installed.requirements("tinyb\ntinya==2.0\n")
    assert installed.run("install").code == 0
    installed.pip_install("tinya==1.0")
    assert "tinya was changed by hand: 1.0 in place of 2.0." in installed.run("verify").finished["detail"]
    for arguments in (["rebuild"], ["rebuild", "--refresh"]):
        assert installed.run(*arguments).code == 0
        assert installed.installed("tinya") == "1.0"
    assert "changed by hand" not in installed.run("verify").finished.get("detail", "")
    installed.pip_install("tinya==2.0")
    assert installed.run("rebuild").code == 0
    assert installed.installed("tinya") == "2.0"


def test_without_a_network_what_cannot_be_kept_is_named_and_nothing_is_changed(
    added: Computer, circumstances: type[Circumstances]
) -> None:
    added.index.close()
    added.hurried = True
    cut = circumstances(network=False).command([])
    lock, venv = lock_text(added), (added.root / ".venv").stat().st_ino
    for arguments in (["rebuild"], ["rebuild", "--offline"], ["rebuild", "--keep-added", "--offline"]):
        result = added.run(*arguments, prefix=cut)
        assert (result.code, result.finished["code"]) == (1, "AML_ADDED_OFFLINE"), arguments
        assert "tinyx" in result.finished["message"]
        assert ("the store does not hold" in result.finished["message"]) is ("--offline" in arguments)
        assert "--drop-added" in result.finished["hint"]
    assert lock_text(added) == lock
    assert (added.root / ".venv").stat().st_ino == venv
    assert added.installed("tinyx") == "1.0"
    assert not (added.root / "runtime" / "pylock.next.toml").exists()
    packages = packages_of(added)
    dropped = added.run("rebuild", "--drop-added", prefix=cut)
    assert dropped.code == 0, dropped.finished
    assert packages_of(added) == packages


def test_without_a_network_what_the_store_holds_is_kept(added: Computer, circumstances: type[Circumstances]) -> None:
    for name in ("tinyx-1.0", "tinyq-2.0"):
        shutil.copy(added.wheels / f"{name}-py3-none-any.whl", added.root / "downloads")
    added.index.close()
    added.hurried = True
    cut = circumstances(network=False).command([])
    for arguments in (["rebuild"], ["rebuild", "--offline"]):
        result = added.run(*arguments, prefix=cut)
        assert result.code == 0, result.finished
        assert added.installed("tinyx") == "1.0"
    assert str(added.root) not in lock_text(added)
    assert added.run("verify", "--deep", prefix=cut).code == 0


def test_a_local_wheel_is_kept_although_the_index_has_another_of_its_name(installed: Computer) -> None:
    own = make_wheel(installed.folder / "own wheels", "tinyx", "1.0", init="__version__ = 'own'\n", console_script=False)
    installed.pip("install", "--no-index", own)
    assert changed(installed.run("plan", "--refresh")) == NOTHING
    assert not (installed.root / "downloads" / own.name).exists()
    result = installed.run("rebuild")
    assert result.code == 0, result.finished
    assert installed.installed("tinyx") == "own"
    assert own.name in noted_files(Workspace(installed.root))
    own.unlink()
    moved = installed.folder / "moved"
    installed.root.rename(moved)
    assert installed.run("repair", "--root", moved).code == 0
    for arguments in (["rebuild", "--offline"], ["rebuild", "--refresh"]):
        again = installed.run(*arguments, "--root", moved)
        assert again.code == 0, again.finished
        (module,) = moved.glob(".venv/lib/*/site-packages/tinyx/__init__.py")
        assert "own" in module.read_text()


def test_a_local_wheel_that_is_gone_is_not_replaced_by_another_of_its_name(installed: Computer) -> None:
    own = make_wheel(installed.folder / "own", "tinyx", "1.0", init="__version__ = 'own'\n")
    installed.pip("install", "--no-index", own)
    own.unlink()
    result = installed.run("rebuild")
    assert (result.code, result.finished["code"]) == (1, "AML_ADDED_CONFLICT"), result.finished
    assert "tinyx" in result.finished["message"]
    assert installed.installed("tinyx") == "own"


def test_an_editable_folder_that_was_added_stays_where_it_is(installed: Computer) -> None:
    notes = installed.folder / "notes.txt"
    notes.touch()
    source = make_source(installed.folder / "source", "tinyd", "4.0", notes=notes, requires=("tinyq",))
    installed.pip("install", "--index-url", installed.index.index_url, "--no-build-isolation", "-e", source)
    assert [each["name"] for each in installed.run("detect").events[0]["environment"]["added"]] == ["tinyd", "tinyq"]
    result = installed.run("rebuild")
    assert result.code == 0, result.finished
    (source / "tinyd" / "__init__.py").write_text("__version__ = 'edited'\n")
    assert installed.installed("tinyd") == "edited"
    assert installed.installed("tinyq") == "2.0"
    assert installed.run("detect").events[0]["environment"]["added"] == []
    assert installed.run("rebuild", "--offline").code == 0
    assert installed.installed("tinyd") == "edited"


def test_an_editable_folder_that_was_added_is_kept_with_what_it_is_built_with(installed: Computer) -> None:
    notes = installed.folder / "notes.txt"
    notes.touch()
    make_backend(installed.wheels, notes)
    source = make_source(installed.folder / "source", "tinyd", "4.0", notes=notes, backend=BACKEND)
    installed.pip_install("-e", source)
    assert installed.run("rebuild").code == 0
    (source / "tinyd" / "__init__.py").write_text("__version__ = 'edited'\n")
    assert installed.installed("tinyd") == "edited"
    shutil.rmtree(installed.root / "cache")
    cold = installed.run("rebuild", "--offline")
    assert (cold.code, cold.finished["code"]) == (1, "AML_ADDED_OFFLINE"), cold.finished
    assert "tinyd" in cold.finished["message"]
    assert BACKEND in cold.finished["message"]
    assert "--drop-added" in cold.finished["hint"]
    assert installed.installed("tinyd") == "edited"
    assert installed.run("rebuild", "--drop-added", "--offline").code == 0


def test_a_refresh_shows_what_changes_and_takes_what_was_added_along(installed: Computer) -> None:
    installed.pip_install("tinyx", "tinyq==1.0")
    make_wheel(installed.wheels, "tinya", "3.0")
    make_wheel(installed.wheels, "tinyx", "2.0", requires=["tinyq>=2", "tinya<3"])
    before = lock_text(installed)
    planned = installed.run("plan", "--refresh")
    assert planned.code == 0, planned.events
    result = installed.run("rebuild", "--refresh")
    assert result.code == 0, result.finished
    assert (
        changed(planned)
        == changed(result)
        == {
            "python": None,
            "uv": None,
            "added": [],
            "removed": [],
            "changed": [{"name": "tinyq", "from": "1.0", "to": "2.0"}, {"name": "tinyx", "from": "1.0", "to": "2.0"}],
        }
    )
    assert installed.installed("tinya") == "2.0"
    assert lock_text(installed) != before
    assert changed(installed.run("rebuild", "--refresh")) == NOTHING
    dropped = installed.run("rebuild", "--drop-added", "--refresh")
    assert [each["name"] for each in changed(dropped)["removed"]] == ["tinyq", "tinyx"]
    assert changed(dropped)["changed"] == [{"name": "tinya", "from": "2.0", "to": "3.0"}]
    assert dropped.code == 0, dropped.finished
    assert installed.installed("tinya") == "3.0"


def test_a_look_at_what_a_refresh_would_change_leaves_no_trace(installed: Computer) -> None:
    def tree() -> dict[str, int]:
        return {
            str(path): path.lstat().st_mtime_ns for path in installed.root.rglob("*") if "__pycache__" not in path.parts
        }

    before = tree()
    assert changed(installed.run("plan", "--refresh")) == NOTHING
    assert tree() == before
    shown = subprocess.run(
        installed.argv("plan", "--refresh")[:-1],
        cwd=REPOSITORY,
        env=installed.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Nothing changes: the same packages in the same versions." in shown.stdout


def test_other_requirements_leave_what_was_added_in_its_versions_but_for_a_refresh(installed: Computer) -> None:
    installed.pip_install("tinyx", "tinyq==1.0")
    make_wheel(installed.wheels, "tinyx", "2.0", requires=["tinyq"])
    result = installed.run("install", "--requirements", installed.requirements("tinya==1.0\n"))
    assert result.code == 0, result.finished
    assert changed(result)["changed"] == [{"name": "tinya", "from": "2.0", "to": "1.0"}]
    assert (installed.installed("tinyx"), installed.installed("tinyq")) == ("1.0", "1.0")
    installed.requirements("tinya==2.0\ntinyq>=2\n")
    needed = installed.run("install")
    assert needed.code == 0, needed.finished
    assert (installed.installed("tinyx"), installed.installed("tinyq")) == ("1.0", "2.0")
    refreshed = installed.run("rebuild", "--refresh")
    assert changed(refreshed)["changed"] == [{"name": "tinyx", "from": "1.0", "to": "2.0"}]


def test_what_conflicts_with_the_requirements_is_named(installed: Computer) -> None:
    make_wheel(installed.wheels, "tinyz", "1.0", requires=["tinya<2"])
    installed.pip_install("--no-deps", "tinyz")
    installed.requirements("tinyb\ntinya>=2\n")
    for arguments in (["install"], ["rebuild", "--refresh"]):
        result = installed.run(*arguments)
        assert (result.code, result.finished["code"]) == (1, "AML_ADDED_CONFLICT"), result.finished
        assert "tinyz" in result.finished["message"]
        assert "--drop-added" in result.finished["hint"]
    assert installed.installed("tinyz") == "1.0"
    result = installed.run("install", "--drop-added")
    assert result.code == 0, result.finished
    assert not list((installed.root / ".venv").glob("lib/*/site-packages/tinyz*"))


def test_a_requirement_that_was_added_before_it_was_written_down_is_one_of_the_file(added: Computer) -> None:
    assert added.run("rebuild").code == 0
    added.requirements("tinyb\ntinyx\n")
    assert added.run("install").code == 0
    about = tomllib.loads(lock_text(added))["tool"]["amlwizard"]
    assert "added" not in about
    assert added.installed("tinyx") == "1.0"


def test_a_repair_keeps_what_it_can_and_names_what_it_cannot(added: Computer) -> None:
    (added.root / ".venv" / "pyvenv.cfg").unlink()
    kept = added.run("repair")
    assert kept.code == 0, kept.finished
    assert added.installed("tinyx") == "1.0"
    make_wheel(added.wheels, "tinyz", "1.0")
    added.pip_install("tinyz")
    (added.root / ".venv" / "pyvenv.cfg").unlink()
    lock = lock_text(added)
    result = added.run("repair", "--offline")
    assert result.code == 0, result.finished
    assert "Rebuilt without what was added by hand" in remarks(result)
    assert "tinyz" in remarks(result)
    assert added.installed("tinyx") == "1.0"
    assert packages_of(added) == tomllib.loads(lock)["packages"]
    assert added.run("verify").code == 0


def test_a_damaged_package_whose_version_was_changed_by_hand_keeps_it(installed: Computer) -> None:
    installed.pip_install("tinya==1.0")
    (module,) = (installed.root / ".venv").glob("lib/*/site-packages/tinya/__init__.py")
    module.unlink()
    result = installed.run("repair")
    assert result.code == 0, result.finished
    assert installed.installed("tinya") == "1.0"


def test_undo_keeps_what_was_added_since(installed: Computer) -> None:
    installed.requirements("tinyb\ntinya==1.0\n")
    assert installed.run("install").code == 0
    installed.pip_install("tinyx")
    result = installed.run("undo")
    assert result.code == 0, result.finished
    assert (installed.installed("tinya"), installed.installed("tinyx")) == ("2.0", "1.0")
    installed.pip_install("-U", "tinyq", "tinya==1.0")
    dropped = installed.run("undo", "--drop-added", "--offline")
    assert dropped.code == 0, dropped.finished
    assert installed.installed("tinya") == "1.0"
    assert not list((installed.root / ".venv").glob("lib/*/site-packages/tinyx*"))


def test_undo_goes_back_to_what_was_there_with_what_was_added_to_it(installed: Computer) -> None:
    installed.pip_install("tinyx", "tinyq==1.0")
    installed.requirements("tinya==1.0\n")
    assert installed.run("install").code == 0
    there = {package["name"]: package["version"] for package in packages_of(installed)}
    assert there == {"tinya": "1.0", "tinyq": "1.0", "tinyx": "1.0"}
    for _ in range(2):
        back = installed.run("undo", "--keep-added")
        assert back.code == 0, back.finished
        was = {package["name"]: package["version"] for package in packages_of(installed)}
        assert was == {"tinya": "2.0", "tinyb": "1.0", "tinyq": "1.0", "tinyx": "1.0"}
        assert installed.installed("tinyx") == "1.0"
        assert installed.run("undo", "--offline").code == 0
        assert {package["name"]: package["version"] for package in packages_of(installed)} == there


def test_undo_that_drops_what_was_added_goes_back_to_the_lock_alone(added: Computer) -> None:
    packages = packages_of(added)
    added.requirements("tinya==1.0\n")
    assert added.run("install").code == 0
    dropped = added.run("undo", "--drop-added", "--offline")
    assert dropped.code == 0, dropped.finished
    assert "left out as chosen: tinyq 2.0, tinyx 1.0" in remarks(dropped)
    assert packages_of(added) == packages


def test_undo_brings_back_what_was_left_out_by_a_rebuild(added: Computer) -> None:
    assert added.run("rebuild", "--drop-added").code == 0
    undone = added.run("undo")
    assert undone.code == 0, undone.finished
    assert "kept: tinyq 2.0, tinyx 1.0" in remarks(undone)
    assert added.installed("tinyx") == "1.0"
    assert added.run("undo", "--offline").code == 0
    assert not list((added.root / ".venv").glob("lib/*/site-packages/tinyx*"))


def test_an_index_that_only_the_requirements_name_is_asked_for_what_was_added(computer: Computer) -> None:
    inner = computer.folder / "inner"
    make_wheel(inner, "tinyx", "1.0", requires=["tinya"])
    with IndexServer(inner) as company:
        company.fault("/simple/*", "auth")
        computer.extra["INNER_PASSWORD"] = "secret"
        address = company.index_url.replace("://", "://user:${INNER_PASSWORD}@")
        wanted = computer.requirements(f"--extra-index-url {address}\ntinyb\n")
        assert computer.run("install", "--requirements", wanted).code == 0
        computer.pip("install", "--no-index", "--find-links", inner, "--no-deps", "tinyx")
        result = computer.run("rebuild")
    assert result.code == 0, result.finished
    assert computer.installed("tinyx") == "1.0"
    assert "secret" not in lock_text(computer)
    assert not [path for path in (computer.root / "runtime").rglob("*.txt") if "secret" in path.read_text()]


def test_a_version_that_only_a_further_index_has_is_kept(installed: Computer) -> None:
    inner = installed.folder / "inner"
    make_wheel(inner, "tinyx", "0.5")
    installed.pip("install", "--no-index", "--find-links", inner, "tinyx==0.5")
    make_wheel(installed.wheels, "tinyx", "2.0")
    with IndexServer(installed.wheels) as first, IndexServer(inner) as further:
        result = installed.run("rebuild", "--index-url", further.index_url, "--extra-index-url", first.index_url)
    assert result.code == 0, result.finished
    assert installed.installed("tinyx") == "0.5"


def test_pip_counts_as_well_where_it_goes(computer: Computer) -> None:
    make_wheel(computer.wheels, "pip", "99.0")
    wanted = computer.requirements("tinyb\npip\n")
    assert computer.run("install", "--requirements", wanted).code == 0
    computer.requirements("tinyb\n")
    result = computer.run("install", "--requirements", wanted)
    assert result.code == 0, result.finished
    assert changed(result)["removed"] == [{"name": "pip", "version": "99.0"}]


def test_the_store_is_not_said_to_hold_everything_where_something_was_added(installed: Computer) -> None:
    assert installed.run("store").finished["code"] == "AML_STORE_COMPLETE"
    installed.pip_install("tinyx")
    told = installed.run("store").finished
    assert (told["code"], "tinyx 1.0" in told["message"]) == ("AML_STORE_ADDED", True)
    assert installed.run("rebuild").code == 0
    assert installed.run("store").finished["code"] == "AML_STORE_COMPLETE"


def test_in_text_what_was_added_and_what_changes_is_told_in_words(installed: Computer) -> None:
    def said(*arguments: str) -> str:
        argv, where = installed.argv(*arguments)[:-1], {"cwd": REPOSITORY, "env": installed.environ}
        done = subprocess.run(argv, **where, capture_output=True, text=True, check=True)
        return done.stdout + done.stderr

    installed.pip_install("tinya==1.0", "tinyx")
    named = "tinya 1.0 (in the lock: 2.0), tinyq 2.0, tinyx 1.0"
    assert f"Added or changed by hand: {named}. A rebuild keeps this" in said("detect")
    dropped = said("rebuild", "--drop-added")
    assert f"Added or changed by hand, and left out as chosen: {named}\n" in dropped
    assert "What changes: 2 removed, 1 in another version or build.\n" in dropped
    assert "\n  - tinyq 2.0\n  - tinyx 1.0\n  tinya 1.0 → 2.0\n" in dropped
    logs = sorted((installed.root / "runtime" / "logs").glob("*-rebuild-*.log"))
    assert "  - tinyx 1.0" in logs[-1].read_text()


def test_what_was_kept_stays_in_its_version_when_more_is_added(added: Computer) -> None:
    assert added.run("rebuild").code == 0
    make_wheel(added.wheels, "tinyx", "2.0")
    make_wheel(added.wheels, "tinyq", "3.0")
    make_wheel(added.wheels, "tinya", "3.0")
    make_wheel(added.wheels, "tinyz", "1.0", requires=["tinya", "tinyq"])
    added.pip_install("tinyz")
    assert added.run("rebuild").code == 0
    versions = {package["name"]: package.get("version") for package in packages_of(added)}
    assert versions == {"tinya": "2.0", "tinyb": "1.0", "tinyq": "2.0", "tinyx": "1.0", "tinyz": "1.0"}
    about = tomllib.loads(lock_text(added))["tool"]["amlwizard"]
    assert (about["added"], about["brought"]) == (["tinyx", "tinyz"], ["tinyq", "tinyx", "tinyz"])


def test_a_complete_hashed_list_stays_as_it_is_beside_what_was_added(installed: Computer) -> None:
    pins = [f"{name}=={version} --hash=sha256:{sha256_of(wheel_of(installed, name, version))}" for name, version in LISTED]
    installed.requirements("\n".join(pins) + "\n")
    assert installed.run("install").code == 0
    installed.pip_install("tinyx", "tinyq==1.0")
    make_wheel(installed.wheels, "tinya", "3.0")
    assert installed.run("rebuild").code == 0
    assert (installed.installed("tinya"), installed.installed("tinyq")) == ("1.0", "1.0")
    result = installed.run("rebuild", "--refresh")
    assert result.code == 0, result.finished
    assert changed(result)["changed"] == [{"name": "tinyq", "from": "1.0", "to": "2.0"}]
    assert installed.installed("tinya") == "1.0"


LISTED = (("tinya", "1.0"), ("tinyb", "1.0"))


def wheel_of(computer: Computer, name: str, version: str) -> Path:
    """The wheel on the index."""
    return computer.wheels / f"{name}-{version}-py3-none-any.whl"


def put_loose(computer: Computer) -> dict[str, str]:
    """Put a module, a ``.pth`` file, a folder and a program into the environment; return their contents by their places."""
    (site,) = (computer.root / ".venv").glob("lib/python*/site-packages")
    programs = computer.root / ".venv" / "bin"
    (site / "mytools").mkdir()
    files = {
        site / "mine.py": "__version__ = 'mine'\n",
        site / "mine.pth": "import mine\n",
        site / "mytools" / "inner.py": "VALUE = 1\n",
        programs / "train": "#!/bin/sh\nexit 0\n",
    }
    for path, content in files.items():
        path.write_text(content)
    return {str(path.relative_to(computer.root / ".venv")): content for path, content in files.items()}


def contents(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """The contents of those files that are there."""
    return {name: (folder / name).read_text() for name in names if (folder / name).is_file()}


def aside(computer: Computer) -> dict[str, str]:
    """What was set aside: the contents by the names, from the folder of the environment on."""
    found = [path for path in computer.root.glob("set-aside/*/**/*") if path.is_file()]
    return {"/".join(path.parts[len(computer.root.parts) + 2 :]): path.read_text() for path in found}


NAMED = "mine.pth, mine.py, mytools, train"


@pytest.mark.posix
def test_loose_files_are_named_and_kept_by_whatever_builds_anew(installed: Computer) -> None:
    files = put_loose(installed)
    rebuilt = installed.run("rebuild")
    assert rebuilt.code == 0, rebuilt.finished
    assert f"kept: {NAMED}" in remarks(rebuilt)
    assert contents(installed.root / ".venv", files) == files
    assert installed.installed("mine") == "mine"

    (site,) = (installed.root / ".venv").glob("lib/python*/site-packages")
    (site / "tinya" / "__init__.py").write_text("broken")
    shutil.rmtree(site / "tinyb-1.0.dist-info")  # so that what belongs to it is on no list
    repaired = installed.run("repair")
    assert repaired.code == 0, repaired.finished
    assert contents(installed.root / ".venv", files) == files
    assert aside(installed) == {}


@pytest.mark.posix
def test_without_uv_what_was_added_and_loose_files_are_kept_by_pip(without_uv: Computer) -> None:
    make_wheel(without_uv.wheels, "tinyx", "1.0", requires=["tinyq"])
    make_wheel(without_uv.wheels, "tinyq", "1.0")
    without_uv.pip_install("tinyx")
    files = put_loose(without_uv)
    for arguments in (["rebuild"], ["rebuild", "--offline"]):
        result = without_uv.run(*arguments, "--uv-method", "none")
        assert result.code == 0, result.finished
        assert without_uv.installed("tinyx") == "1.0"
        assert f"kept: {NAMED}" in remarks(result)
        assert contents(without_uv.root / ".venv", files) == files
    assert aside(without_uv) == {}


@pytest.mark.posix
def test_loose_files_of_an_environment_that_cannot_be_mended_are_kept(installed: Computer) -> None:
    files = put_loose(installed)
    result = damaged(installed).run("repair", "--offline")
    assert result.code == 0, result.finished
    assert contents(installed.root / ".venv", files) == files


@pytest.mark.posix
def test_loose_files_that_are_not_to_be_kept_are_set_aside(installed: Computer) -> None:
    files = put_loose(installed)
    dropped = installed.run("rebuild", "--drop-added")
    assert dropped.code == 0, dropped.finished
    assert f"{NAMED}. They are in {installed.root}/set-aside/" in remarks(dropped)
    assert contents(installed.root / ".venv", files) == {}
    assert aside(installed) == {name.partition("python")[2].partition("/")[2] or name: files[name] for name in files}
    assert installed.run("uninstall").code == 0
    assert set(aside(installed).values()) == set(files.values())


@pytest.mark.posix
def test_a_file_in_the_place_of_what_is_set_aside_is_named_before_anything_is_done(installed: Computer) -> None:
    files = put_loose(installed)
    (installed.root / "set-aside").write_text("mine")
    wanted = ("--requirements", installed.requirements("tinya==1.0\n"))
    for command in (("rebuild", "--drop-added"), ("rebuild",), ("install", *wanted), ("plan", *wanted)):
        installed.index.forget()
        refused = installed.run(*command)
        assert (refused.code, refused.finished["code"]) == (2, "AML_FOLDER_IS_FILE"), refused.finished
        assert f"{installed.root}/set-aside" in refused.finished["message"]
        assert refused.states() == {}
        assert installed.index.requests() == []
    assert contents(installed.root / ".venv", files) == files
    assert (installed.root / "set-aside").read_text() == "mine"


@pytest.mark.linux
def test_a_commit_that_fails_leaves_nothing_set_aside(installed: Computer, circumstances: type[Circumstances]) -> None:
    files = put_loose(installed)
    venv = installed.root / ".venv"
    script = f"mount --bind '{venv}' '{venv}'; exec \"$@\""  # so that the system does not let it be renamed
    held = circumstances().command(["/bin/sh", "-ec", script, "held"])
    for method in ("auto", "auto", "none"):
        failed = installed.run("rebuild", "--drop-added", "--uv-method", method, prefix=held)
        assert (failed.code, failed.finished["code"]) == (1, "AML_COMMIT_FAILED"), failed.finished
        assert "set-aside" not in remarks(failed)
        assert not (installed.root / "set-aside").exists()
    assert contents(venv, files) == files
    assert installed.run("rebuild", "--drop-added").code == 0
    assert set(aside(installed).values()) == set(files.values())


@pytest.mark.linux
def test_what_cannot_be_set_aside_as_a_whole_is_not_at_all(installed: Computer, circumstances: type[Circumstances]) -> None:
    files = put_loose(installed)
    (installed.root / ".venv" / "share" / "large").parent.mkdir(exist_ok=True)
    (installed.root / ".venv" / "share" / "large").write_bytes(bytes(100_000))
    place = installed.root / "set-aside"
    place.mkdir()
    listing = [*circumstances(file_systems=[SmallFileSystem(place, 40_000)]).command(["/bin/sh", "-c"])]
    script = '"$@"; code=$?; echo "left: $(ls -A "$0")" >&2; exit $code'
    failed = installed.run("rebuild", "--drop-added", prefix=[*listing, script, str(place)])
    assert (failed.code, failed.finished["code"]) == (1, "AML_NO_SPACE"), failed.finished
    assert str(place) in failed.finished["message"]
    assert failed.stderr.endswith("left: \n")
    assert contents(installed.root / ".venv", files) == files


@pytest.mark.posix
def test_a_loose_file_whose_name_a_package_takes_is_set_aside(installed: Computer) -> None:
    files = put_loose(installed)
    make_wheel(installed.wheels, "tinyx", "1.0", files={"mine.py": b"__version__ = 'of a package'\n"})
    result = installed.run("install", "--requirements", installed.requirements("tinyx\n"))
    assert result.code == 0, result.finished
    assert installed.installed("mine") == "of a package"
    assert aside(installed) == {"site-packages/mine.py": "__version__ = 'mine'\n"}
    others = {name: content for name, content in files.items() if not name.endswith("mine.py")}
    assert contents(installed.root / ".venv", others) == others


@pytest.mark.posix
def test_what_a_package_without_its_list_leaves_is_not_taken_for_the_users(installed: Computer) -> None:
    (site,) = (installed.root / ".venv").glob("lib/python*/site-packages")
    shutil.rmtree(site / "tinyb-1.0.dist-info")
    result = installed.run("rebuild")
    assert result.code == 0, result.finished
    assert "put into the environment by hand" not in remarks(result)
    assert aside(installed) == {}
