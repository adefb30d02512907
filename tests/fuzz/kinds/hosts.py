"""A computer and an interpreter, the same wherever the trials run."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from amlwizard.core.facts import Host, PythonFacts

LINUX: Final = Host("linux", "x86_64", "6.1", "glibc 2.36", 2, 1 << 33)
PYTHON: Final = PythonFacts(
    executable=Path("/usr/bin/python3.11"),
    base_prefix=Path("/usr"),
    version=(3, 11, 9),
    release="final",
    bits=64,
    machine="x86_64",
    implementation="CPython",
    has_venv=True,
    has_ensurepip=True,
    in_venv=False,
    platform_tag="linux-x86_64",
    abi_flags="",
    free_threaded=False,
    libc=("glibc", "2.36"),
    marker_environment={
        "implementation_name": "cpython",
        "implementation_version": "3.11.9",
        "os_name": "posix",
        "platform_machine": "x86_64",
        "platform_python_implementation": "CPython",
        "platform_release": "6.1",
        "platform_system": "Linux",
        "platform_version": "1",
        "python_full_version": "3.11.9",
        "python_version": "3.11",
        "sys_platform": "linux",
    },
)
