"""Credentials in addresses, taken out before an address is stored or shown, and the paths that addresses of files name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable

_ADDRESS = re.compile(r"://([^\s\"<>`]+)")
_BARE_QUERY = re.compile(r"(?<=[\w/])\?[\w.~%+\[\]-]+=[^\s\"<>`#]*")
"""That of an address without its beginning, as it was mistyped or is told by a server."""
_AFTER = "'.,:;)]}"
"""What ends a sentence or a quotation, and hardly a query."""
_VALUE = re.compile(r"(^|[&;])([^=&;]*=)?[^&;]+")
_USERINFO = re.compile(r"(?<=://)[^/?#\s@]*(?:@[^/?#\s@]*)*@")


def has_credentials(url: str) -> bool:
    """Tell whether an address holds a password or a token.

    The user name of an SSH address (``git@``) is part of the address and no secret.
    """
    match = _USERINFO.search(url)
    if match is None:
        return False
    return not (_is_ssh(url) and ":" not in match.group())


def without_credentials(url: str) -> str:
    """Return the address without user name and password; an SSH address keeps its user name."""
    if not has_credentials(url):
        return url
    if _is_ssh(url):
        return _USERINFO.sub(lambda match: f"{match.group()[:-1].partition(':')[0]}@", url)
    return _USERINFO.sub("", url)


def redact_urls(text: str) -> str:
    """Return a text in which the user part of every address is replaced by ``***``."""
    return _USERINFO.sub("***@", text)


def mask_queries(text: str) -> str:
    """Return a text in which every value in the query of an address is replaced by ``****``; any may be a key."""
    if "?" not in text:
        return text

    def masked(found: re.Match[str]) -> str:
        return _with_query(found[0], lambda query: f"?{_VALUE.sub(_masked_value, query)}")

    return _BARE_QUERY.sub(masked, _ADDRESS.sub(masked, text))


def without_queries(text: str) -> str:
    """Return a text in which every address has lost its query."""
    return _ADDRESS.sub(lambda found: _with_query(found[0], lambda _query: ""), text)


def local_path(url: str) -> Path:
    """Return the path that a file address names; a host in it is a Windows share's."""
    from urllib.request import url2pathname  # it loads a whole HTTP client

    parts = urlsplit(url)
    named = parts.path if parts.netloc in ("", "localhost") else f"//{parts.netloc}{parts.path}"
    try:
        return Path(url2pathname(named))
    except OSError:  # Windows cannot have such a path; nothing will be found there
        return Path(unquote(named))


def _with_query(address: str, change: Callable[[str], str]) -> str:
    """Return an address, and what of a sentence hangs on to it, with its query changed."""
    place, _, rest = address.partition("?")
    query, sign, fragment = rest.partition("#")
    kept = query if sign else query.rstrip(_AFTER)
    return f"{place}{change(kept)}{query[len(kept) :]}{sign}{fragment}" if kept else address


def _masked_value(found: re.Match[str]) -> str:
    return f"{found[1]}{found[2] or ''}****"


def _is_ssh(url: str) -> bool:
    return url.partition("://")[0].rpartition("+")[2] == "ssh"


def is_remote(address: str) -> bool:
    """Tell whether an address leads away from this computer."""
    scheme, direct, _ = address.partition("://")
    return bool(direct) and scheme.rpartition("+")[2].lower() != "file"
