"""Children for tests of process trees: ``python children.py KIND FILE...``; each process of a tree makes a file of its id.

A tree is ready when all its files are there. ``forget`` stands for programs that clear their environment.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def note(folder: str) -> None:
    """Tell that this process is there."""
    part = Path(folder) / f".{os.getpid()}"
    part.write_text("")
    part.rename(Path(folder) / str(os.getpid()))


def stay(folder: str) -> None:
    """Tell that this process is there, and stay."""
    note(folder)
    while True:
        time.sleep(60)


def start(kind: str, folder: str, *, session: bool = False, forget: bool = False) -> None:
    """Start a child of a kind."""
    subprocess.Popen(
        [sys.executable, "-S", __file__, kind, folder],
        start_new_session=session,
        env={} if forget else None,
        stdin=subprocess.DEVNULL,
    )


def daemonise() -> None:
    """Fork twice with a new session between, as daemons do."""
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)


def main(kind: str, folder: str, *rest: str) -> None:  # noqa: C901 - one branch for each kind
    if kind == "stay":
        stay(folder)
    elif kind == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        stay(folder)
    elif kind == "session":
        if os.name != "nt":  # Windows has no sessions of this kind
            os.setsid()
        stay(folder)
    elif kind == "daemon":
        daemonise()
        stay(folder)
    elif kind == "orphan":  # leads a session, forgot its environment, and its parent is gone
        if os.fork():
            os._exit(0)
        os.setsid()
        os.execve(sys.executable, [sys.executable, "-S", __file__, "stay", folder], {})
    elif kind == "forgetful":
        os.execve(sys.executable, [sys.executable, "-S", __file__, "daemon", folder], {})
    elif kind == "respawn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        note(folder)
        while True:
            child = subprocess.Popen([sys.executable, "-S", __file__, "stay", folder])
            child.wait()
    elif kind == "tree":
        for child in rest:
            start(child, folder)
        stay(folder)
    elif kind == "leave":  # starts the others and ends by itself when they are there
        for child in rest:
            start(child, folder)
        while len([name for name in os.listdir(folder) if not name.startswith(".")]) < len(rest):  # noqa: PTH208
            time.sleep(0.01)
        print("parent over", flush=True)
    elif kind == "print":
        for number in range(int(rest[0])):
            sys.stdout.write(f"{number}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
