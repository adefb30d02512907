"""Origins of addresses, and the credentials inside of addresses."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit, urlunsplit

Credentials = tuple[str, str]
"""User name and password; the password is empty where a token stands alone in the place of the name."""

_DEFAULT_PORTS = {"http": 80, "https": 443}


def origin_of(url: str) -> str:
    """Return scheme, host and port of an address, such as ``https://index.example.org:443``.

    Raises:
        ValueError: the address is malformed.
    """
    parts = urlsplit(url)
    port = parts.port if parts.port is not None else _DEFAULT_PORTS.get(parts.scheme, 0)
    return f"{parts.scheme}://{_bracketed(parts.hostname or '')}:{port}"


def host_of(url: str) -> str:
    """Return the host for a person to read: with its port only where that is not the usual one; empty for a file."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return ""
    host = _bracketed(parts.hostname or "")
    return host if port in (None, _DEFAULT_PORTS.get(parts.scheme)) else f"{host}:{port}"


def file_name_of(url: str) -> str:
    """Return the last part of an address's path, or the whole path where that ends in a slash."""
    path = unquote(urlsplit(url).path)
    return path.rpartition("/")[2] or path


def split_credentials(url: str) -> tuple[str, Credentials | None]:
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


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
