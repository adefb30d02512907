"""The program's entry: ``python -m amlwizard``, and the ``amlwizard`` command.

The signals are taken in hand before anything else is imported, so that Ctrl+C ends the start as quietly as the work. What
the interpreter itself does before this line is out of reach.
"""

import os

try:
    from amlwizard.stop_signals import ignore_stop_signals, leave_on_stop_signals

    leave_on_stop_signals()
except KeyboardInterrupt:
    os._exit(130)

import sys


def main() -> int:
    """Run one command line; return its exit code."""
    try:
        from amlwizard.frozen_start import give_back_variables, keep_libraries
        from amlwizard.utf8_start import start_in_utf8

        give_back_variables()
        keep_libraries()
        start_in_utf8()
        from amlwizard.cli import main as run_command_line

        return run_command_line(sys.argv[1:])
    except Exception as error:  # noqa: BLE001 - an incomplete installation, where not even the catalogue can be read
        from amlwizard.start_failure import tell_start_failure

        tell_start_failure(error)
        return 1
    finally:
        ignore_stop_signals()


if __name__ == "__main__":
    sys.exit(main())
