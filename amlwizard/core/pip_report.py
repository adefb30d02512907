"""What pip's installation report says, as a lock."""

from __future__ import annotations

from typing import Any

from packaging.pylock import Pylock, PylockValidationError
from packaging.utils import canonicalize_name

from amlwizard.core.catalogue import Phrase
from amlwizard.core.data_text import parse_json
from amlwizard.core.errors import AmlError
from amlwizard.core.file_hash import file_sha256
from amlwizard.core.urls import local_path


def lock_from_report(text: str) -> Pylock:
    """Return the lock that says the same as pip's installation report (its format 1).

    Raises:
        AmlError: ``AML_NO_HASH`` where pip knows no SHA-256 of a file, ``AML_EDITABLE_NEEDS_UV`` of a folder that stays
            where it is, ``AML_PIP_FAILED`` where this is no such report.
    """
    try:
        report = parse_json(text)
        packages = [_package(item["download_info"], item["metadata"]) for item in report["install"]]
        packages.sort(key=lambda package: str(package["name"]))
        return Pylock.from_dict({"lock-version": "1.0", "created-by": "pip", "packages": packages})
    except (ValueError, LookupError, TypeError, AttributeError, PylockValidationError) as error:
        raise AmlError("AML_PIP_FAILED", cause=Phrase("pip.report_unreadable")) from error


def _package(download: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    name = canonicalize_name(metadata["name"])  # a lock may hold no other spelling
    package = {"name": name, "version": metadata["version"]}
    if "vcs_info" in download:
        checkout = {"type": download["vcs_info"]["vcs"], "commit-id": download["vcs_info"]["commit_id"]}
        folder = {"subdirectory": download["subdirectory"]} if download.get("subdirectory") else {}
        return {**package, "vcs": {**checkout, **folder, "url": download["url"]}}
    if "dir_info" in download:  # which has no hash; it is built from what is in it, and compared by that
        place = str(local_path(download["url"]))
        if download["dir_info"].get("editable"):
            raise AmlError("AML_EDITABLE_NEEDS_UV", package=name, path=place)
        return {"name": name, "directory": {"path": place}}
    sha256 = (download.get("archive_info") or {}).get("hashes", {}).get("sha256") or _of_local_file(download["url"])
    if sha256 is None:
        raise AmlError("AML_NO_HASH", file=metadata["name"], host="pip")
    return {**package, "wheels": [{"url": download["url"], "hashes": {"sha256": sha256}}]}


def _of_local_file(url: str) -> str | None:
    """Return the SHA-256 of a file of this computer, which pip before 23.1 does not tell; None of anything else."""
    path = local_path(url) if url.startswith("file:") else None
    return file_sha256(path) if path is not None and path.is_file() else None
