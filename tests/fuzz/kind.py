"""One kind of input: how it is made, where it is laid, and what reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hypothesis.strategies import SearchStrategy

    from tests.fuzz.place import Place


@dataclass(frozen=True)
class Kind:
    """One kind. ``lay`` writes an input where it belongs; ``probes`` are made one after the other, each under the rules.

    A probe may end in an ``AmlError``, which counts as a refusal; it raises ``BreachError`` itself where what it reads is
    not what it should be.
    """

    name: str
    inputs: SearchStrategy[Any]
    lay: Callable[[Place, Any], None]
    probes: Callable[[Place, Any], Iterable[Callable[[], object]]]
