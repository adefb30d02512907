"""What a plan needs, and whether there is room for it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from amlwizard.core import planning
from amlwizard.core.choices import Choices
from amlwizard.core.errors import AmlError
from tests.support.run_contexts import new_run

if TYPE_CHECKING:
    from pathlib import Path

MILLION = 1_000_000


@pytest.mark.parametrize(
    ("disks", "small", "named"),
    [
        ({"downloads": 2, "cache": 2}, {1: 400, 2: 300}, None),
        ({"downloads": 2, "cache": 2}, {1: 400, 2: 299}, "downloads"),
        ({"downloads": 2, "cache": 3}, {1: 400, 2: 100, 3: 200}, None),
        ({"downloads": 2, "cache": 3}, {1: 400, 2: 100, 3: 199}, "cache"),
        ({"downloads": 2, "cache": 2}, {1: 199, 2: 400}, "aml"),
        ({"downloads": 1, "cache": 1}, {1: 300}, None),
        ({"downloads": 1, "cache": 1}, {1: 299}, "aml"),
    ],
)
def test_what_goes_onto_one_disk_is_needed_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disks: dict[str, int], small: dict[int, int], named: str | None
) -> None:
    """On simulated disks: 300 MB in all, of which 100 MB are fetched."""
    run = new_run(Choices(tmp_path / "aml"), tmp_path / "tmp")

    def device(folder: Path) -> int:
        return disks.get(folder.name, 1)

    def usage(folder: Path) -> SimpleNamespace:
        return SimpleNamespace(free=small[device(folder)] * MILLION)

    monkeypatch.setattr(planning, "_device", device)
    monkeypatch.setattr("amlwizard.core.planning.shutil.disk_usage", usage)
    if named is None:
        planning._refuse_small_disks(run, 300 * MILLION, 100 * MILLION)
        return
    with pytest.raises(AmlError) as refused:
        planning._refuse_small_disks(run, 300 * MILLION, 100 * MILLION)
    places = {"downloads": run.workspace.downloads, "cache": run.workspace.cache, "aml": run.workspace.root}
    assert (refused.value.code, refused.value.arguments["root"]) == ("AML_DISK_SPACE", str(places[named]))
