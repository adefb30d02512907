"""What an offline run lacks: file by file, with its size and where it would come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from amlwizard.core.catalogue import Phrase, text
from amlwizard.core.errors import AmlError
from amlwizard.core.urls import host_of, local_path
from amlwizard.core.wording import size_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_SHOWN: Final = 3
"""How many are named in the sentence; all of them are in the list."""


@dataclass(frozen=True)
class Lacking:
    """One file, or a package of which no file is known; ``size`` is None and ``host`` empty where nothing tells them.

    For a file of this computer ``host`` is the path that it had.
    """

    name: str
    size: int | None = None
    host: str = ""

    @classmethod
    def of(cls, name: str, size: int | None, url: str | None) -> Lacking:
        """Return what is to be had from an address."""
        if url is not None and url.startswith("file:"):
            return cls(name, size, str(local_path(url)))
        return cls(name, size, host_of(url or ""))


def incomplete_store(
    lacking: Sequence[Lacking], downloads: Path, language: str, *, all_bytes: int | None = None
) -> AmlError:
    """Return the error that lists what is not in the store, and says how it gets there.

    Its arguments hold the list as ``lacking``, for whoever shows it in a form of their own.

    Args:
        lacking: what is missing, at least one.
        downloads: the store.
        language: of the list in the error's detail.
        all_bytes: the size of all together where only that is known.
    """
    names = [each.name for each in lacking]
    shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
    return AmlError(
        "AML_STORE_INCOMPLETE",
        detail="\n".join(_line(each, language) for each in lacking),
        files=shown,
        count=len(names),
        total=_total(lacking, language, all_bytes),
        folder=str(downloads),
        lacking=tuple(lacking),
    )


def size_of(lacking: Lacking, language: str) -> str:
    """Return the size of one in words."""
    return size_text(lacking.size, language) if lacking.size is not None else text("lacking.size_unknown", language)


def _line(lacking: Lacking, language: str) -> str:
    return "  ".join(part for part in (lacking.name, size_of(lacking, language), lacking.host) if part)


def _total(lacking: Sequence[Lacking], language: str, all_bytes: int | None) -> Phrase:
    known = [each.size for each in lacking if each.size is not None]
    if not known and all_bytes is not None:
        return Phrase("lacking.total", {"size": size_text(all_bytes, language)})
    if not known:
        return Phrase("lacking.size_unknown")
    size = size_text(sum(known), language)
    return Phrase("lacking.total" if len(known) == len(lacking) else "lacking.total_at_least", {"size": size})
