"""What changes the digest, and what does not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from packaging.pylock import Pylock

from amlwizard.core.digest import requirements_digest
from amlwizard.core.requirements import parse_closure

if TYPE_CHECKING:
    from pathlib import Path

FIRST, SECOND = "a" * 64, "b" * 64


def digest(folder: Path, text: str, python: str = "3.11", **environ: str) -> str:
    path = folder / "requirements.txt"
    path.write_text(text, encoding="utf-8")
    return requirements_digest(parse_closure(path, environ), python)


def test_form(tmp_path: Path) -> None:
    assert re.fullmatch(r"[0-9a-f]{12}", digest(tmp_path, "numpy\n"))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("numpy==2.0\npandas\n", "# why\npandas\n\nnumpy == 2.0  # this\n"),
        ("Scikit_Learn[b,a]>1,<2\n", "scikit-learn[a, b] <2, >1\n"),
        ("x ; python_version > '3.8'\n", 'x;python_version>"3.8"\n'),
        ("-i https://index.example.org/a\nx\n", "--index-url https://me:pw@index.example.org/b\nx\n"),
        ("x @ https://me:pw@files.example.org/x-1.0.zip\n", "x @ https://files.example.org/x-1.0.zip\n"),
        (
            f"x==1 --hash=sha256:{FIRST} --hash=sha256:{SECOND}\n",
            f"x==1 \\\n  --hash=sha256:{SECOND} \\\n  --hash=sha256:{FIRST}\n",
        ),
        ("--trusted-host index.example.org\nx\n", "x\nx\n"),
    ],
)
def test_what_does_not_count(tmp_path: Path, first: str, second: str) -> None:
    assert digest(tmp_path, first) == digest(tmp_path, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("x\n", "y\n"),
        ("x==1\n", "x==2\n"),
        ("x\n", "x[a]\n"),
        ("x\n", "x ; os_name == 'nt'\n"),
        ("x\n", "--pre\nx\n"),
        ("x\n", "--no-binary x\nx\n"),
        (f"x==1 --hash=sha256:{FIRST}\n", f"x==1 --hash=sha256:{SECOND}\n"),
        ("x @ https://files.example.org/x-1.0.zip\n", "x @ https://files.example.org/x-2.0.zip\n"),
    ],
)
def test_what_counts(tmp_path: Path, first: str, second: str) -> None:
    assert digest(tmp_path, first) != digest(tmp_path, second)


def test_the_minor_version_of_python_counts(tmp_path: Path) -> None:
    assert digest(tmp_path, "x\n", "3.11.7") == digest(tmp_path, "x\n", "3.11")
    assert digest(tmp_path, "x\n", "3.12.1") != digest(tmp_path, "x\n", "3.11.7")


def test_b83_a_change_in_a_nested_file_is_noticed(tmp_path: Path) -> None:
    nested = tmp_path / "sub"
    nested.mkdir()
    (nested / "base.txt").write_text("tinya\n", encoding="utf-8")
    (nested / "c.txt").write_text("tinya<2\n", encoding="utf-8")
    (nested / "dev.txt").write_text("-r base.txt\n-c c.txt\n", encoding="utf-8")
    before = digest(tmp_path, "-r sub/dev.txt\n")
    assert digest(tmp_path, "-r sub/dev.txt\n") == before
    (nested / "c.txt").write_text("tinya<2  # a comment only\n", encoding="utf-8")
    assert digest(tmp_path, "-r sub/dev.txt\n") == before
    (nested / "c.txt").write_text("tinya<3\n", encoding="utf-8")
    changed = digest(tmp_path, "-r sub/dev.txt\n")
    assert changed != before
    (nested / "base.txt").write_text("tinya\ntinyb\n", encoding="utf-8")
    assert digest(tmp_path, "-r sub/dev.txt\n") not in {before, changed}


def test_a_constraint_is_no_requirement(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("y<2\n", encoding="utf-8")
    assert digest(tmp_path, "x\n-c c.txt\n") != digest(tmp_path, "x\n-r c.txt\n")


@pytest.mark.parametrize("name", ["pyproject.toml", "setup.py", "setup.cfg"])
def test_b83_project_files_of_local_folders_count(tmp_path: Path, name: str) -> None:
    project = tmp_path / "mine"
    project.mkdir()
    before = digest(tmp_path, "-e ./mine\n")
    (project / "README").write_text("text", encoding="utf-8")
    assert digest(tmp_path, "-e ./mine\n") == before
    (project / name).write_text("dependencies", encoding="utf-8")
    assert digest(tmp_path, "-e ./mine\n") != before
    assert digest(tmp_path, "-e ./mine\n") != digest(tmp_path, "./mine\n")


def test_the_content_of_a_local_archive_counts(tmp_path: Path) -> None:
    archive = tmp_path / "x-1.0.zip"
    archive.write_bytes(b"one")
    before = digest(tmp_path, "./x-1.0.zip\n")
    archive.write_bytes(b"two")
    assert digest(tmp_path, "./x-1.0.zip\n") != before


def lock(
    version: str = "1.0", url: str = "https://files.example.org/x-1.0-py3-none-any.whl", sha256: str = FIRST
) -> Pylock:
    wheel = {"url": url, "name": f"x-{version}-py3-none-any.whl", "hashes": {"sha256": sha256}}
    folder = {"name": "mine", "directory": {"path": "mine", "editable": True}}
    packages = [{"name": "x", "version": version, "wheels": [wheel]}, folder]
    return Pylock.from_dict({"lock-version": "1.0", "created-by": "tests", "packages": packages})


def test_locks(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    before = requirements_digest(lock(), "3.11", folder=tmp_path)
    assert requirements_digest(lock(url="https://me:pw@index.example.org/w.whl"), "3.11.2", folder=tmp_path) == before
    assert requirements_digest(lock(sha256=SECOND), "3.11", folder=tmp_path) != before
    assert requirements_digest(lock(version="1.1"), "3.11", folder=tmp_path) != before
    assert requirements_digest(lock(), "3.12", folder=tmp_path) != before
    (tmp_path / "mine" / "pyproject.toml").write_text("", encoding="utf-8")
    assert requirements_digest(lock(), "3.11", folder=tmp_path) != before
