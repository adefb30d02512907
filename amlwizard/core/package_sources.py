"""Where a workspace's packages came from: noted in its lock, and asked again where nothing names another place.

The note is ``[tool.amlwizard.sources]`` of the lock. It holds no credentials: those stay in variables and netrc.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from amlwizard.core.choices import IndexStrategy
from amlwizard.core.errors import RefusedError
from amlwizard.core.index_urls import split_url
from amlwizard.core.plain_files import is_path
from amlwizard.core.urls import without_credentials

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amlwizard.core.choices import Choices

_LISTS: Final = ("extra_index_urls", "find_links")


@dataclass(frozen=True)
class PackageSources:
    """Indexes and folders of packages, with the meaning that they have in ``Choices``."""

    index_url: str | None = None
    extra_index_urls: tuple[str, ...] = ()
    index_strategy: IndexStrategy | None = None
    find_links: tuple[str, ...] = ()

    @classmethod
    def of(cls, choices: Choices) -> PackageSources:
        """Return what was chosen, or remembered."""
        return cls(
            without_credentials(choices.index_url) if choices.index_url else None,
            tuple(map(without_credentials, choices.extra_index_urls)),
            choices.index_strategy,
            tuple(map(without_credentials, choices.find_links)),
        )

    @classmethod
    def noted(cls, table: object) -> PackageSources:
        """Return what a lock notes; what cannot be an address or a folder counts as absent."""
        if not isinstance(table, dict):
            return cls()
        strategy = table.get("index-strategy")
        return cls(
            next(_indexes([table.get("index-url")]), None),
            tuple(_indexes(table.get("extra-index-urls"))),
            next((each for each in IndexStrategy if each == strategy), None),
            tuple(_links(table.get("find-links"))),
        )

    def to_toml(self) -> dict[str, Any]:
        """Return the table of a lock, without what was not chosen."""
        table = {
            "index-url": self.index_url,
            "extra-index-urls": list(self.extra_index_urls),
            "index-strategy": self.index_strategy.value if self.index_strategy is not None else None,
            "find-links": list(self.find_links),
        }
        return {key: value for key, value in table.items() if value}

    def fill(self, choices: Choices) -> Choices:
        """Return the choices with what they leave open.

        Extra indexes and the strategy belong to their index: they do not follow to another one.
        """
        index = self.index_url if _is_open(choices, "index_url") else choices.index_url
        found: dict[str, Any] = {"index_url": index, "find_links": self.find_links}
        if index == self.index_url:
            found |= {"extra_index_urls": self.extra_index_urls, "index_strategy": self.index_strategy}
        taken = {name: value for name, value in found.items() if value and _is_open(choices, name)}
        filled = replace(choices, **taken)
        places = ((filled.index_url,) if "index_url" in taken else (), *(taken.get(name, ()) for name in _LISTS))
        return replace(filled, remembered=tuple(str(place) for each in places for place in each))


def _is_open(choices: Choices, name: str) -> bool:
    return not getattr(choices, name) and name not in choices.fixed


def _texts(values: object) -> Iterator[str]:
    return (value for value in (values if isinstance(values, list) else ()) if isinstance(value, str))


def _indexes(values: object) -> Iterator[str]:
    return (value for value in _texts(values) if _is_address(value))


def _links(values: object) -> Iterator[str]:
    return (value for value in _texts(values) if (_is_address(value) if "://" in value else _is_folder(value)))


def _is_folder(value: str) -> bool:
    return is_path(value) and Path(value).is_absolute()


def _is_address(value: str) -> bool:
    try:
        return split_url(value, "").login is None
    except RefusedError:
        return False
