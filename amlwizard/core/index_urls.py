"""Addresses of package indexes: what is accepted, and how credentials are kept apart (DESIGN section 6)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit, urlunsplit

from amlwizard.core.errors import RefusedError
from amlwizard.core.urls import Login, origin_of

INDEX_SCHEMES: Final = ("http", "https", "file")
PROXY_SCHEMES: Final = ("http", "https")
_EXAMPLE_OF_PROXY: Final = "http://proxy.example.org:8080"

Credentials = dict[str, Login]
"""User and password by origin, such as ``https://index.example.org``."""


@dataclass(frozen=True)
class SplitUrl:
    """An address without userinfo, and the userinfo that it had."""

    clean: str
    origin: str
    login: Login | None


def split_url(
    url: str, place: str, schemes: tuple[str, ...] = INDEX_SCHEMES, code: str = "AML_INDEX_URL_INVALID"
) -> SplitUrl:
    """Check an address and take its credentials out.

    Args:
        url: the address as it was given.
        place: where it was given (an option, a variable, a file), for the refusal.
        schemes: what is accepted before ``://``.
        code: the code of the refusal.

    Raises:
        RefusedError: ``code``; the address is not repeated where it may hold a secret.
    """
    refusal = RefusedError(code, place=place, url=_speakable(url), schemes=", ".join(schemes))
    if not url or any(character.isspace() or not character.isprintable() for character in url) or "\\" in url:
        raise refusal
    try:
        parts = urlsplit(url)
        origin, host = origin_of(url), parts.hostname or ""
    except ValueError:
        raise refusal from None
    scheme = parts.scheme.lower()
    if scheme not in schemes or (scheme != "file" and not host) or (scheme == "file" and not parts.path.startswith("/")):
        raise refusal
    netloc = parts.netloc.rpartition("@")[2]
    login = (unquote(parts.username or ""), unquote(parts.password or "")) if "@" in parts.netloc else None
    return SplitUrl(urlunsplit((scheme, netloc, parts.path, parts.query, parts.fragment)), origin, login)


def split_proxy(url: str, place: str) -> SplitUrl:
    """Do the same with the address of a proxy.

    Raises:
        RefusedError: ``AML_PROXY_URL_INVALID``, with an example that is this address where only its scheme is missing.
    """
    try:
        return split_url(url, place, PROXY_SCHEMES, "AML_PROXY_URL_INVALID")
    except RefusedError as refusal:
        refusal.arguments["example"] = _EXAMPLE_OF_PROXY
        if "://" not in url and not url.isdecimal():  # a port alone names no computer
            with suppress(RefusedError):
                refusal.arguments["example"] = split_url(f"http://{url}", place).clean
        raise


def _speakable(url: str) -> str:
    """Return the address for a message: printable, and without anything that may be userinfo."""
    if "@" in url:
        scheme, separator, rest = url.partition("://")
        url = f"{scheme}{separator}***@{rest.rpartition('@')[2]}" if separator else f"***@{url.rpartition('@')[2]}"
    return url.encode("unicode_escape", "backslashreplace").decode("ascii") if not url.isprintable() else url
