"""Logins in the addresses of git repositories: they reach git by its variables alone.

In an address they would stand on the command line of every git that uv, pip or we start.
"""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit, urlunsplit

from amlwizard.core.errors import RefusedError
from amlwizard.core.index_urls import split_url

if TYPE_CHECKING:
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


def _is_secret(user: str, password: str) -> bool:
    """Tell a login from a mere name, such as ``git``: git asks for the rest of that where a server wants one."""
    return bool(password) or len(user) >= _TOKEN_LENGTH


def git_variables(logins: Credentials) -> dict[str, str]:
    """Return the variables by which git sends each login to its own repository and nowhere else (git 2.31 and later).

    It would send the header on to wherever a server redirects it, so it follows none.
    """
    settings: list[tuple[str, str]] = []
    for repository, login in logins.items():
        basic = b64encode(":".join(login).encode()).decode()
        settings.append((f"http.{repository}.extraHeader", f"Authorization: Basic {basic}"))
        settings.append((f"http.{repository}.followRedirects", "false"))
    variables = {"GIT_CONFIG_COUNT": str(len(settings))} if settings else {}
    for number, (key, value) in enumerate(settings):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return variables
