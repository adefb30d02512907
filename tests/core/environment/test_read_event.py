"""Lines of the import probe, whole ones and others."""

from __future__ import annotations

import json

import pytest

from amlwizard.core.environment.verify import read_event

END = {"event": "end", "module": "x", "kind": "other", "error": "ImportError", "text": "", "absent": ""}
START = {"event": "start", "version": "3.11.9", "same": True, "prefix": "/x"}


@pytest.mark.parametrize(
    "event",
    [START, END, {"event": "end", "module": "x", "kind": "ok"}, {"event": "begin", "module": "x"}, {"event": "finished"}],
)
def test_what_the_probe_reports_is_read(event: dict[str, object]) -> None:
    assert read_event(f"aml-import {json.dumps(event)}") == event


@pytest.mark.parametrize(
    "line",
    [
        json.dumps(START),
        "aml-import ",
        "aml-import " + json.dumps(START)[:-5],
        "aml-import [" + "[" * 100_000,
        "aml-import 5",
        'aml-import {"event": ["start"]}',
        'aml-import {"event": "start"}',
        'aml-import {"event": "end", "module": "x", "kind": "other"}',
        "aml-import " + json.dumps({**END, "kind": "strange"}),
        "aml-import " + json.dumps({**END, "kind": ["ok"]}),
        "aml-import " + json.dumps({**END, "module": {"a": 1}}),
        "aml-import " + json.dumps({**START, "version": 3}),
    ],
)
def test_what_was_cut_off_or_is_not_the_probes_is_passed_over(line: str) -> None:
    assert read_event(line) is None
