"""Which secrets this computer may show: gathered only so that they can be taken out of a report."""

from __future__ import annotations

import re
import sys
from base64 import b64encode
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from amlwizard.core.company_settings import pip_config_files, uv_config_files
from amlwizard.core.host import system_name
from amlwizard.core.plain_files import open_plain
from amlwizard.core.settings import home_folder, machine_settings_file, user_settings_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from amlwizard.core.index_urls import Credentials

_READ: Final = 256 * 1024
"""How much of a file is looked through, in bytes."""
_SHORTEST: Final = 4
_USERINFO: Final = re.compile(r"://([^\s/?#\"'<>]*)@")
_ASSIGNED: Final = re.compile(
    r"(?:password|passwd|token|secret|api[_-]?key|credential)[\w-]{0,40}[\"']?\s{0,8}[=:](?!=)\s{0,8}[\"']?([^\s\"',;]+)",
    re.IGNORECASE,
)
_NETRC: Final = re.compile(r"\bpassword\s{1,8}(?:\"((?:[^\"\\\n]|\\.)*)\"|(\S+))")
_SECRET_NAME: Final = re.compile(
    r"TOKEN|PASSW|PASSPHRASE|SECRET|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|_KEY$|_PWD$|_PASS$|(?:^|_)AUTH$|USERNAME$",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[A-Za-z0-9_+=-]+", re.ASCII)
_OPAQUE_LENGTH: Final = 16
_OPAQUE_DIGITS: Final = 3
_ORDINARY: Final = frozenset({"true", "false", "none", "null", "username", "password", "__token__"})


def is_opaque(word: str) -> bool:
    """Tell whether a word looks as if nobody had thought it up: a key, a hash, a token."""
    if len(word) < _OPAQUE_LENGTH or _WORD.fullmatch(word) is None:
        return False
    digits = sum(map(str.isdigit, word))
    return digits >= _OPAQUE_DIGITS and any(map(str.isalpha, word))


def known_secrets(environ: Mapping[str, str], logins: Credentials, files: Iterable[Path]) -> frozenset[str]:
    """Return what must not be seen, from variables, logins and files; what cannot be read is left out.

    Args:
        environ: the variables of this process.
        logins: user and password by origin, as the run knows them.
        files: files whose addresses and passwords count.
    """
    found = set(_of_variables(environ))
    for user, password in logins.values():
        found.update(_login(user, password))
    for file in files:
        with suppress(OSError), open_plain(file) as stream:
            text = stream.read(_READ).decode("utf-8", "replace").replace("\0", "")
            found.update(_of_text(text))
            if "netrc" in file.name.lower() or file == Path(environ.get("NETRC", "")):
                found.update(_of_netrc(text))
    return frozenset(secret for secret in found if _counts(secret))


def files_with_secrets(environ: Mapping[str, str]) -> list[Path]:
    """Return the files on this computer in which passwords for indexes and proxies may stand."""
    home = home_folder(environ)
    system = system_name(sys.platform)
    netrc = [Path(environ["NETRC"])] if environ.get("NETRC") else []
    return [
        *pip_config_files(system, environ, home),
        *uv_config_files(system, environ, home),
        *netrc,
        *(home / name for name in (".netrc", "_netrc", ".pypirc")),
        user_settings_file(),
        machine_settings_file(),
    ]


def _of_variables(environ: Mapping[str, str]) -> Iterator[str]:
    for name, value in environ.items():
        named = _SECRET_NAME.search(name) and name.upper() != "USERNAME" and not Path(value).is_absolute()
        if named or is_opaque(value):
            yield value
        yield from _of_addresses(value)


def _of_text(text: str) -> Iterator[str]:
    yield from _of_addresses(text)
    for found in _ASSIGNED.finditer(text):
        yield found[1]


def _of_netrc(text: str) -> Iterator[str]:
    """Yield the passwords of a netrc file, also of one that is broken elsewhere."""
    for found in _NETRC.finditer(text):
        quoted, plain = found.groups()
        yield re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else plain


def _of_addresses(text: str) -> Iterator[str]:
    for found in _USERINFO.finditer(text):
        user, colon, password = found[1].partition(":")
        yield from (user, password) if colon else (user,)
        yield from _login(unquote(user), unquote(password))


def _login(user: str, password: str) -> Iterator[str]:
    """Yield a login as it may be seen: alone, and as the header of a request. A name without a password is a token."""
    yield password or user
    yield b64encode(f"{user}:{password}".encode()).decode()


def _counts(secret: str) -> bool:
    """Tell whether a word may be taken out wherever it stands; a very short or common one would take the report with it."""
    return len(secret) >= _SHORTEST and secret.lower() not in _ORDINARY and not secret.isdecimal()
