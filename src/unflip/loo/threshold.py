"""The threshold of least weighted error, in one sort."""

from __future__ import annotations

import numpy as np

from unflip.border.arrays import Array


def best_threshold(scores: Array, positive: Array, negative: Array) -> float:
    """The cut with the least weight on the wrong side: score > cut is called positive.

    positive, negative: for each row the weight it has as a positive and as a negative. Cuts lie midway
    between neighbouring scores, or beyond the ends; among equally good ones the nearest to zero wins. No cut
    changes where an infinite score lies.

    >>> best_threshold(np.array([-2.0, 1.0, 3.0]), np.array([0.0, 0.0, 1.0]), np.array([1.0, 1.0, 0.0]))
    2.0
    """
    finite = np.isfinite(scores)
    if not finite.any():
        return 0.0
    scores, positive, negative = scores[finite], positive[finite], negative[finite]
    order = np.argsort(scores, kind="stable")
    s = scores[order]
    # Error of the cut below every score, then of each cut just above score i.
    errors = negative.sum() + np.concatenate([[0.0], np.cumsum((positive - negative)[order])])
    reach = np.abs(s).max(initial=0.0)
    cuts = np.concatenate([[s[0] - reach - 1e-300], (s[:-1] + s[1:]) / 2, [s[-1] + reach + 1e-300]])
    possible = np.concatenate([[True], s[1:] > s[:-1], [True]])
    errors, cuts = errors[possible], cuts[possible]
    good = cuts[errors <= errors.min() + 1e-12 * (positive.sum() + negative.sum())]
    return float(good[np.argmin(np.abs(good))])
