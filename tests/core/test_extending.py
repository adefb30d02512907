"""How what was added by hand is told to a resolver and noted in a lock."""

from __future__ import annotations

from pathlib import Path

from packaging.pylock import Pylock

from amlwizard.core.extending import in_store
from amlwizard.core.paths import Workspace

HASHES = {"sha256": "0" * 64}


def test_a_wheel_that_was_found_in_the_store_is_named_by_its_place_beside_the_lock() -> None:
    workspace = Workspace(Path("/data/my 数据").absolute())
    here, elsewhere = workspace.downloads / "a-1.0-py3-none-any.whl", Path("/other/b-1.0-py3-none-any.whl").absolute()
    remote = "https://files.example.org/c-1.0-py3-none-any.whl"
    lock = Pylock.from_dict(
        {
            "lock-version": "1.0",
            "created-by": "test",
            "packages": [
                {"name": "a", "version": "1.0", "wheels": [{"url": here.as_uri(), "hashes": HASHES}]},
                {"name": "aa", "version": "1.0", "archive": {"path": str(here), "hashes": HASHES}},
                {"name": "b", "version": "1.0", "wheels": [{"url": elsewhere.as_uri(), "hashes": HASHES}]},
                {"name": "c", "version": "1.0", "wheels": [{"url": remote, "hashes": HASHES}]},
                {"name": "d", "directory": {"path": str(workspace.downloads / "d"), "editable": True}},
            ],
        }
    )
    a, aa, b, c, d = in_store(lock, workspace).packages
    assert a.wheels is not None
    assert (a.wheels[0].url, a.wheels[0].path) == (None, "../downloads/a-1.0-py3-none-any.whl")
    assert aa.archive is not None
    assert aa.archive.path == "../downloads/a-1.0-py3-none-any.whl"
    assert [b, c, d] == list(lock.packages[2:])
