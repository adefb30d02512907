"""Credentials in addresses, taken out before an address is stored or shown, and the paths that addresses of files name."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

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


def local_path(url: str) -> Path:
    """Return the path that a file address names; a host in it is a Windows share's."""
    from urllib.request import url2pathname  # it loads a whole HTTP client

    parts = urlsplit(url)
    return Path(url2pathname(parts.path if parts.netloc in ("", "localhost") else f"//{parts.netloc}{parts.path}"))


def _is_ssh(url: str) -> bool:
    return url.partition("://")[0].rpartition("+")[2] == "ssh"


def is_remote(address: str) -> bool:
    """Tell whether an address leads away from this computer."""
    scheme, direct, _ = address.partition("://")
    return bool(direct) and scheme.rpartition("+")[2].lower() != "file"
