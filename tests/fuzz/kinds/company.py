"""What others set for pip, uv and the network: pip.conf, uv.toml, netrc, and their variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st

from amlwizard.core.child_env import tool_environment
from amlwizard.core.company_settings import read_company_settings
from amlwizard.core.diagnose.known_secrets import files_with_secrets, known_secrets
from amlwizard.core.redact import redact
from amlwizard.core.settings import Settings, resolve_choices
from amlwizard.net.policy import NetworkPolicy
from tests.fuzz.ingredients import encoded, mutated, texts, variables
from tests.fuzz.kind import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.fuzz.place import Place

_PIP: Final = (
    "[global]\nindex-url = https://u:p@index.example.org/simple\nextra-index-url =\n  https://a.example.org\n  b\n",
    "[install]\nfind_links = ~/wheels .\ncert = ~/ca.pem\ntrusted-host = a b:1\n--index-url: x\n",
    "[global]\ncert=%(here)s\nindex-url=~nobody/x\n[global]\nfind-links\n= x",
    "[global]\n" + "a" * 20_000 + " = " + "b " * 20_000,
)
_UV: Final = (
    'index-url = "https://index.example.org/simple"\nfind-links = [".", "~/x"]\n[pip]\nextra-index-url = ["../x"]\n',
    'python-install-mirror = "https://h/"\nallow-insecure-host = ["h:1", 1]\n[pip]\nallow-insecure-host = "h"\n',
    '[[index]]\nname = "corp"\nurl = "https://index.example.org"\ndefault = true\n[[index]]\nurl = "~nobody/x"\n',
    'index = [{url = "a\\u0000b"}, 1, {url = 1}, {name = "é", url = "./."}]\n',
    "a = " + "[" * 30_000,
    "a." * 20_000 + "b = 1",
)
_NETRC: Final = (
    "machine index.example.org login u password p\n",
    "default login u",
    "machine",
    'machine h password "a',
    "macdef x\n" * 2000,
)
_VARIABLES: Final = (
    *(
        "PIP_INDEX_URL",
        "PIP_EXTRA_INDEX_URL",
        "PIP_FIND_LINKS",
        "PIP_CERT",
        "PIP_CONFIG_FILE",
        "UV_CONFIG_FILE",
        "UV_DEFAULT_INDEX",
    ),
    *(
        "UV_INDEX",
        "UV_INDEX_URL",
        "UV_EXTRA_INDEX_URL",
        "UV_FIND_LINKS",
        "UV_INDEX_CORP_USERNAME",
        "UV_INDEX_CORP_PASSWORD",
    ),
    *(
        "UV_NO_CONFIG",
        "HTTP_PROXY",
        "https_proxy",
        "ALL_PROXY",
        "NO_PROXY",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "REQUESTS_CA_BUNDLE",
    ),
    *(
        "NETRC",
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_CONFIG_DIRS",
        "VIRTUAL_ENV",
        "CONDA_PREFIX",
        "APPDATA",
        "PROGRAMDATA",
        "MY_TOKEN",
        "PIP_TRUSTED_HOST",
        "UV_INSECURE_HOST",
        "UV_PYTHON_INSTALL_MIRROR",
    ),
)
_WORDS: Final = (
    *(
        "corp=https://index.example.org/simple",
        "https://u:p@index.example.org",
        "a b c",
        "10.0.0.0/8,.example.org:80,[::1]:x,*",
    ),
    *(
        "proxy.example.org:3128",
        "http://proxy.example.org:99999",
        "socks5://x",
        "169.254/16",
        "1/2/3",
        "<local>;[",
        "٣",
        ":٣",
        "h:²",
    ),
)
_URLS: Final = ("https://index.example.org/simple", "http://10.1.2.3:8080/x", "https://[::1]/", "http://h:3/", "file:///x")


def _text(right: tuple[str, ...]) -> st.SearchStrategy[bytes]:
    whole = encoded(st.sampled_from(right))
    return st.one_of(whole, mutated(whole, (b"[", b"]", b"=", b'"', b"%", b"~", b"\\")), st.binary(max_size=20))


_inputs = st.fixed_dictionaries(
    {
        "pip": st.none() | _text(_PIP),
        "uv": st.none() | _text(_UV),
        "netrc": st.none() | _text(_NETRC),
        "environ": st.dictionaries(st.sampled_from(_VARIABLES), st.sampled_from(_WORDS) | variables, max_size=4),
        "text": texts,
    }
)


def _lay(place: Place, value: dict[str, Any]) -> None:
    place.put(place.home / ".config" / "pip" / "pip.conf", value["pip"])
    place.put(place.home / ".config" / "uv" / "uv.toml", value["uv"])
    place.put(place.home / ".netrc", value["netrc"])


def _probes(place: Place, value: dict[str, Any]) -> Iterator[Callable[[], object]]:
    environ = {"HOME": str(place.home), **value["environ"]}
    for system in ("linux", "windows", "macos"):
        yield lambda system=system: repr(read_company_settings(environ, place.home, system))
    yield lambda: _network(place, environ)
    yield lambda: redact(value["text"], known_secrets(environ, {}, files_with_secrets(environ)))


def _network(place: Place, environ: dict[str, str]) -> None:
    policy = NetworkPolicy.from_environment(environ)
    policy.child_variables()
    for url in _URLS:
        policy.proxy_for(url)
        policy.credentials_for(url)
    tool_environment(environ, tmp=place.root / "tmp")
    resolve_choices(Settings(), environ, place.files)


KIND: Final = Kind("company", _inputs, _lay, _probes)
