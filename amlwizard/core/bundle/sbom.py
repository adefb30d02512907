"""The components of a bundle as a CycloneDX 1.6 document; the same bundle gives the same text."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from amlwizard import __version__
from amlwizard.core.bundle.wheel_facts import spdx

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amlwizard.core.bundle.manifest import FileRecord, Manifest
    from amlwizard.core.bundle.reading import LockedWheel

_NAMESPACE: Final = uuid.UUID("6f9d0d0e-7a0c-4d55-9a63-0c6b2f5a1f37")
"""Under which the serial number of a document is derived from the bundle's manifest."""


def sbom_text(manifest: Manifest, packages: Sequence[tuple[LockedWheel, str]]) -> str:
    """Return the document; each package comes with its licence, which may be empty."""
    components = [
        _tool("python", manifest.python, manifest.files[manifest.archive], "interpreter"),
        _tool("uv", manifest.uv_version, manifest.files[manifest.uv], "uv"),
        *(_package(wheel, licence) for wheel, licence in sorted(packages, key=lambda each: each[0].name)),
    ]
    document: dict[str, Any] = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_NAMESPACE, manifest.text())}",
        "version": 1,
        "metadata": {
            "timestamp": manifest.created,
            "tools": {"components": [{"type": "application", "name": "amlwizard", "version": __version__}]},
            "component": {
                "type": "application",
                "bom-ref": "bundle",
                "name": manifest.name or "bundle",
                "version": manifest.digest,
                "properties": [
                    {"name": "amlwizard:platform", "value": manifest.platform},
                    {"name": "amlwizard:python", "value": manifest.python},
                ],
            },
        },
        "components": components,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _package(wheel: LockedWheel, licence: str) -> dict[str, Any]:
    purl = f"pkg:pypi/{wheel.name}@{quote(wheel.version, safe='.')}"
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": purl,
        "name": wheel.name,
        "version": wheel.version,
        "purl": purl,
        "hashes": [{"alg": "SHA-256", "content": wheel.sha256}],
    }
    if licence:
        expression = spdx(licence)
        component["licenses"] = [{"expression": expression}] if expression else [{"license": {"name": licence}}]
    return component


def _tool(name: str, version: str, record: FileRecord, reference: str) -> dict[str, Any]:
    return {
        "type": "application",
        "bom-ref": reference,
        "name": name,
        "version": version,
        "hashes": [{"alg": "SHA-256", "content": record.sha256}],
    }
