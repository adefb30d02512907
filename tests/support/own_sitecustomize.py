"""Whether the interpreter brings a ``sitecustomize`` of its own, as Debian's does."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import Final

BROUGHT: Final = (Path(sysconfig.get_path("stdlib")) / "sitecustomize.py").exists()
"""Where it does, its own comes first, and one in ``site-packages`` is never imported."""
