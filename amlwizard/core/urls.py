"""Addresses: hosts and origins, credentials, which are taken out before one is stored or shown, and the paths of files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

if TYPE_CHECKING:
    from collections.abc import Callable

Login = tuple[str, str]
"""User name and password; the password is empty where a token stands alone in the place of the name."""

USUAL_PORTS: Final = {"http": 80, "https": 443}

_ADDRESS = re.compile(r"://([^\s\"<>`]+)")
_BARE_QUERY = re.compile(r"(?<=[\w/])\?[\w.~%+\[\]-]+=[^\s\"<>`#]*")
"""That of an address without its beginning, as it was mistyped or is told by a server."""
_AFTER = "'.,:;)]}"
"""What ends a sentence or a quotation, and hardly a query."""
_VALUE = re.compile(r"(^|[&;])([^=&;]*=)?[^&;]+")
_USERINFO = re.compile(r"(?<=://)[^/?#\s@]*(?:@[^/?#\s@]*)*@")


def origin_of(url: str) -> str:
    """Return scheme and host of an address, such as ``https://index.example.org``, with any port but the usual one.

    Raises:
        ValueError: the address is malformed.
    """
    parts = urlsplit(url)
    return f"{parts.scheme}://{_place(parts)}"


def host_of(url: str) -> str:
    """Return the host for a person to read, with any port but the usual one; empty for a file or what is no address."""
    try:
        return _place(urlsplit(url))
    except ValueError:
        return ""


def _place(parts: SplitResult) -> str:
    host = parts.hostname or ""
    bracketed = f"[{host}]" if ":" in host else host
    return bracketed if parts.port in (None, USUAL_PORTS.get(parts.scheme)) else f"{bracketed}:{parts.port}"


def file_name_of(url: str) -> str:
    """Return the last part of an address's path, or the whole path where that ends in a slash."""
    path = unquote(urlsplit(url).path)
    return path.rpartition("/")[2] or path


def split_credentials(url: str) -> tuple[str, Login | None]:
    """Take user name and password out of an address.

    Returns:
        The address without them, and what was taken out (decoded), or None where it held none.
    """
    parts = urlsplit(url)
    userinfo, at, place = parts.netloc.rpartition("@")
    if not at:
        return url, None
    clean = urlunsplit(parts._replace(netloc=place))
    user, _, password = userinfo.partition(":")
    return clean, ((unquote(user), unquote(password)) if userinfo else None)


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
    scheme, colon, rest = address.partition(":")
    checkout, plus, transport = scheme.rpartition("+")
    return bool(colon) and (bool(checkout and plus) or rest.startswith("//")) and transport.lower() != "file"
