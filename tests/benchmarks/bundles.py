"""Bundles of the default profile: made from a workspace, against ``cp`` and ``sha256sum``; used, against uv by hand."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

from uv import find_uv_bin

from tests.benchmarks.frame import Judged, Limit, Row, pairs, settle, timed
from tests.support.interpreter_archives import make_interpreter
from tests.support.real_wheels import amlwizard, clean_environment, loopback_index, run_tool, step_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "bundles"


def run(scratch: Path) -> Iterator[Row]:
    """Yield both ratios."""
    bundle = _prepared(scratch)
    folders = (scratch / str(number) for number in itertools.count())
    taken = pairs(lambda: _create(bundle), lambda: _copy(bundle, next(folders)))
    yield taken.row("create from a workspace", "s", Limit(Judged.RATIO, 2.0))
    taken = pairs(lambda: _install(bundle, next(folders)), lambda: _by_hand(bundle, next(folders)))
    yield taken.row("install, without verify", "s", Limit(Judged.RATIO, 1.3))


def _prepared(scratch: Path) -> Path:
    """Set a workspace up, make the bundle once, and unpack it beside that as one who has no amlwizard would."""
    listed = make_interpreter(scratch).downloads_json(scratch / "downloads.json").as_uri()
    root, bundle = scratch / "aml", scratch / "default.amlbundle"
    with loopback_index() as index:
        options = ("--index-url", index, "--python", sys.executable)
        amlwizard("install", "--root", str(root), *options, env=clean_environment())
    made = ("bundle", "create", str(bundle), "--root", str(root), "--python-downloads-json", listed)
    amlwizard(*made, env=clean_environment())
    with zipfile.ZipFile(bundle) as content:
        content.extractall(scratch / "unpacked")
    return bundle


def _create(bundle: Path) -> float:
    settle()
    root, out = str(bundle.with_name("aml")), str(bundle.with_name("again.amlbundle"))
    return timed(lambda: amlwizard("bundle", "create", out, "--root", root, env=clean_environment()))


def _copy(bundle: Path, target: Path) -> float:
    settle()

    def copy() -> None:
        run_tool("cp", "-r", str(bundle.with_name("unpacked")), str(target), env=clean_environment())
        files = sorted(str(path) for path in target.rglob("*") if path.is_file())
        subprocess.run(["sha256sum", *files], check=True, stdout=subprocess.DEVNULL)

    return timed(copy)


def _install(bundle: Path, root: Path) -> float:
    settle()
    events = amlwizard("install", "--root", str(root), "--bundle", str(bundle), env=clean_environment())
    return float(events[-1]["seconds"]) - step_seconds(events, "verify")


def _by_hand(bundle: Path, place: Path) -> float:
    settle()
    place.mkdir()
    unpacked = bundle.with_name("unpacked")
    described = json.loads((unpacked / "python" / "downloads.json").read_text(encoding="utf-8"))
    for entry in described.values():
        entry["url"] = next((unpacked / "python").glob("*.tar.gz")).as_uri()
    version = ".".join(str(next(iter(described.values()))[part]) for part in ("major", "minor", "patch"))
    listed = place / "downloads.json"
    listed.write_text(json.dumps(described), encoding="utf-8")
    pythons, venv = place / "python", place / "venv"
    env = clean_environment(UV_CACHE_DIR=str(place / "cache"), UV_PYTHON_INSTALL_DIR=str(pythons), UV_OFFLINE="1")
    uv = find_uv_bin()

    def install() -> None:
        run_tool(uv, "python", "install", "--no-bin", "--python-downloads-json-url", listed.as_uri(), version, env=env)
        python = next(pythons.glob(f"cpython-{version}-*/bin/python3"))
        run_tool(uv, "venv", "--python", str(python), str(venv), env=env)
        run_tool(uv, "pip", "sync", "--python", str(venv), str(unpacked / "pylock.toml"), env=env)

    return timed(install)
