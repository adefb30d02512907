"""How the end of a look is put."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.built_store import keep_built
from amlwizard.core.catalogue import LANGUAGES, error_texts
from amlwizard.core.lock import FileKind, LockedFile
from amlwizard.core.paths import Workspace
from amlwizard.core.store.pruning import Freed
from amlwizard.core.store.report import store_content, store_end
from amlwizard.core.wording import size_text
from tests.core.store.support import PYTHON, fetched, look, package_of, write_lock
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "aml")


def code(workspace: Workspace, freed: Freed | None = None) -> str:
    end = store_end(workspace, look(workspace), freed, "en")
    for language in LANGUAGES:
        assert all("{" not in words for words in error_texts(end, language))
    return end.code


def test_each_state_has_an_end_of_its_own(workspace: Workspace) -> None:
    assert code(workspace) == "AML_STORE_UNUSED"
    used, before = fetched(workspace, "a", "2"), fetched(workspace, "a", "1")
    write_lock(workspace.next_lock, package_of(used))
    assert code(workspace) == "AML_STORE_UNUSED"
    write_lock(workspace.lock, package_of(used))
    write_lock(workspace.previous_lock, package_of(before))
    assert code(workspace) == "AML_STORE_COMPLETE"
    before.unlink()
    assert code(workspace) == "AML_STORE_UNDO_LACKS"
    used.unlink()
    end = store_end(workspace, look(workspace), None, "en")
    assert (end.code, end.arguments["count"]) == ("AML_STORE_LACKS", 1)  # what undo lacks is not counted there
    workspace.lock.write_text("lost")
    assert code(workspace) == "AML_STORE_UNREADABLE"
    assert code(workspace, Freed(files=1, bytes=2_000_000, cache_bytes=5)) == "AML_STORE_FREED"
    assert code(workspace, Freed()) == "AML_STORE_NOTHING_FREED"


def test_what_was_chosen_and_not_installed_is_no_matter_of_undo(workspace: Workspace) -> None:
    write_lock(workspace.lock, package_of(fetched(workspace, "a", "1")))
    chosen = fetched(workspace, "b", "2"), fetched(workspace, "c", "2")
    entries = [package_of(wheel) for wheel in chosen]
    size = size_text(chosen[0].stat().st_size, "en")
    for wheel in chosen:
        wheel.unlink()
        workspace.store_record.unlink(missing_ok=True)
    write_lock(workspace.next_lock, *entries)
    end = store_end(workspace, look(workspace), None, "en")
    assert (end.code, end.arguments["count"]) == ("AML_STORE_CHOSEN_LACKS", 2)
    del entries[1]["wheels"][0]["size"]
    write_lock(workspace.next_lock, *entries)
    assert store_end(workspace, look(workspace), None, "en").arguments["size"] == f"{size} or more"
    del entries[0]["wheels"][0]["size"]
    write_lock(workspace.next_lock, *entries)
    assert store_end(workspace, look(workspace), None, "en").arguments["size"] == "size not known"


def test_a_lock_without_sizes_is_as_big_as_its_files_in_the_store(workspace: Workspace) -> None:
    wheel = fetched(workspace, "a", "1")
    entry = package_of(wheel)
    del entry["wheels"][0]["size"]
    write_lock(workspace.lock, entry)
    content = store_content(workspace, look(workspace), None)
    assert content["locks"][0]["bytes"] == wheel.stat().st_size


def test_what_is_to_be_built_is_no_missing_file(workspace: Workspace, tmp_path: Path) -> None:
    write_lock(workspace.lock, {"name": "d", "directory": {"path": str(tmp_path / "d")}})
    assert code(workspace) == "AML_STORE_TO_BUILD"
    write_lock(
        workspace.previous_lock, package_of(gone := fetched(workspace, "a")), {"name": "e", "directory": {"path": "e"}}
    )
    write_lock(workspace.lock, package_of(fetched(workspace, "b")))
    gone.unlink()
    end = store_end(workspace, look(workspace), None, "en")
    assert (end.code, end.arguments["count"]) == ("AML_STORE_UNDO_LACKS", 1)


def test_the_values_are_json_and_name_sources_without_what_is_not_known(workspace: Workspace, tmp_path: Path) -> None:
    url = "https://me:secret@files.example.org/d-4.0.tar.gz"
    file = LockedFile("d", "4.0", FileKind.SDIST, url, None, "d-4.0.tar.gz", size=7, sha256="d" * 64)
    keep_built(workspace, file, PYTHON, make_wheel(tmp_path, "d", "4.0"))
    used = fetched(workspace, "a")
    write_lock(workspace.lock, package_of(used))
    content = json.loads(json.dumps(store_content(workspace, look(workspace), Freed(stuck=[used]))))
    (built,) = content["built"]
    assert built["source"] == {"kind": "sdist", "url": "https://files.example.org/d-4.0.tar.gz", "sha256": "d" * 64}
    assert (built["name"], built["version"], built["needed_by"]) == ("d", "4.0", [])
    assert content["freed"] == {"files": 0, "bytes": 0, "cache_bytes": 0, "stuck": [f"downloads/{used.name}"]}
    assert content["locks"][0]["bytes"] == used.stat().st_size
    assert content["freeable"][0]["kind"] == "built"
    assert content["freeable_bytes"] == content["kinds"][2]["freeable_bytes"] > 0
