"""The kinds of run, one module each: what a session does between its first look and its last word."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amlwizard.core.session import Work

_PLACES: Final[Mapping[str, tuple[str, str]]] = {
    "install": ("build", "install"),
    "rebuild": ("build", "rebuild"),
    "verify": ("verify", "verify"),
    "repair": ("repair", "repair"),
    "change": ("change", "change"),
    "undo": ("undo", "undo"),
    "update": ("update", "update"),
    "uninstall": ("uninstall", "uninstall"),
    "bundle": ("bundle", "make_bundle"),
    "share": ("share", "share"),
    "store": ("store", "store"),
}


def work_of(kind: str) -> Work:
    """Return what a kind of run does; its module alone is loaded, as all of them take a noticeable part of a run."""
    module, name = _PLACES[kind]
    return cast("Work", getattr(import_module(f"{__name__}.{module}"), name))
