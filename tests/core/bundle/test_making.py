"""What a bundle is made with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.bundle.making import AnyUv
from amlwizard.core.catalogue import error_texts
from amlwizard.core.choices import Choices, UvMethod
from amlwizard.core.errors import AmlError
from amlwizard.core.facts import Candidate
from tests.net.support import closed_port
from tests.support.interpreters import found_interpreters, probe
from tests.support.run_contexts import new_run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("method", "offline", "code"),
    [
        (UvMethod.NONE, False, "AML_BUNDLE_NO_UV"),
        (UvMethod.AUTO, False, "AML_UV_INSTALL_FAILED"),
        (UvMethod.AUTO, True, "AML_UV_INSTALL_FAILED"),
    ],
)
async def test_without_uv_it_is_said_why_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: UvMethod, code: str, *, offline: bool
) -> None:
    """A Python with pip, with which an environment would be made all the same, makes no bundle."""
    for module in ("amlwizard.core.bundle.making", "amlwizard.core.uv_install"):
        monkeypatch.setattr(f"{module}.find_bundled_uv", lambda: None)
    index = f"http://127.0.0.1:{closed_port()}/simple/"
    choices = Choices(tmp_path / "aml", index_url=index, uv_method=method, offline=offline)
    run = new_run(choices, tmp_path / "tmp")
    python = replace(probe(found_interpreters()[0])[0], has_ensurepip=True)
    found = Candidate("python", python.executable, "path", usable=True, python=python)
    run = replace(run, facts=replace(run.facts, python=found))
    step = AnyUv()
    assert not await step.is_done(run)
    with pytest.raises(AmlError) as raised:
        await step.run(run)
    assert raised.value.code == code
    assert "{" not in "".join(error_texts(raised.value))
    assert run.uv is None
