"""Whole runs for an accelerator: uv itself knows the index with those builds, which stands behind a proxy of the tests'."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.certificates import Authority
from tests.support.index_server import Fault, IndexServer
from tests.support.wheels import make_wheel, sha256_of

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator

    from tests.e2e.conftest import Computer, Result

pytestmark = pytest.mark.e2e


class World:
    """Everything but the index: a proxy without which nobody gets there, and what it has been asked for."""

    def __init__(self, computer: Computer, tunnel_tls: ssl.SSLContext | None = None) -> None:
        self.server = IndexServer(computer.folder / "other", tunnel_tls=tunnel_tls)
        self.server.fault("/whl/*/torch/", Fault(redirect="/simple/torch/"))
        computer.extra |= {"HTTPS_PROXY": self.server.url, "NO_PROXY": "127.0.0.1"}

    def asked(self) -> list[str]:
        """Return what was asked for since the last time."""
        paths = [request.path for request in self.server.requests()]
        self.server.forget()
        return paths


@pytest.fixture
def world(computer: Computer) -> Iterator[World]:
    """A world that answers nobody; the index has torch 1.0, that of the accelerators torch 1.0+cpu."""
    make_wheel(computer.wheels, "torch", "1.0")
    make_wheel(computer.folder / "other", "torch", "1.0+cpu")
    made = World(computer)
    with made.server:
        yield made


@pytest.fixture
def open_world(computer: Computer, world: World) -> Iterator[World]:
    """A world that stands for every host, the one that uv asks first of all included."""
    wanted = computer.requirements("torch\n")
    assert computer.run("install", "--requirements", wanted, "--accelerator", "cpu").code == 1
    host = world.asked()[0].removesuffix(":443")  # nowhere in this project, as it is uv's
    authority = Authority(computer.folder)
    made = World(computer, authority.server_context(host))
    computer.extra["SSL_CERT_FILE"] = str(authority.certificate)
    with made.server:
        yield made


def said(result: Result) -> list[str]:
    """Return the lines of the log."""
    return [event["line"] for event in result.events if event["event"] == "log"]


def recorded(computer: Computer) -> str | None:
    """Return the accelerator that the lock notes."""
    lock = tomllib.loads((computer.root / "runtime" / "pylock.toml").read_text(encoding="utf-8"))
    found: str | None = lock["tool"]["amlwizard"].get("accelerator")
    return found


def test_without_an_accelerator_nobody_is_asked_but_the_index(computer: Computer, world: World) -> None:
    computer.install("torch\n")
    assert world.asked() == []
    assert (computer.installed("torch"), recorded(computer)) == ("1.0", None)

    refused = computer.run("install", "--accelerator", "cpu")
    assert refused.code == 1, refused.finished
    (asked,) = set(world.asked())
    assert asked.endswith(":443")
    assert asked.removesuffix(":443") in refused.finished["message"] + refused.finished["hint"]
    assert (computer.installed("torch"), recorded(computer)) == ("1.0", None)
    assert computer.run("install").finished["code"] == "AML_ALREADY_READY"


def test_what_is_not_pytorch_comes_from_the_index_all_the_same(computer: Computer, world: World) -> None:
    computer.install("tinyb\n", "--accelerator", "cpu")
    assert world.asked() == []
    assert (computer.installed("tinya"), recorded(computer)) == ("2.0", "cpu")


def test_the_lock_remembers_the_accelerator(computer: Computer, open_world: World) -> None:
    computer.install("torch\ntinya\n", "--accelerator", "cpu")
    assert "/whl/cpu/torch/" in open_world.asked()
    assert (computer.installed("torch"), recorded(computer)) == ("1.0+cpu", "cpu")

    for more in ((), ("--accelerator", "cpu")):
        again = computer.run("install", *more)
        assert again.finished["code"] == "AML_ALREADY_READY"
    for command in (("rebuild", "--offline"), ("repair", "--offline")):
        assert computer.run(*command).code == 0
    assert (computer.installed("torch"), recorded(computer)) == ("1.0+cpu", "cpu")
    assert open_world.asked() == []
    make_wheel(computer.wheels, "vision", "1.0", requires=["torch"])
    computer.pip_install("--no-deps", "vision")
    kept = computer.run("rebuild")
    assert kept.code == 0, kept.finished
    assert (computer.installed("vision"), computer.installed("torch")) == ("1.0", "1.0+cpu")
    open_world.asked()
    refreshed = computer.run("rebuild", "--refresh")
    assert refreshed.code == 0, refreshed.finished
    assert "/whl/cpu/torch/" in open_world.asked()
    assert recorded(computer) == "cpu"


def test_another_accelerator_resolves_anew_and_undo_goes_back(computer: Computer, open_world: World) -> None:
    computer.install("torch\n", "--accelerator", "cpu")
    open_world.asked()
    without_network = computer.run("install", "--accelerator", "cu128", "--offline")
    assert without_network.code == 1
    assert (open_world.asked(), recorded(computer)) == ([], "cpu")

    make_wheel(computer.folder / "other", "torch", "1.0+cu128")
    result = computer.run("install", "--accelerator", "cu128")
    assert result.code == 0, result.finished
    assert "/whl/cu128/torch/" in open_world.asked()
    assert (computer.installed("torch"), recorded(computer)) == ("1.0+cu128", "cu128")

    undone = computer.run("undo", "--offline")
    assert undone.code == 0, undone.finished
    assert (computer.installed("torch"), recorded(computer)) == ("1.0+cpu", "cpu")
    assert open_world.asked() == []


REFUSED = pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--accelerator", "cu999"], "AML_ACCELERATOR_INVALID"),
        (["--accelerator", "cpu", "--uv-method", "none"], "AML_ACCELERATOR_NEEDS_UV"),
        (["--accelerator", "cpu", "--profile", "pytorch", "--uv-method", "none"], "AML_ACCELERATOR_NEEDS_UV"),
    ],
)


@REFUSED
def test_what_cannot_be_is_refused_by_a_rebuild_as_well(older: Computer, options: list[str], code: str) -> None:
    wanted = [] if "--profile" in options else ["--requirements", str(older.requirements("torch\n"))]
    refused = older.run("rebuild", *wanted, *options)
    assert (refused.code, refused.finished["code"]) == (2, code)
    assert older.installed("tinya") == "1.0"


@REFUSED
@pytest.mark.parametrize("command", ["plan", "install", "bundle create"])
def test_what_cannot_be_is_refused_before_anything_is_written(
    computer: Computer, command: str, options: list[str], code: str
) -> None:
    wanted = [] if "--profile" in options else ["--requirements", str(computer.requirements("torch\n"))]
    place = [str(computer.folder / "out.amlbundle")] if command == "bundle create" else []
    refused = computer.run(*command.split(), *place, *wanted, *options)
    assert (refused.code, refused.finished["code"]) == (2, code)
    assert "cu128" in refused.finished["hint"] or code != "AML_ACCELERATOR_INVALID"
    assert not computer.root.exists()


def test_hashes_of_a_user_fix_the_build_and_those_of_others_do_not_matter(computer: Computer) -> None:
    torch = make_wheel(computer.wheels, "torch", "1.0")
    wanted = computer.requirements(f"torch==1.0 --hash=sha256:{sha256_of(torch)}\n")
    refused = computer.run("install", "--requirements", wanted, "--accelerator", "cpu")
    assert (refused.code, refused.finished["code"]) == (2, "AML_ACCELERATOR_FIXED")
    assert not computer.root.exists()
    tinya = computer.wheels / "tinya-1.0-py3-none-any.whl"
    other = computer.requirements(f"tinya==1.0 --hash=sha256:{sha256_of(tinya)}\n")
    told = f"The accelerator cpu has no effect: nothing in {other} has builds for accelerators."
    for command in ("plan", "install"):
        result = computer.run(command, "--requirements", other, "--accelerator", "cpu")
        assert result.code == 0, result.finished
        assert told in said(result)
    assert recorded(computer) is None
    ready = computer.run("install", "--accelerator", "cpu").finished
    assert (ready["code"], ready["detail"]) == ("AML_ALREADY_READY", told)
    assert told in said(computer.run("plan", "--accelerator", "cpu"))


def test_a_setting_keeps_nobody_from_what_hashes_fix(computer: Computer) -> None:
    """It is for whatever it applies to; an option is for this very run."""
    write_setting(computer)
    torch = make_wheel(computer.wheels, "torch", "1.0")
    wanted = computer.requirements(f"torch==1.0 --hash=sha256:{sha256_of(torch)}\n")
    planned = computer.run("plan", "--requirements", wanted)
    assert planned.code == 0, planned.finished
    told = f"The accelerator cpu of the settings has no effect: {wanted} fixes its build of PyTorch by hashes."
    assert told in said(planned)
    assert "accelerator" not in "".join(said(computer.run("plan", "--profile", "minimal")))
    refused = computer.run("plan", "--requirements", wanted, "--accelerator", "cpu")
    assert (refused.code, refused.finished["code"]) == (2, "AML_ACCELERATOR_FIXED")


def test_the_profile_takes_the_build_that_a_setting_names(computer: Computer) -> None:
    write_setting(computer)
    assert "PyTorch comes in its build for the processor, as chosen." in said(computer.run("plan", "--profile", "pytorch"))


def write_setting(computer: Computer) -> None:
    """Let the user's settings choose the build for the processor."""
    settings = Path(computer.environ["HOME"]) / ".config" / "amlwizard" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"accelerator": "cpu"}', encoding="utf-8")


@pytest.mark.usefixtures("with_ready_pip")
def test_without_uv_a_workspace_keeps_what_it_has_and_chooses_nothing_else(computer: Computer) -> None:
    computer.install("tinya\n", "--accelerator", "cpu")
    rebuilt = computer.run("rebuild", "--uv-method", "none", "--offline")
    assert rebuilt.code == 0, rebuilt.finished
    assert recorded(computer) == "cpu"
    refused = computer.run("rebuild", "--uv-method", "none", "--refresh")
    assert (refused.code, refused.finished["code"]) == (1, "AML_ACCELERATOR_NEEDS_UV")
    assert computer.installed("tinya") == "2.0"
