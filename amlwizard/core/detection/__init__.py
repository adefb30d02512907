"""Detection: which uv and which Python this computer has, and what each is good for."""

from amlwizard.core.detection.bundled import FROZEN_HASH, find_bundled_uv
from amlwizard.core.detection.report import detected_content
from amlwizard.core.detection.search import MINIMUM_UV, detect

__all__ = ["FROZEN_HASH", "MINIMUM_UV", "detect", "detected_content", "find_bundled_uv"]
