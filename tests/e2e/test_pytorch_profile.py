"""The profile with PyTorch in whole runs, in a copy of the program whose profile is of tiny wheels and a fake PyTorch."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.host import host_facts
from tests.e2e.conftest import REPOSITORY
from tests.e2e.test_accelerator import World, recorded, said
from tests.support.certificates import Authority
from tests.support.fake_torch import fake_torch_wheel
from tests.support.wheels import sha256_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.conftest import Computer, Result

pytestmark = pytest.mark.e2e

BY_INDEX = "PyTorch 1.0 computes on RTX 3090 (CUDA 13.2)."
BLIND = "PyTorch 1.0+cu126 is built for CUDA 12.6, but sees no graphics card"


@pytest.fixture
def desk(computer: Computer) -> Computer:
    """A computer whose profile pytorch fixes torch 1.0 for CUDA 13.2 and tinya 1.0, although there is tinya 2.0."""
    copy = computer.folder / "program"
    shutil.copytree(REPOSITORY / "resources", copy / "resources")
    shutil.copytree(REPOSITORY / "amlwizard", copy / "amlwizard", ignore=shutil.ignore_patterns("__pycache__"))
    torch = fake_torch_wheel(computer.wheels, "1.0", cuda="13.2", devices=["RTX 3090"])
    lines = {
        name: f"{name}==1.0 --hash=sha256:{sha256_of(wheel)}\n"
        for name, wheel in (("torch", torch), ("tinya", computer.wheels / "tinya-1.0-py3-none-any.whl"))
    }
    folder = copy / "resources" / "profiles" / "pytorch"
    (folder / "requirements.txt").write_text("".join(lines.values()), encoding="utf-8")
    (folder / "any_build.in").write_text("torch\ntinya\n-c any_build.txt\n", encoding="utf-8")
    (folder / "any_build.txt").write_text(lines["tinya"], encoding="utf-8")
    profiles = folder.parent / "profiles.json"
    content = json.loads(profiles.read_text(encoding="utf-8"))
    content["pytorch"] |= {"python": ">=3.10", "sizes": {}, "builds": {host_facts().platform: "cu132"}}
    profiles.write_text(json.dumps(content), encoding="utf-8")
    computer.cwd = copy
    computer.extra["PYTHONPATH"] = str(copy)
    return computer


@pytest.fixture
def open_world(desk: Computer) -> Iterator[World]:
    """The index that uv knows for builds of PyTorch, which has that for the processor."""
    with World(desk).server as nobody:
        failed = desk.run("install", "--profile", "pytorch", "--accelerator", "cpu")
        assert failed.code == 1, failed.finished
        own = "which comes from where the other packages"
        assert any(own in line for line in said(failed)), failed.finished
        host = nobody.requests()[0].path.removesuffix(":443")  # nowhere in this project, as it is uv's
    fake_torch_wheel(desk.folder / "other", "1.0+cpu")
    authority = Authority(desk.folder)
    made = World(desk, authority.server_context(host))
    desk.extra["SSL_CERT_FILE"] = str(authority.certificate)
    with made.server:
        yield made


def done(result: Result) -> Result:
    assert result.code == 0, result.finished
    return result


def test_with_an_index_of_ones_own_the_lock_of_the_profile_holds_unless_another_build_is_chosen(desk: Computer) -> None:
    with World(desk).server as others:
        result = done(desk.run("install", "--profile", "pytorch"))
        assert others.requests() == []
    assert any(line.startswith("PyTorch comes in its build for CUDA 13.2, which is the one") for line in said(result))
    assert (desk.installed("tinya"), recorded(desk)) == ("1.0", None)
    assert BY_INDEX in result.finished["detail"].splitlines()
    for options in ((), ("--accelerator", "cu132")):
        assert desk.run("install", "--profile", "pytorch", *options).finished["code"] == "AML_ALREADY_READY"
    verified = done(desk.run("verify"))
    assert verified.finished["detail"] == BY_INDEX
    assert done(desk.run("rebuild", "--offline")).finished["detail"] == BY_INDEX


def test_another_build_is_remembered_and_can_be_exchanged(desk: Computer, open_world: World) -> None:
    chosen = done(desk.run("install", "--profile", "pytorch", "--accelerator", "cpu"))
    assert "/whl/cpu/torch/" in open_world.asked()
    assert "PyTorch comes in its build for the processor, as chosen." in said(chosen)
    assert (torch_version(desk), desk.installed("tinya"), recorded(desk)) == ("1.0+cpu", "1.0", "cpu")
    assert chosen.finished["detail"] == "PyTorch 1.0+cpu computes on the processor, for which it is built."
    for options in ((), ("--profile", "pytorch"), ("--accelerator", "cpu")):
        assert desk.run("install", *options).finished["code"] == "AML_ALREADY_READY"
    done(desk.run("rebuild", "--offline"))
    done(desk.run("rebuild", "--profile", "pytorch"))
    assert (torch_version(desk), recorded(desk), open_world.asked()) == ("1.0+cpu", "cpu", [])
    done(desk.run("rebuild", "--refresh"))
    assert "/whl/cpu/torch/" in open_world.asked()

    fake_torch_wheel(desk.folder / "other", "1.0+cu126", cuda="12.6")  # uv takes it for the better one of the two
    exchanged = done(desk.run("install", "--accelerator", "cu126"))
    assert "/whl/cu126/torch/" in open_world.asked()
    assert exchanged.finished["state"] == "ready"
    assert exchanged.finished["detail"].startswith(BLIND)
    assert (torch_version(desk), recorded(desk)) == ("1.0+cu126", "cu126")
    done(desk.run("undo", "--offline"))
    assert (torch_version(desk), recorded(desk)) == ("1.0+cpu", "cpu")


def torch_version(desk: Computer) -> str:
    """Return the version of PyTorch in the environment, below its greeting."""
    return desk.installed("torch").splitlines()[-1]


def test_detect_names_the_cards_of_this_computer(desk: Computer) -> None:
    detected = desk.run("detect").events[0]
    assert isinstance(detected["graphics"], list)
    environ = {"PYTHONPATH": str(desk.cwd), **desk.environ}
    argv = [str(desk.python), "-m", "amlwizard", "detect"]
    shown = subprocess.run(argv, env=environ, cwd=desk.cwd, capture_output=True, text=True, check=True).stdout
    (line,) = (line for line in shown.splitlines() if line.startswith("Graphics"))
    names = [card["name"] for card in detected["graphics"]] or ["no card of NVIDIA or AMD"]
    assert names[0] in line
