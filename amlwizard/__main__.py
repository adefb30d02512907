"""The program's entry: ``python -m amlwizard``, and the ``amlwizard`` command.

Only what a stop needs is imported before the signals are in hand, so that Ctrl+C ends the start as quietly as the work.
"""

from __future__ import annotations

import sys

from amlwizard.core.errors import ExitCode
from amlwizard.interrupts import ignore_stop_signals, leave_on_stop_signals


def main() -> int:
    """Run one command line; return its exit code."""
    leave_on_stop_signals()
    try:
        from amlwizard.cli import main as run_command_line

        return run_command_line(sys.argv[1:])
    except Exception as error:  # noqa: BLE001 - an incomplete installation, where not even the catalogue can be read
        sys.stderr.write(f"amlwizard cannot start: {type(error).__name__}: {error}\n")
        return ExitCode.FAILED
    finally:
        ignore_stop_signals()


if __name__ == "__main__":
    sys.exit(main())
