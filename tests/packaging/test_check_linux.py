"""What the check of the Linux packages looks at before it tries them."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest
from devenv import SetUpError

if sys.platform == "win32":
    pytest.skip("the packages of Linux are checked on Linux", allow_module_level=True)

import check_linux
import fleet_check
from linux_trial import CheckError

FORM = "amlwizard-1.0-linux-x86_64"
COMPONENTS = ("python", "qt", "openssl", "pyside6-essentials")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Packages of one form, with papers that belong to them."""
    components: list[dict[str, object]] = [{"name": name} for name in COMPONENTS]
    components.append({"name": "uv", "hashes": [{"alg": "SHA-256", "content": digest("uv")}]})
    texts = {
        f"{FORM}.deb": "deb",
        f"{FORM}.run": "run",
        f"{FORM}.cdx.json": json.dumps({"components": components}),
        f"{FORM}-notices.txt": "GNU LESSER GENERAL PUBLIC LICENSE",
        f"{FORM}-executables.txt": f"{digest('uv')}  _internal/uv/uv\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "SHA256SUMS").write_text("".join(f"{digest(text)}  {name}\n" for name, text in texts.items()))
    return tmp_path


def change(folder: Path, ending: str, text: str) -> None:
    """Write a paper anew, and its hash."""
    sums, file = folder / "SHA256SUMS", folder / f"{FORM}{ending}"
    sums.write_text(sums.read_text().replace(digest(file.read_text()), digest(text)))
    file.write_text(text)


def test_papers_that_belong_to_the_packages_are_right(folder: Path) -> None:
    check_linux.look_at_papers(folder, FORM)


@pytest.mark.parametrize("ending", [".run", ".cdx.json", "-notices.txt", "-executables.txt"])
def test_a_file_that_changed_or_is_gone_is_named(folder: Path, ending: str) -> None:
    (folder / f"{FORM}{ending}").write_text("other")
    with pytest.raises(CheckError, match=f"{FORM}{ending}"):
        check_linux.look_at_papers(folder, FORM)
    (folder / f"{FORM}{ending}").unlink()
    with pytest.raises(CheckError, match=f"{FORM}{ending}"):
        check_linux.look_at_papers(folder, FORM)


def test_a_package_that_is_not_in_the_list_is_named(folder: Path) -> None:
    (folder / f"{FORM}.tar.zst").write_text("new")
    with pytest.raises(CheckError, match=r"tar\.zst is not in SHA256SUMS"):
        check_linux.look_at_papers(folder, FORM)


def test_papers_that_say_too_little_are_wrong(folder: Path) -> None:
    whole = (folder / f"{FORM}.cdx.json").read_text()
    change(folder, ".cdx.json", whole.replace('"openssl"', '"other"'))
    with pytest.raises(CheckError, match="lacks openssl"):
        check_linux.look_at_papers(folder, FORM)
    change(folder, ".cdx.json", whole.replace(digest("uv"), digest("other")))
    with pytest.raises(CheckError, match="the uv in the SBOM"):
        check_linux.look_at_papers(folder, FORM)
    change(folder, ".cdx.json", whole)
    change(folder, "-notices.txt", "MIT")
    with pytest.raises(CheckError, match="LGPL"):
        check_linux.look_at_papers(folder, FORM)


@pytest.mark.parametrize("form", [FORM, f"{FORM}-complete"])
def test_the_packages_of_one_form_begin_alike(form: str) -> None:
    assert {check_linux.stem(Path(f"{form}{ending}")) for ending in check_linux.ENDINGS} == {form}


def test_the_fleet_gets_the_online_package(folder: Path) -> None:
    (folder / f"{FORM}-complete.deb").touch()
    assert fleet_check.package_in(folder) == folder / f"{FORM}.deb"
    (folder / f"{FORM}.deb").unlink()
    with pytest.raises(SetUpError, match="package linux"):
        fleet_check.package_in(folder)
