"""The kinds of run, one module each: what a session does between its first look and its last word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from amlwizard.core.runs.build import install, rebuild
from amlwizard.core.runs.bundle import make_bundle
from amlwizard.core.runs.change import change
from amlwizard.core.runs.repair import repair
from amlwizard.core.runs.share import share
from amlwizard.core.runs.store import store
from amlwizard.core.runs.undo import undo
from amlwizard.core.runs.uninstall import uninstall
from amlwizard.core.runs.update import update
from amlwizard.core.runs.verify import verify

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amlwizard.core.session import Work

WORK: Final[Mapping[str, Work]] = {
    "install": install,
    "rebuild": rebuild,
    "verify": verify,
    "repair": repair,
    "change": change,
    "undo": undo,
    "update": update,
    "uninstall": uninstall,
    "bundle": make_bundle,
    "share": share,
    "store": store,
}
