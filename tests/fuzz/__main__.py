"""``python -m tests.fuzz --minutes N --seed S``; the status is 1 where anything was found."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Final

import hypothesis.configuration
from hypothesis.errors import HypothesisWarning

from amlwizard.core import settings_files
from amlwizard.core.host import system_name
from tests.fuzz.campaign import Campaign, table
from tests.fuzz.place import Place
from tests.fuzz.rules import Guard

if TYPE_CHECKING:
    from collections.abc import Sequence

MEMORY_LIMIT: Final = 3 * 1024**3
"""How much address space, in bytes, the campaign may take; an input that wants more is a finding."""
_LEFT_OUT: Final = (
    "AML_",
    "UV_",
    "PIP_",
    "HTTP_",
    "HTTPS_",
    "NO_",
    "ALL_",
    "SSL_",
    "REQUESTS_",
    "CURL_",
    "VIRTUAL_",
    "CONDA_",
)


def main(arguments: Sequence[str]) -> int:
    """Run the campaign; return the exit status."""
    parser = argparse.ArgumentParser(prog="fuzz", description="Tries random input of every kind.")
    parser.add_argument("--minutes", type=float, help="how long; one round where neither this nor --rounds is given")
    parser.add_argument("--rounds", type=int, help="how many rounds over all kinds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, metavar="NUMBER", help="the number of the first round")
    parser.add_argument("--kinds", nargs="+", metavar="NAME", help="these kinds alone")
    wish = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        base = Path(folder).resolve()
        hypothesis.configuration.set_hypothesis_home_dir(base / "hypothesis")
        place = Place(base / "fence")
        _settle(place)
        warnings.simplefilter("ignore", HypothesisWarning)  # of inputs that are long on purpose
        from tests.fuzz.kinds import KINDS  # which look at the variables

        names = [kind.name for kind in KINDS]
        if unknown := set(wish.kinds or ()) - set(names):
            parser.error(f"no such kind: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
        kinds = [kind for kind in KINDS if not wish.kinds or kind.name in wish.kinds]
        rounds = wish.rounds if wish.rounds is not None else (1 if wish.minutes is None else None)
        began = time.monotonic()
        until = began + wish.minutes * 60 if wish.minutes is not None else None
        campaign = Campaign(place, Guard(), wish.seed, say)
        findings = campaign.run(kinds, wish.first, rounds=rounds, until=until)
        say("\n".join(table(campaign.tallies)))
        say(f"{findings} findings, seed {wish.seed}, {time.monotonic() - began:.0f} s")
        return 1 if findings else 0


def _settle(place: Place) -> None:
    """Let this process see the trials' own home and temporary folder, and nothing of the machine's settings."""
    for name in [name for name in os.environ if name.upper().startswith(_LEFT_OUT)]:
        del os.environ[name]
    os.environ |= dict.fromkeys(("HOME", "USERPROFILE"), str(place.home))
    os.environ |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(place.tmp))
    os.environ |= {"XDG_CONFIG_HOME": str(place.home / ".config"), "XDG_CONFIG_DIRS": str(place.home / "xdg")}
    settings_files.MACHINE_FOLDERS[system_name(sys.platform)] = place.home / "machine"
    tempfile.tempdir = str(place.tmp)
    place.clear()
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, resource.getrlimit(resource.RLIMIT_AS)[1]))


def say(line: str) -> None:
    """Print at once."""
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
