"""Score the predictions of a job.

    python aml_eval.py [PREDICTIONS] [--kind auto|classification|regression] [--out FILE]

or from Python::

    import aml_eval

    scores = aml_eval.evaluate("predictions.jsonl")

PREDICTIONS is what ``amlkit.write_predictions`` wrote (an object a line with "true" and "predicted"), or a CSV file with
these two columns; by default ``predictions.jsonl`` in the job's folder. Scores are printed as JSON. Standard library
alone; works with Python 3.10 and later.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["classification_scores", "evaluate", "read_predictions", "regression_scores"]

KINDS = ("auto", "classification", "regression")


def evaluate(path: str | os.PathLike[str], kind: str = "auto") -> dict[str, Any]:
    """Return the scores of a file of predictions.

    Args:
        path: a file of JSON lines, or a CSV file (its name ends in ``.csv``).
        kind: one of ``KINDS``; ``auto`` means regression where any value is a number with a fraction.

    Raises:
        ValueError: the file cannot be scored; the text says why, with the line.
        OSError: the file cannot be read.
    """
    if kind not in KINDS:
        raise ValueError(f"kind is one of {', '.join(KINDS)}, not {kind!r}")
    true, predicted = read_predictions(path)
    if kind == "auto":
        kind = _kind_of([*true, *predicted])
    if kind == "regression":
        return {"kind": kind, **regression_scores(_numbers(true), _numbers(predicted))}
    return {"kind": kind, **classification_scores(true, predicted)}


def read_predictions(path: str | os.PathLike[str]) -> tuple[list[Any], list[Any]]:
    """Return what is true and what was predicted.

    Raises:
        ValueError: the file holds no predictions, or one that is not complete.
    """
    file = Path(path)
    rows = _csv_rows(file) if file.suffix.lower() == ".csv" else _json_rows(file)
    true: list[Any] = []
    predicted: list[Any] = []
    for number, row in rows:
        for values, column in ((true, "true"), (predicted, "predicted")):
            value = row.get(column) if isinstance(row, dict) else None
            if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
                raise ValueError(f'{file}, line {number}: no value for "{column}"')
            if not isinstance(value, (str, int, float)):
                raise ValueError(f'{file}, line {number}: "{column}" is neither a text nor a number')  # noqa: TRY004
            values.append(value)
    if not true:
        raise ValueError(f"{file} holds no predictions")
    if file.suffix.lower() == ".csv":
        return _typed(true, predicted)
    return true, predicted


def classification_scores(true: Sequence[Any], predicted: Sequence[Any]) -> dict[str, Any]:
    """Return accuracy, balanced accuracy (the mean recall of the labels that occur), precision, recall and F1 (their means
    over the labels, and F1 weighted by support), the scores of each label, and the confusion matrix (rows: true).

    A label that was never predicted has precision 0, one that never occurs has recall 0.

    Raises:
        ValueError: there is nothing to score, or the two differ in length.
    """
    _check(true, predicted)
    labels = sorted({*true, *predicted}, key=lambda label: (isinstance(label, str), label))
    index = {label: position for position, label in enumerate(labels)}
    matrix = [[0] * len(labels) for _ in labels]
    for first, second in zip(true, predicted, strict=True):
        matrix[index[first]][index[second]] += 1
    per_label = []
    for position, label in enumerate(labels):
        hits = matrix[position][position]
        support = sum(matrix[position])
        said = sum(row[position] for row in matrix)
        per_label.append(
            {
                "label": label,
                "precision": _ratio(hits, said),
                "recall": _ratio(hits, support),
                "f1": _ratio(2 * hits, said + support),
                "support": support,
            }
        )
    occurring = [scores for scores in per_label if scores["support"]]
    return {
        "count": len(true),
        "accuracy": _ratio(sum(matrix[position][position] for position in range(len(labels))), len(true)),
        "balanced_accuracy": _mean([scores["recall"] for scores in occurring]),
        "precision_macro": _mean([scores["precision"] for scores in per_label]),
        "recall_macro": _mean([scores["recall"] for scores in per_label]),
        "f1_macro": _mean([scores["f1"] for scores in per_label]),
        "f1_weighted": math.fsum(scores["f1"] * scores["support"] for scores in per_label) / len(true),
        "labels": per_label,
        "confusion": {"labels": labels, "matrix": matrix},
    }


def regression_scores(true: Sequence[float], predicted: Sequence[float]) -> dict[str, Any]:
    """Return RMSE, MAE, the largest error, and R2 (None where all true values are equal, which leaves it undefined).

    Raises:
        ValueError: there is nothing to score, or the two differ in length.
    """
    _check(true, predicted)
    errors = [second - first for first, second in zip(true, predicted, strict=True)]
    centre = _mean(true)
    residual = math.fsum(error * error for error in errors)
    total = math.fsum((value - centre) ** 2 for value in true)
    return {
        "count": len(true),
        "rmse": math.sqrt(residual / len(true)),
        "mae": _mean([abs(error) for error in errors]),
        "max_error": max(abs(error) for error in errors),
        "r2": 1 - residual / total if total else None,
    }


def _check(true: Sequence[Any], predicted: Sequence[Any]) -> None:
    if len(true) != len(predicted):
        raise ValueError(f"{len(true)} true values, but {len(predicted)} predictions")
    if not len(true):
        raise ValueError("there are no predictions")


def _json_rows(file: Path) -> Iterator[tuple[int, Any]]:
    # not splitlines: a text may hold what is a line's end to it, such as U+2028
    for number, line in enumerate(file.read_text(encoding="utf-8-sig").split("\n"), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except ValueError as error:
                raise ValueError(f"{file}, line {number}: {error}") from error


def _csv_rows(file: Path) -> Iterator[tuple[int, Any]]:
    with file.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.DictReader(stream)
        for row in reader:
            yield reader.line_num, row


def _typed(true: list[Any], predicted: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the texts of a CSV file as whole numbers, as numbers, or as they are, both columns alike."""
    for convert in (int, float):
        try:
            return [convert(value) for value in true], [convert(value) for value in predicted]
        except ValueError:
            continue
    return true, predicted


def _kind_of(values: list[Any]) -> str:
    numbers = [value for value in values if isinstance(value, (int, float))]
    fractions = any(isinstance(value, float) and not value.is_integer() for value in numbers)
    return "regression" if len(numbers) == len(values) and fractions else "classification"


def _numbers(values: list[Any]) -> list[float]:
    for value in values:
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            raise ValueError(f"regression needs finite numbers, not {value!r}")
    return [float(value) for value in values]


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code (2 where the predictions cannot be scored)."""
    parser = argparse.ArgumentParser(description="Score the predictions of a job.")
    parser.add_argument("predictions", nargs="?", help="JSON lines or CSV (default: predictions.jsonl of the job)")
    parser.add_argument("--kind", choices=KINDS, default="auto")
    parser.add_argument("--out", help="write the scores to this file as well")
    options = parser.parse_args(arguments)
    default = Path(os.environ.get("AML_JOB_DIR") or ".") / "predictions.jsonl"
    try:
        scores = evaluate(options.predictions or default, options.kind)
        text = json.dumps(scores, indent=2, ensure_ascii=False)
        if options.out:
            Path(options.out).write_text(text + "\n", encoding="utf-8")
    except (OSError, ValueError) as error:
        print(f"aml_eval: {error}", file=sys.stderr)
        return 2
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
