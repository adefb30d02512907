"""``add`` and ``remove``: further packages beside what the requirements want, remembered in the lock."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.sources import make_source
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from tests.e2e.conftest import Computer, Result

pytestmark = [pytest.mark.e2e, pytest.mark.posix]


def has(computer: Computer, module: str) -> bool:
    """Tell whether the environment has a package."""
    return any((computer.root / ".venv").glob(f"lib/python3*/site-packages/{module}/__init__.py"))


def never_take_uv(computer: Computer) -> None:
    """Let every command do without uv."""
    settings = Path(computer.environ["HOME"]) / ".config" / "amlwizard" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"uvMethod": "none"}')


def changed(result: Result) -> list[str]:
    """Return the names of what a run said it would add and remove."""
    told = [event for event in result.events if event["event"] == "changes"]
    return [
        f"{sign}{each['name']}" for event in told for key, sign in (("added", "+"), ("removed", "-")) for each in event[key]
    ]


@pytest.mark.parametrize("made", ["older", "without_uv"])
def test_what_is_added_comes_with_what_it_needs_and_stays(request: pytest.FixtureRequest, made: str) -> None:
    computer: Computer = request.getfixturevalue(made)
    if made == "without_uv":
        never_take_uv(computer)
    make_wheel(computer.wheels, "tinyneeded")
    make_wheel(computer.wheels, "tinymore", "1.0", requires=["tinyneeded"])
    make_wheel(computer.wheels, "tinymore", "2.0", requires=["tinyneeded"])
    before = computer.installed("tinya")
    added = computer.run("add", "TinyMore<2")
    assert added.code == 0, added.finished
    assert changed(added) == ["+tinymore", "+tinyneeded"]
    assert computer.installed("tinymore") == "1.0"
    assert computer.installed("tinya") == before
    assert computer.run("rebuild", "--offline").code == 0
    assert computer.installed("tinymore") == "1.0"
    assert computer.run("install").finished["code"] == "AML_ALREADY_READY"
    again = computer.run("add", "tinymore<2")
    assert (again.code, again.finished["code"]) == (0, "AML_ADD_PRESENT")
    assert "tinymore<2" in again.finished["message"]
    removed = computer.run("remove", "tinymore", "--offline")
    assert removed.code == 0, removed.finished
    assert changed(removed) == ["-tinymore", "-tinyneeded"]
    assert not has(computer, "tinymore")
    assert not has(computer, "tinyneeded")
    assert computer.run("undo", "--offline").code == 0
    assert has(computer, "tinymore")


def test_what_was_put_in_by_hand_can_be_taken_out_as_well(older: Computer) -> None:
    make_wheel(older.wheels, "tinyx")
    make_wheel(older.wheels, "tinyq")
    older.pip_install("tinyq==1.0", "tinyx")
    result = older.run("remove", "tinyx")
    assert result.code == 0, result.finished
    assert not has(older, "tinyx")
    assert older.installed("tinyq") == "1.0"  # the rest of what was added by hand is kept, as it is by a rebuild


def test_an_address_is_taken_and_a_login_in_it_is_not(older: Computer) -> None:
    wheel = make_wheel(older.folder / "elsewhere", "tinyelse", "3.0")
    result = older.run("add", f"tinyelse @ {wheel.as_uri()}")
    assert result.code == 0, result.finished
    wheel.unlink()
    assert older.run("rebuild", "--offline").code == 0
    assert older.installed("tinyelse") == "3.0"
    refused = older.run("add", "tinyq @ https://mei:s3cret@files.example.org/tinyq-1.0-py3-none-any.whl")
    assert (refused.code, refused.finished["code"]) == (2, "AML_ADD_HAS_LOGIN")
    assert "s3cret" not in str(refused.events)
    refused = older.run("add", "https://mei:s3cret@files.example.org/tinyq-1.0-py3-none-any.whl")
    assert (refused.code, refused.finished["code"]) == (2, "AML_ADD_INVALID")
    assert "s3cret" not in str(refused.events) + refused.stderr


@pytest.mark.parametrize("made", ["older", "without_uv"])
def test_a_wheel_whose_file_is_gone_does_not_keep_others_out(request: pytest.FixtureRequest, made: str) -> None:
    computer: Computer = request.getfixturevalue(made)
    if made == "without_uv":
        never_take_uv(computer)
    make_wheel(computer.wheels, "tinymore")
    wheel = make_wheel(computer.folder / "elsewhere", "tinyelse", "3.0")
    assert computer.run("add", f"tinyelse @ {wheel.as_uri()}").code == 0
    wheel.unlink()
    added = computer.run("add", "tinymore")
    assert added.code == 0, added.finished
    assert has(computer, "tinymore")
    assert computer.installed("tinyelse") == "3.0"
    (computer.root / "downloads" / wheel.name).unlink()
    removed = computer.run("remove", "tinymore")
    assert (removed.code, removed.finished["code"]) == (1, "AML_ADDED_FILE_GONE"), removed.finished
    assert "amlwizard remove tinyelse" in removed.finished["hint"]
    removed = computer.run("remove", "tinyelse")
    assert removed.code == 0, removed.finished
    assert not has(computer, "tinyelse")


def test_a_file_that_is_not_there_is_named_for_what_it_is(older: Computer) -> None:
    place = older.folder / "nowhere" / "tinyelse-3.0-py3-none-any.whl"
    refused = older.run("add", f"tinyelse @ {place.as_uri()}")
    assert (refused.code, refused.finished["code"]) == (2, "AML_ADD_FILE_MISSING"), refused.finished
    assert str(place) in refused.finished["message"]


def test_an_index_that_is_down_is_no_lack_of_a_network(older: Computer) -> None:
    older.extra["AML_INDEX_URL"] = "http://127.0.0.1:9/simple/"
    older.hurried = True
    refused = older.run("add", "tinyb")
    assert (refused.code, refused.finished["code"]) == (1, "AML_INDEX_REFUSED"), refused.finished


def test_an_editable_folder_is_taken_out_by_its_name(older: Computer) -> None:
    notes = older.folder / "notes.txt"
    notes.touch()
    source = make_source(older.folder / "source", "tinyd", "4.0", notes=notes)
    older.pip("install", "--index-url", older.index.index_url, "--no-build-isolation", "-e", source)
    assert older.run("rebuild").code == 0
    assert older.installed("tinyd") == "4.0"
    result = older.run("remove", "tinyd")
    assert result.code == 0, result.finished
    detected = older.run("detect").events[0]["environment"]
    assert (detected["added"], detected["kept"]) == ([], [])


def test_what_only_the_lock_has_is_installed_again(older: Computer) -> None:
    make_wheel(older.wheels, "tinymore")
    assert older.run("add", "tinymore").code == 0
    older.pip("uninstall", "-y", "tinymore")
    result = older.run("add", "tinymore")
    assert (result.code, result.finished["code"]) == (0, "AML_READY")
    assert has(older, "tinymore")


def test_hints_name_the_command_that_has_the_options(older: Computer) -> None:
    older.index.fault("*", "auth")
    refused = older.run("add", "tinyb")
    assert refused.code == 1
    for sentence in refused.finished["hint"].split(". "):
        assert "--index-url" not in sentence or "amlwizard rebuild --index-url" in sentence


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (["add", "not a name"], 2, "AML_ADD_INVALID"),
        (["add", "./wheel.whl"], 2, "AML_ADD_INVALID"),
        (["add"], 2, "AML_USAGE_PACKAGE_MISSING"),
        (["add", ""], 2, "AML_USAGE_PACKAGE_MISSING"),
        (["add", 'tinyb; python_version < "3"'], 2, "AML_ADD_NO_EFFECT"),
        (["add", "no-such-thing"], 1, "AML_PACKAGE_NOT_FOUND"),
        (["add", "tinyclash"], 1, "AML_ADD_CONFLICT"),
        (["add", "tinya==2.0"], 2, "AML_ADD_OTHER_VERSION"),
        (["add", "tinyb", "--offline"], 1, "AML_ADD_OFFLINE"),
        (["remove", "tinya"], 2, "AML_REMOVE_REQUIRED"),
        (["remove", "no-such-thing"], 2, "AML_REMOVE_UNKNOWN"),
        (["add", "tinya"], 0, "AML_ADD_PRESENT"),
        (["add", "Tinya>=0.5"], 0, "AML_ADD_PRESENT"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(
    older: Computer, arguments: list[str], status: int, code: str
) -> None:
    make_wheel(older.wheels, "tinyclash", requires=["tinya>=2"])
    before = (older.root / "runtime" / "pylock.toml").read_text()
    result = older.run(*arguments)
    assert (result.code, result.finished["code"]) == (status, code), result.finished
    if code == "AML_PACKAGE_NOT_FOUND":
        assert "file" not in result.finished["hint"]  # the name came by the command line
    assert (older.root / "runtime" / "pylock.toml").read_text() == before
    assert older.installed("tinya") == "1.0"
    assert older.run("install").finished["code"] == "AML_ALREADY_READY"


def test_a_removal_says_that_coming_back_takes_a_network(older: Computer) -> None:
    make_wheel(older.wheels, "tinyx")
    make_wheel(older.wheels, "tinyq")
    older.pip_install("tinyx")
    assert older.run("add", "tinyq").code == 0
    older.pip_install("tinyb")
    removed = older.run("remove", "tinyb", "tinyq", "--offline")
    assert removed.code == 0, removed.finished
    (told,) = (event["line"] for event in removed.events if "an undo will need a network" in event.get("line", ""))
    assert "tinyb" in told
    assert "tinyq" not in told


def test_what_a_profile_brings_is_not_said_to_stand_in_a_file(older: Computer) -> None:
    lock = older.root / "runtime" / "pylock.toml"
    lock.write_text(lock.read_text().replace('kind = "file"', 'kind = "profile"').replace("requirements.txt", "minimal"))
    refused = older.run("remove", "tinya")
    assert (refused.code, refused.finished["code"]) == (2, "AML_REMOVE_FIXED"), refused.finished


def test_in_a_folder_without_a_workspace_install_is_named(computer: Computer) -> None:
    result = computer.run("add", "tinya")
    assert (result.code, result.finished["code"]) == (2, "AML_NOTHING_TO_REBUILD")
    assert not computer.root.exists()
