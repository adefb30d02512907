"""Where the report goes: proven before anything is looked at, and never in the place of something else."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self

from amlwizard.core.errors import RefusedError
from amlwizard.core.system_errors import not_written, reason_of

if TYPE_CHECKING:
    from types import TracebackType

    from amlwizard.core.paths import Workspace


class Place:
    """The file to be; a context manager. Until ``put`` only a file beside it exists, which goes when it is left."""

    def __init__(self, out: Path, workspace: Workspace) -> None:
        """Prove that the file can be written.

        Raises:
            RefusedError: it exists, or cannot be there (``AML_DIAGNOSE_*``).
        """
        self.out = out
        _refuse(out, workspace)
        self._part = out.with_name(f".aml-report-{os.urandom(6).hex()}.part")
        try:
            descriptor = os.open(self._part, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        except OSError as error:
            raise _not_writable(out, error) from error
        self._stream: BinaryIO = os.fdopen(descriptor, "wb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with suppress(OSError):
            self._stream.close()
        with suppress(OSError):
            self._part.unlink()

    def put(self, content: bytes) -> None:
        """Put the file in its place.

        Raises:
            AmlError: it cannot be written, or something has come there meanwhile.
        """
        try:
            self._stream.write(content)
            self._stream.flush()
            os.fsync(self._stream.fileno())
            self._stream.close()
            self._give_name()
        except FileExistsError:
            raise RefusedError("AML_DIAGNOSE_EXISTS", path=str(self.out)) from None
        except OSError as error:
            raise not_written(self.out, error) from error

    def _give_name(self) -> None:
        try:
            os.link(self._part, self.out)  # unlike a rename it replaces nothing
        except FileExistsError:
            raise
        except OSError:  # no links on this file system
            if os.path.lexists(self.out):
                raise FileExistsError(self.out) from None
            self._part.rename(self.out)


def _refuse(out: Path, workspace: Workspace) -> None:
    if os.path.isdir(out):  # noqa: PTH112 - never raises
        raise RefusedError("AML_DIAGNOSE_IS_FOLDER", path=str(out))
    try:
        out.lstat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:  # too long a name, or a folder that may not be looked into
        raise _not_writable(out, error) from error
    else:
        raise RefusedError("AML_DIAGNOSE_EXISTS", path=str(out))
    if not os.path.isdir(out.parent):  # noqa: PTH112
        raise RefusedError("AML_DIAGNOSE_NO_FOLDER", path=str(out), folder=str(out.parent))
    real = Path(os.path.realpath(out.parent))  # where pathlib raises at links in a circle
    for folder in workspace.own_folders:
        if real.is_relative_to(os.path.realpath(folder)):
            raise RefusedError("AML_DIAGNOSE_INSIDE", path=str(out), folder=str(folder))


def _not_writable(out: Path, error: OSError) -> RefusedError:
    return RefusedError("AML_DIAGNOSE_NOT_WRITABLE", path=str(out), reason=reason_of(error))
