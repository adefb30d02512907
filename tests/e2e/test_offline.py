"""Without a network: everything that needs none succeeds and does not even try to connect; what is missing is listed."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.wording import size_text
from tests.support.attempts import Attempts
from tests.support.sources import make_source
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Computer, Result
    from tests.support.interpreter_archives import InterpreterArchive
    from tests.support.namespaces import Circumstances

pytestmark = [pytest.mark.e2e, pytest.mark.linux]
_NOBODY = "http://files.example.org/simple/"
"""An index whose name would have to be looked up."""


@pytest.fixture
def attempts(tmp_path: Path, circumstances: type[Circumstances]) -> Attempts:
    """What catches whoever tries to connect, where this user can have namespaces."""
    assert circumstances
    folder = tmp_path / "attempts"
    folder.mkdir()
    return Attempts(folder)


def quiet(computer: Computer, attempts: Attempts, *arguments: str | Path) -> Result:
    """Run a command that has to succeed without trying to reach anything."""
    result = computer.run(*arguments, prefix=attempts.prefix())
    assert result.code == 0, result.finished
    assert attempts.counted() == {}, arguments
    return result


def test_nothing_even_tries_to_connect(
    installed: Computer, attempts: Attempts, interpreter_archive: InterpreterArchive
) -> None:
    listed = interpreter_archive.downloads_json(installed.folder / "downloads.json").as_uri()
    wanted = ("--requirements", installed.requirements("tinyb\n"))
    bundle = installed.folder / "tiny.amlbundle"
    assert installed.run("bundle", "create", bundle, "--python-downloads-json", listed).code == 0
    installed.extra["AML_INDEX_URL"] = _NOBODY

    # what may connect does, and is caught: uv for the index, and this program for a file
    installed.hurried = True
    assert installed.run("rebuild", "--refresh", prefix=attempts.prefix()).code == 1
    assert attempts.counted()
    (installed.root / "downloads" / "tinya-2.0-py3-none-any.whl").rename(installed.folder / "tinya.whl")
    assert installed.run("rebuild", prefix=attempts.prefix()).code == 1
    assert attempts.counted()
    (installed.folder / "tinya.whl").rename(installed.root / "downloads" / "tinya-2.0-py3-none-any.whl")

    installed.hurried = False
    installed.run("rebuild", "--refresh", "--offline", prefix=attempts.prefix())  # cannot succeed, and does not try
    assert attempts.counted() == {}
    quiet(installed, attempts, "plan", "--offline")
    quiet(installed, attempts, "rebuild", "--offline")
    quiet(installed, attempts, "verify", "--deep")
    shutil.rmtree(installed.root / ".venv")
    shutil.rmtree(installed.root / "cache")
    quiet(installed, attempts, "install", "--offline", *wanted)
    (module,) = (installed.root / ".venv").rglob("tinya/__init__.py")
    module.unlink()
    repaired = quiet(installed, attempts, "repair", "--offline")
    assert repaired.states()["verify"] == "done"
    assert installed.installed("tinya") == "2.0"
    again = installed.folder / "again.amlbundle"
    quiet(installed, attempts, "bundle", "create", again, "--offline")
    quiet(installed, attempts, "install", "--offline", "--root", installed.folder / "other", "--bundle", again)


def test_without_uv_nothing_tries_to_connect_either(without_uv: Computer, attempts: Attempts) -> None:
    wanted = ("--requirements", without_uv.requirements("tinyb\n"), "--uv-method", "none")
    without_uv.extra["AML_INDEX_URL"] = _NOBODY
    shutil.rmtree(without_uv.root / ".venv")
    quiet(without_uv, attempts, "install", *wanted, "--offline")
    quiet(without_uv, attempts, "rebuild", "--offline", "--uv-method", "none")
    assert not (without_uv.root / "tools").exists()
    assert without_uv.installed("tinyb") == "1.0"


@pytest.mark.parametrize(
    "lines",
    [
        "--find-links http://files.example.org/page.html\n--index-url http://index.example.org/simple/\ntinya\n",
        "-i http://index.example.org/simple/ --extra-index-url http://files.example.org/simple/\n-f WHEELS\ntinyb\n",
        "tinya @ http://files.example.org/tinya-1.0-py3-none-any.whl\ntinyb\n",
        "tinyb\ntinya @ git+https://files.example.org/tinya.git@0123456789012345678901234567890123456789\n",
    ],
)
def test_without_uv_what_the_requirements_name_elsewhere_is_not_asked_offline(
    without_uv: Computer, attempts: Attempts, lines: str
) -> None:
    wanted = without_uv.requirements(lines.replace("WHEELS", str(without_uv.wheels)))
    result = without_uv.run(
        *("install", "--requirements", wanted, "--uv-method", "none", "--offline"), prefix=attempts.prefix()
    )
    assert attempts.counted() == {}
    if "WHEELS" in lines:
        assert result.code == 0, result.finished
    else:
        assert (result.code, result.finished["code"]) == (1, "AML_OFFLINE_MISSING"), result.finished
        assert "tinya" in result.finished["message"]


def test_a_python_that_is_missing_is_named_with_its_host(
    computer: Computer, attempts: Attempts, interpreter_archive: InterpreterArchive
) -> None:
    archive = replace(interpreter_archive, version="3.99.1")
    address = "https://files.example.org/20260101/cpython-3.99.1.tar.gz"
    listed = archive.downloads_json(computer.folder / "downloads.json", url=address).as_uri()
    wanted = ("--requirements", computer.requirements("tinyb\n"), "--python", "3.99", "--python-downloads-json", listed)
    result = computer.run("install", "--offline", *wanted, prefix=attempts.prefix())
    assert (result.code, result.finished["code"]) == (1, "AML_STORE_INCOMPLETE"), result.finished
    assert [line.split("  ")[0::2] for line in result.finished["detail"].splitlines()] == [
        ["cpython-3.99.1.tar.gz", "files.example.org"],
        ["cpython-3.99.1.tar.gz.json", "files.example.org"],
    ]
    assert attempts.counted() == {}
    result = computer.run("install", "--offline", *wanted[:2], "--python", "3.98", prefix=attempts.prefix())
    assert result.finished["code"] == "AML_PYTHON_VERSION_UNAVAILABLE"  # uv's own list does not name it
    assert attempts.counted() == {}


def test_what_is_missing_is_listed_file_by_file_and_taken_from_a_copy(installed: Computer) -> None:
    downloads = installed.root / "downloads"
    elsewhere = installed.folder / "elsewhere"
    shutil.copytree(downloads, elsewhere)
    files = sorted(downloads.glob("*.whl"))
    for file in files:
        file.unlink()
    result = installed.run("rebuild", "--offline")
    assert (result.code, result.finished["code"]) == (1, "AML_STORE_INCOMPLETE")
    host = installed.index.url.removeprefix("http://")
    sizes = [(elsewhere / file.name).stat().st_size for file in files]
    lines = [line.split("  ") for line in result.finished["detail"].splitlines()]
    assert [(name, place) for name, _, place in lines] == [(file.name, host) for file in files]
    assert [size for _, size, _ in lines] == [size_text(size) for size in sizes]
    assert size_text(sum(sizes)) in result.finished["message"]
    assert str(downloads) in result.finished["hint"]

    shutil.copytree(elsewhere, downloads, dirs_exist_ok=True)  # as the hint says
    damaged = downloads / files[0].name
    damaged.write_bytes(damaged.read_bytes()[:-1])
    result = installed.run("rebuild", "--offline")
    assert result.finished["detail"].splitlines() == ["  ".join(lines[0])]
    shutil.copyfile(elsewhere / damaged.name, damaged)
    assert installed.run("rebuild", "--offline").code == 0


@pytest.mark.parametrize("named", ["by name", "by path"])
@pytest.mark.parametrize(
    "address",
    [
        "http://files.example.org/tinyfar-1.0-py3-none-any.whl",
        "git+https://files.example.org/tinyfar.git@0123456789012345678901234567890123456789",
    ],
)
def test_without_uv_what_a_wheel_itself_names_elsewhere_is_not_asked_offline(
    without_uv: Computer, attempts: Attempts, address: str, named: str
) -> None:
    wheel = make_wheel(without_uv.folder / "more", "tinynear", requires=[f"tinyfar @ {address}"])
    lines = f"{wheel}\n" if named == "by path" else f"-f {wheel.parent}\ntinynear\n"
    result = without_uv.run(
        *("install", "--requirements", without_uv.requirements(lines), "--uv-method", "none", "--offline"),
        prefix=attempts.prefix(),
    )
    assert attempts.counted() == {}
    assert (result.code, result.finished["code"]) == (1, "AML_OFFLINE_MISSING"), result.finished
    assert f"tinyfar @ {address}" in result.finished["message"]


def test_without_uv_what_an_added_wheel_names_elsewhere_is_not_asked_offline(
    without_uv: Computer, attempts: Attempts
) -> None:
    make_wheel(
        without_uv.root / "downloads",
        "tinynear",
        requires=["tinyfar @ http://files.example.org/tinyfar-1.0-py3-none-any.whl"],
    )
    settings = without_uv.folder / "home" / ".config" / "amlwizard" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"uvMethod": "none"}')
    result = without_uv.run("add", "tinynear", "--offline", prefix=attempts.prefix())
    assert attempts.counted() == {}
    assert (result.code, result.finished["code"]) == (1, "AML_ADD_OFFLINE"), result.finished


def test_without_uv_what_a_build_requires_elsewhere_is_not_asked_offline(without_uv: Computer, attempts: Attempts) -> None:
    project = without_uv.folder / "tinyproject"
    project.mkdir()
    address = "http://files.example.org/tinyfar-1.0-py3-none-any.whl"
    (project / "pyproject.toml").write_text(f'[build-system]\nrequires = ["tinyfar @ {address}"]\n')
    result = without_uv.run(
        *("install", "--requirements", without_uv.requirements("./tinyproject\n"), "--uv-method", "none", "--offline"),
        prefix=attempts.prefix(),
    )
    assert attempts.counted() == {}
    assert (result.code, result.finished["code"]) == (1, "AML_OFFLINE_MISSING"), result.finished
    assert f"tinyfar @ {address}" in result.finished["message"]


@pytest.mark.parametrize("method", ["auto", "none"])
def test_what_a_build_asks_for_by_the_usual_ways_is_held_back_offline(
    request: pytest.FixtureRequest, attempts: Attempts, method: str
) -> None:
    """By a library that heeds the variables for a proxy, and by git; with uv as with pip."""
    computer: Computer = request.getfixturevalue("installed" if method == "auto" else "without_uv")
    notes = computer.folder / "notes"
    source = make_source(computer.folder / "source", "tinyd", "4.0", notes=notes)
    backend = source / "backend.py"
    asking = (
        "import subprocess, urllib.request\n"
        "for address in ('http://files.example.org/x', 'https://192.0.2.1/x'):\n"
        "    try: urllib.request.urlopen(address, timeout=5)\n"
        "    except OSError: pass\n"
        "    subprocess.run(['git', 'ls-remote', address], stderr=subprocess.DEVNULL)\n"
    )
    backend.write_text(asking + backend.read_text())
    wanted = ("--requirements", computer.requirements(f"{source}\n"), "--uv-method", method)
    quiet(computer, attempts, "install", *wanted, "--offline")
    assert computer.installed("tinyd") == "4.0"
