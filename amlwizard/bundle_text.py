"""What a bundle holds, in lines for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amlwizard.core.catalogue import text
from amlwizard.core.wording import size_text
from amlwizard.terminal import columns

if TYPE_CHECKING:
    from amlwizard.core.bundle.inspecting import Report


def bundle_lines(report: Report, language: str) -> list[str]:
    """Return what ``bundle inspect`` shows."""
    manifest = report.bundle.manifest

    def words(key: str) -> str:
        return text(f"bundle.{key}", language)

    rows = [
        (words("platform"), manifest.platform + (f", {manifest.floor}+" if str(manifest.floor) else "")),
        ("Python", manifest.python),
        ("uv", manifest.uv_version),
        (words("made_for"), manifest.name),
        (words("created"), manifest.created),
        (words("size"), size_text(report.bundle.total_bytes, language)),
        ("SHA-256", report.sha256 or "-"),
    ]
    packages = [
        (
            package.wheel.name,
            package.wheel.version,
            size_text(package.wheel.size, language),
            package.licence or words("no_licence"),
        )
        for package in report.packages
    ]
    heading = (words("package"), words("version"), words("size"), words("licence"))
    return [*columns(rows), "", *columns([heading, *packages]), ""]
