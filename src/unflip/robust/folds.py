"""Scores by folds, where leaving out a single row would rank rows against their own labels."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from unflip.border.arrays import Array

FOLDS = 10


def folds_of(units: Array, rng: np.random.Generator) -> Array:
    """A fold for each row, the same for rows that belong together; units: (n,), whole numbers from zero.

    >>> folds = folds_of(np.array([0, 0, 1, 2]), np.random.default_rng(0))
    >>> bool(folds[0] == folds[1] != folds[2])
    True
    """
    return np.asarray(rng.permutation(np.arange(units.max() + 1) % FOLDS)[units])


def in_one_order(scores: Array, folds: Array) -> Array:
    """Scores that can be ranked together: those of each fold, as quantiles of all of them.

    Fits to different rows are off from each other by what they were not shown, so that ranks across them
    would tell something of the labels: rows whose fold has many positives score low.

    >>> in_one_order(np.array([[1.0], [2.0], [11.0], [12.0]]), np.array([0, 0, 1, 1])).ravel().tolist()
    [1.5, 11.5, 1.5, 11.5]
    """
    along = scores[:, 0] if scores.shape[1] == 1 else np.diff(np.sort(scores, axis=1)[:, -2:], axis=1)[:, 0]
    common, new = np.sort(along), np.empty(len(along))
    for fold in np.unique(folds):
        mine = np.flatnonzero(folds == fold)
        rank = rankdata(along[mine]) - 0.5
        new[mine] = np.interp(rank / len(mine), (np.arange(len(common)) + 0.5) / len(common), common)
    new = in_steps(new)
    if scores.shape[1] == 1:
        return new[:, None]
    scaled = in_steps(scores * np.divide(new, along, out=np.ones_like(new), where=along > 0)[:, None])
    best, everyone = scaled.argmax(axis=1), np.arange(len(scaled))
    scaled[everyone, best] = np.sort(scaled, axis=1)[:, -2] + new  # equal quantiles are equally far ahead
    return scaled


def in_steps(scores: Array) -> Array:
    """Scores to nine digits: those that differ by rounding alone are equal, whatever machine computed them.

    Ranks would otherwise depend on how it rounds, and with them all that is read off ranks.

    >>> bool(np.diff(in_steps(np.array([0.1 + 0.2, 0.3])))[0] == 0)
    True
    """
    size = float(np.abs(scores).max(initial=0.0))
    step = 2.0 ** (int(np.frexp(size)[1]) - 30)
    return np.asarray(np.round(scores / step) * step) if size else scores
