"""The command line on a computer of an organisation: ``python -m tests.support.managed ARGS``.

The machine-wide settings lie in the folder that MACHINE_FOLDER names, which only this program knows of. Where HURRIED is
set, it has no more patience than ``tests.support.hurried``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from amlwizard import cli
from amlwizard.core import settings_files
from amlwizard.core.host import system_name
from tests.support.hurried import hurry

if __name__ == "__main__":
    settings_files.MACHINE_FOLDERS[system_name(sys.platform)] = Path(os.environ["MACHINE_FOLDER"])
    if "HURRIED" in os.environ:
        hurry()
    sys.exit(cli.main(sys.argv[1:]))
