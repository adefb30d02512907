"""The job kit: what a training job needs to know of its workspace, and a few lines that every job writes.

    import amlkit

    amlkit.log_metric("loss", 0.31, step=10)
    amlkit.save_model(model)
    amlkit.write_predictions(y_test, model.predict(X_test))

``amlwizard run`` starts a job in its own folder and sets AML_JOB_DIR (that folder) and AML_ROOT (the workspace). Everything
that a job writes with this module goes into its folder. Standard library alone; joblib is used where it is installed. Works
with Python 3.10 and later.
"""

from __future__ import annotations

import json
import math
import os
import pickle
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "job_dir",
    "load_model",
    "log_metric",
    "read_metrics",
    "root",
    "save_model",
    "write_predictions",
]

METRICS = "metrics.jsonl"
PREDICTIONS = "predictions.jsonl"


def job_dir() -> Path:
    """Return the job's folder: AML_JOB_DIR, or the current folder outside ``amlwizard run``. It is created if need be."""
    folder = Path(os.environ.get("AML_JOB_DIR") or Path.cwd()).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def root() -> Path:
    """Return the workspace, with ``datasets``, ``models``, ``jobs`` and ``notebooks`` in it.

    Raises:
        RuntimeError: AML_ROOT is not set, so this does not run in a workspace.
    """
    value = os.environ.get("AML_ROOT")
    if not value:
        raise RuntimeError("AML_ROOT is not set; start the job with: amlwizard run -- SCRIPT")
    return Path(value)


def log_metric(name: str, value: float, step: int | None = None) -> None:
    """Append one number to ``metrics.jsonl``: an object a line with time (UTC), name, value, and step where it is given.

    What is not finite is written as a text ("nan", "inf"), since JSON has no such numbers. A line is written whole, so that
    a reader, or a job that is stopped, never sees half of one.
    """
    number = float(value)
    record: dict[str, Any] = {
        "time": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),  # noqa: UP017 (Python 3.10)
        "name": name,
        "value": number if math.isfinite(number) else str(number),
    }
    if step is not None:
        record["step"] = int(step)
    line = json.dumps(record, ensure_ascii=False) + "\n"
    with (job_dir() / METRICS).open("ab") as stream:
        stream.write(line.encode())


def read_metrics(path: str | os.PathLike[str] | None = None) -> list[dict[str, Any]]:
    """Return the metrics of a job, by default of this one, in the order in which they were logged."""
    file = Path(path) if path is not None else job_dir() / METRICS
    if not file.exists():
        return []
    # not splitlines: a name may hold what is a line's end to it, such as U+2028
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]
    for record in records:
        record["value"] = float(record["value"])
    return records


def save_model(model: object, name: str = "model") -> Path:
    """Save a model in the job's folder and return its file; an older one of that name is replaced only by a complete one.

    The file ends in ``.joblib`` where joblib is installed, in ``.pkl`` otherwise.
    """
    joblib = _joblib()
    target = job_dir() / f"{name}.{'joblib' if joblib else 'pkl'}"
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as stream:
            if joblib:
                joblib.dump(model, stream)
            else:
                pickle.dump(model, stream)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return target


def load_model(model: str | os.PathLike[str] = "model") -> Any:
    """Return a saved model, by its name in the job's folder or by its path.

    Loading runs code that the file names, so load only what you or somebody you trust has saved.

    Raises:
        FileNotFoundError: there is no such model.
    """
    candidates = [Path(model), *(job_dir() / f"{model}{suffix}" for suffix in (".joblib", ".pkl"))]
    for path in candidates:
        if path.is_file():
            break
    else:
        raise FileNotFoundError(f"no model {os.fspath(model)!r}; looked for {', '.join(map(str, candidates))}")
    with path.open("rb") as stream:
        if path.suffix == ".joblib":
            joblib = _joblib()
            if joblib is None:
                raise RuntimeError(f"{path} was saved with joblib, which is not installed here")
            return joblib.load(stream)
        return pickle.load(stream)  # noqa: S301


def write_predictions(true: Iterable[Any], predicted: Iterable[Any], name: str = PREDICTIONS) -> Path:
    """Write what is true and what a model says, an object a line, for ``aml_eval``; return the file.

    Raises:
        ValueError: the two differ in length.
    """
    target = job_dir() / name
    pairs = zip(true, predicted, strict=True)
    lines = [
        json.dumps({"true": _plain(first), "predicted": _plain(second)}, ensure_ascii=False) for first, second in pairs
    ]
    target.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    return target


def _plain(value: Any) -> Any:
    """Return a Python value for a NumPy scalar."""
    return value.item() if hasattr(value, "item") else value


def _joblib() -> Any:
    try:
        import joblib
    except ImportError:
        return None
    return joblib
