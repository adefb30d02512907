"""Scripts of an environment that name their interpreter by its path."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

from amlwizard.core.environment.layout import metadata_names, site_folders
from amlwizard.core.environment.removal import is_link
from amlwizard.core.paths import venv_python
from amlwizard.core.plain_files import read_plain_text
from amlwizard.core.records import write_text_atomically

if TYPE_CHECKING:
    from collections.abc import Callable

_LARGEST_SCRIPT: Final = 256 * 1024
_LONGEST_LINE: Final = 127
"""What every Linux kernel reads of a first line."""
_BY_SHELL: Final = re.compile(rb"#!/bin/sh\n'''exec' [^\n]* \"\$0\" \"\$@\"\n' '''\n")
_SIGNS: Final = frozenset(b'$`"')
"""What a shell reads as more than a letter between double quotes, in which pip puts the path."""


def rewrite_launchers(environment: Path, change: Callable[[bytes], bytes | None]) -> None:
    """Replace scripts, each as a whole, and enter their new hashes into the RECORD that lists them.

    Args:
        environment: the environment.
        change: returns the new content of a script that begins with ``#!``, None where it stays.
    """
    changed: dict[str, bytes] = {}
    folder = venv_python(environment).parent
    for script in sorted(folder.iterdir()) if folder.is_dir() else ():
        if script.is_symlink() or not script.is_file() or script.stat().st_size > _LARGEST_SCRIPT:
            continue
        content = script.read_bytes()
        fresh = change(content) if content.startswith(b"#!") else None
        if fresh is None:
            continue
        part = script.with_name(f"{script.name}.part")
        part.write_bytes(fresh)
        shutil.copymode(script, part)
        part.replace(script)
        changed[script.name] = fresh
    if changed:
        _record_launchers(environment, changed)


def mend_first_lines(environment: Path) -> None:
    """Let a shell start the scripts whose interpreter has a path that a first line cannot hold.

    pip writes such a path as it is into the scripts that a wheel brings ready-made, and between double quotes into those
    that it makes itself.
    """
    if os.name == "nt":
        return  # the launchers there are programs
    python = os.fsencode(venv_python(environment))
    quoted = os.fsencode(shlex.quote(os.fsdecode(python)))
    by_shell = b"#!/bin/sh\n'''exec' " + quoted + b" \"$0\" \"$@\"\n' '''\n"

    def mended(content: bytes) -> bytes | None:
        first, _, body = content.partition(b"\n")
        if first.startswith(b"#!" + python) and (b" " in python or len(first) > _LONGEST_LINE):
            return by_shell + body
        head = _BY_SHELL.match(content)
        return by_shell + content[head.end() :] if head is not None and _SIGNS & set(python) else None

    rewrite_launchers(environment, mended)


def _record_launchers(environment: Path, changed: dict[str, bytes]) -> None:
    """Enter the new hashes of launchers into the RECORD that lists them."""
    folder = venv_python(environment).parent
    for site in site_folders(environment):
        for name in metadata_names(site):
            if is_link(site / name):
                continue
            record = site / name / "RECORD"
            try:
                text = read_plain_text(record)
                rows = list(csv.reader(io.StringIO(text)))
            except (OSError, UnicodeDecodeError, csv.Error):
                continue
            touched = False
            for row in rows:
                if len(row) < 3 or "/bin/" not in row[0] or Path(row[0]).name not in changed:
                    continue
                if Path(os.path.normpath(site / row[0])).parent != folder:
                    continue
                content = changed[Path(row[0]).name]
                digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                row[1:3] = [f"sha256={digest}", str(len(content))]
                touched = True
            if touched:
                out = io.StringIO()
                csv.writer(out, lineterminator="\n").writerows(rows)
                write_text_atomically(record, out.getvalue())
