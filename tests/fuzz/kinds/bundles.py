"""Bundles: manifests on their own, and whole containers as files and folders."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from hypothesis import strategies as st

from amlwizard.core.bundle.inspecting import _report
from amlwizard.core.bundle.manifest import parse_manifest
from amlwizard.core.bundle.reading import open_bundle, read_downloads
from amlwizard.core.bundle.sbom import sbom_text
from amlwizard.core.bundle.taking import take_files
from amlwizard.core.bundle.wheel_facts import licence_of
from amlwizard.core.choices import Choices
from amlwizard.core.moving import Moving
from amlwizard.core.wish import make_wish
from tests.fuzz.ingredients import damaged, documents, json_values, mutated, texts
from tests.fuzz.kind import Kind
from tests.fuzz.kinds.hosts import LINUX
from tests.fuzz.kinds.samples import toml_bytes
from tests.fuzz.rules import BreachError
from tests.support.bundles import Draft, draft, entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.fuzz.place import Place

_KEPT: Final = draft()
_NAMES: Final = (
    *(
        "wheels/x-1.0-py3-none-any.whl",
        "../out.txt",
        "/abs",
        "wheels/../../out",
        "wheels\\x",
        "C:x",
        "CON",
        "wheels/CON.whl",
        "uv/",
        "wheels",
    ),
    *(
        "wheels/é.whl",
        "WHEELS/x",
        "manifest.json",
        "pylock.toml",
        "uv/uv",
        "uv/UV",
        "wheels/a/b",
        "",
        ".",
        "wheels/.",
        "x\0y",
        "wheels/x ",
    ),
)
_MODES: Final = (0o100644, 0o120777, 0o040755, 0o010644, 0)


def _lay_manifest(_place: Place, _value: bytes) -> None:
    """Nothing: a manifest is read from memory."""


def _manifest_probes(_place: Place, value: bytes) -> Iterator[Callable[[], object]]:
    def read() -> None:
        manifest = parse_manifest(value, "x.amlbundle")
        _ = (manifest.minor, manifest.content_bytes, str(manifest.floor))
        if parse_manifest(manifest.text().encode(), "x.amlbundle") != manifest:
            raise BreachError("a manifest that was written is another one")

    yield read


MANIFESTS: Final = Kind("manifests", documents([_KEPT.manifest]), _lay_manifest, _manifest_probes)


@cache
def _packed(folder: str) -> bytes:
    from pathlib import Path

    target = Path(folder) / "packed"
    body = _KEPT.pack(target).read_bytes()
    target.unlink()
    return body


_metadata = mutated(
    st.sampled_from(
        (b"Name: x\nLicense-Expression: MIT\n", b"License: \xff\nClassifier: License :: OSI Approved :: MIT License\n", b"")
    )
)


@st.composite
def _drafts(draw: st.DrawFn) -> dict[str, Any]:
    """Return what is different from the right bundle."""
    return {
        "manifest": draw(st.none() | damaged([_KEPT.manifest])),
        "lock": draw(st.none() | damaged([_lock()], texts | json_values).map(toml_bytes)),
        "downloads": draw(st.none() | documents([json.loads(_KEPT.files["python/downloads.json"])])),
        "noted": draw(st.booleans()),
        "lost": draw(st.sets(st.sampled_from((*_KEPT.files, "manifest.json")), max_size=1)),
        "extra": draw(
            st.lists(st.tuples(st.sampled_from(_NAMES) | texts, st.sampled_from(_MODES), st.binary(max_size=5)), max_size=2)
        ),
        "compress": draw(st.sets(st.sampled_from(tuple(_KEPT.files)), max_size=1)),
        "accidents": draw(st.none() | st.tuples(st.integers(0, 10_000), st.integers(0, 60), st.binary(max_size=8))),
        "from the end": draw(st.booleans()),
        "folder": draw(st.booleans()),
        "link": draw(st.none() | st.sampled_from(("wheels/x", "uv/uv", "link", "wheels"))),
        "wheel": draw(
            mutated(st.just(_KEPT.files["wheels/tinya-1.0-py3-none-any.whl"]), (b"PK\1\2", b"PK\5\6", b"\xff\xff\xff\xff"))
        ),
    }


@cache
def _lock() -> dict[str, Any]:
    import tomllib

    return tomllib.loads(_KEPT.files["pylock.toml"].decode())


def _lay(place: Place, value: dict[str, Any]) -> None:
    made = Draft(dict(_KEPT.files), json.loads(json.dumps(_KEPT.manifest)))
    for name, key in (("pylock.toml", "lock"), ("python/downloads.json", "downloads")):
        if value[key] is not None:
            made.files[name] = value[key]
    if value["noted"]:
        made.note("pylock.toml", "python/downloads.json")
    if value["manifest"] is not None:
        made.manifest = value["manifest"]
    for name in value["lost"] - {"manifest.json"}:
        del made.files[name]
    if value["folder"]:
        _lay_folder(place, made, value)
        return
    try:
        made.extra = [(entry(name, mode=mode), body) for name, mode, body in value["extra"]]
        made.pack(place.files / "x.amlbundle", compress=value["compress"])
    except (ValueError, UnicodeError):  # names that cannot stand in a zip file
        place.put(place.files / "x.amlbundle", _packed(str(place.files)))
    _damage(place, value)


def _damage(place: Place, value: dict[str, Any]) -> None:
    if value["accidents"] is None:
        return
    path = place.files / "x.amlbundle"
    at, length, body = value["accidents"]
    whole = path.read_bytes()
    at = len(whole) - at % len(whole) if value["from the end"] else at % len(whole)
    path.write_bytes(whole[:at] + body + whole[at + length :])


def _lay_folder(place: Place, made: Draft, value: dict[str, Any]) -> None:
    folder = made.lay_out(place.files / "x.amlbundle")
    for name in value["lost"] & {"manifest.json"}:
        (folder / name).unlink()
    link = value["link"]
    if link is not None and os.name != "nt" and not (folder / link).is_dir():
        (folder / link).unlink(missing_ok=True)
        (folder / link).parent.mkdir(exist_ok=True)
        if link == "link":
            os.mkfifo(folder / link)
        else:
            (folder / link).symlink_to(place.home / "keep.txt")


def _probes(place: Place, value: dict[str, Any]) -> Iterator[Callable[[], object]]:
    path = place.files / "x.amlbundle"
    yield lambda: _use(place)
    yield lambda: make_wish(Choices(root=place.root, bundle=path), place.workspace, {}).digest("3.11")
    place.put(place.root / "one.whl", value["wheel"])
    yield lambda: _licence(place)


def _use(place: Place) -> None:
    bundle = open_bundle(place.files / "x.amlbundle")
    bundle.check(Moving(bundle.total_bytes))
    read_downloads(bundle)
    report = _report(bundle, None)
    json.dumps(report.content)
    sbom_text(bundle.manifest, [(each.wheel, each.licence) for each in report.packages])
    downloads = place.workspace.downloads
    targets = {name: downloads / name.rpartition("/")[2] for name in bundle.manifest.files}
    take_files(bundle, targets, Moving())
    for name, target in targets.items():
        if target.stat().st_size != bundle.manifest.files[name].size:
            raise BreachError(f"{name} is not what the manifest says")
    bundle.check_fits(LINUX)
    bundle.check_python("3.11")


def _licence(place: Place) -> None:
    with (place.root / "one.whl").open("rb", buffering=0) as stream:
        licence_of(stream)


CONTAINERS: Final = Kind("containers", _drafts(), _lay, _probes)
