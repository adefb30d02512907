"""Several bad lines of a requirements file as one refusal, so that all can be mended at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from amlwizard.core.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Sequence

TOLD: Final = 10
"""How many are told one by one."""
MOST_REFUSALS: Final = 1000
"""Where so many lines are bad, the file is of another kind, and the rest of it says nothing."""


def refusal_of(refused: Sequence[RefusedError]) -> RefusedError:
    """Return the refusal of some lines: that of the first, with the others in its arguments.

    Args:
        refused: one for each line, at least one; the same line may come twice, where a file is included twice.

    Returns:
        the first where it is the only one; else one with its code and its arguments, where ``lines`` holds the code and the
        arguments of the first ``TOLD``, and ``further`` is how many there are besides.
    """
    each = {(error.code, *map(str, error.arguments.items())): error for error in refused}
    first, *others = each.values()
    if not others:
        return first
    told = [{"code": error.code, **error.arguments} for error in (first, *others)[:TOLD]]
    further = max(len(each) - TOLD, 0)
    error = RefusedError(first.code, lines=tuple(told), further=f"{further}+" if len(refused) >= MOST_REFUSALS else further)
    error.arguments |= first.arguments
    return error
