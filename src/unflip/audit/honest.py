"""Scores that never saw the label of their own row: our own by leave-one-out, or the user's."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from unflip.selection import RobustClassifierCV
from unflip.sources import encode
from unflip.sources.batch import as_weight

Array = np.ndarray[Any, Any]
MANY = 50  # equal rows share one score: leave-one-out would order them against their own labels


@dataclass(frozen=True, eq=False)
class Honest:
    """Honest scores with their labels.

    scores: (n,) for two classes, (n, K) for more; member: (n, K), the weight of each row in each class;
    classes: (K,); rows: (n,), their numbers in the data; model: what scored them, or None where scores were
    given.
    """

    scores: Array
    member: Array
    classes: Array
    rows: Array
    model: RobustClassifierCV | None


def honest_scores(
    X: Any, y: Any, scores: Any = None, groups: Any = None, sample_weight: Any = None, random_state: Any = 0
) -> Honest:
    """Leave-one-out scores of a label-free fit, or the given ones if any; rows of weight zero are left out.

    >>> found = honest_scores(None, ["a", "b", "a"], scores=[-1.0, 2.0, -3.0])
    >>> found.classes.tolist(), found.rows.tolist()
    (['a', 'b'], [0, 1, 2])
    """
    labels = encode(y)
    weight = as_weight(sample_weight, len(labels))
    if scores is None:
        if X is None:
            raise ValueError("give X, or scores of your own model")
        model = RobustClassifierCV(feature_weights=False, random_state=random_state)
        model.fit(X, y, sample_weight=sample_weight, groups=groups)
        rows = model.loo_rows_
        found = _shared_by_equal_rows(model, X, rows)
    else:
        model, rows = None, np.flatnonzero(weight > 0)
        found = _as_scores(scores, len(labels), len(labels.classes))[rows]
    member = labels.membership[rows] * weight[rows, None]
    return Honest(found, member, labels.classes, rows, model)


def _as_scores(scores: Any, n: int, n_classes: int) -> Array:
    s = np.asarray(scores, dtype=np.float64)
    if n_classes == 2 and s.ndim == 2 and s.shape[1] == 2:
        s = s[:, 1] - s[:, 0]  # columns of probabilities
    wanted = (n,) if n_classes == 2 else (n, n_classes)
    if s.shape != wanted:
        raise ValueError(
            f"for {n} labels of {n_classes} classes scores have the shape {wanted}, got {s.shape}"
        )
    bad = np.argwhere(~np.isfinite(s))
    if len(bad):
        raise ValueError(f"the score of row {bad[0][0]} is {s[tuple(bad[0])]}; scores are finite")
    if s.ndim == 1 and s.min() >= 0 and s.max() <= 1:
        s = s - 0.5  # probabilities of the second class
    return s


def _shared_by_equal_rows(model: RobustClassifierCV, X: Any, rows: Array) -> Array:
    """The scores, with one for all rows that are equal and many."""
    scores = model.honest_scores_.copy()
    table = model.table_.transform(X)[rows]
    places = defaultdict(list)
    for place, row in enumerate(np.ascontiguousarray(table)):
        places[row.tobytes()].append(place)
    for equal in places.values():
        if len(equal) >= MANY:
            scores[equal] = scores[equal].mean(axis=0)
    return scores
