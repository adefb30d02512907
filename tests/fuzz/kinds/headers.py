"""Headers with which a server answers: sizes, ranges, times to wait, ways to sign in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import urllib3
from hypothesis import strategies as st

from amlwizard.net.failures import _kinds, _seconds, of_status
from amlwizard.net.policy import NetworkPolicy
from amlwizard.net.session import _target
from amlwizard.net.transfer import _is_page, _range_start, _told_total, _whole_size
from tests.fuzz.ingredients import texts
from tests.fuzz.kind import Kind
from tests.fuzz.rules import BreachError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.fuzz.place import Place

_NAMES: Final = (
    "Content-Length",
    "Content-Range",
    "Content-Type",
    "Retry-After",
    "WWW-Authenticate",
    "Proxy-Authenticate",
    "ETag",
)
_VALUES: Final = (
    *(
        "5",
        "-5",
        "0",
        "1e5",
        "٣",
        "²",
        "9" * 400,
        "9" * 5000,
        "bytes 5-9/10",
        "bytes 5-9/*",
        "bytes */" + "9" * 5000,
        "bytes -/",
    ),
    *(
        "bytes " + "9" * 5000 + "-",
        "text/html; charset=x",
        "Basic realm=x, NTLM, Negotiate",
        "Fri, 31 Dec 1999 23:59:59 GMT",
    ),
    *(
        "Fri, 31 Dec 9999 23:59:59 -9999",
        "Fri, 99 Dec 1999 99:59:59 GMT",
        "1 Jan 0001 00:00 +2359",
        "Mon",
        '"tag"',
        'W/"tag"',
    ),
)
_LOCATIONS: Final = (
    "/x",
    "//h/x",
    "http://[::1/x",
    "http://h:port/",
    "file:///etc/passwd",
    "https://u:p@h/",
    "?",
    "http:x",
    "\\\\h\\x",
)
_value = texts.filter(lambda text: "\n" not in text and "\r" not in text) | st.sampled_from(_VALUES)
_inputs = st.tuples(
    st.dictionaries(st.sampled_from(_NAMES), _value, max_size=4),
    st.sampled_from((200, 206, 416, 401, 403, 404, 407, 429, 500, 503, 999)),
    st.sampled_from(_LOCATIONS) | texts,
)


def _lay(_place: Place, _value: object) -> None:
    """Nothing: headers come from memory."""


def _probes(_place: Place, value: tuple[dict[str, str], int, str]) -> Iterator[Callable[[], object]]:
    headers, status, location = value
    response: Any = urllib3.HTTPResponse(body=b"", headers=headers, status=status)
    yield lambda: (_is_page(response), _range_start(response), _told_total(response), _whole_size(response, 5))
    yield lambda: (_seconds(headers.get("Retry-After")), _kinds(headers.get("Proxy-Authenticate", "")))
    yield lambda: of_status(status, "https://files.example.org/x.whl", headers, NetworkPolicy(), signed_in=True)
    yield lambda: _follow(location)


def _follow(location: str) -> None:
    target = _target("https://index.example.org/simple/", location)
    if target is not None and not target.lower().startswith(("http://", "https://", "http:", "https:")):
        raise BreachError(f"a redirect to {target!r} would be followed")


KIND: Final = Kind("headers", _inputs, _lay, _probes)
