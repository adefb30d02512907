"""The settings of the network as a person sees and changes them: what holds, who fixed it, and what was found elsewhere."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amlwizard.core.ca_files import refuse_without_certificate
from amlwizard.core.catalogue import Phrase
from amlwizard.core.company_settings import read_company_settings
from amlwizard.core.errors import AmlError, RefusedError
from amlwizard.core.index_urls import INDEX_SCHEMES, PROXY_SCHEMES, Credentials, split_proxy, split_url
from amlwizard.core.mirrors import Mirror, load_mirrors
from amlwizard.core.plain_files import is_file
from amlwizard.core.settings_files import Settings, Source, load_settings
from amlwizard.core.unusable import why_no_file
from amlwizard.core.urls import without_credentials

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from amlwizard.core.company_settings import Sourced

KEYS: Final = ("indexUrl", "extraIndexUrls", "pythonMirror", "proxy", "caFile")
"""The keys of the settings that are about the network, in the order in which they are shown."""
_ADDRESSES: Final = {
    "indexUrl": (INDEX_SCHEMES, "AML_INDEX_URL_INVALID"),
    "extraIndexUrls": (INDEX_SCHEMES, "AML_INDEX_URL_INVALID"),
    "pythonMirror": (INDEX_SCHEMES, "AML_URL_INVALID"),
    "proxy": (PROXY_SCHEMES, "AML_URL_INVALID"),
}


@dataclass(frozen=True)
class Found:
    """What other settings on this computer say for a key; ``place`` is a file, a variable or, as a phrase, the system."""

    key: str
    value: str
    place: str | Phrase


@dataclass(frozen=True)
class NetworkSettings:
    """What holds on this computer.

    Attributes:
        values: the value of each of ``KEYS`` as text, empty where nothing is chosen; indexes are parted by blanks.
        fixed: who fixed a key that cannot be changed here, in words.
        found: what pip, uv and the system say; it holds where nothing is chosen.
        mirrors: places to choose from.
        problem: why the list of mirrors cannot be used.
        no_keyring: why no login can be kept on this computer; None where it can.
    """

    values: Mapping[str, str]
    fixed: Mapping[str, Phrase] = field(default_factory=dict)
    found: tuple[Found, ...] = ()
    mirrors: tuple[Mirror, ...] = ()
    problem: AmlError | None = None
    no_keyring: Phrase | None = None

    def found_values(self) -> dict[str, str]:
        """Return what was found, by key, as ``values`` holds it."""
        found: dict[str, list[str]] = {}
        for each in self.found:
            found.setdefault(each.key, []).append(each.value)
        return {key: " ".join(values) for key, values in found.items()}

    def mirror_of(self, index_url: str) -> Mirror | None:
        """Return the mirror that an index belongs to."""
        wanted = index_url.strip().rstrip("/")
        return next((mirror for mirror in self.mirrors if mirror.index_url.rstrip("/") == wanted), None)


def read_network_settings(
    environ: Mapping[str, str],
    home: Path,
    *,
    proxy: Found | None = None,
    no_keyring: Phrase | None = None,
    user_dir: Path | None = None,
    site_dir: Path | None = None,
) -> NetworkSettings:
    """Read everything; blocks for a moment.

    Args:
        environ: the variables.
        home: the user's home folder.
        proxy: the one that the environment or the system names.
        no_keyring: why no login can be kept.
        user_dir: the user's settings folder, where it is not the system's usual one.
        site_dir: the machine-wide settings folder, where it is not the system's usual one.

    Raises:
        RefusedError: as ``load_settings``.
    """
    settings = load_settings(environ, user_dir, site_dir)
    mirrors: list[Mirror] = []
    problem = None
    try:
        mirrors = load_mirrors(user_dir, site_dir)
    except RefusedError as error:
        problem = error
    company = read_company_settings(environ, home)
    found = [
        *_clean("indexUrl", [company.index_url] if company.index_url is not None else []),
        *_clean("extraIndexUrls", company.extra_index_urls),
        *_clean("pythonMirror", [company.python_mirror] if company.python_mirror is not None else []),
        *([proxy] if proxy is not None else []),
        *([Found("caFile", str(company.cert), company.cert_place)] if company.cert is not None else []),
    ]
    return NetworkSettings(
        {key: _as_text(settings, key) for key in KEYS}, _fixed(settings), tuple(found), tuple(mirrors), problem, no_keyring
    )


def changed_settings(
    before: NetworkSettings, values: Mapping[str, str]
) -> tuple[dict[str, str | list[str] | None], Credentials]:
    """Return what is to be written into the user's settings, and the logins that stood in addresses.

    Args:
        before: what was read.
        values: what was filled in, by key.

    Raises:
        RefusedError: a value cannot be used; nothing has been changed.
    """
    changes: dict[str, str | list[str] | None] = {}
    logins: Credentials = {}
    for key in KEYS:
        value = values.get(key, "").strip()
        if key in before.fixed or value == before.values[key]:
            continue
        place = Phrase("network.place", {"field": Phrase(f"network.field.{key}")})
        try:
            changes[key] = _checked(key, value, logins) if value else None
        except RefusedError as error:
            error.arguments["place"] = place
            raise
    return changes, logins


def _checked(key: str, value: str, logins: Credentials) -> str | list[str]:
    """Return a value as it is written; ``logins`` gets those that stand in addresses."""
    if key == "caFile":
        return str(_certificate(value))
    clean = [_address(key, part, logins) for part in (value.split() if key == "extraIndexUrls" else [value])]
    return clean if key == "extraIndexUrls" else clean[0]


def login_places(values: Mapping[str, str]) -> list[str]:
    """Return the origins of addresses that may ask for a sign-in, each once; what is no address is passed over."""
    found: dict[str, None] = {}
    for key in ("indexUrl", "extraIndexUrls", "pythonMirror", "proxy"):
        for part in values.get(key, "").split():
            schemes, code = _ADDRESSES[key]
            try:
                split = split_url(_with_scheme(key, part), "", schemes, code)
            except RefusedError:
                continue
            if not split.origin.startswith("file:"):
                found[split.origin] = None
    return list(found)


def _address(key: str, value: str, logins: Credentials) -> str:
    schemes, code = _ADDRESSES[key]
    split = split_proxy(_with_scheme(key, value), "") if key == "proxy" else split_url(value, "", schemes, code)
    if split.login is not None:
        logins[split.origin] = split.login
    return split.clean


def _with_scheme(key: str, value: str) -> str:
    return f"http://{value}" if key == "proxy" and "://" not in value else value


def _certificate(value: str) -> Path:
    path = Path(os.path.expanduser(value))  # noqa: PTH111 - raises nothing where the home is not known
    if not path.is_absolute() or not is_file(path):
        raise RefusedError("AML_CA_FILE_MISSING", path=str(path), reason=why_no_file(path))
    refuse_without_certificate(path, "")
    return path


def _as_text(settings: Settings, key: str) -> str:
    setting = settings.values.get(key)
    value = setting.value if setting is not None else ""
    return without_credentials(value) if isinstance(value, str) else " ".join(map(without_credentials, value))


def _fixed(settings: Settings) -> dict[str, Phrase]:
    """Return what the organisation fixed, and what a variable says, which is stronger than the user's file."""
    fixed = {key: Phrase("network.organisation") for key in KEYS if settings.is_locked(key)}
    for key in KEYS:
        setting = settings.values.get(key)
        if key not in fixed and setting is not None and setting.source is Source.VARIABLE:
            fixed[key] = Phrase("network.variable", {"name": setting.place})
    return fixed


def _clean(key: str, addresses: Iterable[Sourced]) -> list[Found]:
    """Return addresses without logins; what is none is not offered."""
    found = []
    for address in addresses:
        try:
            found.append(Found(key, split_url(address.url, address.place).clean, address.place))
        except RefusedError:
            continue
    return found
