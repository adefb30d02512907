"""The bytes that a child prints, in pieces of any size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st

from amlwizard.process.lines import LineSplitter
from tests.fuzz.ingredients import encoded, mutated, texts
from tests.fuzz.kind import Kind
from tests.fuzz.rules import BreachError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.fuzz.place import Place

_PIECES: Final = (
    b"\n",
    b"\r\n",
    b"\r",
    b"\r\r\n",
    "环境".encode(),
    "环境".encode("gbk"),
    b"\xe7\x8e",
    b"\xff",
    b"\0",
    b"10%\r20%\r",
    b"x" * 40,
)
_word = st.one_of(st.sampled_from(_PIECES), encoded(texts), st.binary(max_size=8))
_bytes = st.one_of(
    st.lists(_word, max_size=12).map(b"".join),
    mutated(st.lists(_word, max_size=8).map(b"".join)),
    st.tuples(_word, st.sampled_from((2_000, 20_000))).map(lambda made: made[0][:20] * made[1]),
)
_inputs = st.tuples(_bytes, st.lists(st.integers(0, 50), max_size=8), st.sampled_from((4, 16, 1024 * 1024)))


def _lay(_place: Place, _value: object) -> None:
    """Nothing: bytes come from memory."""


def _probes(_place: Place, value: tuple[bytes, list[int], int]) -> Iterator[Callable[[], object]]:
    yield lambda: _split(*value)


def _split(data: bytes, lengths: list[int], piece_bytes: int) -> None:
    whole = LineSplitter(("gbk",), piece_bytes)
    lines = [*whole.feed(data), *whole.flush()]
    parts = LineSplitter(("gbk",), piece_bytes)
    found: list[str] = []
    rest = data
    for length in lengths:
        found += parts.feed(rest[:length])
        rest = rest[length:]
    found += [*parts.feed(rest), *parts.flush()]
    if any("\n" in line for line in lines):
        raise BreachError("a line end within a line")
    long_lines = any(len(line) > piece_bytes for line in data.replace(b"\r", b"\n").split(b"\n"))
    if not long_lines and found != lines:
        raise BreachError(f"in pieces the lines are others: {found!r:.200} and not {lines!r:.200}")
    if b"\r" not in data and b"".join(data.split(b"\n")).isascii() and "".join(lines) != data.decode().replace("\n", ""):
        raise BreachError("something was lost")


KIND: Final = Kind("children", _inputs, _lay, _probes)
