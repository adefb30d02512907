"""Locks: those that a user gives, those of the workspace, and what is noted in them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st

from amlwizard.core.choices import Choices
from amlwizard.core.diagnose.computer import locked_addresses
from amlwizard.core.digest import requirements_digest
from amlwizard.core.errors import AmlError
from amlwizard.core.extended_lock import added_names, added_requirements, added_versions, extended, without_added
from amlwizard.core.lock import FileKind, alternatives, lock_digest, lock_text, read_lock, restrict_to_hashes, scrub, select
from amlwizard.core.requirements import is_pylock
from amlwizard.core.shared_lock import check_given, offering, shared_lock
from amlwizard.core.top_level import TopLevel
from amlwizard.core.wish import make_wish
from tests.fuzz.ingredients import damaged, mutated, texts
from tests.fuzz.kind import Kind
from tests.fuzz.kinds.hosts import LINUX, PYTHON
from tests.fuzz.kinds.samples import BUNDLE_LOCK, LOCAL_LOCK, LOCK, SHA, toml_bytes
from tests.fuzz.rules import BreachError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.fuzz.place import Place

_MORE: Final = (
    *(
        "1.0",
        "1.1",
        "2.0",
        "9" * 5000,
        "../../x-1-py3-none-any.whl",
        "x-1-py3-none-any.whl",
        "x-1.tar.gz",
        "a/b",
        "CON",
        "x\0y.whl",
    ),
    *(
        "https://files.example.org/../x-1-py3-none-any.whl",
        "https://u:p@h/x-1-py3-none-any.whl",
        "https://h/%2e%2e%2fx-1-py3-none-any.whl",
    ),
    *(
        "python_version < '3'",
        "(" * 3000,
        "extra == 'x'",
        "'x' in extras",
        "os_name == 'x' and" * 500,
        "A_b",
        SHA.upper(),
        "sha256",
    ),
)
_values = st.one_of(
    texts, st.sampled_from(_MORE), st.integers(-2, 2), st.booleans(), st.lists(texts, max_size=2), st.just({}), st.floats()
)
_right = damaged((LOCK, BUNDLE_LOCK, LOCAL_LOCK), _values).map(toml_bytes)
_NONE: Final = (
    *(
        b"",
        b"a = " + b"[" * 30_000,
        b"a." * 30_000 + b"b = 1",
        b'lock-version = "1.0"\ncreated-by = "x"\npackages = []',
        b"\xff\xfe",
    ),
    *(b"lock-version = " + b"1" * 5000, b'lock-version = "1.0"\n[[packages]]\n' * 300, b"a = {" + b"a = {" * 20_000),
)
lock_files: Final[st.SearchStrategy[bytes]] = st.one_of(
    _right, _right, mutated(_right, (b"[", b"]", b"=", b'"', b"\\u0000", b"\\n", b"1e999")), st.sampled_from(_NONE)
)


def _lay(place: Place, value: bytes) -> None:
    place.put(place.files / "pylock.toml", value)
    place.put(place.workspace.lock, value)
    place.put(place.files / "pkg" / "setup.py", b"")


def _probes(place: Place, _value: bytes) -> Iterator[Callable[[], object]]:
    path = place.files / "pylock.toml"
    given = Choices(root=place.root, requirements=path)
    yield lambda: is_pylock(path)
    yield lambda: _read(path)
    yield lambda: _given(place, given)
    yield lambda: make_wish(Choices(root=place.root), place.workspace, {}, from_lock=True).digest("3.11")
    yield lambda: shared_lock(place.workspace, Choices(root=place.root), LINUX, {})
    yield lambda: list(locked_addresses(path))


def _read(path: Path) -> None:
    lock = read_lock(path)
    text = lock_text(scrub(lock))
    lock_digest(text)
    again = path.parents[1] / "root" / "pylock.again.toml"
    again.write_text(text, encoding="utf-8")
    if requirements_digest(read_lock(again), "3.11", folder=path.parent) != requirements_digest(
        lock, "3.11", folder=path.parent
    ):
        raise BreachError("a lock that was written is another one")
    _notes(lock)
    with suppress(AmlError):
        restrict_to_hashes(lock, {package.name: frozenset({f"sha256:{SHA}"}) for package in lock.packages})
    with suppress(AmlError):
        alternatives(lock, lock=path)
    for file in select(lock, PYTHON, lock=path):
        _ = (file.needs_build, file.addresses, file.is_at_hand)
        if file.filename and ("/" in file.filename or "\\" in file.filename or file.filename in {".", ".."}):
            raise BreachError(f"a file name that leads elsewhere: {file.filename!r}")
        if file.kind is FileKind.WHEEL and not file.sha256:
            raise BreachError(f"a wheel without its hash: {file.filename!r}")


def _notes(lock: Any) -> None:
    added_requirements(lock)
    added_names(lock)
    added_versions(lock)
    lock_text(extended(without_added(lock), lock.packages, ["x"]))
    with suppress(AmlError):
        TopLevel.carried_by(lock).closure(Path("/nowhere/pylock.toml"), {})


def _given(place: Place, choices: Choices) -> None:
    wish = make_wish(choices, place.workspace, {})
    wish.digest("3.11")
    _ = (wish.python_range, wish.main_imports, wish.logins)
    check_given(wish, LINUX)
    with offering(wish):
        select(wish.content, PYTHON, lock=choices.requirements)


KIND: Final = Kind("locks", lock_files, _lay, _probes)
