"""A folder in which a run was refused is as it was before: nothing of a workspace begins there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.e2e.conftest import Computer

pytestmark = pytest.mark.e2e

HASHED = f"tinya==2.0 --hash=sha256:{64 * '0'}\n"


@pytest.mark.parametrize("method", ["auto", "none"])
@pytest.mark.parametrize(
    ("wanted", "options", "code"),
    [
        ("tinya; python_version<'3'\n", (), "AML_NOTHING_TO_INSTALL"),
        ("tinya\n", ("--offline",), "AML_OFFLINE_MISSING"),
        (HASHED, ("--offline",), "AML_STORE_INCOMPLETE"),
    ],
)
@pytest.mark.parametrize("is_there", [False, True])
def test_what_cannot_be_had_at_all_leaves_the_folder_as_it_was(
    computer: Computer, wanted: str, options: tuple[str, ...], code: str, method: str, is_there: bool
) -> None:
    if is_there:
        for name in ("notebooks", "tools"):
            (computer.root / name).mkdir(parents=True)
            (computer.root / name / "mine.txt").write_text("mine")
    before = sorted(computer.root.rglob("*"))
    requirements = computer.requirements(wanted)
    result = computer.run("install", "--requirements", requirements, "--uv-method", method, *options)
    assert (result.code, result.finished["code"]) == (1, code), result.finished
    assert result.finished["environment"]["state"] == "absent"
    assert sorted(computer.root.rglob("*")) == before
    assert computer.root.exists() == is_there


def test_a_folder_without_a_workspace_is_not_rebuilt(computer: Computer) -> None:
    for options in (("--profile", "minimal"), ("--requirements", computer.requirements("tinya\n")), ()):
        result = computer.run("rebuild", *options)
        assert (result.code, result.finished["code"]) == (2, "AML_NOTHING_TO_REBUILD"), result.finished
        assert not computer.root.exists()
    assert computer.index.requests() == []


def test_a_run_that_failed_leaves_its_log(computer: Computer) -> None:
    result = computer.run("install", "--requirements", computer.requirements("tinyq\n"))
    assert (result.code, result.finished["code"]) == (1, "AML_PACKAGE_NOT_FOUND"), result.finished
    assert list((computer.root / "runtime" / "logs").glob("*-install-*.log"))
