"""The choices, the engine and the runner of everything that works without a window: the command line and programs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amlwizard.core.choices import Choices
    from amlwizard.core.engine import Engine
    from amlwizard.core.running import Runner


def build_choices(*, changes: bool = False, **options: Any) -> Choices:
    """Merge options, by the names of ``ChoiceOptions``, with the settings and the environment.

    ``changes`` says that a workspace may be set up, changed or removed with them.

    Raises:
        RefusedError: a choice cannot be used, or the system itself is to change a workspace that nobody has named.
    """
    from amlwizard.core.settings import load_settings, resolve_choices
    from amlwizard.unattended import refuse_unnamed_root

    settings = load_settings(os.environ)
    choices = resolve_choices(settings, os.environ, Path.cwd(), **options)
    if changes:
        refuse_unnamed_root(choices, settings, os.environ, options.get("root"))
    return choices


def build_engine(language: str) -> Engine:
    """Wire the engine with the parts of the text mode."""
    from amlwizard.wiring import make_engine

    return make_engine(make_runner, language)


def make_runner() -> Runner:
    """Return a runner with a run tag of its own, by which what it left behind would be found."""
    from amlwizard.process.asyncio_runner import AsyncioRunner

    return AsyncioRunner(f"{os.getpid()}-{os.urandom(8).hex()}")
