"""What every system's packages get, whatever makes them."""

from __future__ import annotations

import hashlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

import package

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_hash_of_every_file_is_in_the_list_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))

    def build(into: Path, _bundle: Path | None) -> list[Path]:
        made = [into / "amlwizard.run", into / "amlwizard.deb"]
        for file in made:
            file.write_bytes(file.name.encode())
        return made

    fake_linux = ModuleType("package_linux")
    fake_linux.build = build  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "package_linux", fake_linux)
    assert package.main(["linux", "--into", str(tmp_path)]) == 0
    listed = dict(reversed(line.split("  ")) for line in (tmp_path / "SHA256SUMS").read_text().splitlines())
    assert listed == {name: hashlib.sha256(name.encode()).hexdigest() for name in ("amlwizard.run", "amlwizard.deb")}
