"""Start the JupyterLab of a workspace in its notebooks/, or show the one that runs already.

amlwizard puts this file into runtime/jupyter of the workspace, where the window and shortcuts start it with the
environment's Python. JupyterLab keeps there what belongs to its running server. Options are passed on to it.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
import webbrowser
from contextlib import suppress
from pathlib import Path

FOLDER = Path(__file__).absolute().parent
NOTEBOOKS = FOLDER.parent.parent / "notebooks"
LOG = FOLDER.parent / "logs" / "jupyter.log"


def main(options: list[str]) -> None:
    """Serve until JupyterLab is stopped; return at once where another one runs."""
    os.environ["JUPYTER_RUNTIME_DIR"] = str(FOLDER)
    LOG.parent.mkdir(exist_ok=True)
    log = LOG.open("a", encoding="utf-8", errors="backslashreplace", buffering=1)
    sys.stdout = sys.stderr = log
    for descriptor in (1, 2):  # what kernels print goes there
        os.dup2(log.fileno(), descriptor)
    page = running_page()
    if page is not None:
        if "--no-browser" not in options:
            webbrowser.open(page)
        return
    log.truncate(0)
    os.environ["JUPYTER_TOKEN_FILE"] = str(fresh_token())  # one that Jupyter makes itself would be in the log
    os.environ["VIRTUAL_ENV"] = sys.prefix
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    NOTEBOOKS.mkdir(exist_ok=True)
    os.chdir(NOTEBOOKS)
    from jupyterlab.labapp import LabApp

    LabApp.launch_instance(argv=options)


def running_page() -> str | None:
    """Return the address of a page that leads to the server that runs, or None where none does."""
    from jupyter_server.serverapp import list_running_servers

    for server in list_running_servers(str(FOLDER)):
        with suppress(OSError), socket.create_connection((server["hostname"], server["port"]), timeout=5):
            page = FOLDER / f"jpserver-{server['pid']}-open.html"
            return page.as_uri() if page.exists() else str(server["url"])
    return None


def fresh_token() -> Path:
    """Write a new token into a file that this user alone can read."""
    path = FOLDER / "token"
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as stream:
        stream.write(secrets.token_hex(24))
    return path


if __name__ == "__main__":
    main(sys.argv[1:])
