"""Which hosts a plan names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.choices import Choices
from amlwizard.core.plan_hosts import distinct_hosts, package_hosts
from tests.support.run_contexts import new_run

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.context import RunContext

DEFAULT = "https://index.example.org/simple"


def run_of(tmp_path: Path, text: str, **more: object) -> RunContext:
    file = tmp_path / ("pylock.toml" if "lock-version" in text else "requirements.txt")
    (tmp_path / "wheels").mkdir()
    file.write_text(text, encoding="utf-8")
    choices = replace(Choices(tmp_path / "aml", requirements=file), **more)  # type: ignore[arg-type]
    return replace(new_run(choices, tmp_path / "tmp"), default_index=DEFAULT)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tinya\n", ("index.example.org",)),
        ("--no-index\n--find-links wheels\ntinya\n", ()),
        ("--index-url file:///srv/simple\ntinya\n", ()),
        ("--index-url https://other.example.org:8443/simple\ntinya\n", ("other.example.org:8443",)),
        ("--no-index\n-f https://files.example.org/wheels\ntinya\n", ("files.example.org",)),
        (
            "--no-index\ntinyd @ git+https://t0ken@git.example.org/tinyd\ntinye @ https://files.example.org/tinye-1.tar.gz\n",
            ("git.example.org", "files.example.org"),
        ),
    ],
)
def test_requirements_name_what_is_asked(tmp_path: Path, text: str, expected: tuple[str, ...]) -> None:
    assert package_hosts(run_of(tmp_path, text)) == expected


def test_places_that_were_chosen_count_as_well(tmp_path: Path) -> None:
    chosen = {"index_url": "file:///srv/simple", "find_links": ("/srv/wheels", "https://files.example.org/wheels")}
    assert package_hosts(run_of(tmp_path, "tinya\n", **chosen)) == ("files.example.org",)


def test_a_lock_names_the_hosts_of_its_files_and_the_index_for_what_was_added(tmp_path: Path) -> None:
    run = run_of(
        tmp_path,
        f"""lock-version = "1.0"
created-by = "another"
[[packages]]
name = "tinya"
wheels = [
    {{url = "https://files.example.org/tinya-1.0-py3-none-any.whl", hashes = {{sha256 = "{"0" * 64}"}}}},
    {{url = "file:///srv/tinya-1.0-py2-none-any.whl", hashes = {{sha256 = "{"0" * 64}"}}}},
]
[[packages]]
name = "tinyd"
vcs = {{type = "git", url = "https://git.example.org/tinyd", commit-id = "{"0" * 40}"}}
""",
    )
    assert package_hosts(run) == ("files.example.org", "git.example.org")
    run.wish = replace(run.wish, added=("tinyx",))
    assert package_hosts(run) == ("files.example.org", "git.example.org", "index.example.org")


def test_files_and_what_is_no_address_have_no_host() -> None:
    urls = [
        None,
        "",
        "wheels/x.whl",
        "//server/x.whl",
        "file:///srv/x.whl",
        "file://server/share/x.whl",
        "http://[x",
        "https://${HOST}/x",
    ]
    assert distinct_hosts([*urls, "https://bob:secret@files.example.org/x", "https://files.example.org/y"]) == (
        "files.example.org",
    )
