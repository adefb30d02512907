"""What the log of JupyterLab tells of why it did not start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amlwizard.core.catalogue import Phrase
from amlwizard.core.opening.jupyter import jupyter_log, start_failure
from amlwizard.core.paths import Workspace

if TYPE_CHECKING:
    from pathlib import Path

TIME = "2026-12-01 01:00:00.000"


@pytest.mark.parametrize(
    ("log", "cause"),
    [
        (
            f"[I {TIME} ServerApp] linked\n[C {TIME} ServerApp] Running as root is not recommended. Use --allow-root.\n",
            "Running as root is not recommended. Use --allow-root.",
        ),
        (
            f"[C {TIME} ServerApp] The port 8888 is not available.\n[I {TIME} ServerApp] Shutting down 5 extensions\n\n",
            "The port 8888 is not available.",
        ),
        (
            "Traceback (most recent call last):\n    import tornado\nModuleNotFoundError: No module named 'tornado'\r\n",
            "ModuleNotFoundError: No module named 'tornado'",
        ),
        (f"[W {TIME} ServerApp] The folder is gone\n", "The folder is gone"),
        (f"{'x' * 20_000}\nlast \x1b[31mwords\n", "last \\x1b[31mwords"),
    ],
)
def test_the_last_line_that_tells_something_is_the_cause(tmp_path: Path, log: str, cause: str) -> None:
    path = jupyter_log(Workspace(tmp_path))
    path.parent.mkdir(parents=True)
    path.write_text(log, encoding="utf-8")
    assert start_failure(Workspace(tmp_path)).arguments == {"cause": cause, "path": str(path)}


def test_without_a_log_no_reason_is_named(tmp_path: Path) -> None:
    assert start_failure(Workspace(tmp_path)).arguments["cause"] == Phrase("ready.jupyter.silent")
