"""The development environment in .dev/: made from the hashed lock, kept while lock and interpreter stay the same.

.dev/stamp.json is written last, after everything that it speaks of, and taken away before anything is changed: what was
interrupted has no stamp and is made anew at the next start. Only .dev/ is written, and nothing is said on standard output.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parent.parent
STATE = ROOT / ".dev"
VENV = STATE / "venv"
STAMP = STATE / "stamp.json"
LOCK = ROOT / "packaging" / "requirements-dev.txt"
PACKAGE_LOCK = ROOT / "packaging" / "requirements-package.txt"
FLEET_LOCK = ROOT / "packaging" / "requirements-fleet.txt"
PROJECT = ROOT / "pyproject.toml"
PYTHON_FLOOR = "3.11"


class SetUpError(Exception):
    """The environment cannot be set up; the text says why and what to do."""


def venv_python() -> Path:
    """Return the interpreter of the development environment."""
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def ready(purpose: str) -> Path:
    """Return the environment's interpreter, set up for ``text``, ``window`` or ``test``.

    Raises:
        SetUpError: something is missing that cannot be installed from here.
    """
    if _is_current(purpose):
        return venv_python()
    try:
        STATE.mkdir(exist_ok=True)
        (STATE / "lock").touch()
    except OSError as error:
        raise SetUpError(f"the development environment cannot be kept in {STATE}: {error.strerror}") from None
    with _only_one() as held:
        if not _is_current(purpose):  # another start may have done it meanwhile
            _set_up(purpose, held)
    return venv_python()


def hand_over(command: Sequence[str], cwd: Path | None = None) -> int:
    """Let a command take the place of this process; on Windows, which has no such call, run it and return its status."""
    if cwd is not None:
        os.chdir(cwd)
    if os.name != "nt":
        sys.stdout.flush()
        sys.stderr.flush()
        os.execv(command[0], list(command))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C reaches the child by itself, which decides
    return subprocess.call(list(command))


def call(command: Sequence[str], cwd: Path) -> int:
    """Run a command in the foreground and return its status."""
    return subprocess.call(list(command), cwd=cwd)


def compile_lock(arguments: Sequence[str]) -> int:
    """Compile the locks with the environment's own uv; ``arguments`` such as ``--upgrade`` are passed on."""
    python = ready("text")
    # No header, no annotations, no index lines: the locks name neither paths nor hosts.
    command = [*_uv(python), "pip", "compile", "--universal", "--python-version", PYTHON_FLOOR, "--generate-hashes"]
    command += ["--no-header", "--no-annotate", "--quiet", *arguments, "--output-file"]
    results = []
    for lock in (LOCK, PACKAGE_LOCK, FLEET_LOCK):
        sources = (lock.with_suffix(".in"),) if lock == FLEET_LOCK else (PROJECT, lock.with_suffix(".in"))
        names = [str(path.relative_to(ROOT)) for path in (lock, *sources)]
        results.append(subprocess.call([*command, *names], cwd=ROOT, env=tool_environment(), stdout=subprocess.DEVNULL))
    return max(results)


def _keys() -> dict[str, str]:
    base = f"{sys.version}\n{sys.base_prefix}\n{ROOT}\n"
    return {
        "environment": hashlib.sha256(base.encode() + LOCK.read_bytes()).hexdigest(),
        "project": hashlib.sha256(PROJECT.read_bytes() + (ROOT / "amlwizard" / "__init__.py").read_bytes()).hexdigest(),
    }


def _read_stamp() -> dict[str, Any]:
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def _write_stamp(stamp: dict[str, Any]) -> None:
    part = STAMP.with_suffix(".part")
    part.write_text(json.dumps(stamp, indent=1), encoding="utf-8")
    part.replace(STAMP)


def _is_current(purpose: str) -> bool:
    stamp = _read_stamp()
    expected = _keys()
    return (
        all(stamp.get(name) == key for name, key in expected.items())
        and purpose in stamp.get("purposes", ())
        and venv_python().exists()
    )


def _set_up(purpose: str, held: int) -> None:
    import devsystem

    stamp = _read_stamp()
    keys = _keys()
    if purpose not in stamp.get("purposes", ()):
        devsystem.provide(purpose)
        stamp["purposes"] = sorted({*stamp.get("purposes", ()), purpose})
    if stamp.get("environment") != keys["environment"] or not venv_python().exists():
        STAMP.unlink(missing_ok=True)
        _make_environment(held)
        stamp.pop("project", None)
    if stamp.get("project") != keys["project"]:
        STAMP.unlink(missing_ok=True)
        _install_project(held)
    _write_stamp({**keys, "purposes": stamp["purposes"]})


def _make_environment(held: int) -> None:
    _say(f"making .dev/venv with Python {sys.version.split()[0]}")
    if VENV.exists():
        shutil.rmtree(VENV)
    base = getattr(sys, "_base_executable", "") or sys.executable  # this may be the very environment that is replaced
    _tool([base, "-m", "venv", str(VENV)], "the virtual environment could not be made", held)
    python = venv_python()
    pinned = STATE / "uv.txt"
    pinned.write_text(locked("uv"), encoding="utf-8")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps"]
    _tool([*pip, "--only-binary", ":all:", "-r", str(pinned)], "uv could not be installed", held)
    _say("installing the locked packages")
    sync = [*_uv(python), "pip", "sync", "--quiet", "--require-hashes", "--python", str(python), str(LOCK)]
    _tool(sync, "the locked packages could not be installed", held)


def _install_project(held: int) -> None:
    python = venv_python()
    install = [*_uv(python), "pip", "install", "--quiet", "--offline", "--no-deps", "--no-build-isolation"]
    _tool([*install, "--python", str(python), "--editable", str(ROOT)], "amlwizard itself could not be installed", held)


def _uv(python: Path) -> list[str]:
    return [str(python.with_name("uv.exe" if os.name == "nt" else "uv"))]


def locked(name: str, lock: Path = LOCK) -> str:
    """Return a lock's entry of one package, its hashes included."""
    lines = lock.read_text(encoding="utf-8").splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith(f"{name}==")), None)
    if start is None:
        raise SetUpError(f"{lock.name} does not pin {name}; compile it anew")
    end = next((number for number in range(start, len(lines)) if not lines[number].endswith("\\")), len(lines) - 1)
    return "\n".join(lines[start : end + 1]) + "\n"


def tool_environment() -> dict[str, str]:
    """Return the environment of pip and uv: the user's, less what would lead into another Python, plus our own caches."""
    dropped = {"PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX", "__PYVENV_LAUNCHER__", "PIP_TARGET", "PIP_PREFIX"}
    dropped |= {"PIP_USER", "PIP_REQUIRE_VIRTUALENV", "UV_PROJECT_ENVIRONMENT", "UV_SYSTEM_PYTHON"}
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    environment["UV_CACHE_DIR"] = str(STATE / "cache" / "uv")
    environment["PIP_CACHE_DIR"] = str(STATE / "cache" / "pip")
    # uv carries certificates of its own; where the system has a store, what a company added there counts as well.
    environment.setdefault("UV_SYSTEM_CERTS", "1" if _system_certificates() else "0")
    return environment


def _system_certificates() -> bool:
    import ssl

    if sys.platform in ("win32", "darwin"):
        return True
    paths = ssl.get_default_verify_paths()
    return bool(paths.cafile or (paths.capath and any(Path(paths.capath).iterdir())))


def _tool(command: Sequence[str], failure: str, held: int) -> None:
    """Run a tool with its output on standard error, where it does not mix with what amlwizard prints.

    The tool holds the lock as well: where only this process is killed, the next start waits until the tool has ended.
    """
    result = subprocess.run(
        list(command),
        cwd=ROOT,
        env=tool_environment(),
        stdin=subprocess.DEVNULL,
        stdout=2,
        pass_fds=() if os.name == "nt" else (held,),
        check=False,
    )
    if result.returncode:
        raise SetUpError(f"{failure} (status {result.returncode}); the reason stands above. The next start tries again.")


def _say(text: str) -> None:
    print(f"dev.py: {text}", file=sys.stderr, flush=True)


@contextmanager
def _only_one() -> Iterator[int]:
    """Hold the lock of the set-up and yield its descriptor: of two starts at the same time one waits."""
    with (STATE / "lock").open("a+b") as stream:
        if sys.platform == "win32":
            import msvcrt

            while True:
                try:
                    msvcrt.locking(stream.fileno(), msvcrt.LK_LOCK, 1)
                    break
                except OSError:  # given up after ten tries, one a second
                    time.sleep(0.1)
        else:
            import fcntl

            fcntl.flock(stream, fcntl.LOCK_EX)
        yield stream.fileno()
