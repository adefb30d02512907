"""Other computers: what they can install, and the choice of a whole set of wheels for them."""

from __future__ import annotations

import platform
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import default_environment
from packaging.pylock import Pylock

from amlwizard.core.bundle.floors import Floor, floor_of
from amlwizard.core.bundle.names import PLATFORMS
from amlwizard.core.bundle.targets import Target, check_platform, wheels_for
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.host import host_facts


def lock_of(*packages: dict[str, Any]) -> Pylock:
    """Return a lock of packages, each with its wheels by their file names."""
    content = []
    for package in packages:
        wheels = [
            {"url": f"https://files.example.org/{name}", "size": 1, "hashes": {"sha256": "0" * 64}}
            for name in package.pop("wheels", [])
        ]
        content.append({"version": "1.0", **({"wheels": wheels} if wheels else {}), **package})
    return Pylock.from_dict({"lock-version": "1.0", "created-by": "tests", "packages": content})


def sdist(name: str) -> dict[str, Any]:
    """Return the source archive of a package, as a part of its entry."""
    file = {"url": f"https://files.example.org/{name.replace('-', '_')}-1.0.tar.gz", "hashes": {"sha256": "0" * 64}}
    return {"name": name, "sdist": file}


def chosen(lock: Pylock, target: Target) -> list[str]:
    """Return the file names of what is chosen."""
    return [file.filename for file in wheels_for(lock, target, path=Path("pylock.toml"))]


@pytest.mark.parametrize("name", PLATFORMS)
@pytest.mark.parametrize("version", ["3.11.9", "3.14.0"])
def test_every_platform_has_its_tags_and_takes_pure_wheels(name: str, version: str) -> None:
    target = Target(name, version)
    assert chosen(lock_of({"name": "a", "wheels": ["a-1.0-py3-none-any.whl"]}), target) == ["a-1.0-py3-none-any.whl"]
    assert target.host.platform == name
    assert target.uv_platform


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="the imagined interpreters are CPython's")
def test_the_imagined_interpreter_of_this_computer_is_like_the_real_one() -> None:
    name = host_facts().platform
    if name not in PLATFORMS:
        pytest.skip(f"bundles are not made for {name}")
    imagined = Target(name, platform.python_version()).facts.marker_environment
    real = {**default_environment(), "platform_release": "", "platform_version": ""}
    assert imagined == {key: real[key] for key in imagined}  # type: ignore[literal-required]


def test_the_oldest_system_with_a_whole_set_is_taken() -> None:
    target = Target("linux-x86_64", "3.11.9")
    old, new = "a-1.0-cp311-cp311-manylinux2014_x86_64.whl", "a-1.0-cp311-cp311-manylinux_2_28_x86_64.whl"
    both = {"name": "a", "wheels": [new, old]}
    only_new = {**sdist("b"), "wheels": ["b-1.0-cp311-cp311-manylinux_2_28_x86_64.whl"]}
    assert chosen(lock_of(dict(both)), target) == [old]
    assert chosen(lock_of(dict(both), dict(only_new)), target)[0] == new
    mac = {"name": "a", "wheels": ["a-1.0-cp311-cp311-macosx_14_0_arm64.whl", "a-1.0-cp311-cp311-macosx_11_0_arm64.whl"]}
    assert chosen(lock_of(mac), Target("macos-arm64", "3.11.9")) == ["a-1.0-cp311-cp311-macosx_11_0_arm64.whl"]


def test_every_package_without_a_wheel_is_named() -> None:
    lock = lock_of(
        {"name": "good", "wheels": ["good-1.0-py3-none-any.whl"]},
        {"name": "other-python", "wheels": ["other_python-1.0-cp312-cp312-win_amd64.whl"]},
        {**sdist("other-system"), "wheels": ["other_system-1.0-cp311-cp311-macosx_11_0_arm64.whl"]},
        sdist("source-only"),
        {**sdist("not-needed"), "marker": "sys_platform == 'linux'"},
        {"name": "a-folder", "directory": {"path": "."}},
    )
    with pytest.raises(AmlError) as caught:
        chosen(lock, Target("windows-x86_64", "3.11.9"))
    assert caught.value.code == "AML_BUNDLE_NO_WHEELS"
    assert caught.value.arguments["count"] == 4
    assert caught.value.arguments["packages"] == "other-python 1.0, other-system 1.0, source-only 1.0, a-folder 1.0"


def test_markers_are_those_of_the_target() -> None:
    lock = lock_of(
        {"name": "a", "marker": "sys_platform == 'win32'", "wheels": ["a-1.0-py3-none-any.whl"]},
        {"name": "b", "marker": "platform_machine == 'aarch64'", "wheels": ["b-1.0-py3-none-any.whl"]},
    )
    assert chosen(lock, Target("windows-x86_64", "3.11.9")) == ["a-1.0-py3-none-any.whl"]
    assert chosen(lock, Target("linux-aarch64", "3.11.9")) == ["b-1.0-py3-none-any.whl"]


def test_a_lock_for_another_python_says_so() -> None:
    lock = Pylock.from_dict({"lock-version": "1.0", "created-by": "t", "requires-python": ">=3.12", "packages": []})
    with pytest.raises(AmlError) as caught:
        chosen(lock, Target("linux-x86_64", "3.11.9"))
    assert caught.value.code == "AML_LOCK_PYTHON"


def test_an_unknown_platform_is_refused_with_the_known_ones() -> None:
    with pytest.raises(RefusedError) as caught:
        check_platform("linux-x86_64-musl")
    assert caught.value.code == "AML_BUNDLE_PLATFORM_UNKNOWN"
    assert "linux-x86_64" in str(caught.value.arguments["known"])


@pytest.mark.parametrize(
    ("wheels", "floor"),
    [
        ([], Floor()),
        (["a-1-py3-none-any.whl"], Floor()),
        (["a-1-cp311-cp311-win_amd64.whl"], Floor()),
        (["a-1-cp311-cp311-manylinux2014_x86_64.whl"], Floor(glibc=(2, 17))),
        (["a-1-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.manylinux_2_28_x86_64.whl"], Floor(glibc=(2, 17))),
        (["a-1-py3-none-manylinux1_x86_64.whl", "b-1-cp311-cp311-manylinux_2_34_x86_64.whl"], Floor(glibc=(2, 34))),
        (["a-1-cp311-cp311-linux_x86_64.whl"], Floor(glibc=(2, 36))),
        (["a-1-cp311-cp311-macosx_10_9_universal2.macosx_11_0_arm64.whl"], Floor(macos=(10, 9))),
        (["a-1-py3-none-macosx_10_9_x86_64.whl", "b-1-cp311-cp311-macosx_12_0_arm64.whl"], Floor(macos=(12, 0))),
    ],
)
def test_the_floor_is_the_least_of_each_wheel_and_the_most_of_all(wheels: list[str], floor: Floor) -> None:
    found = floor_of(wheels, built_here=(2, 36))
    assert found == floor
    assert Floor.from_json(found.to_json()) == found
