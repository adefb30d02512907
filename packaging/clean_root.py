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
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from devenv import ROOT, STATE, SetUpError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

INCLUDED = ("python3", "ca-certificates")
CHECKOUT = str(Path("/srv", "amlwizard checkout"))
"""Where the commit lies in the trial's root; the space is part of the trial."""
README_COMMANDS = (("run",), ("test",))
SECOND_START_SECONDS = 1.0

_ENTER = """
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
mount -t tmpfs tmpfs "$1/run"
root=$1
shift
status=0
# Not exec: the shell stays as the first process of the namespace, which has to take leave of orphans that end.
chroot "$root" "$@" || status=$?
exit $status
"""


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
    if os.name == "nt" or os.geteuid() != 0:
        raise SetUpError("clean-root needs root on Linux")
    if shutil.which("debootstrap") is None:
        raise SetUpError("clean-root needs debootstrap:\n\n  apt-get install -y debootstrap\n")
    folder = chosen.into.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    base = _base(chosen.suite, folder)
    trial = folder / f"{chosen.suite}.trial"
    _remove(trial)
    subprocess.run(["cp", "-a", "--reflink=auto", str(base), str(trial)], check=True)
    with (folder / f"{chosen.suite}.log").open("w", encoding="utf-8") as log:
        _prepare(trial, log)
        failed = _custom(trial, command, log) if command else _readme(trial, log)
    if not chosen.keep:
        _remove(trial)
    return 1 if failed else 0


def _base(suite: str, folder: Path) -> Path:
    base = folder / f"{suite}.base"
    if not base.is_dir():
        part = folder / f"{suite}.part"
        _remove(part)
        subprocess.run(
            ["debootstrap", "--variant=minbase", f"--include={','.join(INCLUDED)}", suite, str(part), *_mirror()],
            check=True,
        )
        part.rename(base)
    return base


def _mirror() -> list[str]:
    """Return the address from which this machine itself gets Debian, or nothing for debootstrap's default."""
    for file in (Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))):
        if file.suffix not in (".list", ".sources") or not file.is_file():
            continue
        found = re.search(r"^(?:deb(?: \[[^]]*\])?|URIs:) +(\S+/debian)/?(?:\s|$)", file.read_text(), re.MULTILINE)
        if found:
            return [found[1]]
    return []


def _prepare(trial: Path, log: TextIO) -> None:
    """Hand on the machine's network settings, put the commit in, and note what the root consists of."""
    shutil.copy("/etc/resolv.conf", trial / "etc" / "resolv.conf")
    # Every installed system has this line; debootstrap leaves it to the installer.
    (trial / "etc" / "hosts").write_text("127.0.0.1 localhost\n::1 localhost\n")
    for certificate in Path("/usr/local/share/ca-certificates").glob("*.crt"):
        shutil.copy(certificate, trial / "usr" / "local" / "share" / "ca-certificates")
    settings = subprocess.run(["apt-config", "dump"], check=True, capture_output=True, text=True).stdout.splitlines()
    handed_on = [line for line in settings if re.match(r"Acquire::(https?::|Check-)", line)]
    (trial / "etc" / "apt" / "apt.conf.d" / "90machine").write_text("".join(f"{line}\n" for line in handed_on))
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", "HEAD"], check=True, capture_output=True).stdout
    checkout = trial / CHECKOUT.lstrip("/")
    checkout.mkdir(parents=True)
    subprocess.run(["tar", "-x", "-C", str(checkout)], input=archive, check=True)
    if subprocess.run(["git", "-C", str(ROOT), "status", "--porcelain"], check=True, capture_output=True).stdout:
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
    inside = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', CHECKOUT, *command]
    namespaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"]
    started = time.monotonic()
    child = subprocess.Popen(
        [*namespaces, "/bin/sh", "-ec", _ENTER, "enter", str(trial), *inside],
        env=_environment(),
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


def _environment() -> dict[str, str]:
    names = re.compile(
        r"(https?|all|no)_proxy|SSL_CERT_(FILE|DIR)|(REQUESTS|CURL)_CA_BUNDLE|PIP_(CERT|INDEX_URL|DEFAULT_TIMEOUT)"
        r"|UV_(DEFAULT_INDEX|INDEX_URL|HTTP_TIMEOUT)",
        re.IGNORECASE,
    )
    handed_on = {name: value for name, value in os.environ.items() if names.fullmatch(name)}
    return {**handed_on, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}


def _tell(text: str, log: TextIO) -> None:
    print(text, flush=True)
    log.write(f"{text}\n")


def _remove(folder: Path) -> None:
    if folder.is_dir():
        shutil.rmtree(folder)
