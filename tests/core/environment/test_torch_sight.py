"""PyTorch is asked in a real child; the package there is a fake one."""

from __future__ import annotations

import os
import venv
from typing import TYPE_CHECKING, Any

import pytest

from amlwizard.core.environment.layout import site_folders
from amlwizard.core.environment.torch_sight import has_torch, torch_sight
from tests.support.fake_torch import fake_torch
from tests.support.recording_runner import RecordingRunner
from tests.support.stub_interpreters import probe_environment

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.environment.findings import Finding


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """An empty environment."""
    venv.EnvBuilder(symlinks=os.name != "nt").create(tmp_path / "env")
    return tmp_path / "env"


async def sight(environment: Path, source: str, seconds: float = 60) -> Finding:
    """Return what is found of a fake PyTorch with this source."""
    site = next(iter(site_folders(environment)))
    (site / "torch").mkdir()
    (site / "torch" / "__init__.py").write_text(source, encoding="utf-8")
    assert has_torch(environment)
    folder = environment / "work"
    folder.mkdir()
    (folder / "torch.py").write_text("raise SystemExit('the wrong one')", encoding="utf-8")
    finding = await torch_sight(environment, RecordingRunner(), probe_environment(), folder, seconds=seconds)
    assert finding.package == "torch"
    return finding


async def told(environment: Path, source: str) -> str:
    """Return that in words."""
    finding = await sight(environment, source)
    assert finding.in_words("zh_CN")
    return finding.in_words("en")


def test_without_pytorch_there_is_nothing_to_ask(environment: Path) -> None:
    assert not has_torch(environment)


@pytest.mark.parametrize(
    ("about", "words"),
    [
        (
            {"version": "2.9.0+cu126", "cuda": "12.6", "devices": ["RTX 3090", "RTX 3060"]},
            "PyTorch 2.9.0+cu126 computes on RTX 3090, RTX 3060 (CUDA 12.6).",
        ),
        (
            {"version": "2.9.0+rocm7.2", "hip": "7.2.1", "devices": ["Radeon PRO W7900"], "architectures": ["gfx1100"]},
            "PyTorch 2.9.0+rocm7.2 computes on Radeon PRO W7900 (ROCm 7.2.1).",
        ),
        ({"version": "2.9.0+cpu"}, "PyTorch 2.9.0+cpu computes on the processor, for which it is built."),
        ({"version": "2.9.0", "mps": True}, "PyTorch 2.9.0 computes on the graphics of Apple silicon (MPS)."),
        (
            {"version": "2.9.0+cu126", "cuda": "12.6", "devices": ["RTX 5090"], "capability": (12, 0)},
            "PyTorch 2.9.0+cu126 is built for CUDA 12.6, but not for the RTX 5090, on which it cannot compute.",
        ),
        (
            {"version": "2", "cuda": "12.6", "devices": ["A"], "capability": (12, 0), "architectures": ["compute_90"]},
            "PyTorch 2 computes on A (CUDA 12.6).",
        ),
        (
            {"version": "2.9.0+cu126", "cuda": "12.6"},
            "PyTorch 2.9.0+cu126 is built for CUDA 12.6, but sees no graphics card, so it computes on the processor.",
        ),
    ],
)
async def test_what_it_sees_is_one_sentence(environment: Path, about: dict[str, Any], words: str) -> None:
    assert (await told(environment, fake_torch(**about))).startswith(words)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise OSError('libcudart.so is gone')", "OSError: libcudart.so is gone"),
        pytest.param("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "signal 9", marks=pytest.mark.posix),
        ("import os; os._exit(3)", "exit code 3"),
        ("import os; os._exit(0)", "exit code 0"),
    ],
)
async def test_one_that_cannot_tell_is_no_failure(environment: Path, source: str, reason: str) -> None:
    assert await told(environment, source) == f"PyTorch does not tell on what it computes: {reason}."


async def test_one_that_hangs_is_not_waited_for(environment: Path) -> None:
    finding = await sight(environment, "import threading; threading.Event().wait()", seconds=0.5)
    assert finding.in_words("en") == "PyTorch does not tell on what it computes: no answer within 0.5 s."
    assert finding.in_words("zh_CN") == "无法得知 PyTorch 在什么设备上计算：0.5 秒内没有响应。"
