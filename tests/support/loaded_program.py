"""Commands without the time of a start: one process has the program loaded, and each command is a fork of it.

A command is a process of its own all the same, which runs ``__main__`` to its end with the variables, the outputs and the
exit code of its own; only the interpreter's start and the imports are not made anew, nor are the modules taken apart at the
end. Whatever needs those is started from nothing: commands under circumstances of one test alone, on another Python or with
variables that an interpreter reads, and all that are struck or cancelled.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import socket
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REPOSITORY = Path(__file__).resolve().parents[2]
_READ_AT_THE_START = ("PYTHON", "LC_", "LANG", "LD_")
"""How the variables begin that an interpreter and its libraries read when they start."""
_STARTED_WITH = {"PYTHONPATH": str(REPOSITORY), "LANG": "C.UTF-8"}
_LONGEST_REQUEST = 100_000
_LOADED = (
    *("amlwizard.core", "amlwizard.net"),
    *("amlwizard.cli", "amlwizard.cli_help", "amlwizard.text_mode", "amlwizard.wiring", "amlwizard.process.asyncio_runner"),
    *("amlwizard.bundle_text", "amlwizard.findings_text", "amlwizard.store_text"),
    *("amlwizard.utf8_start", "amlwizard.process.tree_posix"),
    # what these load when they first need it
    *("argparse", "platformdirs.unix", "tomllib", "uv._find_uv", "encodings.utf_8_sig", "importlib.resources.readers"),
)
"""Packages, with all that is in them, and modules; none of the window's."""
_codes: list[int] = []
"""With what a command ends, once it has run."""


def can_run(variables: Mapping[str, str]) -> bool:
    """Tell whether an interpreter would start with these variables as the one did that has the program loaded."""
    read = {name: value for name, value in variables.items() if name.startswith(_READ_AT_THE_START)}
    return sys.platform == "linux" and read == _STARTED_WITH


def run(
    program: str,
    arguments: Sequence[str],
    variables: Mapping[str, str],
    *,
    seconds: float,
    prefix: tuple[str, ...] = (),
) -> subprocess.CompletedProcess[str]:
    """Run ``python -m program`` with exactly these variables in the folder of the project, and return how it ended.

    ``prefix`` is the command for the circumstances; for each there is a process that has the program loaded.

    Raises:
        TimeoutError: it took longer than that, and was killed.
    """
    request = json.dumps([program, list(arguments), dict(variables)]).encode()
    ended, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ended, TemporaryFile("w+", encoding="utf-8") as out, TemporaryFile("w+", encoding="utf-8") as err:
        with theirs:
            socket.send_fds(_requests(prefix), [request], [out.fileno(), err.fileno(), theirs.fileno()])
        pid = int(ended.recv(20))
        try:
            ended.settimeout(seconds)
            code = int(ended.recv(20))
        except TimeoutError:
            _kill_tree(pid)
            ended.settimeout(None)
            ended.recv(20)  # now it has ended
            raise
        for output in (out, err):
            output.seek(0)
        return subprocess.CompletedProcess([program, *arguments], code, out.read(), err.read())


def _kill_tree(pid: int) -> None:
    command = psutil.Process(pid)
    for process in (*command.children(recursive=True), command):
        with suppress(psutil.NoSuchProcess):
            process.kill()


@cache
def _requests(prefix: tuple[str, ...]) -> socket.socket:
    """Start the process that has the program loaded, which ends with this one, and return where it is asked."""
    requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [*prefix, sys.executable, "-m", __name__, str(theirs.fileno())],
            cwd=REPOSITORY,
            env={**_STARTED_WITH, "PATH": os.environ["PATH"], "HOME": os.devnull},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )

    def end() -> None:
        requests.close()
        process.wait(60)

    atexit.register(end)
    return requests


def _serve(requests: socket.socket) -> None:
    """Fork for each request; returns in the forks only to run what was asked for."""
    children: list[int] = []
    while True:
        request, descriptors, _, _ = socket.recv_fds(requests, _LONGEST_REQUEST, 3)
        children = [pid for pid in children if os.waitpid(pid, os.WNOHANG) == (0, 0)]
        if not request:
            for pid in children:
                os.waitpid(pid, 0)
            sys.exit()
        pid = os.fork()
        if pid == 0:
            requests.close()
            _run(request, descriptors)
        children.append(pid)
        for descriptor in descriptors:
            os.close(descriptor)


def _run(request: bytes, descriptors: Sequence[int]) -> None:
    """Become what waits for the command, and in a fork the command."""
    out, err, told = descriptors
    pid = os.fork()
    if pid != 0:
        with socket.socket(fileno=told) as asking:
            asking.send(str(pid).encode())
            asking.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())
        os._exit(0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    for descriptor in descriptors:
        os.close(descriptor)
    program, arguments, variables = json.loads(request)
    os.environ.clear()
    os.environ.update(variables)
    sys.argv = [program, *arguments]
    try:
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        _codes.append(end.code)
    else:
        _codes.append(0)
    sys.exit()


def _leave() -> None:
    """End a command after its threads and all that it left to be done; what it alone had is still taken apart."""
    if _codes:
        gc.collect()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_codes[0])


def _load() -> None:
    for name in _LOADED:
        module = importlib.import_module(name)
        for each in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{name}."):
            importlib.import_module(each.name)


if __name__ == "__main__":
    atexit.register(_leave)  # before all others, to be called after them
    _load()
    gc.collect()
    gc.freeze()
    _serve(socket.socket(fileno=int(sys.argv[1])))
