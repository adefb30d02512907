"""Whole workspaces with damaged records and locks, through what looks at all of them and what removes by them."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st

from amlwizard.core.before import before_last_change, note_before
from amlwizard.core.births import this_boot
from amlwizard.core.choices import Choices
from amlwizard.core.dead_runs import clear_dead_runs, left_by_dead_runs
from amlwizard.core.environment.by_hand import find_by_hand, wanted_by_user
from amlwizard.core.environment.record_check import check_records
from amlwizard.core.environment.relink import relink_moved
from amlwizard.core.environment.required import required_names
from amlwizard.core.environment.state import inspect_environment
from amlwizard.core.own_parts import OwnParts
from amlwizard.core.run_record import PREFIX
from amlwizard.core.store.needs import find_needs
from amlwizard.core.store.report import store_content
from amlwizard.core.store.survey import survey
from amlwizard.core.uninstall import Removal, check_receipt, remove_listed, remove_records
from amlwizard.core.wish import make_wish, unfinished_wish
from tests.fuzz.ingredients import damaged, documents, json_bytes, mutated, texts
from tests.fuzz.kind import Kind
from tests.fuzz.kinds.hosts import LINUX, PYTHON
from tests.fuzz.kinds.locks import lock_files
from tests.fuzz.kinds.records import lay_record
from tests.fuzz.kinds.samples import BOOT, DIGEST, LOCAL_LOCK, LOCK, LOCKS, RECORDS, TAG, toml_bytes
from tests.fuzz.place import TEXT
from tests.fuzz.rules import BreachError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from amlwizard.core.running import Remains
    from tests.fuzz.place import Place

_SITE: Final = ".venv/lib/python3.11/site-packages"
_INFO: Final = f"{_SITE}/tinya-1.0.dist-info"
_METADATA: Final = (
    b"Name: tinya\nVersion: 1.0\nRequires-Dist: x>1; python_version > '3'\nRequires-Dist: y[z\n",
    b"Requires-Dist: x; extra == 'a' and '3' in python_version\n" * 20,
    b"Requires-Dist: x; " + b"(" * 3000 + b"os_name == 'x'" + b")" * 3000,
    b"",
)
_RECORD: Final = (
    b"tinya.py,sha256=abc,3\n../../../../keep.txt,,\n",
    b"tinya.py,sha256=abc,3\n/etc/passwd,,\n",
    b"\0,,\n",
    b'"a\nb",x',
    b",\n",
)
_ORIGINS: Final[tuple[Any, ...]] = (
    {"url": "https://files.example.org/tinya-1.0-py3-none-any.whl", "archive_info": {"hashes": {"sha256": "a" * 64}}},
    {"url": "file:///x/tinya-1.0-py3-none-any.whl", "archive_info": {"hash": "sha256=" + "a" * 64}},
    {"url": "file:///x", "dir_info": {"editable": True}, "subdirectory": "y"},
    {"url": "https://git.example.org/r", "vcs_info": {"vcs": "git", "commit_id": "b" * 40}},
)
_CONFIG: Final = b"home = /usr/bin\nversion_info = 3.11.9\nrelocatable = true\n"
_NOTED: Final = (b"4000000 1.5\n1 1.0\n", b"1 nan\n", b"1e5 2\n", b"1 1e999\n", b"9" * 5000 + b" 1\n", b"\xff\n1 1")

_records = st.fixed_dictionaries({}, optional={name: documents([record]) for name, record in RECORDS.items()})
_right_records = st.fixed_dictionaries(
    {}, optional={name: damaged([record]).map(json_bytes) for name, record in RECORDS.items()}
)
_locks = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(LOCKS, lock_files | st.just(toml_bytes(LOCK)) | st.just(toml_bytes(LOCAL_LOCK)))
)
_installed = st.fixed_dictionaries(
    {},
    optional={
        f"{_INFO}/METADATA": mutated(st.sampled_from(_METADATA), (b"Requires-Dist: ", b";")),
        f"{_INFO}/RECORD": mutated(st.sampled_from(_RECORD), (b'"', b",", b"../")),
        f"{_INFO}/direct_url.json": documents(_ORIGINS),
        f"{_INFO}/INSTALLER": st.sampled_from((b"pip\n", b"uv", b"\xff")),
        f"{_INFO}/REQUESTED": st.just(b""),
        ".venv/pyvenv.cfg": mutated(st.just(_CONFIG), (b"=", b"\0", b"home = ", b"version_info = ")),
        ".venv/bin/python": st.just(b"#!x"),
        f"runtime/runs/{TAG}/children": mutated(st.sampled_from(_NOTED)),
        f"{_SITE}/x.pth": st.just(b"import x"),
        "jobs/mine.txt": st.just(TEXT.encode()),
        "mine.txt": st.just(TEXT.encode()),
    },
)
_inputs = st.fixed_dictionaries(
    {
        "files": st.tuples(_records | _right_records, _locks, _installed).map(lambda parts: parts[0] | parts[1] | parts[2]),
        "links": st.sets(
            st.sampled_from(("runtime/tmp/out", "downloads/out", "python/out", "tools", "cache/out", ".venv/out")),
            max_size=1,
        ),
        "this boot": st.booleans(),
        "name": texts,
    }
)


@dataclass
class _FakeRunner:
    """Stands in for a runner that ends processes: it only notes what it would look for."""

    run_tag: str = "mine"
    asked: list[Remains] = field(default_factory=list)

    async def end_remains(self, remains: Remains) -> int:
        self.asked.append(remains)
        return 0


def _lay(place: Place, value: dict[str, Any]) -> None:
    for name, content in value["files"].items():
        boot = this_boot() if value["this boot"] else BOOT
        lay_record(place, name, content.replace(BOOT.encode(), boot.encode()))
    place.put(place.private / "x", b"")
    place.put(place.tmp / "other-1" / "x", b"")
    for link in value["links"] if os.name != "nt" else ():
        if not os.path.lexists(place.root / link):
            (place.root / link).parent.mkdir(parents=True, exist_ok=True)
            (place.root / link).symlink_to(place.files, target_is_directory=True)


def _probes(place: Place, value: dict[str, Any]) -> Iterator[Callable[[], object]]:
    workspace = place.workspace
    plain = Choices(root=place.root)
    yield lambda: repr(inspect_environment(workspace, DIGEST).arguments)
    yield lambda: make_wish(plain, workspace, {}).digest("3.11")
    yield lambda: make_wish(plain, workspace, {}, from_lock=True).digest("3.11")
    yield lambda: unfinished_wish(workspace)
    yield lambda: [package.requirement for package in wanted_by_user(find_by_hand(workspace))]
    yield lambda: [package.shown for package in find_by_hand(workspace) if package.sha256 or package.local_wheel]
    yield lambda: [
        required_names(found, "3.11.9") for found in check_records(workspace.venv, {"tinya": "1.0"}).distributions
    ]
    yield lambda: before_last_change(workspace)
    yield lambda: _store(place)
    yield lambda: left_by_dead_runs(workspace)
    yield lambda: _clear(place)
    yield lambda: note_before(workspace, workspace.lock)
    yield lambda: relink_moved(workspace)
    yield lambda: _uninstall(place, [name for name in ("jobs/mine.txt", "mine.txt") if name in value["files"]])


def _store(place: Place) -> None:
    workspace = place.workspace
    found = survey(workspace, find_needs(workspace, (PYTHON,), LINUX), Event())
    store_content(workspace, found, None)
    _ = (found.complete, found.own_lacks, found.freeable)


def _clear(place: Place) -> None:
    runner = _FakeRunner()
    cleared = asyncio.run(clear_dead_runs(place.workspace, runner))
    if cleared is not None:
        cleared.in_words("en")
    for remains in runner.asked:
        for folder in remains.places:
            own = folder.is_relative_to(place.root) and folder != place.root
            if not own and not (folder.parent == place.tmp and folder.name.startswith(PREFIX)):
                raise BreachError(f"whoever works in {str(folder)!r} would be ended")


def _uninstall(place: Place, mine: list[str]) -> None:
    workspace = place.workspace
    check_receipt(workspace)
    OwnParts(workspace)
    removal = Removal()
    remove_listed(workspace, removal, Event())
    remove_records(workspace, removal)
    for name in mine:
        if not (place.root / name).exists():
            raise BreachError(f"{name} of the user was removed")


KIND: Final = Kind("workspaces", _inputs, _lay, _probes)
