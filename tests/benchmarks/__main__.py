"""Runs all benchmarks, or those named, and prints one table; the status is 1 where a limit is breached or one fails."""

from __future__ import annotations

import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
import tempfile
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from tests import benchmarks
from tests.benchmarks.frame import PAIRS
from tests.support.real_wheels import STATE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from tests.benchmarks.frame import Row

    Benchmark = Callable[[Path], Iterable[Row]]
    """Given an empty folder of its own, which it leaves as it is: see ``scratch_folder``."""


def discovered() -> dict[str, Benchmark]:
    """Return the benchmarks of this package by name."""
    modules = [
        module.name
        for module in pkgutil.iter_modules(benchmarks.__path__)
        if not module.ispkg and module.name not in ("frame", "__main__")
    ]
    loaded = [importlib.import_module(f"{benchmarks.__name__}.{name}") for name in modules]
    return {module.NAME: module.run for module in loaded}


def main(names: Sequence[str], known: Mapping[str, Benchmark], scratch: Path, console: Console) -> int:
    """Run the named benchmarks, or all of them, in folders below ``scratch``; return the exit status."""
    unknown = sorted(set(names) - set(known))
    if unknown:
        console.print(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(known) or 'none'}")
        return 2
    table = Table("benchmark", "figure", "measured", "baseline", "judged", "value", "limit", "")
    failed = False
    for name in names or known:
        console.print(f"measuring {name}; load {_load()}")
        folder = scratch / name
        folder.mkdir()
        try:
            for row in known[name](folder):
                console.print(f"  {row.name}: {row.measured:.3g} {row.unit}, {'kept' if row.kept else 'BREACHED'}")
                _add(table, name, row)
                failed = failed or not row.kept
        except Exception:  # noqa: BLE001 - one that fails must not hide the figures of the others
            console.print(traceback.format_exc(), markup=False)
            table.add_row(name, "", "", "", "", "", "", "FAILED")
            failed = True
    console.print(table)
    console.print(f"medians of {PAIRS} pairs, or of {PAIRS} where there is no baseline; {_processors()}; load {_load()}")
    return 1 if failed else 0


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield an empty folder on the disk of the checkout, removed at the very end.

    Nothing in it may be removed earlier: where the kernel does not take the places of deleted files again for minutes, as
    ext4 without a journal, it searches them all for each new file, and creating 18,000 files takes 12 s instead of 0.4 s.
    For the same reason each run is spread to another part of such a disk.
    """
    STATE.mkdir(parents=True, exist_ok=True)
    change_attributes = shutil.which("chattr")
    if change_attributes is not None:
        subprocess.run([change_attributes, "+T", str(STATE)], capture_output=True, check=False)
    with tempfile.TemporaryDirectory(prefix="scratch-", dir=STATE) as folder:
        yield Path(folder)


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def _processors() -> str:
    return f"{os.cpu_count()} processors"


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
    with scratch_folder() as place:
        status = main(sys.argv[1:], discovered(), place, Console(width=None if sys.stdout.isatty() else 140))
    sys.exit(status)
