"""uv: which copies count and which one is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import pytest

from amlwizard.core.catalogue import error_texts, text
from amlwizard.core.detection import MINIMUM_UV, find_bundled_uv
from amlwizard.core.errors import RefusedError
from amlwizard.core.paths import Workspace
from amlwizard.core.records import write_record
from tests.support.processes import is_alive
from tests.support.stub_interpreters import stub
from tests.support.waiting import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from tests.core.detection.conftest import Computer


def fake_uv(folder: Path, version: str = "0.99.0") -> Path:
    return stub(folder, "uv", f'case "$*" in *--version*) echo "uv {version} (0123abc 2026-01-01)";; *) exit 2;; esac')


@pytest.mark.posix
async def test_b06_a_launcher_without_uv_behind_it(computer: Computer) -> None:
    path = stub(computer.bin, "uv", 'echo "uv: command not found" >&2; exit 127')
    facts = await computer.detect()
    row = computer.row(facts, path)
    assert (row.usable, row.source) == (False, "path")
    assert text(row.reason, **row.arguments) == "Does not run (exit code 127): uv: command not found"
    assert facts.uv is None


@pytest.mark.posix
@pytest.mark.parametrize(("version", "usable"), [("0.1.5", False), ("0.8.99", False), ("0.10.0", True), ("1.0", True)])
async def test_b15_the_minimum_is_compared_as_numbers(computer: Computer, version: str, usable: bool) -> None:
    path = fake_uv(computer.bin, version)
    row = computer.row(await computer.detect(), path)
    assert (row.usable, row.version) == (usable, version)
    assert row.reason == ("" if usable else "candidate.uv_too_old")
    if not usable:
        assert str(MINIMUM_UV) in text(row.reason, **row.arguments)


@pytest.mark.posix
async def test_b17_a_foreign_uv_is_asked_for_its_version_alone(computer: Computer) -> None:
    foreign = fake_uv(computer.folder / "opt" / "x" / "bin")
    private = fake_uv(computer.root / "tools")
    computer.environ["PATH"] = str(foreign.parent)
    facts = await computer.detect()
    assert facts.uv is not None
    assert (facts.uv.path, facts.uv.source) == (private, "workspace")
    assert [argv[1:] for argv in computer.started_commands if argv[0] == str(foreign)] == [("--version",)]


@pytest.mark.posix
async def test_copies_elsewhere_are_listed_but_the_workspace_gets_its_own(computer: Computer) -> None:
    on_path = fake_uv(computer.bin)
    usual = fake_uv(computer.folder / "home" / ".local" / "bin")
    bundled = fake_uv(computer.folder / "bundled")
    facts = await computer.detect(bundled_uv=bundled)
    rows = {row.path: (row.source, row.usable) for row in facts.candidates}
    assert rows == {on_path: ("path", True), usual: ("usual", True), bundled: ("bundled", True)}
    assert facts.uv is None


@pytest.mark.posix
@pytest.mark.parametrize("place", ["", "bin", "Scripts", "a/b/c", "a/b/bin", "a/b/c/bin"])
async def test_private_copies_are_found_to_a_depth(computer: Computer, place: str) -> None:
    path = fake_uv(computer.root / "tools" / place)
    facts = await computer.detect()
    assert facts.uv is not None
    assert facts.uv.path == path


async def test_private_copies_deeper_or_behind_links_are_not(computer: Computer) -> None:
    fake_uv(computer.root / "tools" / "a" / "b" / "c" / "d")
    fake_uv(computer.folder / "elsewhere")
    (computer.root / "tools" / "link").symlink_to(computer.folder / "elsewhere")
    (computer.root / "tools" / "uv").mkdir()
    assert (await computer.detect()).candidates == ()


@pytest.mark.posix
async def test_a_recorded_path_outside_is_never_started(computer: Computer) -> None:
    outside = fake_uv(computer.folder / "outside")
    record = Workspace(computer.root).uv_record
    write_record(record, {"uvPath": str(outside)})
    facts = await computer.detect()
    row = computer.row(facts, outside)
    assert (row.source, row.usable, row.reason) == ("record", False, "candidate.outside_workspace")
    link = computer.root / "tools" / "uv"
    link.parent.mkdir()
    link.symlink_to(outside)
    write_record(record, {"uvPath": str(link)})
    assert computer.row(await computer.detect(), link).reason == "candidate.outside_workspace"
    assert not computer.started_commands


@pytest.mark.posix
async def test_a_recorded_path_inside_comes_before_other_copies(computer: Computer) -> None:
    fake_uv(computer.root / "tools" / "a", "0.98.0")
    recorded = fake_uv(computer.root / "tools" / "b")
    write_record(Workspace(computer.root).uv_record, {"uvPath": str(recorded)})
    facts = await computer.detect()
    assert facts.uv is not None
    assert (facts.uv.path, facts.uv.source) == (recorded, "record")


@pytest.mark.parametrize("record", [{}, {"uvPath": 3}, {"uvPath": ""}, {"uvPath": "a\0b"}])
async def test_a_broken_record_counts_as_absent(computer: Computer, record: dict[str, object]) -> None:
    write_record(Workspace(computer.root).uv_record, record)
    assert (await computer.detect()).candidates == ()


async def test_a_record_of_a_newer_version_is_refused(computer: Computer) -> None:
    record = Workspace(computer.root).uv_record
    write_record(record, {})
    record.write_text('{"format": 99}')
    with pytest.raises(RefusedError) as caught:
        await computer.detect()
    assert caught.value.code == "AML_FORMAT_TOO_NEW"


@pytest.mark.posix
async def test_a_refusal_leaves_no_probe_behind(computer: Computer) -> None:
    pid_file = computer.folder / "pid"
    stub(computer.bin, "python3", f"echo $$ > {pid_file}.part; mv {pid_file}.part {pid_file}; exec sleep 300")

    def refuse() -> NoReturn:
        wait_for(pid_file.exists)
        raise RefusedError("AML_FORMAT_TOO_NEW", path="receipt.json", found=2, known=1)

    with pytest.raises(RefusedError):
        await computer.detect(environment=refuse)
    assert not is_alive(int(pid_file.read_text()))


@pytest.mark.posix
async def test_a_uv_that_was_named_is_used_or_refused(computer: Computer) -> None:
    fake_uv(computer.root / "tools")
    named = fake_uv(computer.folder / "named")
    facts = await computer.detect(computer.choices(uv=named))
    assert facts.uv is not None
    assert (facts.uv.path, facts.uv.source) == (named, "setting")
    old = fake_uv(computer.folder / "old", "0.1.5")
    with pytest.raises(RefusedError) as caught:
        await computer.detect(computer.choices(uv=old))
    assert caught.value.code == "AML_UV_MISSING"
    assert "0.1.5" in error_texts(caught.value)[0]


async def test_the_bundled_copy_runs(computer: Computer) -> None:
    bundled = find_bundled_uv()
    assert bundled is not None
    row = computer.row(await computer.detect(bundled_uv=bundled), bundled)
    assert (row.source, row.usable) == ("bundled", True)
