"""The one place that decides proxy and certificates: for the program's own downloads, for uv and for pip alike."""

from __future__ import annotations

import os
import ssl
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit, urlunsplit

from amlwizard.core.ca_files import refuse_without_certificate
from amlwizard.core.catalogue import Phrase
from amlwizard.core.errors import RefusedError
from amlwizard.core.plain_files import is_file, is_folder
from amlwizard.core.urls import USUAL_PORTS, Login, origin_of, split_credentials
from amlwizard.net.exceptions import ProxyExceptions
from amlwizard.net.system_proxy import system_proxy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amlwizard.core.logins import LoginStore

_PROXY_NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_CA_FILE_NAMES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT")
_URL_NAMES = (
    "AML_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "UV_INDEX",
    "UV_INDEX_URL",
    "UV_EXTRA_INDEX_URL",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
)

GOVERNED_VARIABLES: Final = frozenset(
    (
        *_PROXY_NAMES,
        *(name.lower() for name in _PROXY_NAMES),
        *_CA_FILE_NAMES,
        "SSL_CERT_DIR",
        "UV_SYSTEM_CERTS",
        "UV_NATIVE_TLS",
        "UV_OFFLINE",
        "PIP_NO_INDEX",
    )
)
"""What the policy alone decides: taken out of a child's environment before ``child_variables`` is put in."""


@dataclass(frozen=True)
class NetworkPolicy:
    """How the network is reached.

    ``proxies`` are addresses by scheme (``http``, ``https``, ``all``). ``ca_file`` and ``ca_dir`` take the place of the
    system's certificates where they are set. ``credentials`` are by origin (``origin_of``).
    """

    proxies: Mapping[str, str] = field(default_factory=dict)
    exceptions: ProxyExceptions = field(default_factory=ProxyExceptions)
    ca_file: Path | None = None
    ca_dir: Path | None = None
    offline: bool = False
    credentials: Mapping[str, Login] = field(default_factory=dict, repr=False)
    netrc: Mapping[str, Login] = field(default_factory=dict, repr=False)
    """By host, as a netrc file has them."""
    login_places: Mapping[str, str | Phrase] = field(default_factory=dict, repr=False, compare=False)
    """Where a login of ``credentials`` or of a proxy stands, by origin."""
    netrc_file: str = field(default="", compare=False)
    netrc_problem: Phrase | None = field(default=None, compare=False)
    """Why that file cannot be read."""
    kept: LoginStore | None = field(default=None, repr=False, compare=False)
    """The system's keyring, which is asked where a sign-in is wanted and no login is known."""
    _found: dict[str, Login | None] = field(default_factory=dict, repr=False, compare=False)
    """What it gave, by origin; None where it gave nothing."""
    _asking: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)
    _direct: set[str] = field(default_factory=set, repr=False, compare=False)
    """The hosts that an exception was found for; children are told these as well, as they know fewer forms of one."""
    _shared: list[ssl.SSLContext] = field(default_factory=list, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @classmethod
    def from_environment(
        cls,
        environment: Mapping[str, str],
        *,
        proxy: str | None = None,
        ca_file: Path | None = None,
        offline: bool = False,
        credentials: Mapping[str, Login] | None = None,
        login_places: Mapping[str, str] | None = None,
        kept: LoginStore | None = None,
    ) -> NetworkPolicy:
        """Decide from the choices first, then the environment, then the system's settings.

        Args:
            environment: the variables of this process.
            proxy: the chosen proxy for everything; empty for none at all.
            ca_file: the chosen certificate file (PEM).
            offline: whether any use of the network is an error.
            credentials: the chosen ones, by origin.
            login_places: the files or variables that these stand in, by origin.
            kept: the system's keyring.

        Raises:
            RefusedError: ``AML_NET_PROXY_URL``, ``AML_NET_CA_FILE`` or ``AML_CA_FILE_INVALID``: a chosen proxy or file
                cannot be used.
        """
        proxies, exceptions = _proxies(environment, proxy)
        if "*" in exceptions.entries:  # which to uv and pip does not mean every host
            proxies = {}
        if ca_file is not None and not is_file(ca_file):
            raise RefusedError("AML_NET_CA_FILE", path=str(ca_file))
        directory = None
        if ca_file is None:
            name = next((name for name in _CA_FILE_NAMES if _exists(environment, name, file=True)), None)
            if name is not None:
                ca_file = Path(environment[name])
                refuse_without_certificate(ca_file, name)
            if _exists(environment, "SSL_CERT_DIR", file=False):
                directory = Path(environment["SSL_CERT_DIR"])
        found, places = _credentials(environment)
        chosen = {origin: login for origin, login in (credentials or {}).items() if any(login)}
        netrc_file, netrc, netrc_problem = _netrc(environment)
        return cls(
            proxies=proxies,
            exceptions=exceptions,
            ca_file=ca_file,
            ca_dir=directory,
            offline=offline,
            credentials=found | chosen,
            netrc=netrc,
            login_places={
                **{origin: place for origin, place in places.items() if origin not in chosen},
                **(login_places or {}),
            },
            netrc_file=netrc_file,
            netrc_problem=netrc_problem,
            kept=kept,
        )

    def proxy_for(self, url: str) -> str | None:
        """Return the proxy for an address, user name and password included, or None for a direct connection."""
        try:
            parts = urlsplit(url)
            port = parts.port or USUAL_PORTS.get(parts.scheme, 0)
        except ValueError:  # no address; whoever asks it is told so
            return None
        proxy = self.proxies.get(parts.scheme) or self.proxies.get("all")
        if not proxy:
            return None
        if self.exceptions.cover(parts.hostname or "", port):
            self._direct.add(parts.hostname or "")
            return None
        return self._signed_in(proxy)

    def credentials_for(self, url: str) -> Login | None:
        """Return what belongs to the origin of an address, and to no other."""
        known = self.credentials.get(origin_of(url)) or self.netrc.get(urlsplit(url).hostname or "")
        return known or self._found.get(origin_of(url))

    def login_place(self, url: str) -> str | Phrase:
        """Return where the login of an address or a proxy stands, for the one who has to correct it."""
        origin = origin_of(url)
        if origin in self.login_places:
            return self.login_places[origin]
        if origin in self.credentials:
            return Phrase("logins.entered")
        return self.netrc_file if urlsplit(url).hostname in self.netrc else Phrase("logins.keyring")

    def ask_kept(self, url: str) -> None:
        """Ask the system's keyring for the login of an address or a proxy, once for each origin.

        This may take seconds, so it is called in a thread.
        """
        origin = origin_of(url)
        with self._asking:
            if self.kept is not None and origin not in self._found:
                self._found[origin] = self.kept.read(origin)

    def kept_problem(self) -> Phrase | None:
        """Return why the netrc file or the keyring could not tell a login; None where they could, or were not asked."""
        if self.netrc_problem is not None:
            return self.netrc_problem
        asked_in_vain = self.kept is not None and None in tuple(self._found.values())
        return self.kept.problem() if asked_in_vain and self.kept is not None else None

    def kept_logins(self) -> dict[str, Login]:
        """Return what the keyring gave, by origin."""
        return {origin: login for origin, login in dict(self._found).items() if login is not None}

    def _signed_in(self, proxy: str) -> str:
        """Return the address of a proxy with the login of its origin, unless it has one."""
        try:
            parts, origin = urlsplit(proxy), origin_of(proxy)
        except ValueError:  # no address; whoever uses it is told so
            return proxy
        login = self.credentials.get(origin) or self._found.get(origin)
        if login is None or "@" in parts.netloc:
            return proxy
        userinfo = ":".join(quote(part, safe="") for part in login)
        return urlunsplit(parts._replace(netloc=f"{userinfo}@{parts.netloc}"))

    def ssl_context(self) -> ssl.SSLContext:
        """Return a context that checks certificates: by the chosen ones, or by the system's.

        The certificates are read once where OpenSSL itself checks. Where the system's own interface does (Windows,
        macOS), each call returns a context of its own, because truststore lets one handshake at a time through each.

        Raises:
            RefusedError: ``AML_NET_CA_FILE``: the certificate file cannot be read.
        """
        with self._lock:
            if self._shared:
                return self._shared[0]
            context = self._make_context()
            if self.ca_file or self.ca_dir or sys.platform not in ("win32", "darwin"):
                self._shared.append(context)
            return context

    def child_variables(self) -> dict[str, str]:
        """Return the variables that tell uv, pip and git the same; see ``GOVERNED_VARIABLES``."""
        values = {
            "HTTP_PROXY": self._signed_in(self.proxies.get("http", "")),
            "HTTPS_PROXY": self._signed_in(self.proxies.get("https", "")),
            "ALL_PROXY": self._signed_in(self.proxies.get("all", "")),
            "NO_PROXY": str(ProxyExceptions((*self.exceptions.entries, *sorted(self._direct.copy())))),
        }
        values = {name: value for name, value in values.items() if value}
        if os.name != "nt":  # names are not told apart by case there
            values |= {name.lower(): value for name, value in values.items()}
        if self.ca_file is None and self.ca_dir is None:
            values |= {"UV_SYSTEM_CERTS": "1", "UV_NATIVE_TLS": "1"}
            store = _file_of_system()
            if store is not None:  # pip before 24.2 knows its own list alone
                values["PIP_CERT"] = store
        if self.ca_file is not None:
            values |= dict.fromkeys((*_CA_FILE_NAMES, "GIT_SSL_CAINFO"), str(self.ca_file))
        if self.ca_dir is not None:
            values["SSL_CERT_DIR"] = str(self.ca_dir)
        if self.offline:
            values |= {"UV_OFFLINE": "1", "PIP_NO_INDEX": "1"}
        return values

    def _make_context(self) -> ssl.SSLContext:
        if self.ca_file is not None or self.ca_dir is not None:
            try:
                return ssl.create_default_context(cafile=self.ca_file, capath=self.ca_dir)
            except (OSError, ValueError) as error:
                raise RefusedError("AML_NET_CA_FILE", path=str(self.ca_file or self.ca_dir)) from error
        if _file_of_system() is not None:
            return ssl.create_default_context()
        import truststore

        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _file_of_system() -> str | None:
    """Return the file with the system's certificates where OpenSSL itself reads one, None where the system is asked."""
    return None if sys.platform in ("win32", "darwin") else ssl.get_default_verify_paths().cafile


def found_proxy(environment: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the proxy that is used where none is chosen, without a login, and the variable that names it.

    The variable is empty where the system's own settings name it.
    """
    for name in ("HTTPS_PROXY", "ALL_PROXY", "HTTP_PROXY"):
        if proxy := _either_spelling(environment, name):
            return without_userinfo(_with_scheme(proxy)), name
    proxies = system_proxy().proxies
    proxy = proxies.get("https") or proxies.get("http") or ""
    return (without_userinfo(_with_scheme(proxy)), "") if proxy else None


def _proxies(environment: Mapping[str, str], chosen: str | None) -> tuple[dict[str, str], ProxyExceptions]:
    exceptions = ProxyExceptions.parse(_either_spelling(environment, "NO_PROXY"))
    if chosen is not None:
        return ({name: _checked(chosen) for name in ("http", "https", "all")} if chosen else {}), exceptions
    found = {name: _either_spelling(environment, f"{name.upper()}_PROXY") for name in ("http", "https", "all")}
    found = {name: _with_scheme(proxy) for name, proxy in found.items() if proxy}
    if found:
        return found, exceptions
    system = system_proxy()
    proxies = {name: _with_scheme(proxy) for name, proxy in system.proxies.items()}
    return proxies, ProxyExceptions((*exceptions.entries, *system.exceptions.entries))


def _either_spelling(environment: Mapping[str, str], name: str) -> str:
    return (environment.get(name.lower()) or environment.get(name) or "").strip()


def _with_scheme(proxy: str) -> str:
    return proxy if "://" in proxy else f"http://{proxy}"


def _checked(proxy: str) -> str:
    proxy = _with_scheme(proxy)
    if not is_proxy(proxy):
        raise RefusedError("AML_NET_PROXY_URL", proxy=without_userinfo(proxy))
    return proxy


def is_proxy(url: str) -> bool:
    """Tell whether an address is one that a proxy of the kinds that can be used may have."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        return parts.scheme in ("http", "https") and host != "" and host.isascii() and parts.port != 0
    except ValueError:
        return False


def without_userinfo(url: str) -> str:
    """Return a possibly malformed address without what stands before its last ``@``, for messages."""
    scheme, separator, rest = url.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


def _exists(environment: Mapping[str, str], name: str, *, file: bool) -> bool:
    """Tell whether a variable names a file, or a folder, that is there."""
    value = environment.get(name, "")
    return value != "" and (is_file(value) if file else is_folder(value))


def _credentials(environment: Mapping[str, str]) -> tuple[dict[str, Login], dict[str, str]]:
    """Return the logins in the addresses of variables, and the variable in which each stands."""
    found: dict[str, Login] = {}
    places: dict[str, str] = {}
    proxies = [(name, _either_spelling(environment, name)) for name in ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY")]
    named = [(name, "", _with_scheme(proxy)) for name, proxy in proxies if proxy]  # a chosen proxy needs its login as well
    for variable in _URL_NAMES:
        for word in environment.get(variable, "").split():
            name, equals, url = word.partition("=")
            named.append((variable, name, url) if equals and "://" not in name else (variable, "", word))
    for variable, name, address in named:
        try:
            url, inside = split_credentials(address)
            origin = origin_of(url)
        except ValueError:
            continue  # whoever uses the address says what is wrong with it
        key = "".join(letter if letter.isalnum() else "_" for letter in name.upper())
        user = environment.get(f"UV_INDEX_{key}_USERNAME", "")
        password = environment.get(f"UV_INDEX_{key}_PASSWORD", "")
        if inside or (name and (user or password)):
            found[origin] = inside or (user, password)
            places[origin] = variable if inside else f"UV_INDEX_{key}_PASSWORD"
    return found, places


def _netrc(environment: Mapping[str, str]) -> tuple[str, dict[str, Login], Phrase | None]:
    """Return the netrc file, its logins by host, and why it cannot be read: that is told where a login is missed."""
    home = environment.get("HOME") or environment.get("USERPROFILE")
    places = [Path(environment["NETRC"])] if environment.get("NETRC") else []
    places += [Path(home) / name for name in (".netrc", "_netrc")] if home else []
    for place in places:
        if is_file(place):
            import netrc

            try:
                entries = netrc.netrc(place).hosts
            except (OSError, ValueError, netrc.NetrcParseError) as error:
                line = getattr(error, "lineno", None)
                problem = Phrase("logins.netrc_line" if line else "logins.netrc", {"file": str(place), "line": line})
                return str(place), {}, problem  # the file serves other programs as well, and is not refused
            logins = {host: (user, password) for host, (user, _, password) in entries.items() if host != "default"}
            return str(place), logins, None
    return "", {}, None
