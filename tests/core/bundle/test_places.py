"""Where a bundle and its list of components may be written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amlwizard.core.bundle.places import check_place, check_sbom_place
from amlwizard.core.errors import RefusedError
from amlwizard.core.paths import Workspace
from tests.support.bundles import draft
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace with its folders."""
    workspace = Workspace(tmp_path / "aml")
    for folder in (workspace.downloads, workspace.runtime, workspace.venv / "bin", workspace.jobs):
        folder.mkdir(parents=True)
    return workspace


def refusal(out: Path, workspace: Workspace) -> tuple[str, str]:
    """Return why a place is refused, and which."""
    with pytest.raises(RefusedError) as caught:
        check_place(out, workspace)
    return caught.value.code, str(caught.value.arguments["path"])


def test_a_new_file_and_a_bundle_are_good_places(workspace: Workspace, tmp_path: Path) -> None:
    for folder in (tmp_path, workspace.root, workspace.jobs):
        out = folder / "a.amlbundle"
        check_place(out, workspace)
        draft().pack(out)
        check_place(out, workspace)
    body = out.read_bytes()
    out.write_bytes(body[: len(body) // 2])
    check_place(out, workspace)  # a damaged one is no loss
    for left in (b"", body[: len(body) // 3]):
        out.with_name("a.amlbundle.part").write_bytes(left)
        check_place(out, workspace)


def test_no_place_at_all(workspace: Workspace, tmp_path: Path) -> None:
    assert refusal(tmp_path, workspace)[0] == "AML_BUNDLE_OUT_IS_FOLDER"
    assert refusal(tmp_path / "a" / "b", workspace)[0] == "AML_BUNDLE_OUT_NO_FOLDER"


def test_the_places_of_the_workspace_are_not_written_to(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "way").symlink_to(workspace.runtime, target_is_directory=True)
    for out in (
        workspace.downloads / "six-1.0-py3-none-any.whl",
        workspace.lock,
        workspace.python,
        workspace.staged,
        workspace.root / "jobs" / ".." / "runtime" / "new.amlbundle",
        tmp_path / "way" / "new.amlbundle",
    ):
        out.parent.mkdir(exist_ok=True)
        assert refusal(out, workspace) == ("AML_BUNDLE_OUT_OWNED", str(out))


def test_a_file_that_is_no_bundle_is_not_replaced(workspace: Workspace, tmp_path: Path) -> None:
    letter = tmp_path / "letter.docx"
    letter.write_text("mine")
    wheel = make_wheel(tmp_path, "tinya")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    for out in (letter, wheel, tmp_path / "link", tmp_path / "circle"):
        assert refusal(out, workspace) == ("AML_BUNDLE_OUT_TAKEN", str(out))


def test_a_foreign_file_beside_it_is_not_lost(workspace: Workspace, tmp_path: Path) -> None:
    part = tmp_path / "a.amlbundle.part"
    part.write_text("mine")
    assert refusal(tmp_path / "a.amlbundle", workspace) == ("AML_BUNDLE_OUT_TAKEN", str(part))
    part.unlink()
    part.symlink_to(draft().pack(tmp_path / "other.amlbundle"))
    assert refusal(tmp_path / "a.amlbundle", workspace) == ("AML_BUNDLE_OUT_TAKEN", str(part))


def test_the_list_of_components_is_not_written_over_the_bundle_or_into_it(tmp_path: Path) -> None:
    bundle = draft().pack(tmp_path / "a.amlbundle")
    folder = draft().lay_out(tmp_path / "folder")
    (tmp_path / "link").symlink_to(bundle)
    check_sbom_place(tmp_path / "a.json", bundle)
    check_sbom_place(tmp_path / "a.json", folder)
    for sbom, of in (
        (bundle, bundle),
        (tmp_path / "link", bundle),
        (folder / "a.json", folder),
        (folder / "wheels" / "a.json", folder),
        (folder / "manifest.json", folder),
    ):
        with pytest.raises(RefusedError) as caught:
            check_sbom_place(sbom, of)
        assert caught.value.code == "AML_BUNDLE_SBOM_PLACE"
