"""The profiles and their locks as they are shipped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement

from amlwizard.core.catalogue import error_texts
from amlwizard.core.errors import RefusedError
from amlwizard.core.profiles import load_profile, profile_names
from amlwizard.core.requirements import is_complete_hashed_lock, parse_closure

if TYPE_CHECKING:
    from pathlib import Path


def test_names() -> None:
    assert profile_names() == ("default", "minimal", "pytorch")
    assert load_profile() == load_profile("default")


@pytest.mark.parametrize("name", profile_names())
def test_each_lock_is_complete_and_names_no_index(name: str) -> None:
    profile = load_profile(name)
    closure = parse_closure(profile.requirements, {}, with_uv=True)
    assert is_complete_hashed_lock(closure)
    assert not closure.options
    assert "://" not in profile.requirements.read_text(encoding="utf-8")
    assert profile.short_list is not None
    locked = {entry.name for entry in closure.entries}
    wanted = {entry.name for entry in parse_closure(profile.short_list, {}).entries}
    assert "pip" in wanted
    assert wanted <= locked
    assert set(profile.main_packages) <= wanted


@pytest.mark.parametrize("name", profile_names())
def test_each_profile_declares_its_pythons_and_sizes(name: str) -> None:
    profile = load_profile(name)
    assert profile.python is not None
    minors = [f"3.{minor}" for minor in range(20) if profile.python.contains(f"3.{minor}.9")]
    assert "3.11" in minors
    assert "3.10" not in minors
    assert list(profile.sizes["linux-x86_64"]) == minors
    assert all(size > 10_000_000 for sizes in profile.sizes.values() for size in sizes.values())
    assert profile.download_bytes("linux-x86_64", "3.11") == profile.sizes["linux-x86_64"]["3.11"]
    assert profile.download_bytes("plan9-x86_64", "3.11") is None


def test_the_default_profile_covers_every_platform() -> None:
    assert set(load_profile().sizes) == {
        "linux-x86_64",
        "linux-aarch64",
        "windows-x86_64",
        "windows-arm64",
        "macos-arm64",
        "macos-x86_64",
    }


def test_an_unknown_profile_lists_the_known_ones() -> None:
    with pytest.raises(RefusedError) as caught:
        load_profile("gpu")
    assert caught.value.code == "AML_PROFILE_UNKNOWN"
    message, hint = error_texts(caught.value)
    assert "gpu" in message
    assert all(name in hint for name in profile_names())


def test_another_kit_brings_the_default_requirements(tmp_path: Path) -> None:
    with pytest.raises(RefusedError) as caught:
        load_profile(None, tmp_path)
    assert caught.value.code == "AML_KIT_INCOMPLETE"
    (tmp_path / "requirements.txt").write_text("numpy\n", encoding="utf-8")
    profile = load_profile(None, tmp_path)
    assert profile.requirements == tmp_path / "requirements.txt"
    assert profile.python is None
    assert load_profile("minimal", tmp_path).requirements.parent != tmp_path


def test_the_constraints_of_the_locks_are_requirements() -> None:
    from amlwizard.resources import resource

    lines = resource("profiles", "constraints.in").read_text(encoding="utf-8").splitlines()
    assert [Requirement(line.partition("#")[0].strip()).name for line in lines if not line.startswith("#")]
