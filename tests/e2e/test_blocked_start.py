"""Files of the user's that keep Python from starting: named by whatever meets them, and set aside by a repair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.test_repair import assert_mended, site
from tests.support import own_sitecustomize
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Computer, Result

pytestmark = [pytest.mark.e2e, pytest.mark.posix]

BLOCKS = {"zz.pth": "import os; os._exit(7)\n"}
if not own_sitecustomize.BROUGHT:
    BLOCKS["sitecustomize.py"] = "raise SystemExit(3)\n"


def block(computer: Computer) -> None:
    """Put two such files into the environment, and a good one."""
    for name, content in BLOCKS.items():
        (site(computer) / name).write_text(content)
    (site(computer) / "mine.py").write_text("__version__ = '1'\n")


def lines(result: Result) -> str:
    """What was told meanwhile."""
    return "\n".join(event["line"] for event in result.events if event["event"] == "log")


def set_aside(computer: Computer) -> dict[str, str]:
    """What was set aside, by its name."""
    return {path.name: path.read_text() for path in (computer.root / "set-aside").glob("*/site-packages/*")}


def assert_named(result: Result) -> None:
    assert all(f"{name}, which belongs to no package" in result.finished["detail"] for name in BLOCKS), result.finished


def test_a_rebuild_names_them_and_the_way_out(installed: Computer) -> None:
    block(installed)
    found = installed.run("verify")
    assert (found.code, found.finished["code"]) == (3, "AML_VERIFY_FAILED")
    assert_named(found)
    refused = installed.run("rebuild", "--offline")
    assert (refused.code, refused.finished["code"]) == (1, "AML_START_BLOCKED"), refused.finished
    assert_named(refused)
    assert "--drop-added" in refused.finished["hint"]
    assert str(site(installed) / "zz.pth") in refused.finished["hint"]
    assert not (installed.root / "set-aside").exists()
    assert installed.run("rebuild", "--offline", "--drop-added").code == 0
    assert set_aside(installed) == {**BLOCKS, "mine.py": "__version__ = '1'\n"}
    assert_mended(installed)


def test_a_repair_goes_on_without_them_and_keeps_the_rest(installed: Computer) -> None:
    block(installed)
    (site(installed) / "tinyb" / "__init__.py").unlink()
    result = installed.run("repair", "--offline")
    assert (result.code, result.finished["code"]) == (0, "AML_REPAIRED"), result.finished
    assert result.states()["repair"] == "done"
    assert all(name in lines(result) for name in BLOCKS)
    assert set_aside(installed) == BLOCKS
    assert installed.installed("mine") == "1"
    assert_mended(installed)


def test_so_does_one_that_has_to_build_anew(installed: Computer) -> None:
    block(installed)
    (installed.root / ".venv" / "pyvenv.cfg").unlink()
    result = installed.run("repair", "--offline")
    assert (result.code, result.finished["code"]) == (0, "AML_READY"), result.finished
    assert set_aside(installed) == BLOCKS
    assert installed.installed("mine") == "1"
    assert_mended(installed)


def test_without_uv_they_are_named_and_the_environment_is_as_it_was(without_uv: Computer) -> None:
    block(without_uv)
    refused = without_uv.run("rebuild", "--offline", "--uv-method", "none")
    assert (refused.code, refused.finished["code"]) == (1, "AML_START_BLOCKED"), refused.finished
    assert_named(refused)
    assert all((site(without_uv) / name).read_text() == content for name, content in BLOCKS.items())
    assert not (without_uv.root / ".venv.old").exists()


def test_what_hangs_ends_neither_a_proof_nor_a_repair(installed: Computer) -> None:
    installed.hurried = True
    installed.extra["SOMETHING_HANGS"] = "1"
    (site(installed) / "hangs.pth").write_text("import threading; threading.Event().wait()\n")
    found = installed.run("verify")
    assert (found.code, found.finished["code"]) == (3, "AML_VERIFY_FAILED")
    assert "hangs.pth" in found.finished["message"]
    result = installed.run("repair", "--offline")
    assert (result.code, result.finished["code"]) == (0, "AML_REPAIRED"), result.finished
    assert list(set_aside(installed)) == ["hangs.pth"]
    assert_mended(installed)


def test_a_damaged_file_of_a_package_that_ends_python_is_installed_again(computer: Computer) -> None:
    make_wheel(computer.wheels, "tinyp", "1.0", files={"tinyp.pth": b"import sys\n"})
    computer.install("tinyp\ntinyb\n")
    computer.index.forget()
    file: Path = site(computer) / "tinyp.pth"
    file.unlink()
    file.write_text("import os; os._exit(7)\n")
    found = computer.run("verify")
    assert "tinyp: Python does not start because of" in found.finished["detail"]
    result = computer.run("repair", "--offline")
    assert (result.code, result.finished["code"]) == (0, "AML_REPAIRED"), result.finished
    assert file.read_text() == "import sys\n"
    assert not (computer.root / "set-aside").exists()
    assert_mended(computer)
