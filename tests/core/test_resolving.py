"""The lock that pip's report turns into."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from packaging.utils import canonicalize_name

from amlwizard.core.errors import AmlError
from amlwizard.core.pip_report import lock_from_report
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from pathlib import Path


def _item(name: str, **archive_info: Any) -> dict[str, Any]:
    url = f"https://files.example.org/{canonicalize_name(name).replace('-', '_')}-1.0-py3-none-any.whl"
    return {
        "download_info": {"url": url, "archive_info": archive_info},
        "metadata": {"name": name, "version": "1.0"},
    }


def test_names_are_spelt_as_a_lock_wants_them() -> None:
    hashes = {"sha256": "0" * 64}
    report = {"install": [_item("Zope.Interface__more", hashes=hashes), _item("attrs", hashes=hashes)]}
    lock = lock_from_report(json.dumps(report))
    assert [package.name for package in lock.packages] == ["attrs", "zope-interface-more"]


def test_a_checkout_is_locked_at_its_commit() -> None:
    item = _item("tinyg")
    item["download_info"] = {
        "url": "https://git.example.org/tinyg",
        "vcs_info": {"vcs": "git", "commit_id": "1" * 40, "requested_revision": "v1"},
        "subdirectory": "python",
    }
    (package,) = lock_from_report(json.dumps({"install": [item]})).packages
    assert package.vcs is not None
    assert (package.vcs.type, package.vcs.commit_id, package.vcs.subdirectory) == ("git", "1" * 40, "python")
    assert package.vcs.url == "https://git.example.org/tinyg"


def test_what_pip_knows_no_hash_of_is_refused() -> None:
    with pytest.raises(AmlError, match="AML_NO_HASH"):
        lock_from_report(json.dumps({"install": [_item("attrs")]}))


def test_a_file_of_this_computer_of_which_an_old_pip_tells_no_hash_is_hashed_here(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, "tinya")
    item = _item("tinya")
    item["download_info"] = {"url": wheel.as_uri(), "archive_info": {}}
    (package,) = lock_from_report(json.dumps({"install": [item]})).packages
    assert package.wheels is not None
    assert package.wheels[0].hashes == {"sha256": hashlib.sha256(wheel.read_bytes()).hexdigest()}
    wheel.unlink()
    with pytest.raises(AmlError, match="AML_NO_HASH"):
        lock_from_report(json.dumps({"install": [item]}))


@pytest.mark.parametrize(
    "report",
    [
        "",
        "[" * 100_000,
        "[]",
        '{"install": [{}]}',
        '{"install": [{"download_info": [], "metadata": {}}]}',
        json.dumps({"install": [_item("attrs", hashes={"sha256": 5})]}),
        json.dumps(
            {"install": [{**_item("attrs", hashes={"sha256": "0"}), "metadata": {"name": "attrs", "version": "?"}}]}
        ),
    ],
)
def test_what_is_no_report_is_refused_in_words(report: str) -> None:
    with pytest.raises(AmlError, match="pip ended with an error: its report"):
        lock_from_report(report)


def test_a_folder_has_no_hash_in_pips_report_and_is_in_the_lock_as_a_folder(tmp_path: Path) -> None:
    item: dict[str, Any] = {
        "download_info": {"url": tmp_path.as_uri(), "dir_info": {}},
        "metadata": {"name": "Tiny_D", "version": "4.0"},
    }
    (package,) = lock_from_report(json.dumps({"install": [item]})).packages
    assert package.name == "tiny-d"
    assert package.directory is not None
    assert package.directory.path == str(tmp_path)
    item["download_info"]["dir_info"] = {"editable": True}
    with pytest.raises(AmlError) as refused:
        lock_from_report(json.dumps({"install": [item]}))
    assert (refused.value.code, refused.value.arguments["package"]) == ("AML_EDITABLE_NEEDS_UV", "tiny-d")
