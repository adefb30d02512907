"""Failures as values: a stable code, the arguments of its text, and the exit status that belongs to it.

The words for every code live in ``resources/messages/`` under ``CODE.message`` and ``CODE.hint``; core raises
codes, the front ends translate them.
"""

from __future__ import annotations

from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class ExitCode(IntEnum):
    """Exit codes of the command line (DESIGN section 7)."""

    DONE = 0
    FAILED = 1
    REFUSED = 2
    NOT_READY = 3
    BUSY = 4
    CANCELLED = 130


class AmlError(Exception):
    """A failure that the user is told about.

    Attributes:
        code: stable, upper case, begins with ``AML_``.
        arguments: the values that its message and hint name; already redacted.
        exit_code: ``FAILED`` for a step that failed, ``REFUSED`` for input that was refused before anything was changed.
        detail: the last lines of a tool's output, where there are any.
        options_of: the command whose options its hint names, where the one that failed has none; otherwise empty.
    """

    exit_code = ExitCode.FAILED
    options_of = ""

    def __init__(self, code: str, *, detail: str = "", **arguments: object) -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail
        self.arguments: dict[str, object] = arguments

    def __str__(self) -> str:
        """Return the English sentence with the code, as a program that uses the API shows it."""
        from amlwizard.core.catalogue import error_texts  # which imports this module

        message, _ = error_texts(self)
        return message if message == self.code else f"{message} ({self.code})"


@contextmanager
def hinting_at(command: str) -> Iterator[None]:
    """Let the hints of whatever is raised name the options of this command, where the one that runs has none."""
    try:
        yield
    except AmlError as error:
        error.options_of = command
        raise


class RefusedError(AmlError):
    """Input that cannot be used; nothing has been changed."""

    exit_code = ExitCode.REFUSED


class BusyError(AmlError):
    """Another run holds the workspace."""

    exit_code = ExitCode.BUSY
