"""What is done on a disk without a free byte: exactly there one frees space, takes away, and asks for help."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING

import pytest

from tests.e2e.full_disk import FullDisk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.conftest import Computer, Stock
    from tests.support.namespaces import Circumstances

pytestmark = [pytest.mark.e2e, pytest.mark.linux]


@pytest.fixture
def used(stock: Stock) -> Iterator[Computer]:
    """A computer on which tinya 2.0 and tinyb are installed, and a wheel of tinya 1.0 that nothing needs any more."""

    def make(computer: Computer) -> None:
        for wanted in ("tinyb\n", "tinya==1.0\n", "tinya==2.0\n", "tinyb\n"):
            computer.install(wanted)

    with stock.lend("used", make) as made:
        yield made


@pytest.fixture(params=[True, False], ids=["", "no temporary folder"])
def full(used: Computer, circumstances: type[Circumstances], request: pytest.FixtureRequest) -> FullDisk:
    """That computer, on a disk without a free byte."""
    return FullDisk(used, circumstances, temporary_folder=request.param)


def test_what_nothing_needs_is_freed(full: FullDisk) -> None:
    result = full.run("store", "--prune")
    assert (result.code, result.finished["code"]) == (0, "AML_STORE_FREED"), result.finished
    wheels = {path.name for path in full.left(result) if path.suffix == ".whl"}
    assert wheels == {"tinya-2.0-py3-none-any.whl", "tinyb-1.0-py3-none-any.whl"}
    log = [event["line"] for event in result.events if event["event"] == "log"]
    assert any("Pruning cache" in line for line in log)
    assert not any("uv's cache was left" in line for line in log)
    runtime = full.computer.root / "runtime"
    assert [path for path in full.left(result) if path.parent in {runtime / "runs", runtime / "tmp"}] == []


def test_a_report_is_made_where_there_is_room(full: FullDisk) -> None:
    result = full.run("diagnose", "--out", full.stick / "report.zip")
    assert (result.code, result.finished["code"]) == (0, "AML_DIAGNOSED"), result.finished
    with zipfile.ZipFile(full.stick / "report.zip") as report:
        assert [part["part"] for part in json.loads(report.read("parts.json")) if part["state"] == "failed"] == []
        assert "0 B of" in report.read("report.txt").decode()


def test_a_look_and_a_proof_need_no_room(full: FullDisk) -> None:
    for command, code in (("store", "AML_STORE_COMPLETE"), ("verify", "AML_VERIFIED"), ("install", "AML_ALREADY_READY")):
        result = full.run(command)
        assert (result.code, result.finished["code"]) == (0, code), result.finished
    for command in ("detect", "plan"):
        assert full.run(command).code == 0


def test_what_was_created_goes(full: FullDisk) -> None:
    result = full.run("uninstall")
    assert (result.code, result.finished["code"]) == (0, "AML_UNINSTALLED"), result.finished
    assert {path.name for path in full.left(result) if path.parent == full.computer.root} == {"notebooks"}


def test_b71_what_needs_room_says_that_there_is_none(full: FullDisk) -> None:
    for command in ("undo", "rebuild", "repair"):
        result = full.run(command, "--offline")
        assert (result.code, result.finished["code"]) == (1, "AML_NO_SPACE"), result.finished
        assert str(full.computer.root) in result.finished["message"]
