"""For which Pythons of this computer a lock that was given has wheels; not every tool writes that range into the lock."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from packaging.specifiers import SpecifierSet
from packaging.utils import parse_wheel_filename

from amlwizard.core.tags import own_wheel_tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from packaging.pylock import Pylock
    from packaging.tags import Tag

_MINORS: Final = range(6, 20)


def python_range(lock: Pylock) -> SpecifierSet | None:
    """Return the Pythons that a lock says it is for and has wheels for; None where it is for all of them."""
    said, needed = lock.requires_python, list(_only_wheels(lock))
    fitting = [minor for minor in _MINORS if all(tags & _tags(minor) for tags in needed)]
    if not fitting or len(fitting) == len(_MINORS):  # none: it is for another platform, or nobody's
        return said
    low, high = fitting[0], fitting[-1]
    limits = [f">=3.{low}"] if low > _MINORS[0] else []
    limits += [f"<3.{high + 1}"] if high < _MINORS[-1] else []
    of_wheels = SpecifierSet(f"==3.{low}.*" if low == high else ",".join(limits))
    return of_wheels if said is None else said & of_wheels


def _only_wheels(lock: Pylock) -> Iterator[frozenset[Tag]]:
    """Give the tags of each package that everybody needs and that nothing but its wheels can be had of."""
    for package in lock.packages:
        if package.wheels and package.marker is None and package.sdist is None:
            yield frozenset().union(*(parse_wheel_filename(wheel.filename)[3] for wheel in package.wheels))


@lru_cache(maxsize=len(_MINORS))
def _tags(minor: int) -> frozenset[Tag]:
    return frozenset(own_wheel_tags((3, minor)))
