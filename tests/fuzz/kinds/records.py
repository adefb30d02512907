"""Our own records, one at a time: read by whom they are for, then written anew by the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st

from amlwizard.core import receipt
from amlwizard.core.built_store import built_wheels
from amlwizard.core.choices import Choices
from amlwizard.core.diagnose.records import record_contents, run_contents
from amlwizard.core.diagnose.redaction import Redactor
from amlwizard.core.environment.marker import read_marker, write_marker
from amlwizard.core.interpreters import Origin, environment_origin, forget_origins, minor_name, note_origin, origins
from amlwizard.core.journal import read_journal, write_journal
from amlwizard.core.python_install import described_archives
from amlwizard.core.records import read_record
from amlwizard.core.run_record import read_run_record
from amlwizard.core.store.ledger import Noted, forget_files, note_files, noted_files
from amlwizard.core.uv_install import is_changed
from amlwizard.core.workspace_lock import other_run
from amlwizard.start_settings import as_last_time
from amlwizard.ui.wishes import form_of
from amlwizard.window_memory import WindowMemory
from tests.fuzz.ingredients import documents
from tests.fuzz.kind import Kind
from tests.fuzz.kinds.hosts import LINUX
from tests.fuzz.kinds.samples import RECORDS, SHA, TAG
from tests.fuzz.rules import BreachError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.fuzz.place import Place

_inputs = st.sampled_from(sorted(RECORDS)).flatmap(lambda name: st.tuples(st.just(name), documents([RECORDS[name]])))


def lay_record(place: Place, name: str, content: bytes) -> None:
    """Write a record, the places of this trial in it."""
    content = content.replace(b"ROOT", str(place.root).encode()).replace(b"TMP", str(place.tmp).encode())
    place.put(place.root / name, content)


def _lay(place: Place, value: tuple[str, bytes]) -> None:
    lay_record(place, *value)


def _probes(place: Place, value: tuple[str, bytes]) -> Iterator[Callable[[], object]]:
    path = place.root / value[0]
    yield lambda: _readable(path)
    name = path.name if not path.name.startswith(".aml") else "marker"
    yield lambda: _READERS[name](place)
    yield lambda: Redactor(["secret-secret"], place.home).value(
        [record_contents(place.workspace), run_contents(place.workspace)]
    )


def _readable(path: Path) -> None:
    record = read_record(path)
    if record is not None and not isinstance(record, dict):
        raise BreachError("a record that is no object")


def _journal(place: Place) -> None:
    journal = read_journal(place.workspace)
    if journal is not None:
        write_journal(place.workspace, journal)
        _same(read_journal(place.workspace), journal)


def _run(place: Place) -> None:
    record = read_run_record(place.workspace.runs / TAG)
    if record is not None:
        repr(record)
        _ = (record.birth.at < 1, record.since < "2", [folder.parent for folder in record.folders])


def _receipt(place: Place) -> None:
    workspace = place.workspace
    before = set(receipt.created(workspace))
    receipt.note_created(workspace, workspace.venv, kind="folder")
    listed = set(receipt.created(workspace))  # a damaged one is written anew, with what is evidently ours
    _same(listed & {*before, ".venv"}, {*before, ".venv"})


def _marker(place: Place) -> None:
    marker = read_marker(place.workspace.venv)
    if marker is not None:
        write_marker(place.workspace.venv, marker)
        _same(read_marker(place.workspace.venv), marker)


def _store(place: Place) -> None:
    workspace = place.workspace
    before = noted_files(workspace)
    note_files(workspace, {workspace.downloads / "new.whl": Noted(SHA, 5)})
    _same(noted_files(workspace), {**before, "new.whl": Noted(SHA, 5)})
    forget_files(workspace, ["new.whl"])


def _python(place: Place) -> None:
    workspace = place.workspace
    known = origins(workspace)
    _ = [(origin.url, minor_name(origin)) for origin in known.values()]
    environment_origin(workspace)
    note_origin(workspace, Origin("new", "3.12.1", "new.tar.gz", SHA, "key", {}))
    _same(set(origins(workspace)), {*known, "new"})
    forget_origins(workspace, ["new.tar.gz"])


def _window(place: Place) -> None:
    memory = WindowMemory(place.workspace.runtime)  # any folder will do
    known, geometry = memory.known(), memory.geometry()
    form_of(as_last_time(Choices(root=place.root), memory.last()))
    new = place.root / "new"
    memory.add(new)
    if memory.known():  # a record of a newer amlwizard stays as it is
        _same((memory.known(), memory.geometry()), ((new, *(root for root in known if root != new))[:100], geometry))


_READERS: Final[dict[str, Callable[[Place], Any]]] = {
    "journal.json": _journal,
    "run.json": _run,
    "lock-1.json": lambda place: other_run(place.workspace),
    "receipt.json": _receipt,
    "marker": _marker,
    "uv.json": lambda place: is_changed(place.workspace),
    "store.json": _store,
    "python.json": _python,
    "window.json": _window,
    "source.json": lambda place: built_wheels(place.workspace),
    "cpython-3.11.9.tar.gz.json": lambda place: described_archives(place.workspace, "3.11", LINUX),
}


def _same(found: object, expected: object) -> None:
    if found != expected:
        raise BreachError(f"what was written is read as something else: {found!r:.300} and not {expected!r:.300}")


KIND: Final = Kind("records", _inputs, _lay, _probes)
