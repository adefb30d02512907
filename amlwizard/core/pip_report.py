"""What pip's installation report says, as a lock."""

from __future__ import annotations

from typing import Any

from packaging.pylock import Pylock
from packaging.utils import canonicalize_name

from amlwizard.core.errors import AmlError


def lock_from_report(report: dict[str, Any]) -> Pylock:
    """Return the lock that says the same as pip's installation report (its format 1).

    Raises:
        AmlError: ``AML_NO_HASH`` where pip knows no SHA-256 of a file.
    """
    packages: list[dict[str, Any]] = []
    for item in report["install"]:
        download, metadata = item["download_info"], item["metadata"]
        sha256 = (download.get("archive_info") or {}).get("hashes", {}).get("sha256")
        if sha256 is None:
            raise AmlError("AML_NO_HASH", file=metadata["name"], host="pip")
        wheel = {"url": download["url"], "hashes": {"sha256": sha256}}
        name = canonicalize_name(metadata["name"])  # a lock may hold no other spelling
        packages.append({"name": name, "version": metadata["version"], "wheels": [wheel]})
    packages.sort(key=lambda package: str(package["name"]))
    return Pylock.from_dict({"lock-version": "1.0", "created-by": "pip", "packages": packages})
