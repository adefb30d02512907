"""What the user is told although nothing is wrong."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from amlwizard.core.catalogue import text
from tests.e2e.conftest import REPOSITORY
from tests.support.index_server import IndexServer
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.conftest import Computer, Result

pytestmark = pytest.mark.e2e


def _lines(result: Result) -> list[str]:
    lines: list[Any] = [event["line"] for event in result.events if event["event"] == "log"]
    return lines


def _text_of(computer: Computer, *arguments: str) -> str:
    """Run a command in the text mode and return what it says on standard error."""
    command = [str(computer.python), "-m", "amlwizard", *arguments]
    done = subprocess.run(command, cwd=REPOSITORY, env=computer.environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.parametrize("named_in", ["requirements", "option"])
def test_another_wheel_of_the_same_version_is_a_change(computer: Computer, named_in: str) -> None:
    links = computer.folder / "links"
    line = "./links/tinyl-1.0-py3-none-any.whl" if named_in == "requirements" else "tinyl"
    options = () if named_in == "requirements" else ("--find-links", links)
    make_wheel(links, "tinyl", "1.0", init="__version__ = 'first'\n", console_script=False)
    computer.install(f"{line}\n", *options)
    make_wheel(links, "tinyl", "1.0", init="__version__ = 'second'\n", console_script=False)
    for command in ("plan", "rebuild"):
        result = computer.run(command, "--refresh", *options)
        assert result.code == 0, result.finished
        (changes,) = (event for event in result.events if event["event"] == "changes")
        assert changes["changed"] == [{"name": "tinyl", "from": "1.0", "to": "1.0"}]
    assert computer.installed("tinyl") == "second"
    same = computer.run("plan", "--refresh", *options)
    assert [event["changed"] for event in same.events if event["event"] == "changes"] == [[]]


def test_b81_options_of_a_requirements_file_without_effect_are_named(computer: Computer) -> None:
    file = computer.requirements("--prefer-binary\n--trusted-host inner.example.org\ntinya\n")
    wanted = [
        f"Line 1 of {file}: the option --prefer-binary has no effect here.",
        f"Line 2 of {file}: certificates of inner.example.org are checked all the same.",
    ]
    planned = computer.run("plan", "--requirements", file)
    assert [line for line in _lines(planned) if line in wanted] == wanted
    assert set(wanted) <= set(_text_of(computer, "plan", "--requirements", str(file)).splitlines())
    assert set(wanted) <= set(_text_of(computer, "install", "--requirements", str(file)).splitlines())
    (log,) = (computer.root / "runtime" / "logs").iterdir()
    assert wanted[0] in log.read_text()


def test_settings_of_pip_and_uv_are_told_and_no_host_is_trusted_without_a_certificate(computer: Computer) -> None:
    config = computer.folder / "pip.conf"
    config.write_text(f"[global]\nindex-url = {computer.index.index_url}\ntrusted-host = inner.example.org\n")
    computer.extra |= {"AML_INDEX_URL": "", "PIP_CONFIG_FILE": str(config), "UV_INSECURE_HOST": "other.example.org:8443"}
    hosts = ("other.example.org:8443 (UV_INSECURE_HOST)", f"inner.example.org ({config})")
    trusted = text("remark.trusted_hosts", "en", hosts=", ".join(hosts))
    assert "checks them all the same" in trusted
    requirements = computer.requirements("tinya\n")
    used = f"index-url {computer.index.index_url} ({config})"
    shown = [_lines(computer.run(command, "--requirements", requirements)) for command in ("plan", "install")]
    for lines in (*shown, _text_of(computer, "detect").splitlines()):
        assert trusted in lines
        assert any(f": {used}" in line for line in lines)
    (detected,) = computer.run("detect").events
    assert detected["settings"]["trusted_hosts"] == list(hosts)
    assert used in detected["settings"]["from_pip_and_uv"]


@pytest.mark.linux
def test_settings_that_mean_nothing_are_named(computer: Computer) -> None:
    requirements = str(computer.requirements("tinya\n"))
    file = Path(computer.environ["HOME"]) / ".config" / "amlwizard" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"indexURL": "https://index.example.org/simple"}')
    wanted = f"Settings that amlwizard does not know are passed over: indexURL ({file})."
    assert wanted in _lines(computer.run("plan", "--requirements", requirements))
    assert wanted in _text_of(computer, "plan", "--requirements", requirements).splitlines()
    file.write_text('{"language": "xx"}')
    wanted = f"The language xx in {file} is none that amlwizard has: en, zh_CN."
    assert computer.run("install", "--requirements", requirements).code == 0
    for command in ("detect", "verify", "store", "repair"):
        assert _text_of(computer, command).splitlines().count(wanted) == 1, command


@pytest.mark.linux
def test_a_pipe_in_a_job_kit_is_no_part_of_it(computer: Computer) -> None:
    kit = computer.folder / "kit"
    kit.mkdir()
    (kit / "amlkit.py").write_text("ANSWER = 42\n")
    os.mkfifo(kit / "pipe.py")
    (kit / "folder.py").mkdir()
    computer.extra["AML_PYHOME"] = str(kit)
    assert computer.run("install", "--requirements", computer.requirements("tinya\n")).code == 0
    assert [file.name for file in (computer.root / "runtime" / "kit").iterdir()] == ["amlkit.py"]


def test_a_proxy_that_does_not_answer_is_named(computer: Computer) -> None:
    computer.hurried = True
    computer.extra["AML_INDEX_URL"] = "https://index.example.org/simple"
    failed = computer.run("install", "--requirements", computer.requirements("tinya\n"), "--proxy", "http://127.0.0.1:9")
    assert (failed.code, failed.finished["code"]) == (1, "AML_PROXY_UNREACHABLE")
    assert "127.0.0.1:9" in failed.finished["message"]


@pytest.fixture
def company(computer: Computer) -> Iterator[IndexServer]:
    """A second index, which only a pip.conf with a password names; it alone has the package ``inner``."""
    wheels = computer.folder / "inner-wheels"
    make_wheel(wheels, "inner", "1.0", requires=["tinya"])
    with IndexServer(wheels) as server:
        server.fault("/simple/*", "auth")
        pip_conf = computer.folder / "pip.conf"
        address = server.index_url.replace("://", "://user:secret@")
        pip_conf.write_text(f"[global]\nindex-url = {computer.index.index_url}\nextra-index-url = {address}\n")
        computer.extra["PIP_CONFIG_FILE"] = str(pip_conf)
        computer.extra["AML_INDEX_URL"] = ""
        yield server


def test_the_settings_of_pip_are_used_and_named(computer: Computer, company: IndexServer) -> None:
    file = computer.requirements("inner\n")
    place = computer.folder / "pip.conf"
    used = f"index-url {computer.index.index_url} ({place}), extra-index-url {company.index_url} ({place})"
    # a certificate that this computer's own pip.conf names may follow
    begin = f"Settings of pip and uv on this computer are used: {used}"
    planned = computer.run("plan", "--requirements", file)
    assert len([line for line in _lines(planned) if line.startswith(begin)]) == 1
    assert planned.events[-1]["hosts"] == [f"127.0.0.1:{computer.index.port}", f"127.0.0.1:{company.port}"]
    assert begin in _text_of(computer, "plan", "--requirements", str(file))
    result = computer.run("install", "--requirements", file)
    assert result.code == 0, result.finished
    assert len([line for line in _lines(result) if line.startswith(begin)]) == 1
    assert computer.installed("inner") == "1.0"
    assert "secret" not in "\n".join(_lines(planned) + _lines(result))


def test_an_index_that_was_named_leaves_those_of_pip_out(computer: Computer, company: IndexServer) -> None:
    planned = computer.run("plan", "--requirements", computer.requirements("inner\n"), "--index-url", company.index_url)
    assert planned.events[-1]["hosts"] == [f"127.0.0.1:{company.port}"]
    assert not [line for line in _lines(planned) if "index-url" in line]
