#!/usr/bin/env python3
"""Writes testdata/sklearn/curves.json: ROC and precision–recall curves with their areas, as scikit-learn computes them.

Usage: scripts/curves-fixture.py > testdata/sklearn/curves.json; needs scikit-learn.

Scores tie, rows have weights, and in some cases the class or its complement has no rows. The scores are eighths, so that they mean
the same as log-odds wherever they are computed.
"""

import json
import random
import warnings

import sklearn
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    precision_recall_curve,
    precision_score,
    recall_score,
    roc_auc_score,
    roc_curve,
)

warnings.simplefilter("ignore")
CUTS = [-1.0, -0.25, 0.0, 0.5, 1.0]


def case(name, rows, levels, weighted, positives):
    source = random.Random(name)
    scores = [source.randrange(-levels, levels + 1) / 8 for _ in range(rows)]
    classes = [positives if positives is not None else int(source.random() < 0.5 + score / 8) for score in scores]
    weights = [source.choice([0.5, 1.0, 2.0, 3.25]) if weighted else 1.0 for _ in range(rows)]
    given = {"sample_weight": weights}
    fpr, tpr, roc_thresholds = roc_curve(classes, scores, drop_intermediate=False, **given)
    precision, recall, pr_thresholds = precision_recall_curve(classes, scores, **given)
    numbers = lambda array: [None if x != x or abs(x) == float("inf") else float(x) for x in array]  # noqa: E731
    both = len(set(classes)) == 2
    cuts = []
    for cut in CUTS:
        predicted = [int(score >= cut) for score in scores]
        measures = {"precision": precision_score, "recall": recall_score, "f1": f1_score}
        cuts.append({"cut": cut, **{k: float(f(classes, predicted, zero_division=0, **given)) for k, f in measures.items()}})
    return {
        "name": name,
        "scores": scores,
        "classes": classes,
        "weights": weights,
        "roc": {"fpr": numbers(fpr), "tpr": numbers(tpr), "thresholds": numbers(roc_thresholds)},
        "precision_recall": {"precision": numbers(precision), "recall": numbers(recall), "thresholds": numbers(pr_thresholds)},
        "roc_auc": float(roc_auc_score(classes, scores, **given)) if both else None,
        "average_precision": float(average_precision_score(classes, scores, **given)) if any(classes) else None,
        "cuts": cuts,
    }


cases = [
    case("no ties to speak of", 40, 400, False, None),
    case("many ties", 60, 4, False, None),
    case("ties and weights", 60, 5, True, None),
    case("two rows", 2, 1, False, None),
    case("one score", 12, 0, True, None),
    case("only the class", 9, 4, True, 1),
    case("only others", 9, 4, True, 0),
]
print(json.dumps({"origin": f"scripts/curves-fixture.py, scikit-learn {sklearn.__version__}", "cases": cases}))
