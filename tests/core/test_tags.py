"""The tags that are computed equal those that each interpreter gives itself."""

from __future__ import annotations

import platform
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from packaging.tags import Tag

from amlwizard.core.tags import _linux_platforms, platform_wheel_tags, wheel_tags
from tests.support.interpreters import found_interpreters, probe


@pytest.mark.parametrize("path", found_interpreters(), ids=str)
def test_tags_equal_those_inside_the_interpreter(path: Path) -> None:
    facts, tags = probe(path)
    assert [str(tag) for tag in wheel_tags(facts)] == list(tags)


@pytest.mark.linux
@pytest.mark.skipif(not platform.libc_ver()[0], reason="this system has no glibc")
def test_the_general_linux_rule_gives_what_this_computer_gives() -> None:
    facts, tags = probe(Path(sys.executable))
    machine = facts.platform_tag.partition("-")[2]
    computed = list(_linux_platforms(machine, *facts.libc))
    own = [
        text.partition("-")[2].partition("-")[2]
        for text in tags
        if text.startswith(f"cp{facts.minor.replace('.', '')}-none-")
    ]
    assert computed == [name for name in own if name != "any"]


def test_simulated_free_threaded_debug_and_foreign_interpreters() -> None:
    facts, _ = probe(Path(sys.executable))
    threaded = wheel_tags(replace(facts, version=(3, 14, 0), free_threaded=True, platform_tag="win-amd64"))
    assert threaded[0] == Tag("cp314", "cp314t", "win_amd64")
    assert not [tag for tag in threaded if tag.abi == "abi3"]
    debug = wheel_tags(replace(facts, version=(3, 12, 0), abi_flags="d", free_threaded=False, platform_tag="linux-riscv64"))
    assert [tag.abi for tag in debug[:1]] == ["cp312d"]
    assert "cp312" in {tag.abi for tag in debug}
    pypy = wheel_tags(replace(facts, implementation="PyPy"))
    assert Tag("py3", "none", "any") in pypy
    assert not [tag for tag in pypy if tag.interpreter.startswith("cp")]


def test_simulated_mac(monkeypatch: pytest.MonkeyPatch) -> None:
    facts, _ = probe(Path(sys.executable))
    monkeypatch.setattr(platform, "mac_ver", lambda: ("14.5", ("", "", ""), "arm64"))
    mac = replace(facts, version=(3, 12, 0), free_threaded=False, platform_tag="macosx-11.0-arm64", machine="arm64")
    tags = wheel_tags(mac)
    assert tags[0] == Tag("cp312", "cp312", "macosx_14_0_arm64")
    assert Tag("cp312", "abi3", "macosx_11_0_universal2") in tags
    assert Tag("cp312", "cp312", "macosx_15_0_arm64") not in tags


def test_simulated_musl_and_unknown_libc() -> None:
    facts, _ = probe(Path(sys.executable))
    musl = wheel_tags(replace(facts, version=(3, 12, 0), platform_tag="linux-aarch64", libc=("musl", "1.2.5")))
    assert Tag("cp312", "cp312", "musllinux_1_2_aarch64") in musl
    assert not [tag for tag in musl if "manylinux" in tag.platform]
    unknown = wheel_tags(replace(facts, version=(3, 12, 0), platform_tag="linux-aarch64", libc=("", "")))
    assert {tag.platform for tag in unknown} == {"linux_aarch64", "any"}


@pytest.mark.parametrize(
    ("name", "platform_name"),
    [
        ("linux-x86_64", "manylinux_2_28_x86_64"),
        ("linux-x86_64", "manylinux2014_x86_64"),
        ("linux-x86_64", "manylinux1_x86_64"),
        ("linux-aarch64", "manylinux2014_aarch64"),
        ("windows-x86_64", "win_amd64"),
        ("windows-arm64", "win_arm64"),
        ("macos-arm64", "macosx_11_0_arm64"),
        ("macos-x86_64", "macosx_10_9_x86_64"),
    ],
)
def test_tags_of_other_platforms(name: str, platform_name: str) -> None:
    assert Tag("cp311", "cp311", platform_name) in platform_wheel_tags(name, (3, 11))
    assert Tag("cp311", "cp311", "manylinux_2_35_x86_64") not in platform_wheel_tags(name, (3, 11))


@pytest.mark.parametrize("version", ["", "2", "2.x", "2.²", "x.36", "2.999999999999", "2.-1"])
def test_a_libc_that_none_can_be_is_unknown(version: str) -> None:
    assert list(_linux_platforms("x86_64", "glibc", version)) == ["linux_x86_64"]
