"""Our own JSON files: a ``format`` each, written whole or not at all (DESIGN section 2)."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from amlwizard.core.data_text import parse_json
from amlwizard.core.errors import RefusedError
from amlwizard.core.held_files import replace_file
from amlwizard.core.plain_files import read_plain_text

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = 1


def utc_now() -> str:
    """Return the present time in UTC, ISO 8601 with Z, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def write_text_atomically(path: Path, text: str) -> None:
    """Write a file so that a reader, or a power cut, sees the old content or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        replace_file(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def copy_atomically(source: Path, target: Path) -> None:
    """Copy a file so that a reader, or who comes after a killed run, finds the old content or the whole new one."""
    part = target.with_name(f"{target.name}.part")
    try:
        shutil.copyfile(source, part)
        replace_file(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Make a rename in a folder durable where the system can (Windows has no such call)."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems refuse; the rename itself has been made
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_record(path: Path, record: dict[str, Any]) -> None:
    """Write one of our records with its format number."""
    content = {"format": FORMAT, **record}
    text = json.dumps(content, indent=2, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # a path whose bytes are no text
        text = json.dumps(content, indent=2)
    write_text_atomically(path, f"{text}\n")


def read_record(path: Path) -> dict[str, Any] | None:
    """Read one of our records.

    Returns:
        The record, or None where it is absent or unreadable.

    Raises:
        RefusedError: the record was written by a newer amlwizard (``AML_FORMAT_TOO_NEW``).
    """
    try:
        record = parse_json(read_plain_text(path))
    except (OSError, ValueError):
        return None
    if not isinstance(record, dict):
        return None
    number = record.get("format")
    if not isinstance(number, int) or isinstance(number, bool):
        return None
    if number > FORMAT:
        raise RefusedError("AML_FORMAT_TOO_NEW", path=str(path), found=number, known=FORMAT)
    return record
