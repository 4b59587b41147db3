"""The noise rate from a table and its labels, or from scores of any model.

One rate for all classes, unless the labels say that the classes are flipped at different rates.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unflip.audit.honest import annotator_curves, judged_labels
from unflip.border.arrays import Array
from unflip.noise import NoiseEstimate
from unflip.noise.estimate import CONFIDENCE, along_and_agree, summary
from unflip.noise.judgement import Judgement

AuditEstimate = NoiseEstimate  # its name in the first release


def estimate_noise(
    X: Any,
    y: Any,
    *,
    scores: Any = None,
    groups: Any = None,
    trusted: Any = None,
    annotator: Any = None,
    noise: str = "auto",
    class_conditional: bool = False,
    sample_weight: Any = None,
    random_state: Any = 0,
    level: float = CONFIDENCE,
) -> NoiseEstimate:
    """Estimate how many labels are wrong, with an interval, from labels that are all suspect.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or data frame
        The rows; may be None where `scores` are given.
    y : array-like of shape (n_samples,)
        Their labels, of any type; or (n_samples, n_classes), probabilities.
    scores : array-like of shape (n_samples,) or (n_samples, n_classes), optional
        Of your own model, which must not have seen the label of the row it scores; in place of our own
        leave-one-out scores.
    groups : array-like of shape (n_samples,), optional
        Rows that belong together and are left out together.
    trusted : array-like, optional
        Rows known to be right, as a mask or as numbers. They show how classes overlap, so that overlap is not
        taken for noise; the rate is that of the other rows.
    annotator : array-like of shape (n_samples,), optional
        Who gave each label; every annotator gets an estimate.
    noise : {"auto", "symmetric", "class_conditional"}, default="auto"
        One rate for all classes, or one for each. "auto" takes one for all unless the labels contradict it.
    class_conditional : bool, default=False
        True is short for `noise="class_conditional"`.
    sample_weight : array-like of shape (n_samples,), optional
        How many rows each row stands for.
    random_state : int, default=0
        Seeds the landmarks of the fit.
    level : float, default=0.9
        Of the intervals. The bounds `outer` and `outer_by_class` are at 95 %.

    Returns
    -------
    NoiseEstimate
        The rate, its interval, and `outer`, a bound; `table` and `by_class`; `caveats`.
        The interval assumes that mistakes do not depend on the
        row and that some rows are certain; `outer` does not. `print` says it in words.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from unflip.noise import flip_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = estimate_noise(X, flip_labels(y, 0.2, rng=0))
    >>> found.low < 0.2 < found.high, found.high < found.outer + 1e-9
    (True, True)
    """
    if class_conditional:
        noise = "class_conditional"
    honest, judgement, sure = judged_labels(
        X, y, scores, groups, trusted, noise, sample_weight, random_state, level
    )
    if annotator is None:
        return judgement.estimate
    curves = annotator_curves(honest, judgement.curve, judgement.rates, sure, annotator)
    by_annotator = {name: _of_annotator(judgement, *found) for name, found in curves.items()}
    return replace(judgement.estimate, by_annotator=by_annotator)


def _of_annotator(judgement: Judgement, mine: Array, curve: Any) -> NoiseEstimate:
    member, scores = judgement.member, judgement.scores
    _, agree = along_and_agree(scores, member)
    weight = member.sum(axis=1)
    right = agree if scores.ndim > 1 else np.where(scores > 0, agree, weight - agree)
    total = float(weight[mine].sum())
    return summary(
        curve, judgement.rates, member.shape[1], float(right[mine].sum()), total, [], judgement.estimate.level
    )
