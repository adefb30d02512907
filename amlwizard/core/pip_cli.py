"""The one module that knows the command lines of ``venv`` and pip, and pip's settings file (DESIGN 3.7)."""

from __future__ import annotations

import configparser
import io
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit, urlunsplit

from packaging.version import Version

from amlwizard.core.child_env import without_network
from amlwizard.core.records import write_text_atomically
from amlwizard.core.urls import without_credentials

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from amlwizard.core.lock import StoredWheel
    from amlwizard.core.uv_cli import Index

MINIMUM_FOR_TARGET: Final = Version("20.3")
"""The first pip that knows the platform tags of today's wheels (PEP 600)."""
MINIMUM_FOR_REPORT: Final = Version("23.0")
"""The first pip whose report has its final form, with the hashes by their names."""
MINIMUM_FOR_ADDRESSES: Final = Version("23.1")
"""The first pip that hashes what a requirement names by its address without a hash."""


def minimum_for(addresses: Iterable[str]) -> Version:
    """Return the oldest pip that tells the hash of all that requirements name: by these addresses, or by name (empty)."""
    bare = any(address.startswith("http") and "#sha256=" not in address for address in addresses)
    return MINIMUM_FOR_ADDRESSES if bare else MINIMUM_FOR_REPORT


@dataclass(frozen=True)
class PipSettings:
    """What an environment's own pip is given; addresses lose their userinfo."""

    index_url: str | None = None
    extra_index_urls: tuple[str, ...] = ()
    ca_file: Path | None = None


def version(python: Path) -> tuple[str, ...]:
    """Return the command that prints pip's version, and fails where the interpreter has no pip."""
    return (str(python), "-I", "-m", "pip", "--version")


def parse_version(lines: Sequence[str]) -> Version | None:
    """Return the version in what ``version`` printed, or None where there is none."""
    found = (re.match(r"pip (\d+(?:\.\d+)*)\S* from ", line) for line in lines)
    return next((Version(match[1]) for match in found if match), None)


def venv(python: Path, target: Path) -> tuple[str, ...]:
    """Return the command that makes an environment with pip; ``-I`` keeps the user's own modules out of it."""
    return (str(python), "-I", "-m", "venv", str(target))


def dry_run_report(
    python: Path,
    requirements: Path,
    report: Path,
    *,
    constraints: Path | None = None,
    find_links: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the command that resolves a requirements file to pip's JSON report and installs nothing."""
    options = ("--dry-run", "--ignore-installed", "--only-binary", ":all:", "--report", str(report))
    argv = _pip(python, "install", *options)
    for place in find_links:
        argv += ("--find-links", place)
    if constraints is not None:
        argv += ("--constraint", str(constraints))
    return (*argv, "--requirement", str(requirements))


def install_local(python: Path, requirements: Path) -> tuple[str, ...]:
    """Return the command that installs exactly the hashed local files that ``write_local_requirements`` wrote."""
    options = ("--isolated", "--no-index", "--no-deps", "--require-hashes", "--no-cache-dir", "--no-compile")
    return _pip(python, "install", *options, "--requirement", str(requirements))


def build_wheel(python: Path, source: Path, out: Path) -> tuple[str, ...]:
    """Return the command that builds a wheel of a source archive or a folder into ``out``."""
    return _pip(python, "wheel", "--no-deps", "--wheel-dir", str(out), str(source))


def install_target(python: Path, target: Path, requirement: str) -> tuple[str, ...]:
    """Return the command that installs one distribution without dependencies into a folder of its own."""
    return _pip(python, "install", "--no-deps", "--only-binary", ":all:", "--upgrade", "--target", str(target), requirement)


def upgrade_pip(python: Path, minimum: Version) -> tuple[str, ...]:
    """Return the command that replaces an environment's own pip by a newer one."""
    return _pip(python, "install", "--no-deps", "--only-binary", ":all:", "--upgrade", f"pip>={minimum}")


def write_local_requirements(path: Path, wheels: Sequence[StoredWheel]) -> None:
    """Write a requirements file that names local wheels by address and hash."""
    lines = [
        f"{wheel.path.name.partition('-')[0]} @ {wheel.path.as_uri()} --hash=sha256:{wheel.sha256}\n" for wheel in wheels
    ]
    write_text_atomically(path, "".join(lines))


def environment(
    *,
    index: Index | None = None,
    extra: Sequence[Index] = (),
    pages: Sequence[str] = (),
    ca_file: Path | None = None,
    offline: bool = False,
) -> dict[str, str]:
    """Return pip's variables for a child: no settings file of anybody, no question, credentials by environment only."""
    variables = {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INPUT": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_PROGRESS_BAR": "off",
        "PIP_KEYRING_PROVIDER": "disabled",
    }
    if index is not None:
        variables["PIP_INDEX_URL"] = with_credentials(index)
    if extra:
        variables["PIP_EXTRA_INDEX_URL"] = " ".join(map(with_credentials, extra))
    if offline:  # PIP_NO_INDEX does not keep pip from pages
        pages = [page for page in pages if page.startswith("file:")]
    if pages:
        variables["PIP_FIND_LINKS"] = " ".join(pages)
    if ca_file is not None:
        variables["PIP_CERT"] = str(ca_file)
    if offline:
        variables |= {"PIP_NO_INDEX": "1", "PIP_RETRIES": "0"} | without_network()
    return variables


def write_pip_conf(environment: Path, settings: PipSettings) -> None:
    """Give an environment's own pip the index and certificates that built it; userinfo is left out of every address."""
    options: dict[str, str] = {"disable-pip-version-check": "true"}
    if settings.index_url is not None:
        options["index-url"] = without_credentials(settings.index_url)
    if settings.extra_index_urls:
        options["extra-index-url"] = "\n".join(map(without_credentials, settings.extra_index_urls))
    if settings.ca_file is not None:
        options["cert"] = str(settings.ca_file)
    parser = configparser.RawConfigParser()
    parser["global"] = options
    content = io.StringIO()
    parser.write(content)
    write_text_atomically(environment / ("pip.ini" if os.name == "nt" else "pip.conf"), content.getvalue())


def _pip(python: Path, *arguments: str) -> tuple[str, ...]:
    return (str(python), "-I", "-m", "pip", *arguments, "--no-input", "--disable-pip-version-check")


def with_credentials(index: Index) -> str:
    """Return an address with its login in it, for a variable."""
    if not index.username and not index.password:
        return index.url
    parts = urlsplit(index.url)
    userinfo = f"{quote(index.username, safe='')}:{quote(index.password, safe='')}"
    return urlunsplit(parts._replace(netloc=f"{userinfo}@{parts.netloc}"))
