"""A workspace's lock in the hands of a colleague: the same versions there, or the same wish resolved anew."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import tomli_w
from packaging.tags import platform_tags

from amlwizard.core.choices import Choices
from amlwizard.core.events import FinishedEvent, RunState
from amlwizard.core.lock import read_lock
from amlwizard.text_mode import build_engine
from tests.support.sources import commit_all, make_source
from tests.support.wheels import make_wheel, sha256_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.e2e.conftest import Computer

pytestmark = pytest.mark.e2e
MINOR = f"{sys.version_info.major}.{sys.version_info.minor}"


def share(computer: Computer, name: str = "pylock.team.toml") -> tuple[Path, FinishedEvent]:
    """Share the lock of the workspace; return the file and how it ended."""
    out = computer.folder / name
    choices = Choices(root=computer.root, share=out)
    return out, asyncio.run(build_engine("en").share(choices, lambda _event: None))


def files_of(lock: Path) -> dict[str, tuple[str, dict[str, str]]]:
    """Return version and hashes of every package of a lock."""
    return {
        package.name: (str(package.version), {wheel.filename: wheel.hashes["sha256"] for wheel in package.wheels or ()})
        for package in read_lock(lock).packages
    }


def changed(lock: Path, **changes: Any) -> Path:
    """Return a lock like another one that says something else of its making."""
    content = tomllib.loads(lock.read_text(encoding="utf-8"))
    for name, value in changes.items():
        content["tool"]["amlwizard"][name] = value
    if "python" in changes:
        content["requires-python"] = f"=={changes['python']}.*"
    lock.write_text(tomli_w.dumps(content), encoding="utf-8")
    return lock


def test_a_colleague_gets_the_same_versions_and_hashes(installed: Computer) -> None:
    before = files_of(installed.root / "runtime" / "pylock.toml")
    out, finished = share(installed)
    assert finished.state is RunState.DONE, finished
    assert str(out) in finished.message
    assert "--requirements pylock.team.toml" in finished.hint
    text = out.read_text(encoding="utf-8")
    assert str(installed.folder) not in text
    assert files_of(out) == before

    make_wheel(installed.wheels, "tinya", "3.0")  # what a resolution would take by now
    there = installed.folder / "colleague"
    planned = installed.run("plan", "--root", there, "--requirements", out)
    assert planned.code == 0, planned.finished
    assert not there.exists()
    result = installed.run("install", "--root", there, "--requirements", out)
    assert result.code == 0, result.finished
    assert files_of(there / "runtime" / "pylock.toml") == before
    stored = {path.name: path.read_bytes() for path in (there / "downloads").glob("*.whl")}
    assert stored == {path.name: path.read_bytes() for path in (installed.root / "downloads").glob("*.whl")}
    again = installed.run("install", "--root", there, "--requirements", out)
    assert again.finished["code"] == "AML_ALREADY_READY"

    installed.extra["AML_ROOT"] = str(there)  # and what the colleague shares is the same again
    second = asyncio.run(
        build_engine("en").share(Choices(root=there, share=installed.folder / "pylock.second.toml"), lambda _event: None)
    )
    assert second.state is RunState.DONE
    assert (installed.folder / "pylock.second.toml").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("tool", ["uv", "pip"])
def test_uv_and_pip_take_it_as_it_is(installed: Computer, tool: str) -> None:
    out, _ = share(installed)
    environment = installed.folder / "plain"
    env = {"PATH": os.environ["PATH"], "HOME": str(installed.folder), "PIP_CONFIG_FILE": os.devnull}
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    if tool == "pip":
        import pip
        from packaging.version import Version

        if Version(pip.__version__) < Version("26.1"):
            pytest.skip("this pip is older than 26.1, the first that reads a pylock.toml")
        command = [sys.executable, "-m", "pip", "--python", str(environment), "install", "-r", str(out)]
    else:
        uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or ""
        command = [uv, "pip", "sync", "--no-config", "--python", str(environment), str(out)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    code = "import tinya, tinyb; print(tinya.__version__, tinyb.__version__)"
    python = environment / "bin" / "python"
    assert subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout == "2.0 1.0\n"


@pytest.mark.parametrize("change", [{"platform": "macos-arm64"}, {"python": "3.99"}], ids=["platform", "python"])
def test_what_does_not_fit_is_refused_with_an_offer_and_resolved_anew(
    installed: Computer, change: Mapping[str, str]
) -> None:
    out, _ = share(installed)
    changed(out, **change)
    make_wheel(installed.wheels, "tinya", "3.0")
    there = ("--root", installed.folder / "colleague", "--requirements", out)
    python = ("--python", MINOR) if "python" in change else ()
    for command in ("plan", "install"):
        refused = installed.run(command, *there, *python)
        assert refused.code == 2, refused.finished
        assert refused.finished["code"] == ("AML_SHARED_PYTHON" if python else "AML_SHARED_PLATFORM")
        assert "--refresh" in refused.finished["hint"]
        assert out.name in refused.finished["message"]
    assert not (installed.folder / "colleague").exists()

    assert installed.run("plan", *there, *python, "--refresh").code == 0
    anew = installed.run("install", *there, *python, "--refresh")
    assert anew.code == 0, anew.finished
    versions = {name: version for name, (version, _) in files_of(there[1] / "runtime" / "pylock.toml").items()}
    assert versions == {"tinya": "3.0", "tinyb": "1.0"}
    # from now on that is what the workspace wants, although the file still does not fit
    for arguments in ((), ("--requirements", out)):
        same = installed.run("install", "--root", there[1], *arguments)
        assert same.finished["code"] == "AML_ALREADY_READY", same.finished
    assert installed.run("rebuild", "--root", there[1], "--offline").code == 0
    out.unlink()
    assert installed.run("install", "--root", there[1]).finished["code"] == "AML_ALREADY_READY"


@pytest.mark.parametrize("wants", [">=3.99", "==3.8.*", "cp39", "nowhere"])
def test_a_lock_of_anybody_for_another_python_is_refused_before_anything_is_done(computer: Computer, wants: str) -> None:
    tag = {"cp39": f"cp39-cp39-{next(iter(platform_tags()))}", "nowhere": "py3-none-elsewhere_x86"}.get(wants)
    wheel = make_wheel(computer.wheels, "other", "1.0", tag=tag or "py3-none-any")
    file = {"url": wheel.as_uri(), "hashes": {"sha256": sha256_of(wheel)}}
    lock = computer.folder / "pylock.other.toml"
    content = {"lock-version": "1.0", "created-by": "another"} | ({} if tag else {"requires-python": wants})
    packages = [{"name": "other", "version": "1.0", "wheels": [file]}]
    lock.write_text(tomli_w.dumps({**content, "packages": packages}), encoding="utf-8")
    for command in ("plan", "install"):
        refused = computer.run(command, "--requirements", lock)
        code = "AML_NO_WHEEL_HERE" if wants == "nowhere" else "AML_LOCK_PYTHON"
        assert (refused.code, refused.finished["code"]) == (2, code), refused.finished
        assert {"cp39": "==3.9.*", "nowhere": "other 1.0"}.get(wants, wants) in refused.finished["message"]
    assert not computer.root.exists()


def test_an_interpreter_named_by_its_path_gets_the_same_offer(installed: Computer) -> None:
    out, _ = share(installed)
    changed(out, python="3.99")
    result = installed.run(
        *("install", "--root", installed.folder / "colleague", "--requirements", out, "--python", sys.executable)
    )
    assert (result.code, result.finished["code"]) == (2, "AML_SHARED_PYTHON"), result.finished


def test_requirements_that_lead_to_files_are_not_taken_from_a_lock(installed: Computer) -> None:
    out, _ = share(installed)
    mine = "AML_SHARED_REQUIREMENTS"
    lines = {"-r /etc/hostname": mine, "--find-links /srv": mine, "-e ./wheels": mine, "./wheels": mine}
    for line, code in {**lines, "x @ file:///absent/x-1.0.tar.gz": "AML_REQUIREMENTS_LOCAL_MISSING"}.items():
        changed(out, requirements=["tinya", line])
        there = installed.folder / "colleague"
        result = installed.run("plan", "--root", there, "--requirements", out, "--refresh")
        assert (result.code, result.finished["code"]) == (2, code), line


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_what_cannot_be_shared_is_named(computer: Computer) -> None:
    notes = computer.folder / "notes.txt"
    notes.touch()
    for name in ("tinyc", "tinyd", "tinye"):
        make_source(computer.folder / name, name, "4.0", notes=notes)
    commit = commit_all(computer.folder / "tinye")
    make_wheel(computer.folder / "local", "tinyf")
    lines = (
        "./tinyc",
        "-e ./tinyd",
        f"tinye @ git+{(computer.folder / 'tinye').as_uri()}@{commit}",
        "./local/tinyf-1.0-py3-none-any.whl",
    )
    wanted = computer.requirements("\n".join([*lines, "tinya<2", ""]))
    result = computer.run("install", "--requirements", wanted)
    assert result.code == 0, result.finished
    out, finished = share(computer)
    assert finished.state is RunState.DONE, finished
    for name in ("tinyc", "tinyd", "tinye", "tinyf"):
        assert name in finished.message
    assert list(files_of(out)) == ["tinya"]
    about = tomllib.loads(out.read_text(encoding="utf-8"))["tool"]["amlwizard"]
    assert about["requirements"] == ["tinya<2"]


def test_places_where_no_lock_can_be_saved(installed: Computer) -> None:
    for name, code in {
        "team.toml": "AML_SHARE_NAME",
        "pylock.a.b.toml": "AML_SHARE_NAME",
        "no/pylock.toml": "AML_SHARE_NO_FOLDER",
    }.items():
        out, finished = share(installed, name)
        assert (finished.state, finished.code) == (RunState.REFUSED, code)
        assert not out.exists()
    (installed.folder / "pylock.folder.toml").mkdir()
    assert share(installed, "pylock.folder.toml")[1].code == "AML_SHARE_IS_FOLDER"


def test_an_empty_workspace_has_nothing_to_share(computer: Computer) -> None:
    out, finished = share(computer)
    assert finished.code == "AML_SHARE_NOTHING"
    assert not out.exists()
    assert not computer.root.exists()
