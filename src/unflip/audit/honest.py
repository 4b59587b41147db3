"""Scores that never saw the label of their own row: our own by leave-one-out, or the user's."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unflip.audit.rule import RULE, follows_a_rule
from unflip.border.arrays import Array
from unflip.border.classes import chosen, refuse_single_class
from unflip.border.labels import encode_classes
from unflip.border.weights import as_weight
from unflip.border.words import is_missing
from unflip.noise.curve import Curve, normal_scores
from unflip.noise.estimate import CONFIDENCE, along_and_agree, annotator_curve, signed
from unflip.noise.judgement import Judgement, judge
from unflip.robust import RobustClassifierCV
from unflip.robust.copies import copies
from unflip.robust.numbers import EnsembleClassifier
from unflip.sources import encode

FITTED = 20_000  # rows of a large table that are fitted; the others are scored by that fit
SCORED = 4096  # of the others at a time


class JudgesEveryRow(RobustClassifierCV):
    """Whose leave-one-out scores are of all rows, however many there are."""

    _most_judged = sys.maxsize


class _JudgesEveryNumber(EnsembleClassifier):
    """The same for rows of numbers."""

    _most_judged = sys.maxsize


@dataclass(frozen=True, eq=False)
class Honest:
    """Honest scores with their labels.

    scores: (n,) for two classes, (n, K) for more; member: (n, K), the weight of each row in each class;
    classes: (K,); rows: (n,), their numbers in the data; given_rows: how many rows there were.
    """

    scores: Array
    member: Array
    classes: Array
    rows: Array
    given_rows: int


def honest_scores(
    X: Any, y: Any, scores: Any = None, groups: Any = None, sample_weight: Any = None, random_state: Any = 0
) -> Honest:
    """Leave-one-out scores of a robust fit, or the given ones if any; rows of weight zero are left out.

    >>> found = honest_scores(None, ["a", "b", "a"], scores=[-1.0, 2.0, -3.0])
    >>> found.classes.tolist(), found.rows.tolist()
    (['a', 'b'], [0, 1, 2])
    """
    labels = encode_classes(y)
    weight = as_weight(sample_weight, len(labels))
    refuse_single_class(labels.classes.tolist(), weight @ labels.membership)
    if scores is None:
        if X is None:
            raise ValueError("give X, or scores of your own model")
        model = JudgesEveryRow(random_state=random_state).fit(X, y, sample_weight, groups)
        rows = model.loo_rows_
        found = model.honest_scores_
    else:
        if groups is not None:
            raise ValueError("groups go with our own scores; yours must have left groups out already")
        given = len(labels) if X is None else X.shape[0] if hasattr(X, "shape") else len(X)
        if given != len(labels):
            raise ValueError(f"X has {given} rows, y has {len(labels)} labels: inconsistent lengths")
        rows = np.flatnonzero(weight > 0)
        found = _as_scores(scores, len(labels), len(labels.classes))[rows]
    member = labels.membership[rows] * weight[rows, None]
    return Honest(found, member, labels.classes, rows, len(labels))


def judged_labels(
    X: Any,
    y: Any,
    scores: Any,
    groups: Any,
    trusted: Any,
    noise: str,
    sample_weight: Any = None,
    random_state: Any = 0,
    level: float = CONFIDENCE,
) -> tuple[Honest, Judgement, Array]:
    """Honest scores, what they say of the labels, and a mask of the trusted rows among them.

    >>> honest, judgement, sure = judged_labels([[0.0], [1.0]] * 50, [0, 1] * 50, None, None, [0], "auto")
    >>> judgement.estimate.low, int(sure.sum())
    (0.0, 1)
    """
    honest = honest_scores(X, y, scores, groups, sample_weight, random_state)
    sure = np.isin(honest.rows, trusted_rows(trusted, honest.given_rows))
    known = None if trusted is None else sure
    found = judge(honest.scores, honest.member, known, noise, honest.classes, level)
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiu" and np.isfinite(X).all():
        given, likely = honest.member.argmax(axis=1), chosen(honest.scores)
        if follows_a_rule(X[honest.rows], given, float(np.mean(likely != given))):
            warnings = (*found.estimate.warnings, RULE)
            found = replace(found, estimate=replace(found.estimate, warnings=warnings))
    return honest, found, sure


def honest_of_many(
    X: Array, y: Array, sample_weight: Any = None, random_state: int = 0, groups: Any = None
) -> tuple[EnsembleClassifier, Array, Array]:
    """A robust fit to at most 20,000 rows of numbers, an honest score for every row, and which were judged.

    Where rows belong to groups, all are fitted, for a group leaves as a whole.

    Rows that were fitted are scored by leaving them out; the others were never seen. A copy of a row that
    was fitted has the score of that row.

    >>> X, y = np.array([[0.0], [1.0], [8.0], [9.0]] * 10), np.array(["a", "a", "b", "b"] * 10)
    >>> model, scores, judged = honest_of_many(X, y)
    >>> (scores > 0).tolist() == (y == "b").tolist()
    True
    """
    if groups is not None:
        model = _JudgesEveryNumber(random_state=random_state).fit(X, y, sample_weight, groups)
        scores = np.zeros((len(y), *model.honest_scores_.shape[1:]))
        scores[model.loo_rows_] = model.honest_scores_
        return model, scores, model.loo_rows_
    model, n = EnsembleClassifier(random_state=random_state), len(y)
    weight = as_weight(sample_weight, n)
    fitted = np.sort(np.random.default_rng(random_state).permutation(n)[:FITTED])
    rows = X[fitted] if n > FITTED else X
    model.fit(rows, y[fitted], weight[fitted])
    rare = sorted(set(encode(y).classes.tolist()) - set(model.classes_.tolist()))
    if rare:
        raise ValueError(f"the label {rare[0]!r} is too rare for so many rows; join it with another")
    found = model.honest_scores_
    scores = np.zeros((n, *found.shape[1:]))
    same = copies(X) if n > FITTED else None
    others = np.setdiff1d(np.arange(n), fitted)
    for start in range(0, len(others), SCORED):
        some = others[start : start + SCORED]
        scores[some] = model.honest_scores(X[some])
    scores[fitted[model.loo_rows_]] = found
    if same is not None:
        at = np.full(same.max() + 1, -1)
        at[same[fitted[model.loo_rows_]]] = fitted[model.loo_rows_]
        seen = others[at[same[others]] >= 0]
        scores[seen] = scores[at[same[seen]]]
    return model, scores, fitted[model.loo_rows_]


def trusted_rows(trusted: Any, n: int) -> Array:
    """Numbers of trusted rows, from a mask or from numbers.

    >>> trusted_rows([True, False, True], 3).tolist()
    [0, 2]
    """
    given = np.asarray([] if trusted is None else trusted)
    if not given.size:
        return np.zeros(0, dtype=np.intp)
    if given.dtype == bool:
        if given.shape != (n,):
            raise ValueError(f"trusted is a mask of shape {given.shape} for {n} rows")
        found = np.flatnonzero(given)
    else:
        if given.ndim != 1 or given.dtype.kind not in "iu":
            raise ValueError("trusted is a mask of booleans, or the numbers of rows")
        outside = given[(given < 0) | (given >= n)]
        if outside.size:
            raise ValueError(f"trusted names row {outside[0]}, and rows are 0 to {n - 1}")
        if len(given) == n > 2 and set(given.tolist()) <= {0, 1}:
            raise ValueError("trusted is zeros and ones: make it booleans, or give the numbers of rows")
        found = np.unique(given)
    if len(found) == n:
        raise ValueError("all rows are trusted, so that none is left to doubt")
    return found


def annotator_curves(
    honest: Honest, curve: Curve, rates: Array, trusted: Array, annotator: Any
) -> dict[Any, tuple[Array, Curve]]:
    """For each annotator a mask of the rows that count for them, and their curve."""
    who = np.asarray(annotator)
    if who.shape != (honest.given_rows,):
        raise ValueError(f"annotator has the shape {who.shape} for {honest.given_rows} rows")
    names = who.tolist()
    missing = [row for row, name in enumerate(names) if is_missing(name)]
    if missing:
        raise ValueError(f"row {missing[0]} has no annotator")
    along, agree = along_and_agree(honest.scores, honest.member)
    weight = honest.member.sum(axis=1)
    z = normal_scores(along, weight)
    found = {}
    for name in dict.fromkeys(names):
        mine = np.array([names[row] == name for row in honest.rows]) & ~trusted
        if mine.any():
            theirs = annotator_curve(curve, rates, z[mine], agree[mine], (weight - agree)[mine])
            found[name] = mine, theirs
    return found


def _as_scores(scores: Any, n: int, n_classes: int) -> Array:
    try:
        s = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"scores are numbers, one or {n_classes} for each row") from None
    if n_classes == 2 and s.ndim == 2 and s.shape[1] == 2:
        s = s[:, 1] if np.allclose(s.sum(axis=1), 1) else s[:, 1] - s[:, 0]
    wanted = (n,) if n_classes == 2 else (n, n_classes)
    if s.shape != wanted:
        raise ValueError(
            f"for {n} labels of {n_classes} classes scores have the shape {wanted}, got {s.shape}"
        )
    bad = np.argwhere(~np.isfinite(s))
    if len(bad):
        raise ValueError(f"the score of row {bad[0][0]} is {s[tuple(bad[0])]}; scores are finite")
    return signed(s) if s.ndim == 1 else s
