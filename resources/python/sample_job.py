"""A sample training job: tells benign from malignant tumours in a data set that scikit-learn ships.

    amlwizard run --sample

Writes metrics.jsonl, model.joblib, predictions.jsonl and scores.json into the job's folder. Copy it as a start for your
own.
"""

from __future__ import annotations

import json

import aml_eval
import amlkit
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

EPOCHS = 20
SEED = 7


def main() -> None:
    """Train, log, save and evaluate."""
    data = load_breast_cancer()
    names = data.target_names[data.target]
    train_x, test_x, train_y, test_y = train_test_split(data.data, names, test_size=0.25, stratify=names, random_state=SEED)
    scaler = StandardScaler().fit(train_x)
    train_x, test_x = scaler.transform(train_x), scaler.transform(test_x)

    model = SGDClassifier(loss="log_loss", alpha=0.01, random_state=SEED)
    for epoch in range(1, EPOCHS + 1):
        model.partial_fit(train_x, train_y, classes=data.target_names)
        loss = log_loss(train_y, model.predict_proba(train_x), labels=model.classes_)
        amlkit.log_metric("train_loss", loss, step=epoch)
        print(f"epoch {epoch:2d} of {EPOCHS}: loss {loss:.4f}")

    saved = amlkit.save_model({"scaler": scaler, "classifier": model})
    predictions = amlkit.write_predictions(test_y, amlkit.load_model(saved)["classifier"].predict(test_x))
    scores = aml_eval.evaluate(predictions)
    amlkit.log_metric("test_accuracy", scores["accuracy"])
    (amlkit.job_dir() / "scores.json").write_text(json.dumps(scores, indent=2) + "\n", encoding="utf-8")
    print(f"accuracy {scores['accuracy']:.3f}, F1 {scores['f1_macro']:.3f} on {scores['count']} cases")
    print(f"model saved as {saved}")


if __name__ == "__main__":
    main()
