"""What the steps of a run share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.choices import Choices
from amlwizard.core.errors import AmlError
from tests.support.run_contexts import new_run

if TYPE_CHECKING:
    from pathlib import Path


def test_b70_a_uv_that_vanishes_between_two_steps_is_named(tmp_path: Path) -> None:
    uv = tmp_path / "uv"
    uv.write_bytes(b"program")
    run = new_run(Choices(tmp_path / "aml"), tmp_path / "tmp", uv=uv)
    assert run.uv_cli().executable == uv
    uv.write_bytes(b"")
    with pytest.raises(AmlError) as emptied:
        run.uv_cli()
    uv.unlink()
    with pytest.raises(AmlError) as gone:
        run.uv_cli()
    assert emptied.value.code == gone.value.code == "AML_UV_VANISHED"
    assert gone.value.arguments["path"] == str(uv)


def test_tools_speak_english_so_that_what_they_say_is_recognised(tmp_path: Path) -> None:
    run = replace(
        new_run(Choices(tmp_path / "aml"), tmp_path / "tmp"), parent_environment={"LANGUAGE": "zh_CN", "LANG": "C"}
    )
    told = run.child_environment({"MORE": "1"})
    assert (told["LANGUAGE"], told["LANG"], told["MORE"]) == ("en", "C", "1")
