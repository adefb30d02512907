"""A JupyterLab that serves nothing, but starts, notes itself, has a kernel and stops like the real one.

It is copied into environments of tests, where JupyterLab's own modules would lie. ``FAKE_JUPYTER`` may tell it to
``fail`` at its start, or to be ``stubborn`` when it is asked to stop.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amlwizard.core.paths import Workspace


def put_jupyterlab_into(workspace: Workspace) -> None:
    """Put this into the environment of a workspace, where JupyterLab would be."""
    from amlwizard.core.environment.layout import site_folders
    from amlwizard.core.paths import executable_name

    (site,) = site_folders(workspace.venv)
    for module in ("jupyterlab/labapp.py", "jupyter_server/serverapp.py"):
        (site / module).parent.mkdir()
        (site / module).parent.joinpath("__init__.py").touch()
        shutil.copyfile(__file__, site / module)
    for name in ("matplotlib", "pandas", "sklearn"):
        (site / name).mkdir()
    workspace.python.with_name(executable_name("jupyter-lab")).touch()


class LabApp:
    """What is started."""

    @staticmethod
    def launch_instance(argv: list[str]) -> None:
        """Serve until SIGTERM, with one kernel that has a session of its own."""
        kind = os.environ.get("FAKE_JUPYTER", "")
        if kind == "fail":
            sys.exit("the configuration is wrong")
        folder = Path(os.environ["JUPYTER_RUNTIME_DIR"])
        token = Path(os.environ["JUPYTER_TOKEN_FILE"]).read_text(encoding="ascii")
        kernel = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
        with socket.create_server(("127.0.0.1", 0)) as server:
            note = folder / f"jpserver-{os.getpid()}.json"
            (folder / f"jpserver-{os.getpid()}-open.html").write_text("")
            stop = signal.SIG_IGN if kind == "stubborn" else lambda *_: sys.exit(143)
            signal.signal(signal.SIGTERM, stop)
            about = {"token": token, "cwd": os.getcwd(), "env": dict(os.environ), "kernel": kernel.pid, "argv": argv}  # noqa: PTH109
            part = note.with_suffix(".part")
            part.write_text(
                json.dumps({"pid": os.getpid(), "hostname": "127.0.0.1", "port": server.getsockname()[1], **about})
            )
            part.rename(note)
            try:
                while True:
                    server.accept()[0].close()
            finally:
                note.unlink()
                kernel.kill()
                kernel.wait()


def list_running_servers(folder: str) -> list[dict[str, object]]:
    """Return what runs by what it noted."""
    return [json.loads(note.read_text(encoding="utf-8")) for note in Path(folder).glob("jpserver-*.json")]
