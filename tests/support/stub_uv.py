"""A program in the place of uv that tells uv's version, and runs a Python script of a test for all else."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def make_stub_uv(folder: Path, script: str) -> Path:
    """Return the program; the script gets its arguments, works in ``folder``, and sees uv's variables."""
    folder.mkdir()
    program, work = folder / "uv", folder / "work.py"
    work.write_text(script, encoding="utf-8")
    run = shlex.join([sys.executable, "-S", "-u", str(work)])
    program.write_text(
        "#!/bin/sh\n"
        'case "$*" in *--version*) echo "uv 0.13.9"; exit 0;; esac\n'
        f'cd {shlex.quote(str(folder))} && exec {run} "$@"\n'
    )
    program.chmod(0o755)
    return program
