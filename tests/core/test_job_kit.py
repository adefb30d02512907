"""The job kit: what a job writes, and scores that were worked out by hand."""

from __future__ import annotations

import ast
import importlib.util
import json
import math
import os
import pickle
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from amlwizard.resources import resource
from tests.support.interpreters import found_interpreters

if TYPE_CHECKING:
    from pathlib import Path


def module(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, resource("python", f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


amlkit = module("amlkit")
aml_eval = module("aml_eval")


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "jobs" / "one"
    monkeypatch.setenv("AML_JOB_DIR", str(folder))
    monkeypatch.setenv("AML_ROOT", str(tmp_path))
    return folder


class Scalar:
    """A number as NumPy wraps it."""

    def __init__(self, value: float) -> None:
        self.value = value

    def item(self) -> float:
        return self.value


def test_folders(job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert amlkit.job_dir() == job
    assert job.is_dir()
    assert amlkit.root() == tmp_path
    monkeypatch.delenv("AML_ROOT")
    monkeypatch.delenv("AML_JOB_DIR")
    monkeypatch.chdir(tmp_path)
    assert amlkit.job_dir() == tmp_path
    with pytest.raises(RuntimeError, match="amlwizard run"):
        amlkit.root()


def test_metrics(job: Path) -> None:
    assert amlkit.read_metrics() == []
    amlkit.log_metric("loss", 0.5, step=1)
    amlkit.log_metric("Genauigkeit ü\u2028", 1)
    amlkit.log_metric("loss", math.inf, step=2)
    lines = (job / "metrics.jsonl").read_text(encoding="utf-8").removesuffix("\n").split("\n")
    assert len(lines) == 3
    assert json.loads(lines[0], parse_constant=pytest.fail)["value"] == 0.5
    assert json.loads(lines[2], parse_constant=pytest.fail)["value"] == "inf"
    records = amlkit.read_metrics()
    assert [(record["name"], record["value"], record.get("step")) for record in records] == [
        ("loss", 0.5, 1),
        ("Genauigkeit ü\u2028", 1.0, None),
        ("loss", math.inf, 2),
    ]
    assert records[0]["time"].endswith("Z")


def test_models_are_saved_whole_and_loaded_by_name_or_path(job: Path) -> None:
    path = amlkit.save_model({"weights": [1, 2]})
    assert path.parent == job
    assert amlkit.load_model() == {"weights": [1, 2]}
    assert amlkit.load_model(path) == {"weights": [1, 2]}
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
        amlkit.save_model(lambda: None)
    assert amlkit.load_model() == {"weights": [1, 2]}
    assert [file.name for file in job.iterdir()] == [path.name]
    with pytest.raises(FileNotFoundError, match="other"):
        amlkit.load_model("other")


def test_predictions_reach_the_evaluation(job: Path) -> None:
    assert aml_eval.read_predictions(amlkit.write_predictions(["a\u2028b"], ["a"])) == (["a\u2028b"], ["a"])
    path = amlkit.write_predictions([Scalar(1.5), 2.0], [1.0, Scalar(2.5)])
    assert path == job / "predictions.jsonl"
    assert aml_eval.read_predictions(path) == ([1.5, 2.0], [1.0, 2.5])
    with pytest.raises(ValueError, match="zip"):
        amlkit.write_predictions([1], [1, 2])


def test_classification_by_hand() -> None:
    # a: 2 right of 3, said 3 times; b: 1 right of 2, said 1 time; c: 0 right of 0, said 1 time
    scores = aml_eval.classification_scores(["a", "a", "a", "b", "b"], ["a", "a", "c", "b", "a"])
    assert scores["confusion"] == {"labels": ["a", "b", "c"], "matrix": [[2, 0, 1], [1, 1, 0], [0, 0, 0]]}
    assert scores["accuracy"] == pytest.approx(3 / 5)
    assert scores["balanced_accuracy"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    by_label = {entry["label"]: entry for entry in scores["labels"]}
    assert by_label["a"] == {
        "label": "a",
        "precision": pytest.approx(2 / 3),
        "recall": pytest.approx(2 / 3),
        "f1": pytest.approx(2 / 3),
        "support": 3,
    }
    assert by_label["b"]["f1"] == pytest.approx(2 / 3)
    assert (by_label["c"]["precision"], by_label["c"]["recall"], by_label["c"]["f1"]) == (0, 0, 0)
    assert scores["precision_macro"] == pytest.approx((2 / 3 + 1) / 3)
    assert scores["recall_macro"] == pytest.approx((2 / 3 + 1 / 2) / 3)
    assert scores["f1_macro"] == pytest.approx((2 / 3 + 2 / 3) / 3)
    assert scores["f1_weighted"] == pytest.approx(2 / 3)


def test_regression_by_hand() -> None:
    # errors 1, -1, 2, 0: squares sum to 6; deviations from 2.5 are 1.5, 0.5, 0.5, 1.5: squares sum to 5
    scores = aml_eval.regression_scores([1, 2, 3, 4], [2, 1, 5, 4])
    assert scores["count"] == 4
    assert scores["rmse"] == pytest.approx(math.sqrt(6 / 4))
    assert scores["mae"] == pytest.approx(1)
    assert scores["max_error"] == 2
    assert scores["r2"] == pytest.approx(1 - 6 / 5)
    assert aml_eval.regression_scores([2, 2], [2, 3])["r2"] is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("true,predicted\n1,1\n0,1\n", "classification"),
        ("\ufefftrue,predicted\r\ncat,cat\r\n1,cat\r\n", "classification"),
        ("id,predicted,true\n7,1.5,1.25\n8,2,2\n", "regression"),
    ],
)
def test_csv_and_the_kind_of_task(tmp_path: Path, text: str, kind: str) -> None:
    path = tmp_path / "predictions.csv"
    path.write_bytes(text.encode())
    scores = aml_eval.evaluate(path)
    assert scores["kind"] == kind
    if kind == "classification":
        assert scores["accuracy"] == 0.5
    else:
        assert scores["mae"] == pytest.approx(0.125)
    if text.startswith("true,predicted\n1"):
        assert scores["confusion"]["labels"] == [0, 1]
        assert aml_eval.evaluate(path, "regression")["mae"] == 0.5


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("p.jsonl", "", "no predictions"),
        ("p.csv", "true,predicted\n", "no predictions"),
        ("p.jsonl", '{"true": 1, "predicted": 1}\n{"true": 1}\n', "line 2"),
        ("p.jsonl", '{"true": 1, "predicted": NaN}\n', "line 1"),
        ("p.jsonl", '{"true": [1], "predicted": [1]}\n', "line 1"),
        ("p.jsonl", "nonsense\n", "line 1"),
        ("p.jsonl", "5\n", "line 1"),
        ("p.csv", "true,guess\n1,1\n", "predicted"),
    ],
)
def test_what_cannot_be_scored_is_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=said):
        aml_eval.evaluate(path)


def test_regression_of_labels_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("true,predicted\na,b\n", encoding="utf-8")
    with pytest.raises(ValueError, match="finite numbers"):
        aml_eval.evaluate(path, "regression")


@pytest.mark.parametrize("python", found_interpreters(), ids=str)
def test_a_job_in_each_python(tmp_path: Path, python: Path) -> None:
    script = tmp_path / "my job.py"
    script.write_text(
        "import amlkit, aml_eval\n"
        "amlkit.log_metric('loss', 0.25, step=3)\n"
        "assert amlkit.load_model(amlkit.save_model([1])) == [1]\n"
        "print(aml_eval.evaluate(amlkit.write_predictions(['ä', 'b'], ['ä', 'ä']))['accuracy'])\n",
        encoding="utf-8",
    )
    folder = tmp_path / "job"
    environment = {
        **{name: os.environ[name] for name in ("SYSTEMROOT", "PATH") if name in os.environ},
        "AML_JOB_DIR": str(folder),
        "PYTHONPATH": str(resource("python")),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    result = subprocess.run([python, script], env=environment, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr, result.stdout) == (0, "", "0.5\n")
    command = [python, resource("python", "aml_eval.py"), "--out", tmp_path / "scores.json"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))
    result = subprocess.run(
        [*command, "gone.csv"], env=environment, capture_output=True, text=True, timeout=60, cwd=tmp_path
    )
    assert result.returncode == 2
    assert "gone.csv" in result.stderr
    assert "Traceback" not in result.stderr
    source = resource("python", "sample_job.py").read_text(encoding="utf-8")
    compile_only = [python, "-c", "import sys; compile(sys.argv[1], 'sample_job.py', 'exec')", source]
    assert subprocess.run(compile_only, env=environment, timeout=60).returncode == 0


def test_the_sample_job_uses_only_what_the_default_profile_brings() -> None:
    tree = ast.parse(resource("python", "sample_job.py").read_text(encoding="utf-8"))
    found = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    found |= {str(node.module).partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert found == {"__future__", "json", "aml_eval", "amlkit", "sklearn"}
