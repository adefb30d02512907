"""What a shortcut and a kernel are on each system."""

from __future__ import annotations

import json
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

import pytest

from amlwizard.core.opening.outside import jupyter_data, kernel, shortcut

if TYPE_CHECKING:
    from pathlib import PurePath

HOME = PurePosixPath("/home/mei")
WINDOWS_HOME = PureWindowsPath("C:\\Users\\mei")


def test_on_windows_it_is_a_command_file_without_a_window_of_its_own() -> None:
    root = PureWindowsPath("C:\\O'Neil & 100%\\环境")
    made = shortcut(
        root, root / "runtime" / "open_jupyter.py", root / "Scripts" / "python.exe", PureWindowsPath("D:\\Desktop"), "win32"
    )
    assert made.path == PureWindowsPath("D:\\Desktop\\JupyterLab (环境).cmd")
    assert made.content.decode().split("\r\n") == [
        "@chcp 65001 >nul",
        '@start "" "C:\\O\'Neil & 100%%\\环境\\Scripts\\pythonw.exe" "C:\\O\'Neil & 100%%\\环境\\runtime\\open_jupyter.py"',
        "",
    ]


def test_on_macos_it_is_a_script_that_opens_in_a_terminal() -> None:
    root = PurePosixPath("/Users/mei/my aml")
    made = shortcut(root, root / "open_jupyter.py", root / "python", PurePosixPath("/Users/mei/Desktop"), "darwin")
    assert made.path == PurePosixPath("/Users/mei/Desktop/JupyterLab (my aml).command")
    assert made.content == b"#!/bin/sh\nexec '/Users/mei/my aml/python' '/Users/mei/my aml/open_jupyter.py'\n"
    assert made.program


def test_on_linux_it_is_an_entry_of_the_menu_with_a_name_of_its_own_for_each_workspace() -> None:
    made = [
        shortcut(root, root / 'a$"`\\%.py', root / "python", HOME, "linux")
        for root in (PurePosixPath("/a/aml"), PurePosixPath("/b/aml"))
    ]
    lines = made[0].content.decode().splitlines()
    assert lines[0] == "[Desktop Entry]"
    assert "Name=JupyterLab (aml)" in lines
    assert "Icon=/a/aml/amlwizard.svg" in lines
    assert 'Exec="/a/aml/python" "/a/aml/a\\\\$\\\\"\\\\`\\\\\\\\%%.py"' in lines
    assert made[0].path != made[1].path
    assert made[0].path.suffix == ".desktop"


@pytest.mark.parametrize(
    ("variables", "home", "system", "folder"),
    [
        ({}, HOME, "linux", "/home/mei/.local/share/jupyter"),
        ({"XDG_DATA_HOME": "/data"}, HOME, "linux", "/data/jupyter"),
        ({"JUPYTER_DATA_DIR": "/jupyter"}, HOME, "linux", "/jupyter"),
        ({}, HOME, "darwin", "/home/mei/Library/Jupyter"),
        ({"APPDATA": "D:\\Roaming"}, WINDOWS_HOME, "win32", "D:\\Roaming\\jupyter"),
        ({}, WINDOWS_HOME, "win32", "C:\\Users\\mei\\AppData\\Roaming\\jupyter"),
    ],
)
def test_a_kernel_lies_where_jupyter_looks(variables: dict[str, str], home: PurePath, system: str, folder: str) -> None:
    assert str(jupyter_data(variables, home, system)) == folder


def test_a_kernel_is_called_after_its_workspace_and_named_as_jupyter_allows() -> None:
    root = PurePosixPath("/a/My 环境 (2)")
    made = kernel(root, root / ".venv" / "bin" / "python", PurePosixPath("/data"))
    spec = json.loads(made.content)
    assert spec["display_name"] == "My 环境 (2)"
    assert spec["argv"] == ["/a/My 环境 (2)/.venv/bin/python", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    assert made.path.parent.parent == PurePosixPath("/data/kernels")
    assert made.path.parent.name.startswith("my-2-")
    assert kernel(PurePosixPath("/a/环境"), root, HOME).path.parent.name.startswith("amlwizard-")
