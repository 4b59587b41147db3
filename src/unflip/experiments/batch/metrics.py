"""Threshold, error and AUC for many columns of scores: one sort a column, no loop over trials."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

Array = np.ndarray[Any, Any]


def best_cuts(scores: Array, Y: Array) -> Array:
    """For each column the cut of least error, score > cut being called positive; the lowest if several are.

    Cuts lie midway between neighbouring scores, never between equal ones, or beyond the ends.

    >>> best_cuts(np.array([[0.0], [1.0], [4.0]]), np.array([[-1], [-1], [1]])).tolist()
    [2.5]
    """
    order = np.argsort(scores, axis=0, kind="stable")
    s, y = np.take_along_axis(scores, order, axis=0), np.take_along_axis(Y, order, axis=0)
    # Raising the cut over a positive costs one more error, over a negative one less.
    change = np.vstack([np.zeros(s.shape[1]), np.cumsum(y > 0, axis=0) - np.cumsum(y < 0, axis=0)])
    change[1:-1][s[1:] == s[:-1]] = np.inf
    at = np.argmin(change, axis=0)
    reach = np.ptp(s, axis=0) + 1.0
    padded = np.vstack([s[0] - reach, s, s[-1] + reach])
    below, above = (np.take_along_axis(padded, k[None], axis=0)[0] for k in (at, at + 1))
    middle = (below + above) / 2
    return np.where(middle < above, middle, below)


def error_rates(scores: Array, y: Array, cuts: Array) -> Array:
    """The share of rows on the wrong side of each column's cut; a score on it counts half.

    y: (n,) or (n, K).

    >>> error_rates(np.array([[0.0], [1.0]]), np.array([1, 1]), np.array([0.5])).tolist()
    [0.5]
    """
    side = np.sign(scores - cuts)
    labels = y if y.ndim == 2 else y[:, None]
    return np.mean((1 - labels * side) / 2, axis=0)


def auc(scores: Array, y: Array) -> Array:
    """The area under the ROC curve of each column, ties counting half (Mann and Whitney).

    Labels of one class have none: NaN.

    >>> auc(np.array([[1.0], [2.0], [3.0]]), np.array([-1, 1, 1])).tolist()
    [1.0]
    """
    labels = np.broadcast_to(y if y.ndim == 2 else y[:, None], scores.shape)
    positives = np.sum(labels > 0, axis=0)
    ranks = np.sum(np.where(labels > 0, rankdata(scores, axis=0), 0.0), axis=0)
    pairs = (positives * (len(scores) - positives)).astype(np.float64)
    pairs[pairs == 0] = np.nan
    return (ranks - positives * (positives + 1) / 2) / pairs
