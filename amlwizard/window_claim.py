"""One window for a workspace: a claim that the operating system frees when the window's process dies.

The claim and the address at which its window hears others lie in a folder of the user alone, never in the workspace: a
window that only looks writes nothing there.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from amlwizard.core.kernel_lock import try_lock

_TRIALS: Final = 3
"""How often a claim is tried whose file vanishes meanwhile, because another window has just closed."""
_FOLDER_BYTES: Final = 103 - len("/amlwizard-") - 16
"""macOS gives the name of a socket 104 bytes with the zero at its end, Linux 108."""
_PID_AT: Final = 1
"""Where the number of the process stands in the file: on Windows nobody can read the byte that is locked."""


class ClaimedError(Exception):
    """Another window has the workspace; ``pid`` is its process, or None where it has not said so yet."""

    def __init__(self, pid: int | None) -> None:
        super().__init__()
        self.pid = pid


@dataclass
class WindowClaim:
    """A workspace that this window stands for, until it is released or the process ends.

    ``address`` is where the window may listen for others.
    """

    address: str
    _path: Path
    _descriptor: int

    def release(self) -> None:
        """Let another window have it; nothing is left."""
        if os.name == "nt":  # an open file cannot be removed there
            os.close(self._descriptor)
        with suppress(OSError):
            self._path.unlink()
        if os.name != "nt":
            os.close(self._descriptor)
        with suppress(OSError):  # the claims of other windows lie in it
            self._path.parent.rmdir()


def window_address(root: Path) -> str:
    """Return where the window of a workspace can be spoken to."""
    name = _name(root)
    return name if os.name == "nt" else str(_folder() / name)


def claim_window(root: Path) -> WindowClaim | None:
    """Claim a workspace for a window of this process; None where this computer has no private place for it.

    Raises:
        ClaimedError: another window has it.
    """
    for _ in range(_TRIALS):
        try:
            claim = _try_to_claim(root)
        except FileNotFoundError:  # with that window, the folder of claims has gone as well
            continue
        except OSError:
            return None
        if claim is not None:
            return claim
    return None


def _try_to_claim(root: Path) -> WindowClaim | None:
    """Claim a workspace; None where the file was removed in between."""
    folder = _folder()
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    if not _is_private(folder):
        raise PermissionError(str(folder))
    path = folder / f"{_name(root)}.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    with ExitStack() as opened:
        opened.callback(os.close, descriptor)
        claim = WindowClaim(window_address(root), path, descriptor)
        if not _lock(descriptor, path):
            return None
        opened.pop_all()
    return claim


def _lock(descriptor: int, path: Path) -> bool:
    """Lock the file of a claim and note this process in it; False where others would open another one by now."""
    if not try_lock(descriptor, shared=False):
        raise ClaimedError(_read_pid(descriptor))
    if not os.path.samestat(os.fstat(descriptor), path.stat()):
        return False
    os.lseek(descriptor, _PID_AT, os.SEEK_SET)
    os.write(descriptor, f"{os.getpid()}\n".encode())
    return True


def _read_pid(descriptor: int) -> int | None:
    try:
        os.lseek(descriptor, _PID_AT, os.SEEK_SET)
        return int(os.read(descriptor, 20))
    except (OSError, ValueError):
        return None


def _folder() -> Path:
    """Return the folder of claims: where the system keeps what belongs to a session, else beside other temporary files.

    The name of a socket in it has to fit into what systems allow, which a long TMPDIR does not leave room for.
    """
    if os.name == "nt":
        return Path(tempfile.gettempdir(), "amlwizard")
    session, own = os.environ.get("XDG_RUNTIME_DIR", ""), f"amlwizard-{os.getuid()}"
    usable = os.path.isabs(session) and os.access(session, os.W_OK)  # noqa: PTH117
    folders = [Path(tempfile.gettempdir(), own), Path("/tmp", own)]  # noqa: S108 - made by us, and looked at
    if usable:
        folders.insert(0, Path(session, "amlwizard"))
    return next((folder for folder in folders if len(os.fsencode(folder)) <= _FOLDER_BYTES), folders[-1])


def _is_private(folder: Path) -> bool:
    """Tell whether nobody else can have put anything into a folder; on Windows temporary files are each user's own."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        return False
    return os.name == "nt" or (status.st_uid == os.getuid() and not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO))


def _name(root: Path) -> str:
    """Return a short name for a workspace; on Windows it stands among those of all users."""
    spelling = f"{Path.home()}\0{os.path.normcase(os.path.abspath(root))}"  # noqa: PTH100 - asks no drive
    return f"amlwizard-{hashlib.sha256(spelling.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
