"""Logins in the addresses of git repositories: they reach git by its variables alone.

In an address they would stand on the command line of every git that uv, pip or we start. Submodules of a repository lie at
other addresses. Those on the same origin get its login too, but only where the server asks for one, as a public submodule
may not be for everybody who has a login; and only where all requirements from that origin have the same.
"""

from __future__ import annotations

from base64 import b64encode
from contextlib import suppress
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit, urlunsplit

from amlwizard.core.errors import RefusedError
from amlwizard.core.index_urls import split_url

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amlwizard.core.index_urls import Credentials

_TOKEN_LENGTH: Final = 20
"""A name without a password is a token from this length on: no forge has shorter ones."""


def repository_login(url: str) -> tuple[str, tuple[str, str]] | None:
    """Return the address of a repository, without login and commit, and its login; None where a requirement has no secret.

    Args:
        url: as a requirement has it, such as ``git+https://user:token@git.example.org/project@v1``.
    """
    if not url.startswith("git+"):
        return None
    try:
        split = split_url(url.removeprefix("git+"), "", ("http", "https"))
    except RefusedError:  # ssh knows its keys itself
        return None
    if split.login is None or not _is_secret(*split.login):
        return None
    parts = urlsplit(split.clean)
    path, commit, _ = parts.path.rpartition("@")
    return urlunsplit((parts.scheme, parts.netloc, path if commit else parts.path, "", "")), split.login


def git_logins(urls: Iterable[str]) -> Credentials:
    """Return the logins in requirements: by repository, and by origin where all repositories from there have the same."""
    found: Credentials = {}
    by_origin: dict[str, set[tuple[str, str] | None]] = {}
    for url in urls:
        known = repository_login(url)
        if known is not None:
            found[known[0]] = known[1]
        with suppress(RefusedError):
            origin = split_url(url.removeprefix("git+"), "", ("http", "https")).origin
            if url.startswith("git+"):
                by_origin.setdefault(origin, set()).add(known[1] if known is not None else None)
    for origin, logins in by_origin.items():
        login = next(iter(logins))
        if len(logins) == 1 and login is not None and "".join(login).isprintable():
            found[origin] = login
    return found


def _is_secret(user: str, password: str) -> bool:
    """Tell a login from a mere name, such as ``git``: git asks for the rest of that where a server wants one."""
    return bool(password) or len(user) >= _TOKEN_LENGTH


def git_variables(logins: Credentials) -> dict[str, str]:
    """Return the variables by which git sends each login of ``git_logins`` to its own repository or origin and nowhere else
    (git 2.31 and later).

    It would send a header on to wherever a server redirects it, so it follows none. For an origin it is told by a helper,
    in place of the user's own helpers, which would keep it.
    """
    settings: list[tuple[str, str]] = []
    variables: dict[str, str] = {}
    for number, (place, (user, password)) in enumerate(logins.items()):
        if urlsplit(place).path:
            basic = b64encode(f"{user}:{password}".encode()).decode()
            settings.append((f"http.{place}.extraHeader", f"Authorization: Basic {basic}"))
            settings.append((f"http.{place}.followRedirects", "false"))
            continue
        name = f"GIT_LOGIN_{number}"
        variables[name] = f"username={user}\npassword={password}"
        settings.append((f"credential.{place}.helper", ""))
        settings.append((f"credential.{place}.helper", f'!f() {{ test "$1" != get || printf "%s\\n" "${name}"; }}; f'))
    variables |= {"GIT_CONFIG_COUNT": str(len(settings))} if settings else {}
    for number, (key, value) in enumerate(settings):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return variables
