"""A workspace goes on with the indexes and folders that its packages came from, where nothing names others."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.index_server import IndexServer
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.conftest import Computer, Result

pytestmark = pytest.mark.e2e


def said(result: Result) -> str:
    return "\n".join(event["line"] for event in result.events if event["event"] == "log")


def hosts(result: Result) -> list[str]:
    return [host for event in result.events if event["event"] == "plan" for host in event["hosts"]]


def sources(computer: Computer) -> dict[str, Any]:
    """Return what the lock notes."""
    lock = tomllib.loads((computer.root / "runtime" / "pylock.toml").read_text(encoding="utf-8"))
    noted: dict[str, Any] = lock["tool"]["amlwizard"].get("sources", {})
    return noted


@pytest.fixture
def third(computer: Computer) -> Iterator[IndexServer]:
    """Another index than that of the computer."""
    with IndexServer(computer.folder / "elsewhere") as server:
        yield server


def test_a_later_run_goes_where_the_packages_came_from(computer: Computer, third: IndexServer) -> None:
    computer.extra["AML_INDEX_URL"] = ""
    links = computer.folder / "links"
    make_wheel(links, "tinyl", "1.0")
    make_wheel(computer.folder / "second", "tinys", "1.0")
    with IndexServer(computer.folder / "second") as second:
        given = ("--index-url", computer.index.index_url, "--extra-index-url", second.index_url, "--find-links", links)
        computer.install("tinya\ntinyl\ntinys\n", *given, "--index-strategy", "unsafe-best-match")
        assert sources(computer) == {
            "index-url": computer.index.index_url,
            "extra-index-urls": [second.index_url],
            "find-links": [str(links)],
            "index-strategy": "unsafe-best-match",
        }
        for folder, name in ((computer.wheels, "tinya"), (links, "tinyl"), (computer.folder / "second", "tinys")):
            make_wheel(folder, name, "3.0")
        both = [f"127.0.0.1:{port}" for port in (computer.index.port, second.port)]
        planned = computer.run("plan", "--refresh")
        assert planned.code == 0, planned.finished
        assert hosts(planned) == both
        rebuilt = computer.run("rebuild", "--refresh")
        assert rebuilt.code == 0, rebuilt.finished
        assert [computer.installed(name) for name in ("tinya", "tinyl", "tinys")] == ["3.0"] * 3
        for place in (computer.index.index_url, second.index_url, str(links)):
            assert place in said(rebuilt)
        # what is wanted anew in the workspace comes from there too, and what was added by hand
        computer.pip_install("tinyb")
        again = computer.run("install", "--requirements", computer.requirements("tinys\n"))
        assert again.code == 0, again.finished
        assert computer.installed("tinyb") == "1.0"
        assert sources(computer)["extra-index-urls"] == [second.index_url]

        make_wheel(computer.folder / "elsewhere", "tinys", "4.0")
        elsewhere = computer.run("rebuild", "--refresh", "--drop-added", "--index-url", third.index_url)
        assert elsewhere.code == 0, elsewhere.finished
        assert hosts(elsewhere)[0] == f"127.0.0.1:{third.port}"
        assert computer.installed("tinys") == "4.0"
        assert sources(computer) == {"index-url": third.index_url, "find-links": [str(links)]}


def test_a_folder_that_is_gone_and_a_login_that_is_not_there_are_named(computer: Computer) -> None:
    links = computer.folder / "links"
    make_wheel(links, "tinyl", "1.0")
    computer.extra["AML_INDEX_URL"] = computer.index.index_url.replace("//", "//bob:s3cr3t@")
    computer.index.fault("*", "auth", auth=("bob", "s3cr3t"))
    computer.install("tinya\ntinyl\n", "--find-links", links)
    assert "s3cr3t" not in (computer.root / "runtime" / "pylock.toml").read_text(encoding="utf-8")

    computer.extra["AML_INDEX_URL"] = ""
    refused = computer.run("rebuild", "--refresh")
    assert (refused.code, refused.finished["code"]) == (1, "AML_INDEX_UNAUTHORIZED"), refused.finished
    assert f"127.0.0.1:{computer.index.port}" in refused.finished["message"]
    assert "UV_DEFAULT_INDEX" in refused.finished["hint"]

    computer.index.heal()
    (links / "tinyl-1.0-py3-none-any.whl").unlink()
    links.rmdir()
    refused = computer.run("rebuild", "--refresh")
    assert (refused.code, refused.finished["code"]) == (1, "AML_FIND_LINKS_MISSING"), refused.finished
    assert str(links) in refused.finished["message"]
    assert "--find-links" in refused.finished["hint"]
    assert computer.installed("tinyl") == "1.0"
    assert computer.run("rebuild", "--offline").code == 0  # which chooses nothing
