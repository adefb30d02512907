"""A workspace is older or newer than the program that opens it."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.interpreters import origins
from amlwizard.core.journal import Action, Journal, read_journal
from amlwizard.core.paths import Workspace
from tests.support.wheels import make_wheel

if TYPE_CHECKING:
    from tests.e2e.conftest import Computer

pytestmark = [pytest.mark.e2e, pytest.mark.linux]

RECORDED = Path(__file__).resolve().parents[1] / "support" / "first_layout"
"""The records of a workspace as format 1 has them. They stay as they are: what comes later has to read them."""
RECORDS = ("uv.json", "store.json", "receipt.json", "python.json", "journal.json")


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def lay(computer: Computer) -> None:
    """Put the recorded files in the place of those that this program wrote, with what differs from computer to computer."""
    root, runtime = computer.root, computer.root / "runtime"
    (marker,) = (root / ".venv").glob(".aml-ok-*")
    asked = [root / ".venv" / "bin" / "python", "-c", "import platform; print(platform.python_version())"]
    values = {
        "ROOT": root,
        "FOLDER": computer.folder,
        "INDEX": computer.index.index_url.removesuffix("/simple/"),
        "PYTHON": subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip(),
        "PLATFORM": f"linux-{platform.machine()}",
        "DIGEST": marker.name.removeprefix(".aml-ok-"),
        "UV_SHA256": sha256(root / "tools" / "uv"),
        "UV_VERSION": subprocess.run(
            [root / "tools" / "uv", "--version"], capture_output=True, text=True, check=True
        ).stdout.split()[1],
    }
    for name, version in (("tinya", "2.0"), ("tinyb", "1.0")):
        wheel = root / "downloads" / f"{name}-{version}-py3-none-any.whl"
        values |= {f"{name.upper()}_SHA256": sha256(wheel), f"{name.upper()}_SIZE": wheel.stat().st_size}
    for file in (*runtime.glob("*.json"), *runtime.glob("*.toml")):
        file.unlink()
    for name in ("pylock.toml", "pylock.local.toml", "uv.json", "store.json", "receipt.json", "marker.json"):
        text = (RECORDED / name).read_text(encoding="utf-8")
        for key, value in values.items():
            text = text.replace(f"@{key}@", str(value))
        assert "@" not in text
        (marker if name == "marker.json" else runtime / name).write_text(text, encoding="utf-8")
        values["LOCK_SHA256"] = sha256(runtime / "pylock.toml")


def test_a_workspace_of_the_first_format_opens(installed: Computer) -> None:
    lay(installed)
    detected = installed.run("detect").events[0]
    assert detected["environment"]["state"] == "ready"
    recorded = next(row for row in detected["candidates"] if row["kind"] == "uv" and row["source"] == "record")
    assert recorded["usable"]
    requirements = installed.requirements("tinyb\n")
    assert installed.run("install", "--requirements", requirements).finished["code"] == "AML_ALREADY_READY"
    assert installed.run("verify", "--deep").finished["code"] == "AML_VERIFIED"
    assert installed.run("store").finished["code"] == "AML_STORE_COMPLETE"
    assert installed.run("repair").finished["code"] == "AML_NOTHING_TO_REPAIR"
    rebuilt = installed.run("rebuild", "--offline")
    assert rebuilt.code == 0, rebuilt.finished
    assert installed.installed("tinya") == "2.0"


def test_a_workspace_of_the_first_format_is_removed_as_a_whole(installed: Computer) -> None:
    lay(installed)
    removed = installed.run("uninstall")
    assert removed.code == 0, removed.finished
    assert not installed.root.exists()


def test_the_other_records_of_the_first_format_are_understood(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.runtime.mkdir()
    for name in ("journal.json", "python.json"):
        (workspace.runtime / name).write_bytes((RECORDED / name).read_bytes())
    assert read_journal(workspace) == Journal(Action.STAGE, "cd67541d2aa346a89efb0df89d794ba0", had_old=True)
    (origin,) = origins(workspace).values()
    assert (origin.name, origin.version) == ("cpython-3.11.7-linux-x86_64-gnu", "3.11.7")
    assert origin.url == f"https://files.example.org/{origin.archive.replace('+', '%2B')}"


def content(root: Path) -> dict[str, str]:
    """Return every file with its content, and every link with its target."""
    found = {}
    for folder, _, names in os.walk(root):
        for path in (Path(folder, name) for name in names):
            found[str(path)] = os.readlink(path) if path.is_symlink() else sha256(path)  # noqa: PTH115
    return found


@pytest.mark.parametrize("record", [*RECORDS, "marker"])
def test_what_a_newer_program_wrote_is_changed_by_no_command(installed: Computer, record: str) -> None:
    (marker,) = (installed.root / ".venv").glob(".aml-ok-*")
    file = marker if record == "marker" else installed.root / "runtime" / record
    written = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    file.write_text(json.dumps(written | {"format": 2}), encoding="utf-8")
    make_wheel(installed.wheels, "tinyc")
    before = content(installed.root)
    for command in (["rebuild", "--offline"], ["repair"], ["add", "tinyc"], ["store", "--prune"], ["uninstall"]):
        result = installed.run(*command)
        told = result.finished
        assert (result.code, told["state"], told["code"]) == (2, "refused", "AML_FORMAT_TOO_NEW"), (command, told)
        assert file.name in told["message"]
        assert content(installed.root) == before, command


def test_the_environment_of_a_newer_program_is_called_so_by_what_only_looks(installed: Computer) -> None:
    (marker,) = (installed.root / ".venv").glob(".aml-ok-*")
    marker.write_text(json.dumps(json.loads(marker.read_text(encoding="utf-8")) | {"format": 2}), encoding="utf-8")
    before = content(installed.root)
    environment = installed.run("detect").finished["environment"]
    assert (environment["state"], environment["action"]) == ("foreign", "upgrade")
    assert "newer amlwizard" in environment["reason"]
    verified = installed.run("verify")
    assert (verified.code, verified.finished["hint"]) == (3, "Install the newest amlwizard.")
    planned = installed.run("plan")
    assert (planned.code, planned.finished["code"]) == (2, "AML_FORMAT_TOO_NEW")
    job = installed.run("run", "--print-env")
    assert (job.code, job.finished["code"]) == (125, "AML_FORMAT_TOO_NEW")
    assert content(installed.root) == before
