"""Bandwidths: what may be one, and the median rule that looks at rows only, never at labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace

from unflip.border.arrays import beside, is_foreign, to_numpy
from unflip.kernels.distances import manhattan_distances, squared_distances
from unflip.kernels.rows import as_table


def as_bandwidth(bandwidth: Any) -> float:
    """A positive number whose square is one too.

    >>> as_bandwidth(0)
    Traceback (most recent call last):
    ValueError: a bandwidth is positive (1e-153 to 1e153), got 0
    """
    if not isinstance(bandwidth, int | float | np.integer | np.floating) or not 1e-153 <= bandwidth <= 1e153:
        raise ValueError(f"a bandwidth is positive (1e-153 to 1e153), got {bandwidth!r}")
    return float(bandwidth)


def median_bandwidth(
    X: Any, rng: int | np.random.Generator = 0, sample: int = 1000, metric: str = "euclidean"
) -> float:
    """The median distance of distinct rows, among at most `sample` random ones.

    `metric` is "euclidean" or "manhattan"; a kernel names its own: `Laplace.metric`.

    >>> median_bandwidth([[0.0], [0.0], [1.0], [3.0]])
    2.0
    """
    rows = X if is_foreign(X) else as_table(X, "X")
    if metric not in ("euclidean", "manhattan"):
        raise ValueError(f"metric is 'euclidean' or 'manhattan', got {metric!r}")
    if rows.shape[0] < 2 or sample < 2:
        raise ValueError(
            f"a median distance needs two rows, got {min(rows.shape[0], sample)}; give a bandwidth"
        )
    which = "all rows"
    if rows.shape[0] > sample:
        which = f"all {sample} sampled rows"
        chosen = np.random.default_rng(rng).choice(rows.shape[0], sample, replace=False)
        rows = array_namespace(X).take(X, beside(chosen, X), axis=0) if is_foreign(X) else rows[chosen]
    rows = to_numpy(rows) if is_foreign(rows) else rows  # no more than the sample leaves its device
    apart = squared_distances(rows, rows) if metric == "euclidean" else manhattan_distances(rows, rows)
    first = ~np.triu(apart == 0, 1).any(axis=0)  # of its copies
    pairs = apart[np.ix_(first, first)][np.triu_indices(int(first.sum()), 1)]
    if not len(pairs):
        raise ValueError(f"{which} are equal: the median distance is zero; give a bandwidth")
    return float(np.median(np.sqrt(pairs) if metric == "euclidean" else pairs))
