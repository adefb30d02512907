"""Logins in the addresses of git repositories: they reach git by its variables alone.

In an address they would stand on the command line of every git that uv, pip or we start.
"""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from amlwizard.core.errors import RefusedError
from amlwizard.core.index_urls import split_url

if TYPE_CHECKING:
    from amlwizard.core.index_urls import Credentials


def repository_login(url: str) -> tuple[str, tuple[str, str]] | None:
    """Return the address of a repository, without login and commit, and its login; None where a requirement names none.

    Args:
        url: as a requirement has it, such as ``git+https://user:token@git.example.org/project@v1``.
    """
    if not url.startswith("git+"):
        return None
    try:
        split = split_url(url.removeprefix("git+"), "", ("http", "https"))
    except RefusedError:  # ssh knows its keys itself
        return None
    if split.login is None or not any(split.login):
        return None
    parts = urlsplit(split.clean)
    path, commit, _ = parts.path.rpartition("@")
    return urlunsplit((parts.scheme, parts.netloc, path if commit else parts.path, "", "")), split.login


def git_variables(logins: Credentials) -> dict[str, str]:
    """Return the variables by which git sends each login to its own repository and nowhere else (git 2.31 and later)."""
    variables = {"GIT_CONFIG_COUNT": str(len(logins))} if logins else {}
    for number, (repository, login) in enumerate(logins.items()):
        basic = b64encode(":".join(login).encode()).decode()
        variables[f"GIT_CONFIG_KEY_{number}"] = f"http.{repository}.extraHeader"
        variables[f"GIT_CONFIG_VALUE_{number}"] = f"Authorization: Basic {basic}"
    return variables
