"""Learners of all kinds beside the kernels, trained on denoised labels and averaged by an immune rule.

Each learner tells probabilities of clean labels for rows that it did not see. Their weights are those of the
least squared distance to the given labels, none negative, with a constant for each class: symmetric noise
multiplies the right-hand side of that problem by a number, on average, and moves the constant, so that the
weights keep their proportions. Rates by class are undone in the labels first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from unflip.border.arrays import Array

BLEND_FOLDS = 4
LEAST_LEARNED = 1e-3  # of a class, for which a row is not learned
ROWS_OF_LEAF = 5  # of the default forest


@dataclass(frozen=True, eq=False)
class Blend:
    """weights: (m + 1,), of the kernels and of each learner, which sum to one; learners: fitted."""

    weights: Array
    learners: tuple[Any, ...]

    def probabilities(self, kernels: Array, X: Array) -> Array:
        """P(clean class), (n, K), from that of the kernels and rows of numbers."""
        total = self.weights[0] * kernels
        for weight, learner in zip(self.weights[1:], self.learners, strict=True):
            if weight:
                total += weight * told(learner, X, kernels.shape[1])
        return total


def default_learner(random_state: Any) -> Any:
    """A forest that does not remember single rows."""
    from sklearn.ensemble import RandomForestClassifier

    seed = random_state if isinstance(random_state, int | np.integer) else 0
    return RandomForestClassifier(min_samples_leaf=ROWS_OF_LEAF, random_state=seed)


def fit_denoised(learner: Any, X: Any, masses: Array, classes: Array) -> Any:
    """The learner, fitted to every row once for each class, weighted; masses: (n, K).

    >>> from sklearn.naive_bayes import GaussianNB
    >>> masses = np.array([[0.9, 0.1], [0.2, 0.8], [1.0, 0.0]])
    >>> fit_denoised(GaussianNB(), np.arange(3.0)[:, None], masses, np.array(["a", "b"])).classes_.tolist()
    ['a', 'b']
    """
    rows, codes = np.nonzero(masses > LEAST_LEARNED * masses.sum(axis=1, keepdims=True))
    return learner.fit(_safe_indexing(X, rows), classes[codes], sample_weight=masses[rows, codes])


def told(learner: Any, X: Any, n_classes: int) -> Array:
    """P(class) of a learner of codes, with a column for each class, also one that it never met."""
    found = np.zeros((len(X), n_classes))
    found[:, learner.classes_] = learner.predict_proba(X)
    return found


def fit_blend(
    X: Array,
    kernels: Array,
    posterior: Array,
    targets: Array,
    weight: Array,
    units: Array,
    learners: list[Any],
) -> Blend:
    """Train the learners and weigh them.

    X: (n, d), rows of numbers; kernels: (n, K), P(clean class) by the kernels, each row left out; posterior:
    (n, K), P(clean class) with the label; targets: (n, K), labels as indicators; weight: (n,); units: (n,),
    what leaves together.
    """
    n, k = kernels.shape
    classes, masses = np.arange(k), posterior * weight[:, None]
    folds = np.random.default_rng(0).permutation(units.max() + 1)[units] % BLEND_FOLDS
    left = [kernels]
    for learner in learners:
        found = np.empty((n, k))
        for fold in range(BLEND_FOLDS):
            out = folds == fold
            fitted = fit_denoised(clone(learner), X[~out], masses[~out], classes)
            found[out] = told(fitted, X[out], k)
        left.append(found)
    root = np.sqrt(weight)[:, None]
    centred = [(each - np.average(each, axis=0, weights=weight)) * root for each in (*left, targets)]
    weights = nnls(np.column_stack([each.ravel() for each in centred[:-1]]), centred[-1].ravel())[0]
    total = weights.sum()
    weights = weights / total if total > 0 else np.eye(len(left))[0]
    return Blend(weights, tuple(fit_denoised(clone(each), X, masses, classes) for each in learners))
