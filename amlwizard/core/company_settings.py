"""What pip's and uv's own settings on this computer say of indexes and certificates (DESIGN section 6).

Children run without those files, so that nobody else's settings change what is built; what a company put there is read
here and serves as the default.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from amlwizard.core.data_text import parse_toml
from amlwizard.core.host import system_name
from amlwizard.core.plain_files import exists, is_file, is_folder, read_plain_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amlwizard.core.index_urls import Credentials

_PIP_SECTIONS: Final = ("global", "install")
"""In pip's order: the section of a command overrides the global one."""

_UNUSED_OF_PIP: Final = ("client-cert", "no-index", "constraint")
_UNUSED_OF_UV: Final = ("exclude-newer", "prerelease", "offline", "no-index")
_OFF: Final = frozenset({"", "0", "false", "no", "off", "n", "f"})
_PROXY_VARIABLES: Final = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
_CERTIFICATE_VARIABLES: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


@dataclass(frozen=True)
class Sourced:
    """An address and where it was found (a variable or a file)."""

    url: str = field(repr=False)
    place: str


@dataclass(frozen=True)
class CompanySettings:
    """The ambient settings of pip and uv; addresses may still hold credentials and are not for showing."""

    index_url: Sourced | None = field(default=None, repr=False)
    extra_index_urls: tuple[Sourced, ...] = field(default=(), repr=False)
    find_links: tuple[Sourced, ...] = field(default=(), repr=False)
    cert: Path | None = None
    cert_place: str = ""
    trusted_hosts: tuple[Sourced, ...] = ()
    """Hosts whose certificates those tools are told not to check."""
    proxy: Sourced | None = field(default=None, repr=False)
    """The proxy of pip, where no variable names one."""
    unused: tuple[str, ...] = ()
    """Settings that would change what is installed or how, and that do nothing here, each with its place."""
    broken: tuple[str, ...] = ()
    """Files that cannot be read, of which nothing is used."""
    python_mirror: Sourced | None = field(default=None, repr=False)
    """Where uv is told to fetch interpreters."""
    logins: Credentials = field(default_factory=dict, repr=False)
    """User and password by index address, from ``UV_INDEX_<NAME>_USERNAME`` and ``_PASSWORD``."""


@dataclass
class _Findings:
    """What has been read so far; what is read later overrides."""

    index: Sourced | None = None
    extra: list[Sourced] = field(default_factory=list)
    links: list[Sourced] = field(default_factory=list)
    cert: Sourced | None = None
    trusted: list[Sourced] = field(default_factory=list)
    python_mirror: Sourced | None = None
    proxy: Sourced | None = None
    unused: dict[str, str] = field(default_factory=dict)
    """The place of each by its name."""
    broken: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)


def read_company_settings(environ: Mapping[str, str], home: Path, system: str | None = None) -> CompanySettings:
    """Read pip's configuration files and variables, then uv's, which are stronger where both speak.

    A broken or unreadable file, and what would change a run and is not used, are noted, to be told once.

    Args:
        environ: the environment of this process.
        home: the user's home folder.
        system: ``linux``, ``windows`` or ``macos`` where it is not this system.
    """
    system = system or system_name(sys.platform)
    pip, uv = _Findings(), _Findings()
    for file in pip_config_files(system, environ, home):
        _read_pip_file(file, home, pip)
    _read_pip_variables(environ, home, pip)
    for file in uv_config_files(system, environ, home):
        _read_uv_file(file, uv, chosen=bool(environ.get("UV_CONFIG_FILE")))
    _read_uv_variables(environ, uv)
    certificate = _expanded(pip.cert.url, home) if pip.cert is not None else None
    if certificate is not None and not (certificate.is_absolute() and is_file(certificate)):
        pip.unused[f"cert {certificate}"] = pip.cert.place if pip.cert is not None else ""
        certificate = None
    if pip.proxy is not None and any(environ.get(name) or environ.get(name.lower()) for name in _PROXY_VARIABLES):
        pip.unused["proxy"], pip.proxy = pip.proxy.place, None
    unused = [f"{name} ({place})" for each in (pip, uv) for name, place in each.unused.items()]
    named = {variable: environ[variable] for variable in _CERTIFICATE_VARIABLES if environ.get(variable)}
    unused += [f"{variable} {place}" for variable, place in named.items() if not exists(Path(place))]
    return CompanySettings(
        index_url=uv.index or pip.index,
        extra_index_urls=_unique(uv.extra + pip.extra),
        find_links=_unique(uv.links + pip.links),
        cert=certificate,
        cert_place=pip.cert.place if pip.cert is not None else "",
        trusted_hosts=_unique(uv.trusted + pip.trusted),
        proxy=pip.proxy,
        unused=tuple(unused),
        broken=(*pip.broken, *uv.broken),
        python_mirror=uv.python_mirror,
        logins=_named_logins(environ, uv.names),
    )


def pip_config_files(system: str, environ: Mapping[str, str], home: Path) -> list[Path]:
    """Return the places of pip's configuration, the weakest first: the computer's, the user's, the active environment's."""
    chosen = environ.get("PIP_CONFIG_FILE")
    if chosen == os.devnull:
        return []
    name = "pip.ini" if system == "windows" else "pip.conf"
    files = [*_computer_wide(system, environ, "pip", name)]
    if system == "linux":
        files.append(Path("/etc") / name)
    files.append(home / ("pip" if system == "windows" else ".pip") / name)
    config = _user_config(system, environ, home)
    mac_folder = home / "Library" / "Application Support" / "pip"
    files.append(mac_folder / name if system == "macos" and is_folder(mac_folder) else config / "pip" / name)
    files += [Path(environ[variable]) / name for variable in ("VIRTUAL_ENV", "CONDA_PREFIX") if environ.get(variable)]
    return [*files, Path(chosen)] if chosen else files


def uv_config_files(system: str, environ: Mapping[str, str], home: Path) -> list[Path]:
    """Return the places of uv's configuration, the weakest first."""
    if environ.get("UV_NO_CONFIG", "").lower() in {"1", "true", "yes"}:
        return []
    if environ.get("UV_CONFIG_FILE"):
        return [Path(environ["UV_CONFIG_FILE"])]
    files = [] if system == "windows" else [Path("/etc/uv/uv.toml")]
    if system != "macos":
        files += _computer_wide(system, environ, "uv", "uv.toml")
    return [*files, _user_config(system, environ, home) / "uv" / "uv.toml"]


def _computer_wide(system: str, environ: Mapping[str, str], tool: str, name: str) -> list[Path]:
    if system == "windows":
        return [Path(environ.get("PROGRAMDATA") or "C:\\ProgramData") / tool / name]
    if system == "macos":
        return [Path("/Library/Application Support") / tool / name]
    folders = environ.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    return [Path(folder) / tool / name for folder in reversed(folders.split(":")) if folder]


def _user_config(system: str, environ: Mapping[str, str], home: Path) -> Path:
    if system == "windows":
        return Path(environ.get("APPDATA") or home / "AppData" / "Roaming")
    chosen = environ.get("XDG_CONFIG_HOME", "")
    return Path(chosen) if chosen.startswith("/") else home / ".config"


def _read_pip_file(file: Path, home: Path, found: _Findings) -> None:
    try:
        text = read_plain_text(file, "utf-8-sig", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError:
        found.broken.append(str(file))
        return
    import configparser  # takes long to load, and most computers have no such file

    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        found.broken.append(str(file))
        return
    values: dict[str, str] = {}
    for section in _PIP_SECTIONS:
        if parser.has_section(section):
            values |= {_pip_key(key): value for key, value in parser.items(section)}
    _take_pip(values, str(file), home, found)


def _pip_key(key: str) -> str:
    return key.lower().removeprefix("--").replace("_", "-")


def _read_pip_variables(environ: Mapping[str, str], home: Path, found: _Findings) -> None:
    for key in ("index-url", "extra-index-url", "find-links", "cert", "trusted-host", "proxy", *_UNUSED_OF_PIP):
        variable = f"PIP_{key.replace('-', '_').upper()}"
        if environ.get(variable):
            _take_pip({key: environ[variable]}, variable, home, found)


def _take_pip(values: Mapping[str, str], place: str, home: Path, found: _Findings) -> None:
    if values.get("index-url"):
        found.index = Sourced(_address(values["index-url"].strip(), home), place)
    if values.get("extra-index-url"):
        found.extra = [Sourced(_address(url, home), place) for url in values["extra-index-url"].split()]
    if values.get("find-links"):
        found.links = [Sourced(_folder(link, home), place) for link in values["find-links"].split()]
    if values.get("cert"):
        found.cert = Sourced(values["cert"].strip(), place)
    if values.get("proxy"):
        address = values["proxy"].strip()
        found.proxy = Sourced(address if "://" in address else f"http://{address}", place)
    found.unused |= {key: place for key in _UNUSED_OF_PIP if values.get(key, "").strip().lower() not in _OFF}
    if values.get("trusted-host"):
        found.trusted = [Sourced(host, place) for host in values["trusted-host"].split()]


def _read_uv_file(file: Path, found: _Findings, *, chosen: bool = False) -> None:
    try:
        content = parse_toml(read_plain_text(file, "utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        if chosen:
            found.broken.append(str(file))
        return
    except (OSError, ValueError):
        found.broken.append(str(file))
        return
    tables = (content.get("pip", {}), content)  # the top level overrides
    if not all(map(_is_of_uv, tables)):
        found.broken.append(str(file))
        return
    for table in tables:
        _take_uv(table, str(file), file.parent, found)


def _is_of_uv(table: object) -> bool:
    """Tell whether what is read of a table has the types that uv demands: it takes nothing of a file where one has not."""
    if not isinstance(table, dict):
        return False
    indexes = table.get("index", [])
    return (
        all(isinstance(table.get(key, ""), str) for key in ("index-url", "python-install-mirror"))
        and all(_is_list(table.get(key, []), str) for key in ("extra-index-url", "find-links", "allow-insecure-host"))
        and _is_list(indexes, dict)
        and all(isinstance(index.get("url"), str) for index in indexes)
        and all(isinstance(index.get(key, False), bool) for index in indexes for key in ("default", "explicit"))
    )


def _is_list(value: object, kind: type) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


def _take_uv(table: Mapping[str, Any], place: str, folder: Path, found: _Findings) -> None:
    if "index-url" in table:
        found.index = Sourced(_address(table["index-url"], folder), place)
    extra = [Sourced(_address(url, folder), place) for url in table.get("extra-index-url", [])]
    for index in table.get("index", []):
        if index.get("explicit"):
            continue  # an explicit index serves only packages that name it
        address = Sourced(_address(index["url"], folder), place)
        if isinstance(index.get("name"), str):
            found.names[index["name"]] = address.url
        if index.get("default"):
            found.index = address
        else:
            extra.append(address)
    if extra:
        found.extra = extra
    links = [Sourced(_folder(link, folder), place) for link in table.get("find-links", [])]
    if links:
        found.links = links
    found.unused |= {key: place for key in _UNUSED_OF_UV if table.get(key)}
    trusted = [Sourced(host, place) for host in table.get("allow-insecure-host", [])]
    if trusted:
        found.trusted = trusted
    if table.get("python-install-mirror"):
        found.python_mirror = Sourced(table["python-install-mirror"], place)


def _read_uv_variables(environ: Mapping[str, str], found: _Findings) -> None:
    for variable in ("UV_INDEX_URL", "UV_DEFAULT_INDEX"):
        if environ.get(variable):
            found.index = Sourced(_named(environ[variable].strip(), found), variable)
    extra = [
        Sourced(_named(url, found), variable)
        for variable in ("UV_INDEX", "UV_EXTRA_INDEX_URL")
        for url in environ.get(variable, "").split()
    ]
    if extra:
        found.extra = extra
    links = [link.strip() for link in environ.get("UV_FIND_LINKS", "").split(",") if link.strip()]
    if links:
        found.links = [Sourced(link, "UV_FIND_LINKS") for link in links]
    for key in _UNUSED_OF_UV:
        variable = f"UV_{key.upper().replace('-', '_')}"
        if environ.get(variable, "").strip().lower() not in _OFF:
            found.unused[key] = variable
    if environ.get("UV_INSECURE_HOST"):
        found.trusted = [Sourced(host, "UV_INSECURE_HOST") for host in environ["UV_INSECURE_HOST"].split()]
    if environ.get("UV_PYTHON_INSTALL_MIRROR"):
        found.python_mirror = Sourced(environ["UV_PYTHON_INSTALL_MIRROR"].strip(), "UV_PYTHON_INSTALL_MIRROR")


def _named(address: str, found: _Findings) -> str:
    """Return the address of ``NAME=URL`` and remember its name."""
    name, separator, url = address.partition("=")
    if separator and name.replace("-", "").replace("_", "").replace(".", "").isalnum():
        found.names[name] = url
        return url
    return address


def _named_logins(environ: Mapping[str, str], names: Mapping[str, str]) -> Credentials:
    logins: Credentials = {}
    for name, url in names.items():
        prefix = f"UV_INDEX_{''.join(character if character.isalnum() else '_' for character in name).upper()}"
        user, password = environ.get(f"{prefix}_USERNAME", ""), environ.get(f"{prefix}_PASSWORD", "")
        if user or password:
            logins[url] = (user, password)
    return logins


def _address(value: str, folder: Path) -> str:
    """Return an index address; both tools take the path of a folder as well."""
    if "://" in value:
        return value
    path = _expanded(value, folder)
    return path.as_uri() if path.is_absolute() and is_folder(path) else value


def _folder(value: str, folder: Path) -> str:
    return value if "://" in value else str(_expanded(value, folder))


def _expanded(value: str, folder: Path) -> Path:
    """Return a path with ``~`` expanded; a relative one counts from the folder."""
    try:
        return folder / Path(value).expanduser()
    except (RuntimeError, ValueError):  # the home of a user whom nobody knows, or a NUL
        return folder / value


def _unique(addresses: list[Sourced]) -> tuple[Sourced, ...]:
    return tuple({address.url: address for address in addresses}.values())
