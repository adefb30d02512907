"""Damage does not travel: no edit that reached the cache and no broken file of the store gets into an environment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.conftest import Computer

pytestmark = pytest.mark.e2e


@pytest.fixture
def installed(computer: Computer) -> Computer:
    """A computer with tinya 2.0 and tinyb, installed afresh: uv's cache has to hold the store's wheels for good."""
    computer.install("tinyb\n")
    computer.index.forget()
    return computer


def truncate(file: Path) -> None:
    """Cut the second half off, in place."""
    with file.open("r+b") as stream:
        stream.truncate(file.stat().st_size // 2)


def flip(file: Path) -> None:
    """Change one bit in the middle, in place."""
    with file.open("r+b") as stream:
        stream.seek(file.stat().st_size // 2)
        (byte,) = stream.read(1)
        stream.seek(-1, 1)
        stream.write(bytes([byte ^ 1]))


def module(root: Path) -> Path:
    """A file of tinya in the environment."""
    (found,) = (root / ".venv").glob("lib/python*/site-packages/tinya/__init__.py")
    return found


def cached(root: Path) -> Path:
    """The same file in uv's cache."""
    (found,) = (root / "cache").glob("archive-*/*/tinya/__init__.py")
    return found


@pytest.mark.parametrize("command", ["rebuild", "repair"])
@pytest.mark.parametrize("damage", [truncate, flip])
def test_an_edit_of_an_installed_file_is_found_and_does_not_survive(
    installed: Computer, damage: Callable[[Path], None], command: str
) -> None:
    whole = module(installed.root).read_bytes()
    assert module(installed.root).samefile(cached(installed.root))
    damage(module(installed.root))
    assert cached(installed.root).read_bytes() != whole
    found = installed.run("verify")
    assert found.code == 3
    assert "tinya" in found.finished["message"]
    result = installed.run(command, "--offline")
    assert result.code == 0, result.finished
    assert module(installed.root).read_bytes() == whole
    assert cached(installed.root).read_bytes() == whole
    assert installed.run("verify").code == 0
    assert installed.index.requests() == []


@pytest.mark.parametrize("damage", [truncate, flip])
def test_damage_in_the_cache_alone_does_not_reach_a_new_environment(
    installed: Computer, damage: Callable[[Path], None]
) -> None:
    whole = module(installed.root).read_bytes()
    file = cached(installed.root)
    file.unlink()  # the environment keeps its own
    file.write_bytes(whole)
    damage(file)
    result = installed.run("rebuild", "--offline")
    assert result.code == 0, result.finished
    assert module(installed.root).read_bytes() == whole
    assert installed.run("verify").code == 0


@pytest.mark.parametrize("damage", [truncate, flip, Path.unlink])
def test_a_damaged_wheel_of_the_store_is_never_used_and_fetched_again(
    installed: Computer, damage: Callable[[Path], None]
) -> None:
    (wheel,) = (installed.root / "downloads").glob("tinya-2.0-*.whl")
    whole = wheel.read_bytes()
    damage(wheel)
    result = installed.run("rebuild", "--offline")
    assert result.finished["code"] == "AML_STORE_INCOMPLETE"
    assert wheel.name in result.finished["message"]
    assert installed.run("verify").code == 0
    result = installed.run("repair", "--offline")
    assert result.code == 0
    assert any(wheel.name in event["line"] for event in result.events if event["event"] == "log")
    module(installed.root).unlink()
    result = installed.run("repair", "--offline")
    assert result.code == 1
    assert result.finished["code"] == "AML_STORE_INCOMPLETE"
    assert wheel.name in result.finished["message"]
    result = installed.run("repair")
    assert result.code == 0, result.finished
    assert result.states()["fetch"] == "done"
    assert wheel.read_bytes() == whole
    assert installed.installed("tinya") == "2.0"
    assert installed.run("rebuild", "--offline").code == 0


@pytest.mark.parametrize("command", ["rebuild", "repair"])
def test_a_damaged_wheel_is_named_beside_the_network_that_does_not_bring_it_back(installed: Computer, command: str) -> None:
    (wheel,) = (installed.root / "downloads").glob("tinya-2.0-*.whl")
    flip(wheel)
    if command == "repair":
        module(installed.root).unlink()
    installed.index.close()
    installed.hurried = True
    result = installed.run(command)
    assert (result.code, result.finished["code"]) == (1, "AML_NET_REFUSED"), result.finished
    assert result.finished["detail"] == f"Damaged in the store, and not to be fetched again now: {wheel.name}"


def test_a_damaged_wheel_is_named_where_the_network_goes_down_later(installed: Computer) -> None:
    (wheel,) = (installed.root / "downloads").glob("tinya-2.0-*.whl")
    flip(wheel)
    (installed.root / "downloads" / "tinyb-1.0-py3-none-any.whl").unlink()
    installed.index.fault("/packages/tinya-*", "reset")
    installed.hurried = True
    result = installed.run("rebuild")
    assert (result.code, result.finished["code"]) == (1, "AML_NET_RESET"), result.finished
    assert result.finished["detail"] == f"Damaged in the store, and not to be fetched again now: {wheel.name}"
