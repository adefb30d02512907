"""Settings files of the user and of the machine, the variables beside them, options, and lists of mirrors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st

from amlwizard.core.errors import AmlError
from amlwizard.core.mirrors import load_mirrors
from amlwizard.core.settings import load_settings, resolve_choices, save_user_settings
from amlwizard.core.settings_files import LIST_KEYS, TEXT_KEYS, VARIABLES, chosen_language
from amlwizard.net.policy import NetworkPolicy
from tests.fuzz.ingredients import documents, texts, variables
from tests.fuzz.kind import Kind
from tests.fuzz.rules import BreachError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.fuzz.place import Place

_RIGHT: Final[tuple[dict[str, Any], ...]] = (
    {
        "format": 1,
        "root": "~/aml",
        "python": "3.11",
        "indexUrl": "https://index.example.org/simple",
        "extraIndexUrls": ["https://more.example.org/simple"],
        "findLinks": ["https://files.example.org/links", "."],
        "proxy": "http://proxy.example.org:3128",
        "locked": ["indexUrl"],
        "language": "zh_CN",
        "uvMethod": "index",
        "bundleSha256": "a" * 64,
    },
    {
        "pythonVersion": "3.12.1",
        "locked": [*sorted(TEXT_KEYS), *sorted(LIST_KEYS)],
        "kit": "kit",
        "caFile": "ca.pem",
        "uv": "uv",
    },
    {
        "format": 1,
        "pythonDownloadsJson": "file:///list.json",
        "uvInstallerUrl": "https://files.example.org/x.sh",
        "pythonMirror": "https://files.example.org/python",
        "root": "x",
        "bundleOnly": True,
        "allowedRoots": ["~/aml", "$HOME/x", "%HOME%", "${ABSENT}/y", "/a\0b", "relative"],
    },
)
_MIRROR: Final = {
    "id": "own",
    "names": {"en": "Own", "zh_CN": "自有"},
    "indexUrl": "https://index.example.org/simple",
    "pythonMirror": "https://files.example.org/python",
}
_MIRRORS: Final[tuple[dict[str, Any], ...]] = ({"format": 1, "mirrors": [_MIRROR]},)
_VALUES: Final = (
    "3.11",
    "3.9",
    "3.100",
    "https://u:p@index.example.org/simple",
    "https://index.example.org",
    "rel/path",
    "auto",
    "cpu",
)
_words = texts | st.sampled_from(_VALUES)
_set = variables | st.sampled_from(_VALUES)
_OPTIONS: Final = (
    *(
        "root",
        "requirements",
        "profile",
        "python",
        "uv",
        "uv_method",
        "index_url",
        "index_strategy",
        "python_downloads_json",
        "python_mirror",
    ),
    *("uv_installer_url", "ca_file", "proxy", "accelerator", "bundle", "bundle_sha256"),
)
_inputs = st.fixed_dictionaries(
    {
        "machine": st.none() | documents(_RIGHT),
        "user": st.none() | documents(_RIGHT),
        "mirrors": st.none() | documents(_MIRRORS),
        "environ": st.dictionaries(
            st.sampled_from((*VARIABLES, "HOME", "LANG", "NETRC", "SSL_CERT_FILE", "NO_PROXY")), _set, max_size=3
        ),
        "options": st.dictionaries(st.sampled_from(_OPTIONS), _words, max_size=2),
        "lists": st.dictionaries(
            st.sampled_from(("extra_index_urls", "find_links")), st.lists(_words, max_size=2), max_size=1
        ),
        "changes": st.dictionaries(
            st.sampled_from((*TEXT_KEYS, *LIST_KEYS)), st.none() | _words | st.lists(_words, max_size=2), max_size=2
        ),
    }
)


def _lay(place: Place, value: dict[str, Any]) -> None:
    place.put(place.files / "machine" / "settings.json", value["machine"])
    place.put(place.root / "user" / "settings.json", value["user"])  # in the workspace, as it may be written
    place.put(place.files / "machine" / "mirrors.json", value["mirrors"])
    place.put(place.files / "ca.pem", b"no certificate")


def _probes(place: Place, value: dict[str, Any]) -> Iterator[Callable[[], object]]:
    user, site, environ = place.root / "user", place.files / "machine", value["environ"]
    yield lambda: chosen_language(environ, user, site)
    yield lambda: _choose(place, value)
    yield lambda: [mirror.name("zh_CN") for mirror in load_mirrors(user, site)]
    yield lambda: _save(place, value)


def _choose(place: Place, value: dict[str, Any]) -> None:
    settings = load_settings(value["environ"], place.root / "user", place.files / "machine")
    choices = resolve_choices(settings, value["environ"], place.files, **value["options"], **value["lists"])
    repr(choices)
    policy = NetworkPolicy.from_environment(
        value["environ"], proxy=choices.proxy, ca_file=choices.ca_file, credentials=choices.credentials
    )
    for url in filter(
        None, (choices.index_url, *choices.extra_index_urls, choices.python_downloads_json, choices.uv_installer_url)
    ):
        policy.proxy_for(url)
        policy.credentials_for(url)
    policy.child_variables()


def _save(place: Place, value: dict[str, Any]) -> None:
    user = place.root / "user"
    file = user / "settings.json"
    before = file.read_bytes() if file.exists() else None
    try:
        save_user_settings(value["changes"], user)
    except AmlError:
        if (file.read_bytes() if file.exists() else None) != before:
            raise BreachError("settings that were refused were written") from None
        raise
    load_settings({}, user, place.files)


KIND: Final = Kind("settings", _inputs, _lay, _probes)
