"""Whole runs on computers where somebody else's environment or settings of uv and pip lie in the way."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import packaging
from amlwizard.core.detection import find_bundled_uv
from tests.support.index_server import Fault, IndexServer
from tests.support.loaded_program import REPOSITORY
from tests.support.sources import make_sdist, make_source
from tests.support.stub_interpreters import give_pip, make_environment, stub

if TYPE_CHECKING:
    from tests.e2e.conftest import Computer, Result

pytestmark = pytest.mark.e2e


def content(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return every entry below a folder with its mode and its bytes (of a link: where it leads)."""
    return {
        str(path): (
            path.lstat().st_mode,
            str(path.readlink()).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b"",
        )
        for path in folder.rglob("*")
    }


def remarks(result: Result) -> str:
    """Return what was told outside of the steps."""
    return "\n".join(event["line"] for event in result.events if event["event"] == "log" and not event["step"])


def foreign_environment(folder: Path) -> Path:
    """Make an environment of the user's own, with pip in it."""
    make_environment(folder)
    (library,) = folder.glob("lib/*/site-packages")
    give_pip(library)
    return folder


# -- B06, B15, B17: a uv of somebody else is the first on PATH

SOMEBODYS_UV = {
    "a launcher": 'echo "uv: command not found" >&2; exit 127',
    "too old": 'test "$1" = --version || exit 2; echo "uv 0.1.5"',
    "a good one": 'test "$1" != self || exit 2; exec {uv} "$@"',
}


@pytest.mark.posix
@pytest.mark.parametrize("kind", SOMEBODYS_UV)
def test_b06_b15_b17_one_uv_does_everything_and_somebody_elses_stays_as_it_is(computer: Computer, kind: str) -> None:
    programs, calls = computer.folder / "programs", computer.folder / "calls"
    path = stub(programs, "uv", f'echo "$*" >> {calls}\n{SOMEBODYS_UV[kind].replace("{uv}", str(find_bundled_uv()))}')
    before = content(programs)
    computer.extra["PATH"] = f"{programs}:{computer.environ['PATH']}"
    computer.install("tinyb\n")
    assert computer.installed("tinya") == "2.0"
    assert content(programs) == before
    foreign = calls.read_text().splitlines()
    used = {
        word
        for line in (event["line"] for event in computer.run("rebuild", "--refresh").events if event["event"] == "log")
        for word in line.split()
        if word.endswith("/uv")
    }
    if kind == "a good one":
        assert not [call for call in foreign if call.startswith("self")]
        assert len(used) == 1
    else:
        assert set(foreign) == {"--version"}
        assert used == {str(computer.root / "tools" / "uv")}
    assert str(path) not in used or kind == "a good one"


# -- B21: PYTHONHOME is set


def test_b21_pythonhome_reaches_neither_a_step_nor_a_job(computer: Computer) -> None:
    """It fits the Python of this program alone: any environment with it would lead to that one's packages."""
    found = [str(Path(packaging.__file__).parents[1]), *(path for path in sys.path if path.endswith("site-packages"))]
    computer.extra |= {
        "PYTHONHOME": f"{sys.base_prefix}:{sys.base_exec_prefix}",
        "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *found]),
    }
    computer.install("tinyb\n")
    assert computer.run("verify").code == 0
    job = computer.folder / "job.py"
    job.write_text("import os, sys, tinya\nprint(sys.prefix, 'PYTHONHOME' in os.environ)\n")
    argv = [sys.executable, "-m", "amlwizard", "run", "--", str(job)]
    done = subprocess.run(argv, capture_output=True, text=True, env=computer.environ, cwd=computer.cwd)
    assert (done.returncode, done.stdout.strip()) == (0, f"{computer.root / '.venv'} False"), done.stderr


# -- B24: variables and settings of pip lead an installation elsewhere


@pytest.mark.usefixtures("with_ready_pip")
def test_b24_pip_alone_installs_into_the_environment_whatever_its_variables_and_settings_say(computer: Computer) -> None:
    diverted = computer.folder / "diverted"
    computer.extra |= {"PIP_USER": "1", "PIP_DRY_RUN": "1", "PIP_REQUIRE_VIRTUALENV": "1", "PIP_NO_DEPS": "1"}
    computer.extra |= {"PIP_TARGET": str(diverted / "target"), "PIP_PREFIX": str(diverted / "prefix")}
    settings = computer.folder / "home" / ".config" / "pip" / "pip.conf"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"[install]\nuser = true\ntarget = {diverted / 'settings'}\n[global]\nno-deps = true\n")
    computer.extra["PIP_CONFIG_FILE"] = str(settings)
    before = content(computer.folder / "home")
    result = computer.run("install", "--requirements", computer.requirements("tinyb\n"), "--uv-method", "none")
    assert result.code == 0, result.finished
    assert computer.installed("tinya") == "2.0"
    assert not diverted.exists()
    assert content(computer.folder / "home") == before


# -- B19: another environment is active


@pytest.mark.parametrize(
    ("kind", "method"), [("virtual", "auto"), ("conda", "auto"), ("project", "auto"), ("virtual", "none")]
)
def test_b19_an_active_environment_gets_nothing_and_its_own_stays_as_it_is(
    computer: Computer, kind: str, method: str
) -> None:
    project = computer.folder / "project"
    project.mkdir()
    other = foreign_environment(project / ".venv")
    computer.extra["PATH"] = f"{other / 'bin'}:{computer.environ['PATH']}"
    if kind == "virtual":
        computer.extra |= {"VIRTUAL_ENV": str(other), "VIRTUAL_ENV_PROMPT": "other"}
    elif kind == "conda":
        computer.extra |= {"CONDA_PREFIX": str(other), "CONDA_DEFAULT_ENV": "base", "UV_SYSTEM_PYTHON": "1"}
    else:  # uv takes the environment of the folder in which it is called, and of a project above it
        computer.extra |= {"UV_PROJECT_ENVIRONMENT": str(other), "UV_PROJECT": str(project)}
        (project / "pyproject.toml").write_text('[project]\nname = "other"\nversion = "1"\n')
        computer.cwd = project
    before = content(project)
    wanted = ("--requirements", computer.requirements("tinyb\n"), "--uv-method", method)
    result = computer.run("install", *wanted)
    assert result.code == 0, result.finished
    assert computer.installed("tinya") == "2.0"
    assert computer.installed("tinyb") == "1.0"
    assert content(project) == before


# -- B26: uv's settings file of the user


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        ("no-such-key = 1\n", "user"),
        ("no-such-key = 1\n", "root"),
        ('required-version = ">=99"\n', "user"),
        ('[pip]\ntarget = "{diverted}"\n', "user"),
        ('[pip]\ntarget = "{diverted}"\n', "root"),
        ('[pip]\nprefix = "{diverted}"\n', "user"),
        ('cache-dir = "{diverted}"\nresolution = "lowest"\nlink-mode = "symlink"\n[pip]\nsystem = true\n', "user"),
        ("offline = true\n", "user"),
        ("this is no TOML [\n", "user"),
    ],
)
def test_b26_a_settings_file_of_uv_neither_stops_nor_diverts_anything(
    computer: Computer, settings: str, place: str
) -> None:
    diverted = computer.folder / "diverted"
    written = settings.replace("{diverted}", str(diverted))
    folder = computer.folder / "home" / ".config" / "uv" if place == "user" else computer.root
    folder.mkdir(parents=True)
    (folder / "uv.toml").write_text(written)
    result = computer.run("install", "--requirements", computer.requirements("tinyb\n"))
    assert result.code == 0, result.finished
    assert computer.installed("tinya") == "2.0"
    assert not diverted.exists()
    assert (folder / "uv.toml").read_text() == written


# -- B27: what a company has set there is the only way out


@pytest.mark.parametrize(
    ("place", "method"),
    [
        ("uv.toml", "auto"),
        ("named index of uv.toml", "auto"),
        ("pip.conf", "auto"),
        ("pip.conf", "none"),
        ("UV_DEFAULT_INDEX", "auto"),
        ("PIP_INDEX_URL", "auto"),
    ],
)
def test_b27_the_only_index_within_reach_is_taken_from_company_settings_and_told(
    computer: Computer, place: str, method: str
) -> None:
    address = computer.index.index_url
    computer.extra |= {"AML_INDEX_URL": "", "PIP_CONFIG_FILE": ""}
    computer.extra |= {"ALL_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}  # nothing else is within reach
    config = computer.folder / "home" / ".config"
    if place == "pip.conf":
        settings = config / "pip" / "pip.conf"
        text = f"[global]\nindex-url = {address}\n"
    else:
        settings = config / "uv" / "uv.toml"
        named = f'[[index]]\nname = "company"\nurl = "{address}"\ndefault = true\n'
        text = f'index-url = "{address}"\n' if place == "uv.toml" else named
    if settings.name in place:
        settings.parent.mkdir(parents=True)
        settings.write_text(text)
    else:
        computer.extra[place] = address
    wanted = ("--requirements", computer.requirements("tinyb\n"), "--uv-method", method)
    result = computer.run("install", *wanted)
    assert result.code == 0, result.finished
    assert computer.installed("tinya") == "2.0"
    assert address in remarks(result)
    assert (str(settings) if settings.name in place else place) in remarks(result)
    assert address in (computer.root / ".venv" / "pip.conf").read_text()


def test_b27_extra_indexes_folders_and_logins_of_a_company_are_taken_too(computer: Computer) -> None:
    folder = computer.folder / "wheels of the company"
    folder.mkdir()
    (computer.wheels / "tinyb-1.0-py3-none-any.whl").rename(folder / "tinyb-1.0-py3-none-any.whl")
    computer.index.fault("*", Fault(auth=("user", "planted-secret")))
    computer.extra |= {
        "AML_INDEX_URL": "",
        "UV_INDEX_COMPANY_USERNAME": "user",
        "UV_INDEX_COMPANY_PASSWORD": "planted-secret",
    }
    settings = computer.folder / "home" / ".config" / "uv" / "uv.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(
        f'find-links = ["{folder}"]\n[[index]]\nname = "company"\nurl = "{computer.index.index_url}"\ndefault = true\n'
    )
    result = computer.run("install", "--requirements", computer.requirements("tinyb\n"))
    assert result.code == 0, result.finished
    assert computer.installed("tinyb") == "1.0"
    assert str(folder) in remarks(result)
    assert "planted-secret" not in remarks(result)
    assert not any(
        b"planted-secret" in path.read_bytes() for path in (computer.root / "runtime").rglob("*") if path.is_file()
    )


def test_uv_itself_would_obey_these_settings(computer: Computer) -> None:
    """What the tests above hold back does have an effect: without us, uv refuses the file and the install goes astray."""
    uv = find_bundled_uv()
    assert uv is not None
    config = computer.folder / "home" / ".config" / "uv"
    config.mkdir(parents=True)
    (config / "uv.toml").write_text("no-such-key = 1\n")
    done = subprocess.run([uv, "venv", computer.folder / "v"], env=computer.environ, capture_output=True, text=True)
    assert "no-such-key" in done.stderr


@pytest.mark.usefixtures("with_ready_pip")
@pytest.mark.parametrize("method", ["auto", "none"])
def test_nothing_comes_into_the_home_folder_whatever_an_index_answers(computer: Computer, method: str) -> None:
    """A refused login has uv look for one of its own; and what builds a wheel has every occasion to leave something."""
    home = Path(computer.environ["HOME"])
    source = make_source(computer.folder / "source", "tinysource", "1.0", notes=computer.folder / "notes")
    make_sdist(computer.wheels, source, "tinysource", "1.0")
    with IndexServer(computer.wheels) as refusing:
        refusing.fault("*", "auth")
        before = content(home)
        extra = f"--extra-index-url {refusing.index_url}\n"
        for text in (f"{extra}tinya\n", "tinya\ntinysource\n"):
            computer.run("install", "--requirements", computer.requirements(text), "--uv-method", method)
        assert any(each.status == 401 for each in refusing.requests())
    assert content(home) == before
    assert computer.installed("tinya") == "2.0"
