"""What the store holds and lacks, in lines for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from amlwizard.core.catalogue import text
from amlwizard.core.plain_text import plain_text
from amlwizard.core.wording import amount_text, number_text, size_text
from amlwizard.terminal import columns

_Row = Callable[[dict[str, Any], str], Sequence[str]]
_SHOWN: Final = 20
"""How many rows of a list are shown; ``--json`` has them all."""


def store_lines(content: dict[str, Any], language: str) -> list[str]:
    """Return the content of a ``StoreEvent`` as a table and what is worth a list."""
    return [
        *_kinds(content, language),
        "",
        *_locks(content, language),
        *_list(content["lacking"], "lacking", language, _lacking),
        *_list(content["partial"], "partial", language, _partial),
        *_list(content["built"], "built", language, _built),
        *_list(content["freeable"], "freeable", language, _sized),
        *_list(content["foreign"], "foreign", language, _sized),
        "",
    ]


def _kinds(content: dict[str, Any], language: str) -> list[str]:
    heads = [text(f"store.head.{name}", language) for name in ("kind", "files", "size", "freeable")]
    rows = [
        [
            text(f"store.kind.{kind['kind']}", language),
            number_text(kind["files"]),
            size_text(kind["bytes"], language),
            size_text(kind["freeable_bytes"], language) if kind["freeable_files"] else "-",
        ]
        for kind in content["kinds"]
        if kind["files"]
    ]
    cache = content["cache"]
    shared = text("store.shared", language, size=size_text(cache["shared_bytes"], language))
    name, files, size = "store.kind.cache", number_text(cache["files"]), size_text(cache["bytes"], language)
    rows.append([text(name, language), files, size, shared if cache["shared_bytes"] else "-"])
    return columns([heads, *rows])


def _locks(content: dict[str, Any], language: str) -> list[str]:
    lines = []
    for lock in content["locks"]:
        which = text(f"store.lock.{lock['lock']}", language)
        if lock["error"]:
            lines.append(text("store.lock_unreadable", language, which=which, path=lock["path"], cause=lock["error"]))
            continue
        size = _size(lock["bytes"], language)
        lack = lock["lacking"]
        state = text("store.lock_lacks", language, count=lack) if lack else text("store.lock_complete", language)
        about = {"which": which, "python": lock["python"] or "?", "packages": lock["packages"], "size": size}
        lines.append(text("store.lock", language, state=state, **about))
        if lock["lock"] == "current" and content["complete"] and not content["bundle"]:
            lines.append(text("store.bundle_fetches", language, python=about["python"]))
    return lines


def _list(entries: list[dict[str, Any]], title: str, language: str, row: _Row) -> list[str]:
    if not entries:
        return []
    lines = columns([row(entry, language) for entry in entries[:_SHOWN]])
    if len(entries) > _SHOWN:
        lines.append(text("store.more", language, number=number_text(len(entries) - _SHOWN)))
    return ["", text(f"store.title.{title}", language), *(f"  {line}" for line in lines)]


def _size(size: int | None, language: str) -> str:
    return text("store.size_unknown", language) if size is None else size_text(size, language)


def _lacking(entry: dict[str, Any], language: str) -> Sequence[str]:
    name = entry["file"] or " ".join(part for part in (entry["name"], entry["version"]) if part)
    if entry["build"]:
        state = text("store.to_build", language)
    elif entry["found"] is not None:
        state = text("store.damaged", language, found=size_text(entry["found"], language))
    else:
        state = text("store.missing", language)
    size = _size(entry["size"], language)
    return plain_text(name), size, state, _needed_by(entry, language)


def _partial(entry: dict[str, Any], language: str) -> Sequence[str]:
    known = _needed_by(entry, language) or text("store.unneeded", language)
    return plain_text(entry["path"]), amount_text(entry["size"], entry["total"], "bytes", language), known


def _built(entry: dict[str, Any], language: str) -> Sequence[str]:
    source = entry["source"]
    place = source.get("url") or source.get("path") or entry["file"]
    commit = str(source.get("commit", ""))[:12]
    changed = text("store.changed", language) if entry["changed"] else ""
    return f"{entry['name']} {entry['version']}", " ".join(part for part in (place, commit, changed) if part)


def _sized(entry: dict[str, Any], language: str) -> Sequence[str]:
    return plain_text(entry["path"]), size_text(entry["size"], language)


def _needed_by(entry: dict[str, Any], language: str) -> str:
    return text("cli.separator", language).join(text(f"store.by.{by}", language) for by in entry["needed_by"])
