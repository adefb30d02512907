"""Where pip comes from for an interpreter: real interpreters, real environments, an index on loopback."""

from __future__ import annotations

import asyncio
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from packaging.version import Version

from amlwizard.core import pip_cli
from amlwizard.core.catalogue import LANGUAGES, error_texts
from amlwizard.core.choices import Choices
from amlwizard.core.errors import AmlError
from amlwizard.core.paths import venv_python
from amlwizard.core.pip_python import python_with_pip
from amlwizard.core.resolving import resolve
from amlwizard.core.wish import make_wish
from tests.support.index_server import IndexServer
from tests.support.interpreters import probe
from tests.support.run_contexts import new_run
from tests.support.stub_interpreters import copied_interpreter, give_pip, make_environment
from tests.support.wheels import make_wheel, sha256_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from amlwizard.core.context import RunContext

ANY = Version("1")
LATER = "99.0"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[IndexServer]:
    """An index that offers a pip of the far future, which can tell its version only."""
    main = f'print("pip {LATER} from here (python 3)")\n'.encode()
    make_wheel(tmp_path / "wheels", "pip", LATER, files={"pip/__main__.py": main}, console_script=False)
    with IndexServer(tmp_path / "wheels") as server:
        yield server


@pytest.fixture
def run(tmp_path: Path, index: IndexServer) -> RunContext:
    """A run that has not done anything yet."""
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("tinya\n")
    choices = Choices(tmp_path / "aml", requirements=requirements, index_url=index.index_url)
    return new_run(choices, tmp_path / "tmp")


def _made(run: RunContext) -> list[Path]:
    return [path.parent for path in run.tmp.glob("*/pyvenv.cfg")]


async def test_an_interpreters_own_pip_is_used_where_it_has_one(run: RunContext, tmp_path: Path) -> None:
    environment = tmp_path / "with pip"
    make_environment(environment)
    (library,) = environment.glob("[Ll]ib/**/site-packages")
    give_pip(library)
    facts, _ = probe(venv_python(environment))
    assert await python_with_pip(run, facts, ANY) == facts.executable
    assert _made(run) == []


def _listing(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if "__pycache__" not in path.parts)


@pytest.mark.posix
async def test_one_environment_gives_pip_to_an_interpreter_without_it_for_the_whole_run_and_gets_a_newer_one(
    run: RunContext, index: IndexServer, tmp_path: Path
) -> None:
    python = copied_interpreter(tmp_path / "copy")
    before = _listing(tmp_path / "copy")
    facts, _ = probe(python)
    found = await python_with_pip(run, facts, ANY)
    assert [found] == [venv_python(environment) for environment in _made(run)]
    assert await python_with_pip(run, facts, ANY) == found
    assert len(_made(run)) == 1
    assert _listing(tmp_path / "copy") == before
    said = await asyncio.to_thread(subprocess.run, pip_cli.version(found), capture_output=True, text=True, check=True)
    assert pip_cli.parse_version(said.stdout.splitlines()) is not None
    same = "import sys; print(sys.version, sys.base_prefix)"
    answers = [subprocess.check_output([path, "-I", "-c", same]) for path in (python, found)]  # noqa: ASYNC221
    assert answers[0] == answers[1]

    with pytest.raises(AmlError) as caught:
        await python_with_pip(run, facts, Version("100"))
    assert (caught.value.code, caught.value.arguments["package"]) == ("AML_NO_SUCH_VERSION", "pip>=100")
    assert await python_with_pip(run, facts, Version(LATER)) == found
    assert any(request.path.endswith(".whl") for request in index.requests())
    said = await asyncio.to_thread(subprocess.run, pip_cli.version(found), capture_output=True, text=True, check=True)
    assert pip_cli.parse_version(said.stdout.splitlines()) == Version(LATER)


@pytest.mark.posix
async def test_without_ensurepip_the_missing_package_is_named(run: RunContext, tmp_path: Path) -> None:
    facts, _ = probe(copied_interpreter(tmp_path / "copy", without=("ensurepip",)))
    with pytest.raises(AmlError) as caught:
        await python_with_pip(run, replace(facts, has_ensurepip=False), pip_cli.MINIMUM_FOR_REPORT)
    assert caught.value.code == "AML_PIP_MISSING"
    for language in LANGUAGES:
        assert f"python{facts.minor}-venv" in error_texts(caught.value, language)[0]
    assert _made(run) == []


@pytest.mark.posix
async def test_an_ensurepip_that_fails_is_told_with_what_it_said(run: RunContext, tmp_path: Path) -> None:
    python = copied_interpreter(tmp_path / "copy", without=("ensurepip",))
    (library,) = (tmp_path / "copy" / "lib").iterdir()
    (library / "ensurepip.py").write_text('raise SystemExit("ensurepip is out of order")\n')
    facts, _ = probe(python)
    with pytest.raises(AmlError) as caught:
        await python_with_pip(run, facts, ANY)
    assert caught.value.code == "AML_VENV_FAILED"
    assert "ensurepip" in caught.value.detail


@pytest.mark.parametrize(
    ("lines", "version"),
    [
        (["pip 23.0.1 from /usr/lib/python3/dist-packages/pip (python 3.11)"], "23.0.1"),
        (["pip 25.1 from C:\\Python313\\Lib\\site-packages\\pip (python 3.13)"], "25.1"),
        (["a warning", "pip 24.1b1 from /opt/pip (python 3.13)"], "24.1"),
        ([], None),
        (["/usr/bin/python3: No module named pip"], None),
    ],
)
def test_what_pip_says_of_its_version(lines: list[str], version: str | None) -> None:
    assert pip_cli.parse_version(lines) == (Version(version) if version is not None else None)


@pytest.mark.parametrize(
    ("addresses", "minimum"),
    [
        ([], "23.0"),
        (["", "file:///srv/tinya-1.0-py3-none-any.whl", "git+https://git.example.org/a@v1"], "23.0"),
        (["", "https://files.example.org/tinya-1.0-py3-none-any.whl"], "23.1"),
        (["http://files.example.org/tinya-1.0.zip#subdirectory=a"], "23.1"),
        ([f"https://files.example.org/tinya-1.0-py3-none-any.whl#sha256={'a' * 64}"], "23.0"),
    ],
)
def test_a_newer_pip_is_needed_for_addresses_without_a_hash(addresses: list[str], minimum: str) -> None:
    assert pip_cli.minimum_for(addresses) == Version(minimum)


OLD_PIP = """
import json, pathlib, sys
if "--report" in sys.argv:
    report = {"version": "1", "install": [{"download_info": %r, "metadata": {"name": "tinya", "version": "1.0"}}]}
    pathlib.Path(sys.argv[sys.argv.index("--report") + 1]).write_text(json.dumps(report))
print("pip 23.0 from here (python 3)")
"""


@pytest.mark.parametrize("named", ["tinya", "tinya @ {url}", "tinya @ {url}#sha256={sha256}"])
async def test_resolving_passes_a_pip_over_that_would_tell_no_hash_of_an_address(
    run: RunContext, index: IndexServer, tmp_path: Path, named: str
) -> None:
    wheel = make_wheel(tmp_path / "wheels", "tinya")
    url, sha256 = f"{index.url}/packages/{wheel.name}", sha256_of(wheel)
    assert run.choices.requirements is not None
    run.choices.requirements.write_text(named.format(url=url, sha256=sha256))
    run.wish = make_wish(run.choices, run.workspace, {})
    environment = tmp_path / "with pip"
    make_environment(environment)
    (library,) = environment.glob("[Ll]ib/**/site-packages")
    (library / "pip").mkdir()
    downloaded = {"url": url, "archive_info": {"hashes": {"sha256": sha256}}}
    (library / "pip" / "__main__.py").write_text(OLD_PIP % downloaded)
    # for an interpreter whose own pip, which ensurepip gives, is too old as well
    newer = (OLD_PIP % downloaded).replace("pip 23.0", "pip 99.1").encode()
    make_wheel(tmp_path / "wheels", "pip", "99.1", files={"pip/__main__.py": newer}, console_script=False)
    run.python, _ = probe(venv_python(environment))
    run.workspace.runtime.mkdir(parents=True)
    (package,) = (await resolve(run)).packages
    assert package.wheels is not None
    assert package.wheels[0].hashes == {"sha256": sha256}
    assert bool(_made(run)) == (named == "tinya @ {url}")
