"""Pages of a package index, as JSON and as HTML, right, damaged, and of another kind altogether."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st

from amlwizard.core.simple_index import parse_project_page
from amlwizard.core.uv_install import newest_uv_wheel
from tests.fuzz.ingredients import documents, mutated, texts
from tests.fuzz.kind import Kind
from tests.fuzz.kinds.samples import SHA
from tests.fuzz.rules import BreachError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.fuzz.place import Place

_FILE: Final = {
    "filename": "uv-0.13.9-py3-none-manylinux_2_17_x86_64.whl",
    "url": "../../uv-0.13.9-py3-none-manylinux_2_17_x86_64.whl",
    "hashes": {"sha256": SHA},
    "size": 10,
    "yanked": False,
    "requires-python": ">=3.8",
}
_PAGE: Final[dict[str, Any]] = {"meta": {"api-version": "1.1"}, "name": "uv", "files": [_FILE, {**_FILE, "yanked": "why"}]}
_HTML: Final = (
    b'<!DOCTYPE html><html><body><a href="uv-0.13.9-py3-none-any.whl#sha256='
    + SHA.encode()
    + b'" data-yanked>uv</a></body></html>',
    b'<form action="/login"><input name="password"></form>',
    b'<a href="https://[::1/x.whl">x</a><a href>y</a><a href="http://h/%zz%2F..#sha256">z</a>',
    b"<" * 20_000,
    b"<a " * 20_000,
    b'<a href="' * 10_000,
    b"<!--" * 10_000,
    b"<![CDATA[" * 5_000,
    b"&" * 20_000,
    b"<!" * 10_000 + b">",
    b"</" * 10_000,
    b"<script>" + b"</scrip" * 5_000,
)
_ADDRESSES: Final = ("https://index.example.org/simple/uv/", "http://h", "file:///simple/uv/", "https://[::1]:8443/uv/")
_inputs = st.tuples(
    st.one_of(
        documents([_PAGE]),
        mutated(st.sampled_from(_HTML), (b"<", b">", b'"', b"&#", b"#sha256=", b"<a href=", b"http://[", b"&#x110000;")),
        texts.map(lambda text: f'<a href="{text}">'.encode("utf-8", "replace")),
        st.binary(max_size=30),
    ),
    st.sampled_from(_ADDRESSES),
)


def _lay(_place: Place, _value: object) -> None:
    """Nothing: a page comes from memory."""


def _probes(_place: Place, value: tuple[bytes, str]) -> Iterator[Callable[[], object]]:
    yield lambda: _read(*value)


def _read(body: bytes, url: str) -> None:
    try:
        files = parse_project_page(body, url)
    except ValueError:  # as it says of what is no page
        return
    newest_uv_wheel(files, ["manylinux_2_17_x86_64", "any"])
    for file in files:
        told = (file.filename, file.url, file.sha256 or "")
        if not all(isinstance(part, str) for part in told) or not isinstance(file.size, int | None):
            raise BreachError("a file of an index is not of the promised types")
    json.dumps([file.filename for file in files])


KIND: Final = Kind("pages", _inputs, _lay, _probes)
