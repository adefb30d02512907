"""A small computer of its own for each test: its PATH, home and usual places are folders of the test."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from amlwizard.core.catalogue import LANGUAGES
from amlwizard.core.choices import Choices
from amlwizard.core.detection import detect, detected_content
from amlwizard.core.host import host_facts
from amlwizard.core.paths import Workspace
from tests.support.recording_runner import RecordingRunner
from tests.support.stub_interpreters import probe_environment

if TYPE_CHECKING:
    from pathlib import Path

    from amlwizard.core.facts import Candidate, Facts


@dataclass
class Computer:
    """Where a test lays out its candidates, and how it looks for them."""

    folder: Path
    environ: dict[str, str] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=probe_environment)
    told: list[Candidate] = field(default_factory=list)
    runner: RecordingRunner = field(default_factory=RecordingRunner)

    @property
    def bin(self) -> Path:
        """The first folder of PATH."""
        return self.folder / "bin"

    @property
    def started_commands(self) -> list[tuple[str, ...]]:
        """Everything that was started so far."""
        return [command.argv for command in self.runner.commands]

    @property
    def root(self) -> Path:
        """The workspace."""
        return self.folder / "aml"

    def choices(self, **values: Any) -> Choices:
        """Return choices for the workspace."""
        return Choices(self.root, **values)

    async def detect(self, choices: Choices | None = None, *, system: str = "", **options: Any) -> Facts:
        """Run detection here and check that every row has words in both languages."""
        host = replace(host_facts(), system=system) if system else host_facts()
        separator = ";" if system == "windows" else ":"
        environ = {"PATH": separator.join([str(self.bin), str(self.folder / "bin2")]), **self.environ}
        options.setdefault("host", host)
        facts = await detect(
            choices or self.choices(),
            Workspace(self.root),
            self.runner,
            environ,
            env=self.env,
            home=self.folder / "home",
            system_root=self.folder / "system",
            on_candidate=self.told.append,
            **options,
        )
        for language in LANGUAGES:
            rows = detected_content(facts, language)["candidates"]
            assert all(row["usable"] or row["reason"] for row in rows)
        return facts

    def row(self, facts: Facts, path: Path) -> Candidate:
        """Return the one row of a path."""
        (row,) = [candidate for candidate in facts.candidates if candidate.path == path]
        return row

    def started(self, path: Path) -> bool:
        """Tell whether a program was started."""
        return any(argv[0] == str(path) for argv in self.started_commands)


@pytest.fixture
def computer(tmp_path: Path) -> Computer:
    """Return an empty computer."""
    return Computer(tmp_path)
