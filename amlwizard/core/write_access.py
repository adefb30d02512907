"""Whether this account may make something in a folder, before it is tried for good, and where it may always."""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING

from amlwizard.core.settings_files import APPLICATION

if TYPE_CHECKING:
    from pathlib import Path


def can_write(folder: Path) -> bool:
    """Tell whether this account may make files in a folder, or the folder itself where it is not there yet.

    Windows knows that of no folder before it is tried: there an empty file is made and removed again.
    """
    place = next((each for each in (folder, *folder.parents) if each.is_dir()), None)
    if place is None:
        return False
    if os.name != "nt":
        # the account that writes is the effective one, where a command was started with the rights of another
        return os.access(place, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids)
    trial = place / f".aml-{uuid.uuid4().hex[:12]}"
    try:
        os.close(os.open(trial, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        trial.unlink()
    except OSError:
        return False
    return True


def is_read_only(folder: Path) -> bool:
    """Tell whether a folder is on a file system that can only be read; Windows does not say."""
    return os.name != "nt" and bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


def users_data() -> Path:
    """Return where this account keeps what it makes with workspaces that it cannot write; the folder never roams."""
    import platformdirs  # a workspace of one's own needs none

    return platformdirs.user_data_path(APPLICATION, appauthor=False, roaming=False)
