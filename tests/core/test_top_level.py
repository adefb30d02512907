"""What of a requirements file a lock carries to another computer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from packaging.pylock import Pylock

from amlwizard.core.errors import RefusedError
from amlwizard.core.requirements import parse_closure
from amlwizard.core.top_level import TopLevel

if TYPE_CHECKING:
    from pathlib import Path

_HASH = "sha256:" + "a" * 64


def top_level(folder: Path, text: str, environ: dict[str, str] | None = None) -> TopLevel:
    """Return the top level of a requirements file with this text."""
    path = folder / "requirements.txt"
    path.write_text(text, encoding="utf-8")
    return TopLevel.of(parse_closure(path, environ or {}))


def test_requirements_constraints_and_options_travel(tmp_path: Path) -> None:
    (tmp_path / "more.txt").write_text("pandas[plot]>=2; python_version < '4'  # why\n", encoding="utf-8")
    (tmp_path / "limits.txt").write_text("scipy<2\n", encoding="utf-8")
    found = top_level(tmp_path, "--pre\n--only-binary=:all:\nnumpy~=2.0\n-r more.txt\n-c limits.txt\nnumpy~=2.0\n")
    assert found.requirements == (
        "--pre",
        "--only-binary :all:",
        "numpy~=2.0",
        "pandas[plot]>=2; python_version < '4'",
    )
    assert found.constraints == ("scipy<2",)


def test_hashes_travel_with_their_pins(tmp_path: Path) -> None:
    found = top_level(tmp_path, f"numpy==2.0 \\\n    --hash={_HASH}\n")
    (line,) = found.requirements
    closure = TopLevel((line,)).closure(tmp_path / "pylock.toml", {})
    assert closure.allowed_hashes == {"numpy": frozenset({_HASH})}


def test_what_is_of_this_computer_stays_here(tmp_path: Path) -> None:
    for name in ("folder", "editable"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").touch()
    (tmp_path / "links").mkdir()
    found = top_level(
        tmp_path,
        f"--find-links links\n--index-url {(tmp_path / 'links').as_uri()}\n./folder\n-e ./editable\n"
        f"x @ git+{tmp_path.as_uri()}@main\nnumpy\n",
    )
    assert found == TopLevel(("numpy",))


def test_addresses_travel_without_logins_and_with_variables_unfilled(tmp_path: Path) -> None:
    environ = {"TOKEN": "s3cr3t", "PART": "s3cr3t"}
    found = top_level(
        tmp_path,
        "--index-url https://user:s3cr3t@index.example.org/simple/\n"
        "--extra-index-url https://${TOKEN}@index.example.org/more/\n"
        "a @ https://user:s3cr3t@files.example.org/a-1.0-py3-none-any.whl\n"
        "b @ https://files.example.org/${PART}/b-1.0-py3-none-any.whl\n"
        "-e git+https://s3cr3t@files.example.org/c.git@main#egg=c\n",
        environ,
    )
    assert found.requirements == (
        "--index-url https://index.example.org/simple/",
        "--extra-index-url https://index.example.org/more/",
        "a @ https://files.example.org/a-1.0-py3-none-any.whl",
        "b @ https://files.example.org/${PART}/b-1.0-py3-none-any.whl",
        "git+https://files.example.org/c.git@main#egg=c",
    )


def test_a_lock_gives_back_what_it_was_given(tmp_path: Path) -> None:
    given = TopLevel(("--pre", "numpy>=2", "pandas"), ("scipy<2",))
    lock = Pylock.from_dict(
        {"lock-version": "1.0", "created-by": "tests", "packages": [], "tool": {"amlwizard": given.to_toml()}}
    )
    assert TopLevel.carried_by(lock) == given
    closure = given.closure(tmp_path / "pylock.toml", {})
    assert [entry.name for entry in closure.requirements] == ["numpy", "pandas"]
    assert [entry.name for entry in closure.constraints] == ["scipy"]
    assert closure.has_option("--pre")
    assert closure.needs_transcoding, "uv cannot read the lock in its place"
    assert closure.requirements_text() == "--pre\nnumpy>=2\npandas\n"


@pytest.mark.parametrize("table", [{}, {"amlwizard": 3}, {"amlwizard": {"requirements": "numpy"}}, {"amlwizard": {}}])
def test_a_lock_that_carries_nothing(table: dict[str, object]) -> None:
    lock = Pylock.from_dict({"lock-version": "1.0", "created-by": "tests", "packages": [], "tool": table})
    assert TopLevel.carried_by(lock).requirements == ()


@pytest.mark.parametrize(
    "line", ["-r other.txt", "--requirement=/x", "-c x", "-e .", "--find-links .", "--index-url file:///x"]
)
def test_lines_that_lead_to_files_are_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(RefusedError) as caught:
        TopLevel(("numpy", line)).closure(tmp_path / "pylock.toml", {})
    assert caught.value.code == "AML_SHARED_REQUIREMENTS"
