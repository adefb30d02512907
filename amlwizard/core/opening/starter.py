"""The notebook that waits for whoever opens JupyterLab for the first time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from amlwizard.core.environment.layout import site_folders
from amlwizard.resources import resource

if TYPE_CHECKING:
    from amlwizard.core.paths import Workspace

NAMES: Final = {"en": "Start here.ipynb", "zh_CN": "从这里开始.ipynb"}
_NEEDS: Final = ("matplotlib", "pandas", "sklearn")


def write_starter(workspace: Workspace, language: str) -> None:
    """Put the notebook into ``notebooks/`` as long as nothing at all lies there: the folder is the user's own.

    Nothing is written where the environment lacks what the notebook imports.

    Raises:
        OSError: it cannot be written.
    """
    sites = site_folders(workspace.venv)
    if not all(any((site / name).is_dir() for site in sites) for name in _NEEDS):
        return
    workspace.notebooks.mkdir(exist_ok=True)
    if next(workspace.notebooks.iterdir(), None) is not None:
        return
    name = NAMES.get(language, NAMES["en"])
    content = resource("opening", f"start.{language if language in NAMES else 'en'}.ipynb").read_bytes()
    with (workspace.notebooks / name).open("xb") as stream:
        stream.write(content)
