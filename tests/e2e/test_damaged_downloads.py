"""What is said where a package comes cut off, changed or replaced by a page on its way, and where none can fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.index_server import Fault

if TYPE_CHECKING:
    from tests.e2e.conftest import Computer

pytestmark = pytest.mark.e2e

CHANGED = [Fault(sign_in=True), Fault(stop="truncate", ranges=False), Fault(corrupt=True)]


@pytest.mark.parametrize("method", ["auto", "none"])
@pytest.mark.parametrize("fault", CHANGED, ids=["sign-in", "cut", "changed"])
def test_a_package_that_is_none_is_told_as_that(computer: Computer, fault: Fault, method: str) -> None:
    computer.hurried = True
    computer.index.fault("/simple/*", Fault(bare=True))
    computer.index.fault("/packages/*", fault)
    result = computer.run("install", "--requirements", computer.requirements("tinya\n"), "--uv-method", method)
    assert (result.code, result.finished["code"]) == (1, "AML_DOWNLOAD_DAMAGED"), result.finished
    assert "tinya" in result.finished["message"]


@pytest.mark.parametrize("method", ["auto", "none"])
@pytest.mark.parametrize(
    ("wanted", "code"), [("--no-binary :all:\ntinya\n", "AML_NO_SOURCE"), ("tinya<1\n", "AML_NO_SUCH_VERSION")]
)
def test_what_the_index_does_not_have_is_no_contradiction(computer: Computer, wanted: str, code: str, method: str) -> None:
    result = computer.run("install", "--requirements", computer.requirements(wanted), "--uv-method", method)
    assert (result.code, result.finished["code"]) == (1, code), result.finished
    assert "tinya" in result.finished["message"]


@pytest.mark.parametrize("method", ["auto", "none"])
def test_a_build_requirement_is_not_sought_in_the_requirements_file(computer: Computer, method: str) -> None:
    project = computer.folder / "proj"
    project.mkdir()
    (project / "pyproject.toml").write_text(
        '[project]\nname = "proj"\nversion = "1"\n[build-system]\nrequires = ["nowhere"]\n'
    )
    result = computer.run("install", "--requirements", computer.requirements("-e ./proj\n"), "--uv-method", method)
    assert (result.code, result.finished["code"]) == (1, "AML_BUILD_REQUIREMENT"), result.finished
    assert "nowhere" in result.finished["message"]
