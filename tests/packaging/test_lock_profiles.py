"""The command that compiles the profiles' locks: how it weighs a lock."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from packaging.pylock import Pylock
from packaging.specifiers import SpecifierSet

from amlwizard.core.profiles import load_profile

SCRIPT = Path(__file__).resolve().parents[2] / "packaging" / "lock_profiles.py"


@pytest.fixture(scope="module")
def script() -> Any:
    spec = importlib.util.spec_from_file_location("lock_profiles", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wheel(filename: str, size: int) -> dict[str, Any]:
    return {"url": f"https://files.example.org/{filename}", "size": size, "hashes": {"sha256": "a" * 64}}


def lock() -> Pylock:
    sdist = {"url": "https://files.example.org/b-1.0.tar.gz", "size": 5, "hashes": {"sha256": "a" * 64}}
    packages = [
        {"name": "a", "version": "1.0", "wheels": [wheel("a-1.0-py3-none-any.whl", 1)]},
        {
            "name": "b",
            "version": "1.0",
            "sdist": sdist,
            "wheels": [
                wheel("b-1.0-cp311-cp311-manylinux_2_28_x86_64.whl", 10),
                wheel("b-1.0-cp312-cp312-manylinux_2_28_x86_64.whl", 20),
                wheel("b-1.0-cp312-cp312-win_arm64.whl", 40),
            ],
        },
        {
            "name": "c",
            "version": "1.0",
            "marker": "sys_platform == 'win32' and platform_machine == 'ARM64'",
            "wheels": [wheel("c-1.0-cp312-cp312-win_arm64.whl", 100)],
        },
    ]
    return Pylock.from_dict({"lock-version": "1.0", "created-by": "tests", "packages": packages})


def test_sizes_follow_platform_python_and_markers(script: Any) -> None:
    assert script.weight(lock(), "x", "linux-x86_64", 11) == 11
    assert script.weight(lock(), "x", "linux-x86_64", 12) == 21
    assert script.weight(lock(), "x", "windows-arm64", 12) == 141


def test_what_has_no_wheel_is_reported_and_has_no_size(script: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert script.weight(lock(), "x", "macos-arm64", 12) is None
    assert "macos-arm64, Python 3.12" in capsys.readouterr().out
    assert script.weight(lock(), "x", "windows-arm64", 11) is None
    assert "windows-arm64" in capsys.readouterr().out


def test_minors_of_a_range(script: Any) -> None:
    assert script.python_minors(SpecifierSet(">=3.11,<3.14")) == [11, 12, 13]


def test_the_list_for_any_build_is_what_the_command_makes_of_the_lock(script: Any, tmp_path: Path) -> None:
    profile = load_profile("pytorch")
    assert profile.any_build is not None
    script.write_any_build(replace(profile, any_build=tmp_path / "any_build.in"))
    for name in ("any_build.in", "any_build.txt"):
        assert (tmp_path / name).read_bytes() == profile.any_build.with_name(name).read_bytes()
    script.write_any_build(load_profile("minimal"))
    assert not load_profile("minimal").requirements.with_name("any_build.in").exists()
