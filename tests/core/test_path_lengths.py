"""Paths on a Windows that ends them at 259 characters: the real arithmetic on real wheels."""

from __future__ import annotations

from pathlib import PureWindowsPath
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.catalogue import LANGUAGES, error_texts
from amlwizard.core.choices import Choices
from amlwizard.core.errors import AmlError
from amlwizard.core.path_lengths import LIMIT, has_short_paths, longest_entry, refuse_long_paths
from amlwizard.core.tool_output import failure_from_output
from tests.support.run_contexts import new_run
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from pathlib import Path


def root_of(length: int) -> PureWindowsPath:
    return PureWindowsPath("C:\\" + "r" * (length - 3))


def test_b40_the_longest_path_is_computed_from_the_wheels(tmp_path: Path) -> None:
    deep = "tinya/" + "/".join(["deeper" * 5] * 4) + "/kernel.h"
    wheels = [make_wheel(tmp_path, "tinya", files={deep: b"x"}), make_wheel(tmp_path, "tinyb")]
    assert longest_entry(wheels[0]) == deep
    below = len("\\cache\\archive-v0\\") + 21 + len("\\") + len(deep)  # where uv unpacks it, the deepest place of all
    allowed = LIMIT - below
    refuse_long_paths(root_of(allowed), wheels)
    with pytest.raises(AmlError) as refused:
        refuse_long_paths(root_of(allowed + 1), wheels)
    assert refused.value.code == "AML_PATH_TOO_LONG"
    assert refused.value.arguments["file"] == deep
    assert refused.value.arguments["length"] == LIMIT + 1
    assert refused.value.arguments["allowed"] == allowed
    for language in LANGUAGES:
        assert all(error_texts(refused.value, language))
    refuse_long_paths(root_of(allowed + 1), wheels[1:])
    refuse_long_paths(root_of(250), [tmp_path / "no wheel"])


def test_b40_other_systems_have_no_such_limit() -> None:
    assert not has_short_paths("linux")
    assert not has_short_paths("macos")


@pytest.mark.parametrize(
    "line",
    [
        "error: The filename or extension is too long. (os error 206)",
        "OSError: [Errno 36] File name too long: 'x'",
        "error: failed to open file `C:\\"
        + "long\\" * 50
        + "kernel.h`: The system cannot find the path specified. (os error 3)",
        "fatal error C1083: Cannot open include file: 'C:\\" + "long\\" * 50 + "kernel.h': No such file or directory",
    ],
)
def test_b40_an_error_that_hides_the_length_gets_the_hint(line: str) -> None:
    error = failure_from_output([line], otherwise="AML_SYNC_FAILED")
    assert error.code == "AML_TOOL_PATH_TOO_LONG"
    assert "LongPathsEnabled" in error_texts(error, "en")[1]


def test_b40_a_short_path_that_is_not_found_is_not_blamed_on_its_length() -> None:
    line = "error: failed to open file `C:\\aml\\kernel.h`: The system cannot find the path specified. (os error 3)"
    assert failure_from_output([line], otherwise="AML_SYNC_FAILED").code == "AML_SYNC_FAILED"


async def test_b40_a_long_root_is_told_with_the_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulated Windows: a fake answer to whether paths end at 259 characters."""
    from amlwizard.core import remarks

    monkeypatch.setattr(remarks, "has_short_paths", lambda _system: True)
    told: list[str] = []
    for length in (90, 91):
        root = tmp_path / ("r" * (length - len(str(tmp_path)) - 1))
        requirements = tmp_path / "requirements.txt"
        requirements.write_text("tinya\n")
        run = new_run(Choices(root, requirements=requirements), tmp_path / "tmp")
        run.emit = lambda event: told.append(event.line)  # type: ignore[union-attr]
        await remarks.tell_remarks(run)
        assert len(told) == (length == 91)
    assert "at most 90 characters" in told[0]
