"""``python -m tests.chaos --runs N --seed S``; the status is 1 where anything that must hold did not."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.chaos.campaign import Campaign, table
from tests.chaos.proofs import adopt_orphans
from tests.chaos.stock import PROJECT, made_stock, real_stock
from tests.chaos.world import World

if TYPE_CHECKING:
    from collections.abc import Sequence

_INSIDE = "AML_CHAOS_NAMESPACE"


def main(arguments: Sequence[str]) -> int:
    """Run the campaign; return the exit status."""
    parser = argparse.ArgumentParser(prog="chaos", description="Strikes real runs at random moments.")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, metavar="NUMBER", help="the number of the first run")
    parser.add_argument("--made", action="store_true", help="small wheels made here instead of real ones")
    wish = parser.parse_args(arguments)
    if not os.environ.get(_INSIDE) and can_unshare():
        command = ["unshare", "--mount", "--propagation", "private", sys.executable, "-m", "tests.chaos", *arguments]
        return subprocess.run(command, cwd=PROJECT, env={**os.environ, _INSIDE: "1"}, check=False).returncode
    namespace = bool(os.environ.get(_INSIDE))
    if not namespace:
        say("no mount namespaces here (they need root on Linux): the disk is not filled, nothing is made read-only")
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        return campaign(Path(folder).resolve(), wish, namespace=namespace)


def can_unshare() -> bool:
    """Tell whether this user may mount file systems in a namespace of its own."""
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("unshare") is None:
        return False
    trial = ["unshare", "--mount", "--propagation", "private", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(trial, capture_output=True, check=False).returncode == 0


def campaign(base: Path, wish: argparse.Namespace, *, namespace: bool) -> int:
    """Set the world up and run; return the exit status."""
    served = base / "stock"
    stock = made_stock(served) if wish.made else real_stock(PROJECT / ".dev" / "chaos-wheels")
    if stock.folder != served:  # a copy, since a source archive comes and goes beside them
        shutil.copytree(stock.folder, served)
    adopt_orphans()
    command = [sys.executable, "-m", "tests.support.index_server", str(served)]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            world = World(base, stock, f"{server.stdout.readline().strip()}/simple/", namespace)
            return _run(Campaign(world, wish.seed, {server.pid}, say), wish)
        finally:
            server.terminate()
            if namespace:
                subprocess.run(["umount", "-l", str(base / "fence" / "place")], check=False)


def _run(chaos: Campaign, wish: argparse.Namespace) -> int:
    began = time.monotonic()
    chaos.prepare()
    numbers = range(wish.first, wish.first + wish.runs)
    broken = [number for number in numbers if not chaos.strike(number)]
    say("\n".join(table(chaos.tallies)))
    say(f"{wish.runs} runs, seed {wish.seed}, {time.monotonic() - began:.0f} s")
    for number in broken:
        say(f"breach in run {number}: repeat it with --seed {wish.seed} --first {number} --runs 1")
    return 1 if broken else 0


def say(line: str) -> None:
    """Print at once."""
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
