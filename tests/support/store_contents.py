"""The content of a ``StoreEvent`` to try front ends with."""

from __future__ import annotations

from typing import Any


def content_with(**changes: Any) -> dict[str, Any]:
    """Return the content of a whole store with a few fields changed."""
    kinds = [
        {"kind": "wheels", "files": 106, "bytes": 147_000_000, "freeable_files": 0, "freeable_bytes": 0},
        {"kind": "sources", "files": 0, "bytes": 0, "freeable_files": 0, "freeable_bytes": 0},
    ]
    lock = {"lock": "current", "path": "/ws/runtime/pylock.toml", "python": "3.11.7", "packages": 106, "error": ""}
    content: dict[str, Any] = {
        "root": "/ws",
        "complete": True,
        "bundle": True,
        "checked": "size",
        "kinds": kinds,
        "cache": {"files": 18_600, "bytes": 612_000_000, "shared_bytes": 60_000_000},
        "locks": [{**lock, "bytes": 147_000_000, "lacking": 0}],
        "lacking": [],
        "partial": [],
        "built": [],
        "freeable": [],
        "freeable_bytes": 0,
        "foreign": [],
        "freed": None,
    }
    assert changes.keys() <= content.keys()
    return content | changes
