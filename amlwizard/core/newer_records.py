"""What a newer amlwizard wrote is looked at as far as it is understood, and never changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amlwizard.core.environment.marker import read_marker
from amlwizard.core.records import read_record

if TYPE_CHECKING:
    from amlwizard.core.paths import Workspace


def refuse_newer_records(workspace: Workspace) -> None:
    """Make sure that every record is understood before a run changes the first. Blocks for a moment.

    Raises:
        RefusedError: a newer amlwizard wrote one (``AML_FORMAT_TOO_NEW``).
    """
    for record in (
        workspace.receipt,
        workspace.journal,
        workspace.uv_record,
        workspace.store_record,
        workspace.python_record,
    ):
        read_record(record)
    read_marker(workspace.venv)
