"""What is told about a bundle: as values for programs, and as the end of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amlwizard.core.bundle.floors import Floor
from amlwizard.core.catalogue import text
from amlwizard.core.outcome import done_event
from amlwizard.core.wording import size_text

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.bundle.manifest import Manifest
    from amlwizard.core.events import FinishedEvent


def bundle_content(path: Path, size: int, sha256: str | None, manifest: Manifest) -> dict[str, Any]:
    """Return what a bundle is, as plain JSON values; ``sha256`` is None for one in a folder."""
    return {
        "path": str(path),
        "size": size,
        "sha256": sha256,
        "platform": manifest.platform,
        "floor": manifest.floor.to_json(),
        "python": manifest.python,
        "uv": manifest.uv_version,
        "created": manifest.created,
        "wish": {"kind": manifest.kind, "name": manifest.name, "digest": manifest.digest},
    }


def created_event(
    content: dict[str, Any], packages: int, left_out: tuple[str, ...], root: Path, language: str, seconds: float
) -> FinishedEvent:
    """Return the end of a run that made a bundle."""
    arguments: dict[str, object] = {
        "path": content["path"],
        "size": size_text(int(content["size"]), language),
        "sha256": content["sha256"],
        "platform": content["platform"],
        "python": content["python"],
    }
    detail = [text("bundle.left_out", language, packages=", ".join(left_out))] if left_out else []
    floor = str(Floor.from_json(content["floor"]) or "")
    if floor:
        detail.append(text("bundle.floor", language, floor=floor))
    return done_event(
        "AML_BUNDLE_CREATED", arguments, language, seconds, root=root, packages=packages, detail="\n".join(detail)
    )
