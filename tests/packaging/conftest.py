"""The scripts of packaging/ are imported as they run: from their own folder."""

from __future__ import annotations

import sys
from pathlib import Path

PACKAGING = str(Path(__file__).resolve().parents[2] / "packaging")
if PACKAGING not in sys.path:
    sys.path.append(PACKAGING)
