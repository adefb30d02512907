"""The interpreter archive of a bundle: only what is right gets into the store, and only what is right is taken from it."""

from __future__ import annotations

import json
import tarfile
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from amlwizard.core.bundle.interpreters import fetch_with_archive, read_kept
from amlwizard.core.bundle.names import PLATFORMS
from amlwizard.core.bundle.targets import Target
from amlwizard.core.choices import Choices
from amlwizard.core.detection import find_bundled_uv
from amlwizard.core.errors import AmlError
from amlwizard.core.python_install import PythonArchive, find_archive, kept_archive, pick_archive
from tests.support.interpreter_archives import windows_entry
from tests.support.run_contexts import new_run
from tests.support.wheels import sha256_of

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.context import RunContext

WINDOWS = Target("windows-x86_64", "3.12.9")


@pytest.fixture
def run(tmp_path: Path) -> RunContext:
    """A run that has not done anything yet."""
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("tinya\n")
    return new_run(Choices(tmp_path / "aml", requirements=requirements), tmp_path / "tmp", uv=find_bundled_uv())


def listed(file: Path, version: str = "3.12.9") -> PythonArchive:
    """Return a file as an archive for Windows out of somebody's list, as it is now."""
    entry = windows_entry(version, file.as_uri(), sha256_of(file)) | {"secret": "https://user:s3cr3t@files.example.org"}
    archive = pick_archive({"key": entry}, version, WINDOWS.host, base="")
    assert archive is not None
    return archive


async def test_an_archive_is_kept_with_what_uv_reads_of_its_description(run: RunContext, tmp_path: Path) -> None:
    file = tmp_path / "cpython-3.12.9+1.tar.gz"
    file.write_bytes(b"an interpreter")
    await fetch_with_archive(run, listed(file), [])
    kept = kept_archive(run.workspace, "3.12", WINDOWS.host)
    assert kept is not None
    again, stored, description = read_kept(run, kept)
    assert stored == run.workspace.downloads / file.name
    assert again.sha256 == sha256_of(file)
    assert "s3cr3t" not in description
    assert str(tmp_path) not in description
    assert json.loads(description)["key"]["url"] == "cpython-3.12.9%2B1.tar.gz"
    assert kept_archive(run.workspace, "3.11", WINDOWS.host) is None
    assert kept_archive(run.workspace, "3.12", Target("macos-arm64", "3.12.9").host) is None


async def test_an_archive_that_has_changed_is_not_taken_from_the_store(run: RunContext, tmp_path: Path) -> None:
    for version in ("3.12.8", "3.12.9"):
        file = tmp_path / f"cpython-{version}.tar.gz"
        file.write_bytes(version.encode())
        await fetch_with_archive(run, listed(file, version), [])
    newest = run.workspace.downloads / "cpython-3.12.9.tar.gz"
    kept = kept_archive(run.workspace, "3.12", WINDOWS.host)
    assert kept is not None
    assert str(kept.version) == "3.12.9"
    newest.write_bytes(b"3.12.X")
    kept = kept_archive(run.workspace, "3.12", WINDOWS.host)
    assert kept is not None
    assert str(kept.version) == "3.12.8"
    newest.with_name(f"{newest.name}.json").write_text("{")
    assert kept_archive(run.workspace, "3.12.9", WINDOWS.host) is None


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_uvs_own_list_has_an_archive_for_every_platform(run: RunContext, platform: str) -> None:
    """The list is that of the real uv; it names its computers in its own way, and most of them only where it is asked."""
    named = await find_archive(run, "3.12", Target(platform, "3.12.9").host)
    assert named is not None
    assert named.entry is not None
    system, _, machine = platform.partition("-")
    told = {"macos": "darwin"}.get(system, system), {"arm64": "aarch64"}.get(machine, machine)
    assert (named.entry["os"], named.entry["arch"]["family"]) == told


async def test_an_archive_of_uvs_own_list_is_held_against_uvs_own_hash(run: RunContext, tmp_path: Path) -> None:
    """uv tells no hashes, so it unpacks the file itself, for another platform as well; a wrong one does not get on."""
    named = await find_archive(run, "3.12", WINDOWS.host)
    assert named is not None
    assert named.sha256 is None
    assert "windows" in named.key
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / "python.exe").write_bytes(b"not what uv knows")
    file = tmp_path / urlsplit(named.url).path.split("/")[-2] / named.filename
    file.parent.mkdir()
    with tarfile.open(file, "w:gz") as archive:
        archive.add(tmp_path / "python", "python")
    with pytest.raises(AmlError) as caught:
        await fetch_with_archive(run, replace(named, url=file.as_uri()), [])
    assert caught.value.code == "AML_HASH_REFUSED"
    assert not list(run.workspace.downloads.iterdir())
    assert kept_archive(run.workspace, "3.12", WINDOWS.host) is None
