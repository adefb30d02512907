"""Whether what is wanted comes from the index and the pages that the organisation has fixed, and from nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from packaging.requirements import InvalidRequirement, Requirement

from amlwizard.core.catalogue import Phrase
from amlwizard.core.errors import RefusedError
from amlwizard.core.index_urls import split_url
from amlwizard.core.requirements import RequirementsClosure
from amlwizard.core.urls import redact_urls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amlwizard.core.choices import Choices
    from amlwizard.core.organisation import Organisation
    from amlwizard.core.wish import Wish

_KEYS: Final = {"--index-url": "indexUrl", "--extra-index-url": "extraIndexUrls", "--find-links": "findLinks"}
_OF_ADDRESSES: Final = ("indexUrl", "findLinks")
"""The keys that fix where packages come from, so that none may come by an address of its own."""


def refuse_other_sources(wish: Wish, choices: Choices, organisation: Organisation) -> None:
    """Refuse requirements, a lock or an addition that lead elsewhere than the locked keys of the indexes and pages say.

    Files and projects of this computer are the user's own and lead nowhere.

    Args:
        wish: what is wanted.
        choices: what was chosen, which is what is fixed where a key is locked.
        organisation: what is fixed.

    Raises:
        RefusedError: ``AML_SETTING_LOCKED``.
    """
    content = wish.content
    if isinstance(content, RequirementsClosure):
        for option in content.options:
            key = _KEYS.get(option.name, "")
            if key in organisation.locked and _plain(option.value) not in _fixed(choices, key):
                place = _line(option.file, option.line, option.name)
                raise RefusedError("AML_SETTING_LOCKED", name=key, place=place, file=str(organisation.file))
    fixed = [key for key in _OF_ADDRESSES if key in organisation.locked]
    if not fixed:
        return
    chosen = (choices.index_url or "", *choices.extra_index_urls, *choices.find_links)
    origins = {None, *map(_origin, chosen)}
    for address, where in _addresses(wish):
        if _origin(address) not in origins:
            raise RefusedError("AML_SETTING_LOCKED", name=fixed[0], place=where, file=str(organisation.file))


def _fixed(choices: Choices, key: str) -> set[str]:
    values = {
        "indexUrl": (choices.index_url or "",),
        "extraIndexUrls": (choices.index_url or "", *choices.extra_index_urls),
        "findLinks": choices.find_links,
    }
    return {_plain(value) for value in values[key]}


def _addresses(wish: Wish) -> Iterator[tuple[str, str | Phrase]]:
    """Give every address of the network that names a package, or its index in a lock, with where it stands."""
    content = wish.content
    if isinstance(content, RequirementsClosure):
        for entry in content.entries:
            if entry.url is not None and entry.path is None:
                yield entry.url, _line(entry.file, entry.line, entry.text)
    elif wish.lock_file is not None:
        for package in content.packages:
            files = (package.archive, package.sdist, *(package.wheels or ()))
            named = package.index or next((file.url for file in files if file is not None and file.url), None)
            address = package.vcs.url if package.vcs is not None else named
            if address:
                yield address, Phrase("organisation.package", {"file": str(wish.lock_file), "package": package.name})
    for line in wish.added:
        try:
            address = Requirement(line).url
        except InvalidRequirement:
            continue  # a folder of this computer
        if address:
            yield address, redact_urls(line)


def _line(file: Path, line: int, words: str) -> Phrase:
    return Phrase("organisation.line", {"file": str(file), "line": line, "text": words})


def _plain(value: str) -> str:
    """Return an address or a folder as it can be compared."""
    try:
        return split_url(value, "").clean.rstrip("/")
    except RefusedError:
        return str(Path(value))


def _origin(address: str) -> str | None:
    """Return where an address leads, None where that is this computer; what is no address leads where nobody else does."""
    try:
        origin = split_url(address.removeprefix("git+"), "").origin
    except RefusedError:
        return address
    return None if origin.startswith("file:") else origin
