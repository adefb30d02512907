"""Components as a CycloneDX 1.6 document: those of a bundle, and what the program's own packages are made of.

The same components give the same text.
"""

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
"""Under which the serial number of a document is derived from what it tells of."""


def sbom_text(manifest: Manifest, packages: Sequence[tuple[LockedWheel, str]]) -> str:
    """Return the document of a bundle; each package comes with its licence, which may be empty."""
    components = [
        _tool("python", manifest.python, manifest.files[manifest.archive], "interpreter"),
        _tool("uv", manifest.uv_version, manifest.files[manifest.uv], "uv"),
        *(_package(wheel, licence) for wheel, licence in sorted(packages, key=lambda each: each[0].name)),
    ]
    about = {
        "type": "application",
        "bom-ref": "bundle",
        "name": manifest.name or "bundle",
        "version": manifest.digest,
        "properties": [
            {"name": "amlwizard:platform", "value": manifest.platform},
            {"name": "amlwizard:python", "value": manifest.python},
        ],
    }
    return document_text(about, components, created=manifest.created, seed=manifest.text())


def document_text(about: dict[str, Any], components: Sequence[dict[str, Any]], *, created: str, seed: str) -> str:
    """Return a document about one component that is made of others; the same ``seed`` gives the same serial number."""
    document: dict[str, Any] = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_NAMESPACE, seed)}",
        "version": 1,
        "metadata": {
            "timestamp": created,
            "tools": {"components": [{"type": "application", "name": "amlwizard", "version": __version__}]},
            "component": about,
        },
        "components": list(components),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def library(name: str, version: str, licence: str) -> dict[str, Any]:
    """Return the component of one Python package; the licence may be empty."""
    purl = f"pkg:pypi/{name}@{quote(version, safe='.')}"
    component: dict[str, Any] = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    if licence:
        expression = spdx(licence)
        component["licenses"] = [{"expression": expression}] if expression else [{"license": {"name": licence}}]
    return component


def _package(wheel: LockedWheel, licence: str) -> dict[str, Any]:
    component = library(wheel.name, wheel.version, licence)
    return {**component, "hashes": [{"alg": "SHA-256", "content": wheel.sha256}]}


def _tool(name: str, version: str, record: FileRecord, reference: str) -> dict[str, Any]:
    return {
        "type": "application",
        "bom-ref": reference,
        "name": name,
        "version": version,
        "hashes": [{"alg": "SHA-256", "content": record.sha256}],
    }
