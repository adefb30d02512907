"""A workspace of root's, in the hands of an account without rights: it can be used, and nothing in it is written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import empty_computer
from tests.support.other_account import OTHER_USER, last_event, shared_computer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.interpreter_archives import InterpreterArchive
    from tests.support.namespaces import Circumstances
    from tests.support.other_account import SharedComputer

pytestmark = pytest.mark.e2e

_SCRIPT = """
import json, os, tinya
with open("result.json", "w") as file:
    json.dump([tinya.__version__, os.environ["HOME"], os.environ["TMPDIR"], os.getuid()], file)
"""


@pytest.fixture(scope="module")
def machine(
    interpreter_archive: InterpreterArchive, circumstances: type[Circumstances], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SharedComputer]:
    """A machine whose workspace root has set up; the index is gone since."""
    with shared_computer(interpreter_archive) as shared:
        wanted = shared.folder / "requirements.txt"
        wanted.write_text("tinyb\n")
        with empty_computer(tmp_path_factory.mktemp("world")) as world:
            options = ["--python", shared.python, "--requirements", wanted, "--json"]
            done = shared.as_root("install", *options, AML_INDEX_URL=world.index.index_url)
        assert last_event(done)["state"] == "ready", done.stdout
        yield shared


@pytest.fixture
def untouched(machine: SharedComputer) -> Iterator[SharedComputer]:
    """The machine, with the proof afterwards that nothing in the workspace was written."""
    before = machine.listing()
    yield machine
    assert machine.listing() == before


@pytest.mark.parametrize("command", [["verify"], ["verify", "--deep"], ["install"], ["store"]])
def test_what_only_reads_works(untouched: SharedComputer, command: list[str]) -> None:
    done = untouched.as_other(*command, "--json")
    assert done.returncode == 0, done.stdout
    assert last_event(done)["state"] in {"ready", "done"}


def test_it_is_detected_and_its_lock_can_be_expected(untouched: SharedComputer) -> None:
    environment = last_event(untouched.as_other("detect", "--json"))["environment"]
    assert environment["state"] == "ready"
    assert untouched.as_other("verify", "--expect", environment["lock"]).returncode == 0
    assert untouched.as_other("verify", "--expect", "0" * 64).returncode == 3


def test_a_job_gets_a_folder_among_the_data_of_who_starts_it(untouched: SharedComputer, tmp_path: Path) -> None:
    script = untouched.home / "job.py"
    script.write_text(_SCRIPT)
    done = untouched.as_other("run", "--", script)
    assert done.returncode == 0, done.stderr
    jobs = untouched.home / ".local" / "share" / "amlwizard" / "jobs"
    assert str(jobs) in done.stderr
    (folder,) = jobs.iterdir()
    version, home, tmp, user = json.loads((folder / "result.json").read_text())
    assert (version, user) == ("2.0", OTHER_USER)
    assert home.startswith(f"{folder}/")
    assert tmp.startswith(f"{folder}/")
    assert not list(folder.glob(".aml-tmp-*"))


def test_a_job_works_in_the_folder_that_is_named(untouched: SharedComputer) -> None:
    script, folder = untouched.home / "job.py", untouched.home / "named"
    script.write_text(_SCRIPT)
    done = untouched.as_other("run", "--job-dir", folder, "--", script)
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder / "result.json").is_file()


def test_the_environment_of_a_job_names_no_folder_that_it_cannot_write(untouched: SharedComputer) -> None:
    variables = json.loads(untouched.as_other("run", "--print-env", "--json").stdout)
    for name in ("AML_JOB_DIR", "HOME", "TMPDIR", "XDG_CACHE_HOME", "MPLCONFIGDIR"):
        assert not variables[name].startswith(str(untouched.root)), name
    assert variables["AML_ROOT"] == str(untouched.root)


@pytest.mark.parametrize("command", [["rebuild"], ["repair"], ["add", "tinyc"], ["uninstall"], ["store", "--prune"]])
def test_what_would_change_it_is_refused_and_names_its_owner(untouched: SharedComputer, command: list[str]) -> None:
    done = untouched.as_other(*command, "--json")
    finished = last_event(done)
    assert (done.returncode, finished["code"]) == (2, "AML_ROOT_NOT_YOURS"), finished
    assert "belongs to root" in finished["message"]
    assert "amlwizard run" in finished["hint"]


def test_other_packages_are_refused_as_well(untouched: SharedComputer) -> None:
    wanted = untouched.home / "other.txt"
    wanted.write_text("tinya==1.0\n")
    done = untouched.as_other("install", "--requirements", wanted, "--json")
    assert (done.returncode, last_event(done)["code"]) == (2, "AML_ROOT_NOT_YOURS")
