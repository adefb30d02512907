"""What the steps of a run share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amlwizard.core.choices import Choices
from amlwizard.core.errors import AmlError
from amlwizard.net.fetcher import HttpFetcher
from amlwizard.net.policy import NetworkPolicy
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


def test_a_kept_login_reaches_uv_and_pip_for_an_index_that_only_the_file_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAMED", "e")
    file = tmp_path / "requirements.txt"
    file.write_text(
        "--extra-index-url https://b.example.org/simple\n--extra-index-url https://li:own@c.example.org/simple\n"
        "--extra-index-url https://${NAMED}.example.org/simple\ntinya\n"
    )
    choices = Choices(tmp_path / "aml", requirements=file, index_url="https://a.example.org/simple")
    run = new_run(choices, tmp_path / "tmp")
    assert "UV_INDEX" not in run.uv_variables()
    assert "PIP_EXTRA_INDEX_URL" not in run.pip_variables()
    policy = NetworkPolicy(_found={"https://b.example.org:443": ("mei", "k3pt"), "https://d.example.org:443": None})
    run.fetcher = HttpFetcher(policy)
    told = run.uv_variables()
    assert (
        told["UV_INDEX"]
        == "aml0=https://b.example.org/simple aml1=https://c.example.org/simple aml2=https://e.example.org/simple"
    )
    assert (told["UV_INDEX_AML0_USERNAME"], told["UV_INDEX_AML0_PASSWORD"]) == ("mei", "k3pt")
    assert told["UV_INDEX_AML1_PASSWORD"] == "own"
    assert "UV_INDEX_AMLDEFAULT_PASSWORD" not in told
    extra = run.pip_variables()["PIP_EXTRA_INDEX_URL"].split()
    assert extra == [
        *("https://mei:k3pt@b.example.org/simple", "https://li:own@c.example.org/simple"),
        "https://e.example.org/simple",
    ]
    assert {"k3pt", "own"} <= set(run.secrets)
    assert run.uv_variables(indexes=False).keys().isdisjoint({"UV_INDEX", "UV_INDEX_AML0_PASSWORD"})
