"""Every reason that detection can give has its words."""

from __future__ import annotations

import re
from pathlib import Path

import amlwizard.core.detection
from amlwizard.core.catalogue import message_keys


def test_reasons_and_words_belong_together() -> None:
    sources = Path(amlwizard.core.detection.__file__).parent.glob("*.py")
    used = {key for source in sources for key in re.findall(r"\"(candidate\.\w+)\"", source.read_text(encoding="utf-8"))}
    used |= {f"{key}_debian" for key in ("candidate.uv_only", "candidate.needs_uv")}
    assert used == {key for key in message_keys() if key.startswith("candidate.")}
