"""The first start of an interpreter that was just set up."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.detection.known import first_start
from amlwizard.core.errors import AmlError
from amlwizard.core.host import host_facts
from amlwizard.process.asyncio_runner import AsyncioRunner

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.posix
async def test_what_an_interpreter_says_instead_of_starting_is_the_cause(tmp_path: Path) -> None:
    program = tmp_path / "python3"
    program.write_text("#!/bin/sh\necho 'libpython3.12.so.1.0: cannot open shared object file' >&2\nexit 127\n")
    program.chmod(0o755)
    with pytest.raises(AmlError, match="AML_UV_PYTHON_FAILED") as caught:
        await first_start(AsyncioRunner("first-start"), program, os.environ, host_facts(), "3.12.1")
    assert "libpython3.12.so.1.0: cannot open shared object file" in str(caught.value.arguments["cause"])
