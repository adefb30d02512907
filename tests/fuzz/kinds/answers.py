"""JSON that other programs answer: pip's report, uv's interpreters, an interpreter's facts, a second window's call."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from amlwizard.core.catalogue import text as words
from amlwizard.core.choices import Choices
from amlwizard.core.detection.interpreter import (
    _ANSWER_KEY,
    environment_base,
    knows_no_isolation,
    parse_answer,
    said_version,
)
from amlwizard.core.detection.judging import judge
from amlwizard.core.detection.probing import Answer, failure, no_answer
from amlwizard.core.environment.verify import _Child, _Imports, read_event
from amlwizard.core.fetching import Download
from amlwizard.core.lock import lock_text, scrub, select
from amlwizard.core.pip_report import lock_from_report
from amlwizard.core.python_install import offered_archives, parse_downloads, pick_archive
from amlwizard.core.running import Exited, NotStarted, Signalled, TimedOut
from amlwizard.core.tags import wheel_tags
from amlwizard.net.partial import PartialFile
from amlwizard.ui.calls import read_answer, read_call
from tests.fuzz.ingredients import documents
from tests.fuzz.kind import Kind
from tests.fuzz.kinds.hosts import LINUX, PYTHON
from tests.fuzz.kinds.samples import SHA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.fuzz.place import Place

_REPORT: Final = {
    "version": "1",
    "install": [
        {
            "download_info": {
                "url": "https://files.example.org/tinya-1.0-py3-none-any.whl",
                "archive_info": {"hashes": {"sha256": SHA}},
            },
            "metadata": {"name": "Tiny_A", "version": "1.0"},
        }
    ],
}
_ARCHIVE: Final = {
    "name": "cpython",
    "arch": {"family": "x86_64", "variant": None},
    "os": "linux",
    "libc": "gnu",
    "major": 3,
    "minor": 11,
    "patch": 9,
    "prerelease": "",
    "url": "https://files.example.org/c.tar.gz",
    "sha256": SHA,
    "variant": None,
    "build": "1",
}
_OFFER: Final = {
    "key": "cpython-3.11.9-linux-x86_64-gnu",
    "version": "3.11.9",
    "os": "linux",
    "arch": "x86_64",
    "libc": "gnu",
    "implementation": "cpython",
    "variant": "default",
    "url": "https://files.example.org/c.tar.gz",
}
_FACTS: Final = {
    _ANSWER_KEY: "1",
    "version": "3.11.9",
    "release": "final",
    "executable": "/usr/bin/python3",
    "base_prefix": "/usr",
    "prefix": "/usr",
    "bits": "64",
    "abi_flags": "",
    "free_threaded": "",
    "framework": "",
    "conda": "",
    "sys_platform": "linux",
    "os_name": "posix",
    "platform_tag": "linux-x86_64",
    "implementation_name": "cpython",
    "python_full_version": "3.11.9",
    "python_version": "3.11",
    "implementation": "CPython",
    "platform_machine": "x86_64",
    "libc": "glibc 2.36",
    "has_venv": "yes",
    "has_ensurepip": "yes",
}
_END: Final = {"event": "end", "module": "x", "kind": "other", "error": "ImportError", "text": "no x", "absent": "x"}
_NOTE: Final = {"address": "0" * 64, "validator": '"x"', "sha256": SHA}
_CALL: Final = {"format": 1, "bundle": "/x.amlbundle", "token": "t", "opened": True}
_RIGHT: Final[dict[str, tuple[Any, ...]]] = {
    "report": (_REPORT,),
    "archives": ({"key": _ARCHIVE},),
    "offers": ([_OFFER],),
    "facts": (_FACTS,),
    "import": (_END, {"event": "start", "version": "3.11.9", "same": True, "prefix": "/x"}),
    "note": (_NOTE,),
    "call": (_CALL,),
}
_inputs = st.sampled_from(sorted(_RIGHT)).flatmap(lambda name: st.tuples(st.just(name), documents(_RIGHT[name])))


def _lay(place: Place, value: tuple[str, bytes]) -> None:
    place.put(place.root / "x.whl.resume.part", value[1])
    place.put(place.root / "x.whl.part", b"x")
    place.put(place.files / "venv" / "pyvenv.cfg", value[1])


def _probes(place: Place, value: tuple[str, bytes]) -> Iterator[Callable[[], object]]:
    name, body = value
    text = body.decode("utf-8", "replace")
    yield lambda: _READERS[name](place, text)
    yield lambda: environment_base(place.files / "venv" / "bin" / "python")


def _report(_place: Place, text: str) -> None:
    lock = lock_from_report(text)
    lock_text(scrub(lock))
    select(lock, PYTHON, lock=Path("/x/pylock.toml"))


def _archives(_place: Place, text: str) -> None:
    pick_archive(parse_downloads(text, "https://index.example.org/list.json"), "3.11", LINUX, base="https://h/x.json")


def _offers(_place: Place, text: str) -> None:
    pick_archive(offered_archives(text, "3.11"), "3.11.9", LINUX, base="")


def _facts(_place: Place, text: str) -> None:
    answer = Answer(Exited(0), (text, "Python 3.11"), (text,))
    facts = parse_answer(answer, LINUX)
    said_version(answer)
    knows_no_isolation(answer)
    for outcome in (Exited(0), Exited(1), Exited(126), Signalled(9), NotStarted("no", 13), TimedOut(1.0, idle=True)):
        reason = failure(replace(answer, outcome=outcome)) or no_answer(answer)
        words(reason.key, "en", **reason.arguments)
    if facts is not None:
        judge(facts, LINUX, Choices(Path("/x")), SpecifierSet(">=3.10"))
        wheel_tags(facts)
        _ = (facts.version_text, facts.minor)


def _import(_place: Place, text: str) -> None:
    event = read_event(f"aml-import {text}")
    if event is not None and event["event"] == "end":
        found = _Imports()
        child = _Child(Path("/x"), None, {}, 1.0, 1.0, {})
        child._judge(event, {"x": "tinya"}, found, main=True)
        for finding in (*found.problems, *found.warnings, *found.notes):
            words(finding.key, "en", **finding.arguments)


def _note(place: Place, _text: str) -> None:
    for sha256 in (SHA, None):
        partial = PartialFile(Download(("https://files.example.org/x.whl",), place.root / "x.whl", sha256))
        partial.validator("https://files.example.org/x.whl")
        partial.resume("https://files.example.org/x.whl", hashlib.sha256(), _Never())


def _call(_place: Place, text: str) -> None:
    read_call(text.encode())
    read_answer(text.encode())


class _Never:
    """Nobody stops the trials."""

    def check(self) -> None:
        """Go on."""

    def pause(self, _seconds: float) -> None:
        """Go on at once."""


_READERS: Final[dict[str, Callable[[Place, str], None]]] = {
    "report": _report,
    "archives": _archives,
    "offers": _offers,
    "facts": _facts,
    "import": _import,
    "note": _note,
    "call": _call,
}
KIND: Final = Kind("answers", _inputs, _lay, _probes)
