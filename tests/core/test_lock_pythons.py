"""The range of Pythons that a lock's wheels tell."""

from __future__ import annotations

from typing import Any

import pytest
from packaging.pylock import Pylock
from packaging.tags import platform_tags

from amlwizard.core.lock_pythons import python_range

HERE = next(iter(platform_tags()))


def lock(*packages: dict[str, Any], **top: Any) -> Pylock:
    return Pylock.from_dict({"lock-version": "1.0", "created-by": "another", **top, "packages": list(packages)})


def package(*tags: str, name: str = "fast", **more: Any) -> dict[str, Any]:
    url = f"https://files.example.org/{name}-1.0"
    hashes = {"sha256": "0" * 64}
    wheels = [{"url": f"{url}-{tag.replace('HERE', HERE)}.whl", "hashes": hashes} for tag in tags]
    return {"name": name, "version": "1.0", "wheels": wheels, **more}


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["cp39-cp39-HERE"], "==3.9.*"),
        (["cp311-cp311-HERE", "cp312-cp312-HERE"], "<3.13,>=3.11"),
        (["cp310-abi3-HERE"], ">=3.10"),
        (["cp313-cp313-HERE", "cp312-cp312-elsewhere_x86"], "==3.13.*"),
        (["py3-none-any"], None),
        (["cp39-cp39-elsewhere_x86"], None),
    ],
)
def test_the_wheels_of_this_platform_tell_the_range(tags: list[str], expected: str | None) -> None:
    found = python_range(lock(package(*tags)))
    assert (found if found is None else str(found)) == expected


def test_every_package_and_the_lock_itself_count() -> None:
    both = lock(
        package("cp311-cp311-HERE", "cp312-cp312-HERE"),
        package("cp312-cp312-HERE", "cp313-cp313-HERE", name="faster"),
        **{"requires-python": ">=3.9"},
    )
    assert str(python_range(both)) == "==3.12.*,>=3.9"


def test_what_can_be_built_or_may_not_be_needed_narrows_nothing() -> None:
    sdist = {"url": "https://files.example.org/fast-1.0.tar.gz", "hashes": {"sha256": "0" * 64}}
    source = package("cp39-cp39-HERE", sdist=sdist)
    sometimes = package("cp39-cp39-HERE", name="other", marker="sys_platform == 'plan9'")
    assert python_range(lock(source, sometimes)) is None
