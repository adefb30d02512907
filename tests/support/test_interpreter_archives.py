"""The interpreter archive is one that uv accepts and that stands alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.namespaces import interpreters_and_uv

if TYPE_CHECKING:
    from tests.support.interpreter_archives import InterpreterArchive
    from tests.support.namespaces import Circumstances

UV = Path(sys.executable).with_name("uv")


def _uv_install(archive: InterpreterArchive, json_file: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(UV), "--no-config", "python", "install", archive.minor, "--install-dir", str(folder / "python")]
    command += ["--no-bin", "--python-downloads-json-url", json_file.as_uri(), "--cache-dir", str(folder / "cache")]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.e2e
def test_uv_installs_the_archive_and_it_runs_where_no_other_python_is(
    interpreter_archive: InterpreterArchive, tmp_path: Path, circumstances: type[Circumstances]
) -> None:
    json_file = interpreter_archive.downloads_json(tmp_path / "downloads.json")
    result = _uv_install(interpreter_archive, json_file, tmp_path)
    assert result.returncode == 0, result.stderr
    python = tmp_path / "python" / interpreter_archive.key / "bin" / "python3"
    question = (
        "import ssl, sqlite3, ctypes, ensurepip, venv, sys, sysconfig, json, pathlib; "
        "maps = pathlib.Path('/proc/self/maps').read_text(); "
        "print(json.dumps([sys.version.split()[0], sys.base_prefix, sysconfig.get_path('stdlib'), maps]))"
    )
    alone = circumstances(network=False, hidden=interpreters_and_uv())
    environment = {"PATH": "/usr/bin:/bin"}
    answer = subprocess.run(
        alone.command([str(python), "-I", "-c", question]), env=environment, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
    version, prefix, stdlib, maps = json.loads(answer.stdout)
    assert version == interpreter_archive.version
    assert prefix == str(python.parent.parent)
    assert stdlib.startswith(prefix)
    foreign = [line for line in maps.splitlines() if "libpython" in line and str(tmp_path) not in line]
    assert not foreign


@pytest.mark.e2e
def test_uv_refuses_the_archive_when_the_hash_is_another(interpreter_archive: InterpreterArchive, tmp_path: Path) -> None:
    json_file = interpreter_archive.downloads_json(tmp_path / "downloads.json", sha256="0" * 64)
    result = _uv_install(interpreter_archive, json_file, tmp_path)
    assert result.returncode != 0
    assert "hash" in result.stderr.lower()
    assert not (tmp_path / "python" / interpreter_archive.key).exists()


def test_the_unpacked_archive_makes_environments_with_pip(interpreter_archive: InterpreterArchive, tmp_path: Path) -> None:
    python = interpreter_archive.unpack(tmp_path / "unpacked")
    subprocess.run([python, "-m", "venv", tmp_path / "venv"], check=True, capture_output=True)
    answer = subprocess.run([tmp_path / "venv" / "bin" / "pip", "--version"], check=True, capture_output=True, text=True)
    assert str(tmp_path / "venv") in answer.stdout
