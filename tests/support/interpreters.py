"""Real interpreters of this computer, and what they say of themselves."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from amlwizard.core.facts import PythonFacts

_PROBE = """
import json, platform, struct, sys, sysconfig
sys.path.insert(0, sys.argv[1])
from packaging.markers import default_environment
from packaging.tags import sys_tags
print(json.dumps({
    "executable": sys.executable, "base_prefix": sys.base_prefix, "version": sys.version_info[:3],
    "release": sys.version_info[3], "bits": struct.calcsize("P") * 8, "machine": platform.machine(),
    "implementation": platform.python_implementation(), "platform_tag": sysconfig.get_platform(),
    "abi_flags": getattr(sys, "abiflags", ""), "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "libc": platform.libc_ver(), "marker_environment": default_environment(), "tags": [str(tag) for tag in sys_tags()],
}))
"""


@cache
def found_interpreters() -> tuple[Path, ...]:
    """Return this interpreter and every other working CPython 3.10 or newer on PATH and beside pyenv's shims, one each."""
    found = {Path(sys.executable)}
    for folder in map(Path, os.environ.get("PATH", "").split(os.pathsep)):
        versions = folder.parent / "versions"
        folders = [folder, *sorted(versions.glob("*/bin"))] if folder.name == "shims" else [folder]
        for place in folders:
            if place.is_dir() and place.name != "shims":
                found |= {file.resolve() for file in place.iterdir() if re.fullmatch(r"python3\.\d+t?(\.exe)?", file.name)}
    return tuple(path for path in sorted(found) if _minor(path) >= (3, 10))


def _minor(path: Path) -> tuple[int, int]:
    try:
        result = subprocess.run(
            [path, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True, timeout=30
        )
        major, minor = result.stdout.split()
        return int(major), int(minor)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return 0, 0


@cache
def probe(path: Path) -> tuple[PythonFacts, tuple[str, ...]]:
    """Return an interpreter's facts, and the tags that it gives itself."""
    import packaging

    folder = Path(packaging.__file__).parent.parent
    output = subprocess.run(
        [path, "-c", _PROBE, folder],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, "PYTHONPATH": ""},
    ).stdout
    said = json.loads(output)
    facts = PythonFacts(
        executable=Path(said["executable"]),
        base_prefix=Path(said["base_prefix"]),
        version=tuple(said["version"]),
        release=said["release"],
        bits=said["bits"],
        machine=said["machine"],
        implementation=said["implementation"],
        has_venv=True,
        has_ensurepip=True,
        in_venv=False,
        platform_tag=said["platform_tag"],
        abi_flags=said["abi_flags"],
        free_threaded=said["free_threaded"],
        libc=tuple(said["libc"]),
        marker_environment=said["marker_environment"],
    )
    return facts, tuple(said["tags"])
