"""The first notebook: valid, short, and the same in both languages."""

from __future__ import annotations

import ast
import json
from typing import Any

from amlwizard.core.catalogue import LANGUAGES
from amlwizard.core.opening.starter import NAMES
from amlwizard.resources import resource


def cells(language: str) -> list[dict[str, Any]]:
    notebook = json.loads(resource("opening", f"start.{language}.ipynb").read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    found: list[dict[str, Any]] = notebook["cells"]
    return found


def test_it_is_valid_in_each_language_and_runs_the_same_code() -> None:
    assert set(NAMES) == set(LANGUAGES)
    codes = []
    for language in LANGUAGES:
        ids = [cell["id"] for cell in cells(language)]
        assert len(ids) == len(set(ids)) <= 8
        for cell in cells(language):
            code = cell["cell_type"] == "code"
            kind = {"cell_type", "id", "metadata", "source"} | ({"execution_count", "outputs"} if code else set())
            assert set(cell) == kind
        codes.append(["".join(cell["source"]) for cell in cells(language) if cell["cell_type"] == "code"])
    assert all(code == codes[0] for code in codes)
    imported = {
        node.module.partition(".")[0]
        if isinstance(node, ast.ImportFrom) and node.module
        else node.names[0].name.partition(".")[0]
        for node in ast.walk(ast.parse("\n".join(codes[0])))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported == {"matplotlib", "sklearn"}
