"""What holds for the project as a whole: layers, catalogue, error codes, names that must not be in the tree, the wheel."""

from __future__ import annotations

import ast
import json
import os
import re
import runpy
import string
import subprocess
import sys
import tomllib
import zipfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pip._internal.models import index as pip_index

import amlwizard

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "amlwizard"
MESSAGES = ROOT / "resources" / "messages"
QT = ("PySide6", "shiboken6", "qasync", "PyQt5", "PyQt6")
FRONT_ENDS = ("amlwizard.ui", "amlwizard.cli", "amlwizard.app", "amlwizard.api")
FORBIDDEN_IMPORTS = {
    "core": (*QT, *FRONT_ENDS, "amlwizard.process", "amlwizard.net"),
    "net": (*QT, *FRONT_ENDS, "amlwizard.process"),
    "process": (*FRONT_ENDS, "amlwizard.net"),
    "ui": (*FRONT_ENDS[1:], "amlwizard.process", "amlwizard.net", "subprocess", "shutil", "multiprocessing"),
}
FILE_ACCESS = {
    "open",
    "read_text",
    "read_bytes",
    "write_text",
    "write_bytes",
    "mkdir",
    "unlink",
    "rmdir",
    "rename",
    "touch",
    "iterdir",
    "symlink_to",
    "chmod",
    "QFile",
    "QSaveFile",
    "QProcess",
    "QDir",
}
VARIABLES = {
    "AML_ROOT",
    "AML_UV_BIN",
    "AML_PYTHON_BIN",
    "AML_INDEX_URL",
    "AML_UV_PYTHON",
    "AML_PYHOME",
    "AML_JOB_DIR",
    "AML_RUN_TAG",
}
"""Environment variables, which look like codes and are none."""
LEFT_OUT = {".git", ".dev", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", "dist", "build"}
COMMON_TOP_FOLDERS = {"Users", "home", "mnt", "media", "opt", "private", "root", "run", "srv", "tmp", "usr", "var"}


@cache
def _sources() -> dict[Path, ast.Module]:
    return {file: ast.parse(file.read_text(encoding="utf-8")) for file in sorted(PACKAGE.rglob("*.py"))}


def _imports(tree: ast.Module) -> Iterator[str]:
    """Yield every imported name, wherever in the file the import stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute, so that they can be checked"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _belongs(name: str, packages: Iterable[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


@cache
def _texts() -> dict[str, dict[str, Any]]:
    texts: dict[str, dict[str, Any]] = {}
    for file in MESSAGES.glob("*.json"):
        texts |= json.loads(file.read_text(encoding="utf-8"))
    return texts


def _words(texts: dict[str, Any]) -> list[str]:
    return [words for key, words in texts.items() if key != "proposes"]


def _tree_files() -> Iterator[Path]:
    for folder, names, files in os.walk(ROOT):
        names[:] = [name for name in names if name not in LEFT_OUT]
        yield from (Path(folder, file) for file in files if file != ".git" and not file.endswith(".pyc"))


@pytest.mark.parametrize("layer", FORBIDDEN_IMPORTS)
def test_imports_point_downward(layer: str) -> None:
    files = [file for file in _sources() if (PACKAGE / layer) in file.parents]
    assert files
    wrong = [
        f"{file.relative_to(ROOT)} imports {name}"
        for file in files
        for name in _imports(_sources()[file])
        if _belongs(name, FORBIDDEN_IMPORTS[layer])
    ]
    assert not wrong


def test_the_window_touches_no_file_and_starts_nothing() -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{call.lineno} calls {_called(call)}"
        for file, tree in _sources().items()
        if (PACKAGE / "ui") in file.parents
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and _called(call) in FILE_ACCESS and not _opens_a_dialog(call)
    ]
    assert not wrong


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _opens_a_dialog(call: ast.Call) -> bool:
    """Tell whether this is ``dialog.open()``."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "open" and not call.args and not call.keywords


def _needs_qt_at_once(tree: ast.Module) -> bool:
    """Tell whether a module imports Qt when it is loaded, rather than when it is needed."""
    at_once = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return any(_belongs(name, QT) for name in _imports(ast.Module(body=[*at_once], type_ignores=[])))


def test_only_modules_of_the_window_need_qt_at_once() -> None:
    needing = {file.relative_to(PACKAGE).as_posix() for file, tree in _sources().items() if _needs_qt_at_once(tree)}
    assert {name for name in needing if not name.startswith("ui/")} <= {"app.py", "process/qprocess_runner.py"}


def test_text_mode_and_core_load_no_qt() -> None:
    """In a fresh interpreter, every module but those of the window."""
    other_system = "tree_posix.py" if sys.platform == "win32" else "tree_windows.py"
    window = {"app.py", "qprocess_runner.py", other_system}
    modules = [
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for file in _sources()
        if (PACKAGE / "ui") not in file.parents and file.name not in window
    ]
    assert {"amlwizard.cli", "amlwizard.api", "amlwizard.__main__", "amlwizard.core.engine"} <= set(modules)
    question = (
        "import importlib, sys\n"
        f"for name in {modules!r}: importlib.import_module(name)\n"
        f"print([name for name in {QT!r} if name in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", question], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (answer.stdout.strip(), answer.returncode) == ("[]", 0), answer.stderr


def test_every_text_exists_in_both_languages_with_the_same_placeholders() -> None:
    wrong = []
    for key, texts in _texts().items():
        if set(texts) - {"proposes"} != {"en", "zh_CN"} or not all(value.strip() for value in _words(texts)):
            wrong.append(f"{key}: has {sorted(texts)}")
            continue
        names = [{name for _, name, _, _ in string.Formatter().parse(value) if name is not None} for value in _words(texts)]
        if names[0] != names[1]:
            wrong.append(f"{key}: {names[0]} in one language, {names[1]} in the other")
    assert not wrong


def test_no_key_stands_in_two_files() -> None:
    keys = Counter(key for file in MESSAGES.glob("*.json") for key in json.loads(file.read_text(encoding="utf-8")))
    assert [key for key, times in keys.items() if times > 1] == []


def _codes_in_the_program() -> dict[str, str]:
    """Return every string of the program that is an error code, with a place where it stands."""
    return {
        node.value: f"{file.relative_to(ROOT)}:{node.lineno}"
        for file, tree in _sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if re.fullmatch(r"AML_[A-Z0-9_]*[A-Z0-9]", node.value) and node.value not in VARIABLES
    }


def test_every_code_of_the_program_has_its_message() -> None:
    missing = [f"{code} ({place})" for code, place in _codes_in_the_program().items() if f"{code}.message" not in _texts()]
    assert not missing


def test_every_message_belongs_to_a_code_of_the_program() -> None:
    codes = {key.partition(".")[0] for key in _texts() if key.startswith("AML_")}
    assert codes - set(_codes_in_the_program()) == set()


def test_the_list_of_errors_is_current() -> None:
    """``python3 packaging/dev.py errors`` writes it."""
    rendered = runpy.run_path(str(ROOT / "packaging" / "errors_doc.py"))["render"]()
    assert (ROOT / "docs" / "errors.md").read_text(encoding="utf-8") == rendered
    listed = set(re.findall(r"^### (AML_\w+)$", rendered, re.MULTILINE))
    assert listed == {key.removesuffix(".message") for key in _texts() if re.fullmatch(r"AML_\w+\.message", key)}


def test_the_tree_names_no_registry_and_no_place_of_this_machine() -> None:
    hosts = {pip_index.PyPI.netloc, pip_index.PyPI.file_storage_domain, pip_index.TestPyPI.netloc}
    for file in (Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*")):
        if file.is_file():
            hosts |= set(re.findall(r"[a-z]+://([^/\s]+)", file.read_text(encoding="utf-8")))
    top = ROOT.parts[1]
    places = {f"{ROOT}/" if top in COMMON_TOP_FOLDERS else f"/{top}/"}
    home = str(Path.home())
    places.add(f"{home}/." if home == "/root" else f"{home}/")
    unwanted = [word.encode() for word in hosts | places]
    found = [
        f"{file.relative_to(ROOT)}: {word.decode()}"
        for file in _tree_files()
        for content in [file.read_bytes()]
        for word in unwanted
        if word in content
    ]
    assert not found


def test_the_wheel_is_complete(tmp_path: Path) -> None:
    """It carries the resources, the entry point and the one version, and works from where it lies."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    unpacked = tmp_path / "unpacked"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        archive.extractall(unpacked)
    resources = {
        f"amlwizard/_resources/{file.relative_to(ROOT / 'resources').as_posix()}"
        for file in (ROOT / "resources").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert resources <= names
    information = unpacked / f"amlwizard-{amlwizard.__version__}.dist-info"
    assert f"\nVersion: {amlwizard.__version__}\n" in (information / "METADATA").read_text(encoding="utf-8")
    assert "amlwizard = amlwizard.__main__:main" in (information / "entry_points.txt").read_text(encoding="utf-8")
    question = (
        f"import sys; sys.path.insert(0, {str(unpacked)!r})\n"
        "from amlwizard.core.catalogue import message_keys\n"
        "from amlwizard.resources import resource_root\n"
        "print(len(message_keys()), resource_root())"
    )
    answer = subprocess.run([sys.executable, "-c", question], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert answer.stdout.split() == [str(len(_texts())), str(unpacked / "amlwizard" / "_resources")], answer.stderr


def test_the_version_stands_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == "amlwizard/__init__.py"
    elsewhere = [
        str(file.relative_to(ROOT))
        for file, tree in _sources().items()
        if file != PACKAGE / "__init__.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value == amlwizard.__version__
    ]
    assert not elsewhere
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest is not None
    assert newest[1] == amlwizard.__version__


def test_the_readme_opens_with_the_commands_that_set_everything_up() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [line.strip() for line in readme.splitlines() if line.strip().startswith("python3 packaging/dev.py")][:2] == [
        "python3 packaging/dev.py run",
        "python3 packaging/dev.py test",
    ]
    assert "python3 packaging/dev.py test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
