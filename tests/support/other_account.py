"""A computer that two accounts share: root, who installs, and one without rights, which can only read what root owns.

What both need is in a folder that anybody may enter: an interpreter, the workspace, and, by mounts that end with each
command, this program and its libraries, which may lie where only root can read.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uv import find_uv_bin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.support.interpreter_archives import InterpreterArchive

REPOSITORY = Path(__file__).resolve().parents[2]
OTHER_USER = 54321
"""No account of any system: who has it owns nothing but what is made here."""
_SECONDS = 120


@dataclass(frozen=True)
class SharedComputer:
    """The folders of both accounts, under one that anybody may enter."""

    folder: Path
    python: Path

    @property
    def root(self) -> Path:
        """The workspace, which root owns."""
        return self.folder / "shared place" / "aml"

    @property
    def home(self) -> Path:
        """The home of the other account."""
        return self.folder / "home"

    def as_root(self, *arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command of amlwizard as root."""
        return self._run(arguments, self.folder / "root", (), variables)

    def as_other(self, *arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run one as the account that owns nothing of the workspace."""
        user = str(OTHER_USER)
        drop = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--inh-caps=-all", "--no-new-privs"]
        return self._run(arguments, self.home, drop, variables)

    def listing(self) -> dict[str, tuple[int, int, int]]:
        """Return everything in the workspace, with what changes when it is written."""
        found = {}
        for folder, folders, files in os.walk(self.root):
            for path in (Path(folder, name) for name in (*folders, *files, ".")):
                status = path.lstat()
                found[str(path)] = (status.st_mode, status.st_size, status.st_mtime_ns)
        return found

    def _run(
        self, arguments: Sequence[str | Path], home: Path, drop: Sequence[str], variables: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        program, libraries = self.folder / "program", self.folder / "libraries"
        mounts = [(REPOSITORY, program), (Path(sysconfig.get_path("purelib")), libraries)]
        lines = [f"mount --bind {shlex.quote(str(source))} {shlex.quote(str(target))}" for source, target in mounts]
        script = "\n".join([*lines, 'exec "$@"'])
        environ = {
            "PATH": f"{self.folder / 'programs'}:{os.defpath}",
            "HOME": str(home),
            "TMPDIR": str(self.folder / "tmp"),
            "LANG": "C.UTF-8",
            "PIP_CONFIG_FILE": os.devnull,
            "AML_ROOT": str(self.root),
            "PYTHONPATH": f"{program}:{libraries}",
            "PYTHONDONTWRITEBYTECODE": "1",
            **variables,
        }
        namespace = ["unshare", "--mount", "--propagation", "private", "/bin/sh", "-ec", script, "account"]
        return subprocess.run(
            [*namespace, *drop, str(self.python), "-m", "amlwizard", *map(str, arguments)],
            cwd=self.folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )


@contextmanager
def shared_computer(archive: InterpreterArchive) -> Iterator[SharedComputer]:
    """Make such a computer, in which no workspace is yet; needs root."""
    folder = Path(tempfile.mkdtemp(prefix="aml-accounts-"))
    try:
        folder.chmod(0o755)
        for name in ("program", "programs", "libraries", "root", "home", "tmp", "shared place"):
            (folder / name).mkdir(mode=0o755)
        (folder / "tmp").chmod(0o1777)
        shutil.copy2(find_uv_bin(), folder / "programs")
        os.chown(folder / "home", OTHER_USER, OTHER_USER)
        yield SharedComputer(folder, archive.unpack(folder / "python"))
    finally:
        shutil.rmtree(folder)


def last_event(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return the last event that a command told by ``--json``."""
    assert "Traceback" not in done.stderr
    event: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return event
