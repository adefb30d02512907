"""An unexpected exception as an error like any other: a code, a sentence, and the details in a file."""

from __future__ import annotations

import os
import platform
import traceback
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from amlwizard import __version__
from amlwizard.core.errors import AmlError
from amlwizard.core.paths import Workspace
from amlwizard.core.plain_files import is_folder
from amlwizard.core.redact import redact
from amlwizard.core.temporary import system_folder

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path


def crash_error(error: BaseException, root: Path | None, secrets: Collection[str] = ()) -> AmlError:
    """Write the traceback into a log file and return ``AML_INTERNAL``, which names the file.

    Nothing that looks like a secret is written, nor any of those that are given. The file lies in the workspace where there
    is one, else in the system's temporary folder: nothing is created for it.
    """
    about = f"amlwizard {__version__}, Python {platform.python_version()}, {platform.platform()}"
    report = redact("\n".join([about, *traceback.format_exception(error)]), secrets)
    name = f"crash-{datetime.now(UTC).strftime('%Y%m%dT%H%M%SZ')}-{os.getpid()}.log"
    kind = type(error).__name__
    for folder in _folders(root):
        with suppress(OSError):
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as stream:
                stream.write(report)
            return AmlError("AML_INTERNAL", kind=kind, path=str(path))
    return AmlError("AML_INTERNAL", detail=report, kind=kind, path=os.devnull)


def _folders(root: Path | None) -> list[Path]:
    """Return where the file may lie, the best place first."""
    folders = [system_folder()]
    if root is not None and is_folder(Workspace(root).runtime):
        folders.insert(0, Workspace(root).logs)
    return folders
