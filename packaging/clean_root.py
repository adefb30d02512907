"""Tries the commands of the README where nothing has been prepared: a minimal Debian with Python, made by debootstrap.

    python3 packaging/dev.py clean-root SUITE [--into DIR] [--keep] [-- COMMAND...]

SUITE is ``bookworm`` or ``trixie``. What is tried is the last commit. Without COMMAND, each command of the README runs as
root, then a second start without network, which has to take less than a second. A base of each suite is kept in DIR
(default .dev/roots) and copied for each trial. The trial has mount and process namespaces of its own: nothing stays mounted
or running. Needs root, debootstrap, git, and the network settings of this machine: they are handed on (mirror, proxies,
certificates). All output goes to the screen and to DIR/SUITE.log.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import debian_roots
import freeze
from devenv import STATE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

CHECKOUT = str(Path("/srv", "amlwizard checkout"))
"""Where the commit lies in the trial's root; the space is part of the trial."""
README_COMMANDS = (("run",), ("test",))
SECOND_START_SECONDS = 1.0


def main(arguments: Sequence[str]) -> int:
    """Make the root, run the commands, print a summary; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(prog="dev.py clean-root", description="Try the README's commands in a minimal Debian.")
    parser.add_argument("suite", choices=("bookworm", "trixie"))
    parser.add_argument("--into", type=Path, default=STATE / "roots", help="folder of the roots (default: %(default)s)")
    parser.add_argument("--keep", action="store_true", help="keep the trial's root for a look at it")
    parser.epilog = "After --: a command to run in the checkout instead of the README's."
    options = list(arguments)
    command: list[str] = []
    if "--" in options:
        at = options.index("--")
        options, command = options[:at], options[at + 1 :]
    chosen = parser.parse_args(options)
    debian_roots.require()
    folder = chosen.into.absolute()
    base = debian_roots.plain_base(chosen.suite, folder)
    trial = debian_roots.copy(base, folder / f"{chosen.suite}.trial")
    with (folder / f"{chosen.suite}.log").open("w", encoding="utf-8") as log:
        _prepare(trial, log)
        failed = _custom(trial, command, log) if command else _readme(trial, log)
    if not chosen.keep:
        debian_roots.remove(trial)
    return 1 if failed else 0


def _prepare(trial: Path, log: TextIO) -> None:
    """Hand on the machine's network settings, put the commit in, and note what the root consists of."""
    debian_roots.hand_on_settings(trial)
    if freeze.unpack_commit(trial / CHECKOUT.lstrip("/")):
        _tell("clean-root: there are uncommitted changes; they are not part of the trial", log)
    _enter(trial, ["update-ca-certificates", "--fresh"], log, quiet=True)
    _tell("clean-root: the root holds these packages and nothing else:", log)
    _enter(trial, ["dpkg-query", "-W", "-f", "${Package}=${Version} "], log)
    _tell("", log)


def _readme(trial: Path, log: TextIO) -> list[str]:
    failed = []
    for command in README_COMMANDS:
        name = " ".join(command)
        status, seconds = _enter(trial, ["python3", "packaging/dev.py", *command], log)
        _tell(f"clean-root: dev.py {name}: status {status} after {seconds:.1f} s", log)
        if status:
            failed.append(name)
    without_network = ["unshare", "--net", "python3", "packaging/dev.py", "run", "--version"]
    status, seconds = _enter(trial, without_network, log)
    _tell(f"clean-root: second start without network: status {status} after {seconds:.2f} s", log)
    if status or seconds >= SECOND_START_SECONDS:
        failed.append("second start")
    _tell(f"clean-root: failed: {', '.join(failed)}" if failed else "clean-root: all passed", log)
    return failed


def _custom(trial: Path, command: Sequence[str], log: TextIO) -> list[str]:
    status, seconds = _enter(trial, command, log)
    _tell(f"clean-root: {' '.join(command)}: status {status} after {seconds:.1f} s", log)
    return [" ".join(command)] if status else []


def _enter(trial: Path, command: Sequence[str], log: TextIO, *, quiet: bool = False) -> tuple[int, float]:
    """Run a command in the root, in namespaces that end with it; return its status and its time."""
    started = time.monotonic()
    child = subprocess.Popen(
        debian_roots.entering(trial, command, folder=CHECKOUT),
        env=debian_roots.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    assert child.stdout is not None
    for line in child.stdout:
        log.write(line)
        if not quiet:
            sys.stdout.write(line)
            sys.stdout.flush()
    return child.wait(), time.monotonic() - started


def _tell(text: str, log: TextIO) -> None:
    print(text, flush=True)
    log.write(f"{text}\n")
