"""What uv and pip print, as it is recognised, redacted and shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st

from amlwizard.core.catalogue import LANGUAGES, error_texts
from amlwizard.core.diagnose.redaction import Redactor, host_of
from amlwizard.core.redact import redact
from amlwizard.core.tool_output import blame_proxy, failure_from_output
from amlwizard.net.policy import NetworkPolicy
from tests.fuzz.ingredients import texts
from tests.fuzz.kind import Kind
from tests.fuzz.rules import BreachError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.fuzz.place import Place

_LINES: Final = (
    "error: Request failed after 3 retries",
    "  Caused by: Failed to fetch: `https://index.example.org/simple/numpy/`",
    "  Caused by: error sending request for url (https://u:p@index.example.org:8443/simple/numpy/)",
    "  cause: dns error: failed to lookup address information: Name or service not known",
    "  cause: client error (Connect): invalid peer certificate: UnknownIssuer",
    "  cause: tunnel error: failed to create underlying connection",
    "      more of it",
    "ERROR: Could not find a version that satisfies the requirement x (from versions: none)",
    "ERROR: No matching distribution found for x==1 (from -r requirements.txt (line 1))",
    "  x No solution found when resolving dependencies:",
    "  Because numpy was not found in the package registry and you require numpy, your requirements are unsatisfiable.",
    "hint: `numpy` was found on https://index.example.org/simple, but not at the requested version (==1.0).",
    "A compatible version may be available on a subsequent index",
    "error: Failed to download and build `x @ git+https://git.example.org/r`",
    "  Caused by: Git operation failed",
    "fatal: repository not found",
    "HTTP status server error (503 Service Unavailable) for url (https://index.example.org/x)",
    "HTTPSConnectionPool(host='index.example.org', port=443): (Caused by NameResolutionError: getaddrinfo failed)",
    "No space left on device (os error 28)",
    "C:\\Users\\" + "x" * 300 + " os error 3",
    "Authorization: Bearer abcdefgh12345678 token=abc password: 'x' https://u:p@h/ AKIAABCDEFGHIJKLMNOP",
    "-----BEGIN PRIVATE KEY-----",
    "hash mismatch for tinya",
    "{package} {0} %s",
)
_LONG: Final = (
    *("https://", "http://a@", "a@", "Because ", "[`'", "host='", "Git operation failed ", "fatal: ", "hashes ", "C:\\"),
    *("there is no version of ", "Failed to build `", "://", "token=", "password", "authorization: ", "secret_", "api-key"),
    *("bearer ", "x", " ", "\n", "=", "@", "-----BEGIN A", 'password "', "pypi-", "/", "?", "%41", "credential-credential"),
    *("api_", "://a?", "was found on https://", "\\"),
)
_line = st.one_of(
    st.sampled_from(_LINES),
    st.tuples(st.lists(st.sampled_from(_LONG), min_size=1, max_size=3), st.sampled_from((1, 50, 4000))).map(
        lambda made: "".join(made[0])[:60] * made[1]
    ),
    texts,
)
_POLICY: Final = NetworkPolicy({"http": "http://proxy.example.org:3128"})
_SECRETS: Final = (frozenset({"p", "secret-secret"}), frozenset({"\\", "1", "é%"}), frozenset[str]())
_inputs = st.tuples(st.lists(_line, max_size=8), st.sampled_from(_SECRETS))


def _lay(_place: Place, _value: object) -> None:
    """Nothing: lines come from memory."""


def _probes(place: Place, value: tuple[list[str], frozenset[str]]) -> Iterator[Callable[[], object]]:
    lines, secrets = value
    yield lambda: _recognise(lines)
    yield lambda: _redact(lines, secrets)
    yield lambda: [Redactor(secrets, place.home).text(line) for line in lines]
    yield lambda: [host_of(line) for line in lines]


def _recognise(lines: list[str]) -> None:
    found = failure_from_output(lines, otherwise="AML_RESOLVE_FAILED", version="3.11")
    for error in (found, blame_proxy(found, _POLICY.proxy_for)):
        for language in LANGUAGES:
            error_texts(error, language)


def _redact(lines: list[str], secrets: frozenset[str]) -> None:
    for line in lines:
        shown = redact(line, secrets)
        if "secret-secret" in secrets and "secret-secret" in shown:
            raise BreachError("a secret is shown")


KIND: Final = Kind("outputs", _inputs, _lay, _probes)
