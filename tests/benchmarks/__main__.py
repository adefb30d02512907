"""Runs all benchmarks, or those named, and prints one table; the status is 1 where a limit is breached or one fails."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import traceback
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from tests import benchmarks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tests.benchmarks.frame import Row


def discovered() -> dict[str, Callable[[], Iterable[Row]]]:
    """Return the benchmarks of this package by name."""
    modules = [
        module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name not in ("frame", "__main__")
    ]
    loaded = [importlib.import_module(f"{benchmarks.__name__}.{name}") for name in modules]
    return {module.NAME: module.run for module in loaded}


def main(names: Sequence[str], known: Mapping[str, Callable[[], Iterable[Row]]], console: Console) -> int:
    """Run the named benchmarks, or all of them; return the exit status."""
    unknown = sorted(set(names) - set(known))
    if unknown:
        console.print(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(known) or 'none'}")
        return 2
    table = Table("benchmark", "figure", "measured", "baseline", "judged", "value", "limit", "")
    failed = False
    for name in names or known:
        console.print(f"measuring {name}")
        try:
            rows = list(known[name]())
        except Exception:  # noqa: BLE001 - one that fails must not hide the figures of the others
            console.print(traceback.format_exc(), markup=False)
            table.add_row(name, "", "", "", "", "", "", "FAILED")
            failed = True
            continue
        for row in rows:
            _add(table, name, row)
            failed = failed or not row.kept
    console.print(table)
    return 1 if failed else 0


def _add(table: Table, name: str, row: Row) -> None:
    baseline = "" if row.baseline is None else f"{row.baseline:.3g} {row.unit}"
    verdict = "kept" if row.kept else "BREACHED"
    judged, _, sign = row.limit.judged.value.rpartition(" ")
    cells = (
        f"{row.measured:.3g} {row.unit}",
        baseline,
        judged,
        f"{row.figure:.3g}",
        f"{sign} {row.limit.value:g}",
        verdict,
    )
    table.add_row(name, row.name, *cells)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], discovered(), Console(width=None if sys.stdout.isatty() else 140)))
