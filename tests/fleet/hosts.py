"""Hosts for Ansible: a Debian system each, with mounts, processes and a network of its own in which nothing is but itself.

Ansible reaches them by its own ssh connection, in which a small script stands for ssh: what it is to run there, it runs in
the host's namespaces. A host is a layer over a base, so the base stays as it is.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_DOOR = """#!/bin/sh
# Stands for ssh: OPTIONS... HOST COMMAND. Without such a host it ends as ssh does.
while [ $# -gt 2 ]; do shift; done
read -r pid 2>/dev/null < {folder}/"$1.pid" || {{ echo "no route to host $1" >&2; exit 255; }}
exec nsenter --target "$pid" --mount --net --pid --root --wd=/root \\
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 /bin/sh -c "$2"
"""


@dataclass(frozen=True)
class Host:
    """A host to be started: its name, its base, and commands that prepare it; ``$ROOT`` in them is its root folder."""

    name: str
    base: Path
    prepare: tuple[str, ...] = ()


@contextmanager
def running(hosts: Sequence[Host], folder: Path) -> Iterator[Path]:
    """Start the hosts and yield the script that leads into them; all of them end, with whatever runs there."""
    door = folder / "door"
    door.write_text(_DOOR.format(folder=shlex.quote(str(folder))), encoding="utf-8")
    door.chmod(0o755)
    with ExitStack() as stack:
        for host in hosts:
            stack.enter_context(_running(host, folder))
        yield door


def inside(folder: Path, name: str, command: str) -> str:
    """Return what a shell command prints in a host."""
    done = subprocess.run([folder / "door", name, command], capture_output=True, text=True, check=True)
    return done.stdout


@contextmanager
def _running(host: Host, folder: Path) -> Iterator[None]:
    layers = folder / host.name
    for name in ("upper", "work", "root"):
        (layers / name).mkdir(parents=True)
    places = f"lowerdir={host.base},upperdir={layers / 'upper'},workdir={layers / 'work'}"
    lines = [
        f"ROOT={shlex.quote(str(layers / 'root'))}",
        f'mount -t overlay -o {shlex.quote(places)} overlay "$ROOT"',
        'mount -t proc proc "$ROOT/proc"',
        'mount --rbind /dev "$ROOT/dev"',
        'mount -t tmpfs tmpfs "$ROOT/run"',
        "ip link set lo up",
        *host.prepare,
        # Not exec: the shell stays as the first process, which has to take leave of orphans that end.
        'chroot "$ROOT" /bin/sh -c "echo ready; exec cat"',
        "exit 0",
    ]
    namespaces = ["--mount", "--pid", "--net", "--fork", "--kill-child", "--propagation", "private"]
    command = ["unshare", *namespaces, "/bin/sh", "-ec", "\n".join(lines)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            if process.stdout.readline() != "ready\n":
                raise RuntimeError(f"the host {host.name} did not start")
            shell = psutil.Process(process.pid).children()[0]
            (chroot,) = shell.children()
            (folder / f"{host.name}.pid").write_text(f"{chroot.pid}\n")
            yield
        finally:
            process.stdin.close()  # the host's cat ends, and with its shell everything in the host
            process.wait()
            shutil.rmtree(layers)
