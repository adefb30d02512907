"""What is told of the libraries that a Linux package takes from a Debian, by the real dpkg-query and a small database."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import carried
import pytest
from devenv import ROOT, SetUpError

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="packages of Linux are made on Debian")
PACKAGES = {
    "libffi8": ("libffi (3.4.4+ds-1)", "3.4.4+ds-1+b1", ["/usr/lib/x86_64-linux-gnu/libffi.so.8"]),
    "libxcb-icccm4": ("xcb-util-wm", "0.4.1-1.1", ["/usr/lib/x86_64-linux-gnu/libxcb-icccm.so.4"]),
    "libc6-dev": ("glibc", "2.36-9", ["/usr/lib/x86_64-linux-gnu/libc.a"]),
    "liblzma5": ("xz-utils", "5.2.5-2.1", ["/usr/lib/x86_64-linux-gnu/liblzma.so.5"]),
    "libzstd-dev": ("libzstd", "1:1.5.4", ["/usr/lib/x86_64-linux-gnu/libzstd.a"]),
    "libother1": ("other", "1.0", ["/usr/lib/x86_64-linux-gnu/libother.so.1"]),
}


@pytest.fixture
def system(tmp_path: Path) -> Path:
    """A Debian of which there is nothing but the database."""
    database = tmp_path / "system" / "var" / "lib" / "dpkg"
    (database / "info").mkdir(parents=True)
    (database / "info" / "format").write_text("1\n")
    entries = []
    for name, (source, version, files) in PACKAGES.items():
        lines = [f"Package: {name}", "Status: install ok installed", "Maintainer: nobody", "Architecture: amd64"]
        lines += ["Multi-Arch: same", f"Source: {source}", f"Version: {version}", "Description: x"]
        entries.append("\n".join(lines))
        (database / "info" / f"{name}:amd64.list").write_text("\n".join(files) + "\n")
    (database / "status").write_text("\n\n".join(entries) + "\n")
    return tmp_path / "system"


def test_each_is_told_by_its_source_with_version_and_licence(system: Path) -> None:
    told = carried.components(["libffi.so.8", "libxcb-icccm.so.4"], system, *carried.UNPACKER)
    assert [(one["name"], one["version"], one["licenses"][0]["license"]["id"]) for one in told] == [
        ("glibc", "2.36-9", "LGPL-2.1-or-later"),
        ("libffi", "3.4.4+ds-1", "MIT"),
        ("libzstd", "1:1.5.4", "BSD-3-Clause"),
        ("xcb-util-wm", "0.4.1-1.1", "MIT"),
    ]
    assert told[1]["purl"] == "pkg:deb/debian/libffi@3.4.4%2Bds-1?arch=source"
    assert told[2]["purl"] == "pkg:deb/debian/libzstd@1%3A1.5.4?arch=source"


@pytest.mark.parametrize(("name", "said"), [("libunknown.so.1", "no package"), ("libother.so.1", "would carry other")])
def test_one_that_nobody_has_thought_of_ends_the_build(system: Path, name: str, said: str) -> None:
    with pytest.raises(SetUpError, match=said):
        carried.components([name], system)


def test_a_package_that_is_not_installed_there_ends_the_build(system: Path) -> None:
    with pytest.raises(SetUpError, match="libmissing-dev"):
        carried.components([], system, "libc6-dev", "libmissing-dev")


def test_what_is_in_the_public_domain_has_a_name_and_no_identifier(system: Path) -> None:
    (told,) = carried.components(["liblzma.so.5"], system)
    assert told["licenses"] == [{"license": {"name": "public domain"}}]


def test_what_comes_with_packages_or_python_is_told_elsewhere(tmp_path: Path) -> None:
    for path in ("frozen/_internal/libffi.so.8", "frozen/_internal/libQt6Core.so.6", "frozen/_internal/libssl.so.3"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    for path in ("site/PySide6/Qt/lib/libQt6Core.so.6", "python/lib/libssl.so.3"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).touch()
    assert carried.libraries(tmp_path / "frozen", (tmp_path / "site", tmp_path / "python")) == ["libffi.so.8"]


def test_the_licence_of_each_stands_in_the_notices() -> None:
    folder = ROOT / "packaging" / "licences"
    heads = {f"xcb-util-{name}": f"libxcb-{name}" for name in ("cursor", "image", "keysyms")}
    heads |= {"xcb-util": "libxcb-util", "xcb-util-renderutil": "libxcb-render-util", "xcb-util-wm": "libxcb-icccm"}
    heads |= {"glibc": "GNU C Library", "libzstd": "Zstandard", "xz-utils": "liblzma of XZ Utils"}
    told = (folder / "libraries.txt").read_text(encoding="utf-8")
    with_python = (folder / "python.txt").read_text(encoding="utf-8")
    for source in carried.LICENCES:
        if source == "libffi":
            assert "\nlibffi\n------\n" in with_python
        else:
            assert re.search(rf"^--- {heads.get(source, source)}(?![\w-])", told, re.MULTILINE), source
