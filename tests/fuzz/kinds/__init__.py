"""The kinds of input, one module for those that are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.fuzz.kinds import (
    answers,
    bundles,
    children,
    company,
    headers,
    locks,
    outputs,
    pages,
    records,
    requirements,
    settings,
    workspaces,
)

if TYPE_CHECKING:
    from tests.fuzz.kind import Kind

KINDS: Final[tuple[Kind, ...]] = (
    requirements.KIND,
    settings.KIND,
    company.KIND,
    records.KIND,
    workspaces.KIND,
    locks.KIND,
    bundles.MANIFESTS,
    bundles.CONTAINERS,
    outputs.KIND,
    answers.KIND,
    pages.KIND,
    headers.KIND,
    children.KIND,
)
