"""Choosing an archive in a list of interpreter downloads."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from amlwizard.core.catalogue import error_texts
from amlwizard.core.choices import Choices
from amlwizard.core.errors import AmlError
from amlwizard.core.facts import EnvironmentFacts, Host
from amlwizard.core.file_hash import file_sha256
from amlwizard.core.python_install import (
    PythonArchive,
    install_archive,
    offered_archives,
    parse_downloads,
    pick_archive,
    wanted_version,
)
from tests.support.run_contexts import new_run

if TYPE_CHECKING:
    from pathlib import Path

BASE = "https://files.example.org/python/list.json"


def entry(version: str, **changes: Any) -> dict[str, Any]:
    """Return an entry for Linux on x86-64."""
    major, minor, patch = map(int, version.split("."))
    return {
        "name": "cpython",
        "arch": {"family": "x86_64", "variant": None},
        "os": "linux",
        "libc": "gnu",
        "major": major,
        "minor": minor,
        "patch": patch,
        "prerelease": "",
        "url": f"archives/20260101/cpython-{version}%2B20260101.tar.gz",
        "sha256": "0" * 64,
        "variant": None,
        **changes,
    }


def host(system: str = "linux", machine: str = "x86_64", libc: str = "glibc 2.36") -> Host:
    """Return a computer."""
    return Host(system, machine, "", libc, 2, 0)


def test_the_newest_patch_of_the_wanted_version_is_taken() -> None:
    listed = {
        "a": entry("3.11.9"),
        "b": entry("3.11.10"),
        "c": entry("3.12.1"),
        "d": entry("3.11.11", prerelease="rc1"),
        "e": entry("3.11.12", variant="freethreaded"),
        "f": entry("3.11.13", name="pypy"),
        "g": entry("3.11.14", arch={"family": "x86_64", "variant": "v3"}),
    }
    found = pick_archive(listed, "3.11", host(), base=BASE)
    assert found is not None
    assert str(found.version) == "3.11.10"
    assert found.url == "https://files.example.org/python/archives/20260101/cpython-3.11.10%2B20260101.tar.gz"
    assert found.filename == "cpython-3.11.10+20260101.tar.gz"
    assert found.build == "20260101"
    exact = pick_archive(listed, "3.11.9", host(), base=BASE)
    assert exact is not None
    assert str(exact.version) == "3.11.9"
    assert pick_archive(listed, "3.1", host(), base=BASE) is None


@pytest.mark.parametrize(
    ("computer", "changes"),
    [
        (host("macos", "arm64", ""), {"os": "darwin", "libc": "none", "arch": {"family": "aarch64", "variant": None}}),
        (host("macos", "x86_64", ""), {"os": "macos", "libc": "none"}),
        (host("windows", "x86_64", ""), {"os": "windows", "libc": "none"}),
        (host(libc="musl 1.2"), {"libc": "musl"}),
    ],
)
def test_each_system_gets_its_own(computer: Host, changes: dict[str, Any]) -> None:
    listed = {"mine": entry("3.12.1", **changes), "other": entry("3.12.2")}
    found = pick_archive(listed, "3.12", computer, base=BASE)
    assert found is not None
    assert found.key == "mine"


def test_something_else_than_a_list_is_refused() -> None:
    with pytest.raises(AmlError, match="AML_PYTHON_JSON_INVALID"):
        pick_archive(["no"], "3.12", host(), base=BASE)


@pytest.mark.parametrize(
    "name",
    [
        "..%2F..%2Fevil.tar.gz",
        "..%5C..%5Cevil.tar.gz",
        "x/..\\..\\evil.tar.gz",
        "%2Fetc%2Fevil.tar.gz",
        "%2e%2e/evil.tar.gz",
    ],
)
def test_the_name_of_an_archive_never_leads_out_of_its_folder(name: str) -> None:
    archive = PythonArchive(Version("3.11.9"), f"https://files.example.org/b/{name}", None, "key")
    assert archive.filename == "evil.tar.gz"
    assert archive.build in {"b", "x", "etc"}


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "[5]", '[{"key": "a", "url": "x"}]', '[{"url": "x"}]', "5"])
def test_an_answer_of_uv_that_is_no_list_is_refused_in_words(text: str) -> None:
    with pytest.raises(AmlError, match="AML_UV_PYTHON_FAILED"):
        offered_archives(text, "3.11")


@pytest.mark.parametrize("text", ["", "[" * 100_000])
def test_a_list_that_cannot_be_read_is_named(text: str) -> None:
    with pytest.raises(AmlError, match=BASE):
        parse_downloads(text, BASE)


@pytest.mark.parametrize(
    "changes",
    [{"url": "https://[::1/x.tar.gz"}, {"url": "https://h:port/x.tar.gz"}, {"url": 5}, {"major": "x"}, {"patch": None}],
)
def test_entries_that_nothing_can_be_made_of_are_passed_over(changes: dict[str, Any]) -> None:
    listed = {"a": entry("3.11.9"), "b": entry("3.11.10", **changes)}
    found = pick_archive(listed, "3.11", host(), base=BASE)
    assert found is not None
    assert str(found.version) == "3.11.9"


@pytest.mark.parametrize(
    ("environment", "chosen", "allowed", "wanted"),
    [
        (None, None, None, "3.11"),
        ("3.12.4", None, None, "3.12"),
        ("3.12.4", "3.13", None, "3.13"),
        ("3.12.4", None, ">=3.13", "3.13"),
        ("3.12.4", None, "<3.12", "3.11"),
        ("unreadable", None, None, "3.11"),
    ],
)
def test_what_takes_the_place_of_a_lost_interpreter_is_of_its_version(
    tmp_path: Path, environment: str | None, chosen: str | None, allowed: str | None, wanted: str
) -> None:
    run = new_run(Choices(root=tmp_path / "aml", python=chosen), tmp_path / "tmp")
    run.facts = replace(run.facts, environment=EnvironmentFacts("base_missing", python=environment))
    profile = run.wish.profile
    assert profile is not None
    run.wish = replace(run.wish, profile=replace(profile, python=SpecifierSet(allowed or "")))
    assert wanted_version(run) == wanted


@pytest.mark.linux
async def test_where_uv_leaves_nothing_each_language_says_so(tmp_path: Path) -> None:
    fake_uv = tmp_path / "uv"
    fake_uv.write_text("#!/bin/sh\n")
    fake_uv.chmod(0o755)
    run = new_run(Choices(tmp_path / "aml"), tmp_path / "run", uv=fake_uv)
    stored = run.workspace.downloads / "cpython-3.12.1.tar.gz"
    stored.parent.mkdir(parents=True)
    stored.write_bytes(b"an archive")
    listed = {"mine": entry("3.12.1", url=stored.as_uri(), sha256=file_sha256(stored))}
    archive = pick_archive(listed, "3.12", host(), base=BASE)
    assert archive is not None
    with pytest.raises(AmlError) as caught:
        await install_archive(run, archive)
    assert error_texts(caught.value, "en")[0].endswith("uv reported success, but nothing is there.")
    assert error_texts(caught.value, "zh_CN")[0].endswith("uv 报告已完成，但没有找到解释器。")
