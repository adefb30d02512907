"""JSON and TOML that anybody may have written: whatever is wrong with such a text, it is a ``ValueError``."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_DEEP_KEY: Final = re.compile(r"""(?<![A-Za-z0-9_-])(?:(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){64}""")
"""A key of more parts than anybody writes: reading it would take the square of its length in memory."""


def parse_json(text: str | bytes, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Return the value of a JSON text.

    Args:
        text: the text, or its bytes.
        pairs: makes an object of its keys and values.

    Raises:
        ValueError: it is none, or one that is nested too deep.
    """
    try:
        return json.loads(text, object_pairs_hook=pairs)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def parse_toml(text: str) -> dict[str, Any]:
    """Return the table of a TOML text.

    Raises:
        ValueError: it is none, or one that is nested too deep.
    """
    import tomllib  # takes time to load, and a ready workspace needs it not

    if _DEEP_KEY.search(text) is not None:
        raise ValueError("a key of too many parts")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


@lru_cache(maxsize=4)
def lock_table(text: str) -> Mapping[str, Any]:
    """Return the table of a lock's text, parsed once: a run asks for it again and again, at 8 ms for a hundred packages.

    Raises:
        ValueError: as ``parse_toml`` does.
    """
    return parse_toml(text)
