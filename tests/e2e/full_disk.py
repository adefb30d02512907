"""A workspace on a file system without a free byte, for one command at a time."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.e2e.conftest import Computer, Result
    from tests.support.namespaces import Circumstances

NO_TEMPORARY_FOLDER = """
for folder in /tmp /var/tmp "$PWD"; do
    mount --bind "$folder" "$folder"
    mount -o remount,bind,ro "$folder"
done
mount --bind "$STICK" "$STICK"
mount -o remount,bind,rw "$STICK"
"""
"""Leave no place for temporary files, as on a computer whose one disk is full; only what is plugged in has room."""
FULL_WORKSPACE = """
mount -t tmpfs -o size="$BYTES",nr_inodes="$FILES" tmpfs "$ROOT"
cp -a "$KEPT/." "$ROOT"
mkdir -p "$ROOT/notebooks"
cat /dev/zero > "$ROOT/notebooks/large" 2> /dev/null || true
n=0
while mkdir "$ROOT/notebooks/$n" 2> /dev/null; do n=$((n + 1)); done
test "$(stat -f -c '%a %d' "$ROOT")" = "0 0"
"""
"""Put a file system over the workspace with the same content, and room for neither another byte nor another name."""
RUN = '"$@" && code=0 || code=$?; find "$ROOT" >&2; exit $code'


class FullDisk:
    """A workspace whose disk is full; each command finds it as the first one did."""

    def __init__(self, computer: Computer, circumstances: type[Circumstances], *, temporary_folder: bool) -> None:
        self.computer = computer
        self.stick = computer.folder / "stick"
        self.stick.mkdir()
        kept = computer.folder / "kept"
        subprocess.run(["cp", "-a", computer.root, kept], check=True)
        place = {"ROOT": computer.root, "KEPT": kept, "STICK": self.stick}
        used = int(subprocess.run(["du", "-s", "-B1", kept], capture_output=True, text=True, check=True).stdout.split()[0])
        names = {"BYTES": used + 2**20, "FILES": 50 + sum(1 for _ in kept.rglob("*"))}
        variables = "\n".join(f"{name}={shlex.quote(str(value))}" for name, value in {**place, **names}.items())
        script = [variables, "" if temporary_folder else NO_TEMPORARY_FOLDER, FULL_WORKSPACE, RUN]
        self._prefix = circumstances().command(["/bin/sh", "-ec", "\n".join(script), "full"])

    def run(self, *arguments: str | Path) -> Result:
        """Run a command."""
        return self.computer.run(*arguments, prefix=self._prefix)

    def left(self, result: Result) -> list[Path]:
        """Return what lay in the workspace after a command."""
        return [Path(line) for line in result.stderr.splitlines() if line.startswith(f"{self.computer.root}{os.sep}")]
