"""Credentials in addresses: finding them, and taking them out before an address is stored or shown."""

from __future__ import annotations

import re
from urllib.parse import urlsplit, urlunsplit

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
    parts = urlsplit(url)
    userinfo, _, host = parts.netloc.rpartition("@")
    user = userinfo.partition(":")[0]
    netloc = f"{user}@{host}" if user and _is_ssh(url) else host
    return urlunsplit(parts._replace(netloc=netloc))


def redact_urls(text: str) -> str:
    """Return a text in which the user part of every address is replaced by ``***``."""
    return _USERINFO.sub("***@", text)


def _is_ssh(url: str) -> bool:
    return url.partition("://")[0].rpartition("+")[2] == "ssh"
