"""Threshold, error and AUC for many columns of scores: one sort a column, no loop over trials."""

from __future__ import annotations

from array_api_compat import array_namespace

from unflip.border.arrays import AnyArray


def best_cuts(scores: AnyArray, Y: AnyArray) -> AnyArray:
    """For each column the cut of least error, score > cut being called positive; the lowest if several are.

    Cuts lie midway between neighbouring scores, never between equal ones, or beyond the ends.

    >>> import numpy as np
    >>> best_cuts(np.array([[0.0], [1.0], [4.0]]), np.array([[-1.0], [-1.0], [1.0]])).tolist()
    [2.5]
    """
    xp = array_namespace(scores)
    order = xp.argsort(scores, axis=0, stable=True)
    s, y = xp.take_along_axis(scores, order, axis=0), xp.take_along_axis(Y, order, axis=0)
    # Raising the cut over a positive costs one more error, over a negative one less.
    change = xp.concat([xp.zeros_like(s[:1, :]), xp.cumulative_sum(y, axis=0)])
    tied = xp.concat([s[:1, :] != s[:1, :], s[1:, :] == s[:-1, :], s[:1, :] != s[:1, :]])
    at = xp.argmin(xp.where(tied, xp.inf, change), axis=0)[None, :]
    reach = s[-1:, :] - s[:1, :] + 1.0
    padded = xp.concat([s[:1, :] - reach, s, s[-1:, :] + reach])
    below, above = (xp.take_along_axis(padded, k, axis=0)[0, :] for k in (at, at + 1))
    middle = (below + above) / 2
    return xp.where(middle < above, middle, below)


def grid_cuts(scores: AnyArray, Y: AnyArray, points: int = 100) -> AnyArray:
    """The same among evenly spaced cuts from the least score to the largest, which outliers make coarse.

    >>> import numpy as np
    >>> scores = np.array([[0.0], [0.1], [0.2], [10.0]])
    >>> grid_cuts(scores, np.array([[-1.0], [-1.0], [1.0], [1.0]]), points=11).tolist()
    [0.0]
    """
    xp = array_namespace(scores)
    order = xp.argsort(scores, axis=0, stable=True)
    s, y = xp.take_along_axis(scores, order, axis=0), xp.take_along_axis(Y, order, axis=0)
    change = xp.concat([xp.zeros_like(s[:1, :]), xp.cumulative_sum(y, axis=0)])
    share = xp.arange(points, dtype=s.dtype, device=s.device) / (points - 1)
    best = []
    for k in range(s.shape[1]):
        cuts = s[0, k] + (s[-1, k] - s[0, k]) * share
        below = xp.searchsorted(s[:, k], cuts, side="right")
        best.append(cuts[xp.argmin(xp.take(change[:, k], below))])
    return xp.stack(best)


def error_rates(scores: AnyArray, y: AnyArray, cuts: AnyArray) -> AnyArray:
    """The share of rows on the wrong side of each column's cut; a score on it counts half.

    y: (n,) or (n, K).

    >>> import numpy as np
    >>> error_rates(np.array([[0.0], [1.0]]), np.array([1.0, 1.0]), np.array([0.5])).tolist()
    [0.5]
    """
    xp = array_namespace(scores)
    labels = y if y.ndim == 2 else y[:, None]
    return xp.mean((1 - labels * xp.sign(scores - cuts)) / 2, axis=0)


def auc(scores: AnyArray, y: AnyArray) -> AnyArray:
    """The area under the ROC curve of each column for the labels y, ties counting half (Mann and Whitney).

    Labels of one class have none: NaN.

    >>> import numpy as np
    >>> auc(np.array([[1.0], [2.0], [2.0]]), np.array([-1.0, 1.0, -1.0])).tolist()
    [0.75]
    """
    xp = array_namespace(scores)
    # Ties count half: the mean of the area with positives first among equals, and with negatives first.
    return (_ordered_auc(scores, y, xp.argsort(y)) + _ordered_auc(scores, y, xp.argsort(-y))) / 2


def _ordered_auc(scores: AnyArray, y: AnyArray, first: AnyArray) -> AnyArray:
    """The area when rows of equal scores keep their order in `first`."""
    xp = array_namespace(scores)
    scores, positive = xp.take(scores, first, axis=0), xp.astype(xp.take(y, first) > 0, scores.dtype)
    ranked = xp.take(positive, xp.reshape(xp.argsort(scores, axis=0, stable=True), (-1,)))
    ranked = xp.reshape(ranked, scores.shape)
    ranks = xp.arange(1, y.shape[0] + 1, dtype=scores.dtype, device=scores.device)
    positives = xp.sum(positive)
    pairs = positives * (y.shape[0] - positives)
    beaten = xp.sum(ranked * ranks[:, None], axis=0) - positives * (positives + 1) / 2
    return beaten / xp.where(pairs > 0, pairs, xp.nan)
