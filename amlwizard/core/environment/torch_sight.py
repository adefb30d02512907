"""What PyTorch really sees of this computer: it is asked itself, in the environment that a job has."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from amlwizard.core.catalogue import Phrase
from amlwizard.core.data_text import parse_json
from amlwizard.core.environment.findings import Finding
from amlwizard.core.environment.layout import site_folders
from amlwizard.core.environment.start_check import start_reason
from amlwizard.core.paths import venv_python
from amlwizard.core.plain_files import is_file
from amlwizard.core.running import Command, Exited, OutputLine, describe_outcome
from amlwizard.resources import resource

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from amlwizard.core.running import Runner

SECONDS: Final = 120.0
"""A driver that hangs is not waited for; the first start of a card takes some seconds."""
_PREFIX: Final = "aml-torch "
_PACKAGE: Final = "torch"


def has_torch(environment: Path) -> bool:
    """Tell whether PyTorch is installed. Blocks."""
    return any(is_file(site / _PACKAGE / "__init__.py") for site in site_folders(environment))


async def torch_sight(
    environment: Path, runner: Runner, variables: Mapping[str, str], folder: Path, *, seconds: float = SECONDS
) -> Finding:
    """Return what PyTorch says: its version, its build, and what it computes on; never a fault of the environment.

    Args:
        environment: the environment, which has PyTorch.
        runner: runs the child.
        variables: those of a job.
        folder: where the child works.
        seconds: how long it may take.
    """
    told: list[dict[str, Any]] = []
    errors: list[str] = []

    def on_line(line: OutputLine) -> None:
        if line.stream == "stdout" and (content := _read(line.text)) is not None:
            told.append(content)
        elif line.stream == "stderr" and line.text.strip():
            errors[:] = [line.text.strip().rstrip(".")]

    probe = await asyncio.to_thread(resource("probes", "torch_sight.py").read_text, encoding="utf-8")
    argv = (str(venv_python(environment)), "-c", probe)
    outcome = await runner.run(Command(argv, variables, folder, total_seconds=seconds), on_line)
    if not told:
        reason = describe_outcome(outcome) if outcome == Exited(0) else start_reason(outcome, errors)
        return Finding("torch.silent", {"reason": reason}, _PACKAGE)
    return _in_words(told[0])


def _in_words(told: Mapping[str, Any]) -> Finding:
    version, devices, unfit = told["version"], told["devices"], told["unfit"]
    build = Phrase("torch.build.cpu")
    for key, kind in (("cuda", "cuda"), ("hip", "rocm")):
        if told[key]:
            build = Phrase(f"torch.build.{kind}", {"version": told[key]})
    if devices:
        return Finding("torch.sees", {"version": version, "devices": ", ".join(devices), "build": build}, _PACKAGE)
    if unfit:
        return Finding("torch.sees_unfit", {"version": version, "devices": ", ".join(unfit), "build": build}, _PACKAGE)
    if told["mps"]:
        return Finding("torch.sees_mps", {"version": version}, _PACKAGE)
    if told["cuda"] or told["hip"]:
        return Finding("torch.sees_none", {"version": version, "build": build}, _PACKAGE)
    return Finding("torch.sees_processor", {"version": version}, _PACKAGE)


def _read(line: str) -> dict[str, Any] | None:
    if not line.startswith(_PREFIX):
        return None
    try:
        content = parse_json(line.removeprefix(_PREFIX))
    except ValueError:
        return None
    lists = isinstance(content, dict) and all(isinstance(content.get(key), list) for key in ("devices", "unfit"))
    texts = lists and isinstance(content.get("version"), str) and {"cuda", "hip", "mps"} <= content.keys()
    return {**content, **{key: list(map(str, content[key])) for key in ("devices", "unfit")}} if texts else None
