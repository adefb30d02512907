"""What an interpreter says of itself: the script that it runs, and how its answer is read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from amlwizard.core.data_text import parse_json
from amlwizard.core.facts import PythonFacts
from amlwizard.core.host import machine_name
from amlwizard.core.plain_files import exists, is_path, read_plain_text

if TYPE_CHECKING:
    from amlwizard.core.detection.probing import Answer
    from amlwizard.core.facts import Host

_ANSWER_KEY: Final = "amlwizard_probe"

SCRIPT: Final = r"""
import os, sys
try:
    from _json import encode_basestring_ascii as quote
except ImportError:
    from json import dumps as quote
try:
    import sysconfig
except ImportError:
    sysconfig = None
v = sys.version_info
a = {"amlwizard_probe": "1"}
a["version"] = "%d.%d.%d" % tuple(v[:3])
a["release"] = v[3]
a["executable"] = sys.executable or ""
a["base_prefix"] = getattr(sys, "base_prefix", sys.prefix)
a["prefix"] = sys.prefix
a["bits"] = "64" if sys.maxsize > 2 ** 32 else "32"
a["abi_flags"] = getattr(sys, "abiflags", "")
a["free_threaded"] = "yes" if "free-threading" in sys.version else ""
a["framework"] = getattr(sys, "_framework", "") or ""
a["conda"] = "yes" if os.path.isdir(os.path.join(a["base_prefix"], "conda-meta")) else ""
a["sys_platform"] = sys.platform
a["os_name"] = os.name
a["platform_tag"] = sysconfig.get_platform() if sysconfig else ""
i = getattr(sys, "implementation", None)
if i is not None:
    a["implementation_name"] = i.name
    w = i.version
    a["implementation_version"] = "%d.%d.%d" % tuple(w[:3]) + ("" if w[3] == "final" else w[3][0] + str(w[4]))
serial = "" if v[3] == "final" else {"alpha": "a", "beta": "b"}.get(v[3], "rc") + str(v[4])
a["python_full_version"] = a["version"] + serial
a["python_version"] = "%d.%d" % tuple(v[:2])
a["implementation"] = {"cpython": "CPython", "pypy": "PyPy", "graalpy": "GraalVM"}.get(getattr(i, "name", "cpython"), "")
if os.name == "posix":
    u = os.uname()
    a["platform_system"], a["platform_release"], a["platform_version"], a["platform_machine"] = u[0], u[2], u[3], u[4]
if os.name != "posix" or not a["implementation"]:
    import platform
    a["implementation"] = platform.python_implementation()
    a["platform_system"], a["platform_release"] = platform.system(), platform.release()
    a["platform_version"], a["platform_machine"] = platform.version(), platform.machine()
a["libc"] = ""
if sys.platform.startswith("linux"):
    try:
        a["libc"] = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, OSError, ValueError):
        import platform
        a["libc"] = " ".join(platform.libc_ver())
def find(name):
    for finder in sys.meta_path:
        try:
            spec = finder.find_spec(name, None)
        except Exception:
            spec = None
        if spec is not None:
            return spec
def has_pip(folder):
    try:
        return any(name.startswith("pip-") and name.endswith(".whl") for name in os.listdir(folder))
    except OSError:
        return False
a["has_venv"] = "yes" if find("venv") else ""
e = find("ensurepip")
a["has_ensurepip"] = ""
if e is not None:
    places = [os.path.join(place, "_bundled") for place in e.submodule_search_locations or ()]
    if not any(map(has_pip, places)):
        places = [sysconfig.get_config_var("WHEEL_PKG_DIR") or ""]
    a["has_ensurepip"] = "yes" if any(map(has_pip, places)) else ""
sys.stdout.write("{" + ", ".join(quote(key) + ": " + quote(str(a[key])) for key in sorted(a)) + "}\n")
"""
"""Runs in any Python since 2.6 and imports next to nothing: json and platform alone would double the time of a probe."""

ARGUMENTS: Final = ("-I", "-S", "-B", "-c", SCRIPT)
"""Isolated from variables, the user's packages and the current folder; without ``site``, whose .pth files may be slow or
broken and say nothing of the interpreter."""

OLD_ARGUMENTS: Final = ("-E", "-s", "-S", "-B", "-c", SCRIPT)
"""For what does not know ``-I``: anything before Python 3.4."""

_MARKERS: Final = (
    "implementation_name",
    "implementation_version",
    "os_name",
    "platform_machine",
    "platform_release",
    "platform_system",
    "platform_version",
    "python_full_version",
    "python_version",
    "sys_platform",
)
_VERSION: Final = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{1,3})", re.ASCII)
_SAID_VERSION: Final = re.compile(r"\s*Python (\d+)\.(\d+)\S*\s*", re.ASCII)


def parse_answer(answer: Answer, host: Host) -> PythonFacts | None:
    """Return the facts in a probe's output, or None where there are none; other lines around them are ignored."""
    for line in reversed(answer.stdout):
        if _ANSWER_KEY not in line:
            continue
        try:
            said = parse_json(line)
            return _facts(said, host)
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return None


def knows_no_isolation(answer: Answer) -> bool:
    """Tell whether the candidate refused ``-I`` as an option that it does not know."""
    return any("-I" in line and "nknown option" in line for line in answer.stderr)


def said_version(answer: Answer) -> tuple[int, int] | None:
    """Return the version in a line like ``Python 2.7.18`` from a candidate that gave no facts."""
    for line in answer.stdout + answer.stderr:
        match = _SAID_VERSION.fullmatch(line)
        if match:
            return int(match[1]), int(match[2])
    return None


def _facts(said: dict[str, Any], host: Host) -> PythonFacts:
    if not all(isinstance(value, str) and is_path(value) for value in said.values()):
        raise TypeError("the probe tells texts")
    match = _VERSION.fullmatch(said["version"])
    if match is None:
        raise ValueError("no version")
    major, minor, patch = map(int, match.groups())
    base_prefix = Path(said["base_prefix"])
    libc_name, _, libc_version = said["libc"].partition(" ")
    markers = {key: str(said.get(key, "")) for key in _MARKERS}
    markers["platform_python_implementation"] = said["implementation"]
    return PythonFacts(
        executable=Path(said["executable"]),
        base_prefix=base_prefix,
        version=(major, minor, patch),
        release=said["release"],
        bits=int(said["bits"]),
        machine=_machine(said, host),
        implementation=said["implementation"],
        has_venv=bool(said["has_venv"]),
        has_ensurepip=bool(said["has_ensurepip"]),
        in_venv=said["prefix"] != said["base_prefix"],
        platform_tag=said["platform_tag"],
        abi_flags=said["abi_flags"],
        free_threaded=bool(said["free_threaded"]),
        libc=(libc_name, libc_version),
        marker_environment=markers,
        vendor=_vendor(said, base_prefix),
    )


def _machine(said: dict[str, Any], host: Host) -> str:
    """Return the processor that the interpreter was built for; the kernel may name another one under emulation."""
    built_for = said["platform_tag"].rpartition("-")[2]
    if built_for == "win32":
        built_for = "i686"
    if built_for.startswith(("universal", "fat", "intel")) or not built_for:
        built_for = said["platform_machine"]
    return machine_name(host.system, built_for)


def _vendor(said: dict[str, Any], base_prefix: Path) -> str:
    parts = [part.lower() for part in base_prefix.parts]
    if said["conda"]:
        return "conda"
    if "windowsapps" in parts:
        return "store"
    if "versions" in parts and any(part in {".pyenv", "pyenv", "pyenv-win"} for part in parts):
        return "pyenv"
    if "uv" in parts and "python" in parts[parts.index("uv") :]:
        return "uv"
    return "framework" if said["framework"] else ""


def environment_base(executable: Path) -> Path | None:
    """Return the base interpreter of the virtual environment that an executable belongs to, or None outside of one.

    Returns:
        The path as ``pyvenv.cfg`` tells it; it may be gone. Empty (``Path()``) where the file does not tell.
    """
    for folder in (executable.parent, executable.parent.parent):
        try:
            content = read_plain_text(folder / "pyvenv.cfg", errors="replace")
        except OSError:
            continue
        values = {
            key.strip().lower(): value.strip() for key, _, value in (line.partition("=") for line in content.splitlines())
        }
        return _base_executable(executable, values)
    return None


def _base_executable(executable: Path, values: dict[str, str]) -> Path:
    home = Path(values.get("home", ""))
    if not home.is_absolute():
        return Path()
    version = ".".join(re.findall(r"\d+", values.get("version_info") or values.get("version", ""))[:2])
    names = [executable.name, f"python{version}", "python3", "python", "python.exe"]
    found = next((home / name for name in names if exists(home / name)), None)
    if found is None and executable.is_symlink() and exists(executable):
        return executable.resolve()
    return found or home / executable.name
