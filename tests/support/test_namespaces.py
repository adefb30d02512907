"""Each circumstance is real, and ends with its command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.support.namespaces import SmallFileSystem, bare_path, interpreters_and_uv

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.namespaces import Circumstances


def _run(command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)


def test_without_network_only_loopback_is_left_and_it_is_up(circumstances: type[Circumstances]) -> None:
    question = (
        "import socket\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(server.getsockname()).close()\n"
        "print([name for _, name in socket.if_nameindex()])"
    )
    answer = _run(circumstances(network=False).command([sys.executable, "-c", question]))
    assert answer.stdout.strip() == "['lo']", answer.stderr


def test_status_and_arguments_pass_through(circumstances: type[Circumstances]) -> None:
    answer = _run(circumstances().command(["/bin/sh", "-c", 'echo "$1"; exit 7', "sh", "a 'b'  $c"]))
    assert (answer.returncode, answer.stdout) == (7, "a 'b'  $c\n")


def test_hidden_folders_are_empty_and_hidden_files_do_not_run(circumstances: type[Circumstances], tmp_path: Path) -> None:
    folder = tmp_path / "it's hidden"
    folder.mkdir()
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho ran\n")
    program.chmod(0o755)
    (folder / "file").touch()
    hidden = circumstances(hidden=(folder, program))
    assert _run(hidden.command(["ls", "-A", str(folder)])).stdout == ""
    assert _run(hidden.command([str(program)])).returncode == 126
    assert [file.name for file in folder.iterdir()] == ["file"]
    assert _run([str(program)]).stdout == "ran\n"


def test_read_only_folders_refuse_root(circumstances: type[Circumstances], tmp_path: Path) -> None:
    answer = _run(circumstances(read_only=(tmp_path,)).command(["touch", str(tmp_path / "new")]))
    assert answer.returncode == 1
    assert "Read-only file system" in answer.stderr
    assert not (tmp_path / "new").exists()


def test_small_file_systems_are_full_soon_and_noexec_runs_nothing(
    circumstances: type[Circumstances], tmp_path: Path
) -> None:
    small = circumstances(file_systems=(SmallFileSystem(tmp_path, size_bytes=64 * 1024, noexec=True),))
    full = _run(small.command(["dd", "if=/dev/zero", f"of={tmp_path}/big", "bs=1024", "count=128"]))
    assert "No space left on device" in full.stderr
    script = f"printf '#!/bin/sh\\n' > {tmp_path}/x; chmod 755 {tmp_path}/x; {tmp_path}/x"
    assert _run(small.command(["/bin/sh", "-c", script])).returncode == 126


def test_a_machine_without_python_and_uv_has_none_that_runs(circumstances: type[Circumstances], tmp_path: Path) -> None:
    path = bare_path(tmp_path / "bin")
    bare = circumstances(hidden=interpreters_and_uv())
    assert _run(bare.command(["ls", "/"]), PATH=path).returncode == 0
    for program in (sys.executable, shutil.which("python3") or "/usr/bin/python3"):
        assert _run(bare.command([program, "-c", "print(1)"])).returncode in (126, 127)
