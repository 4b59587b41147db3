"""Landmarks by randomly pivoted Cholesky.

Chen, Epperly, Tropp and Webber, Randomly pivoted Cholesky (2023). The next landmark is drawn with probability
proportional to the residual k(x, x) - k(x, Z) K^-1 k(Z, x), what the landmarks Z so far leave unexplained.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from unflip.border.arrays import Array
from unflip.kernels import Kernel

EXPLAINED_RESIDUAL = 1e-12  # a residual below this share of the diagonal is rounding


def random_pivots(X: Any, kernel: Kernel, count: int, rng: np.random.Generator) -> Array:
    """At most `count` rows of X, fewer if they explain all others; O(n count^2) time, O(n count) memory.

    >>> from unflip.kernels import Gaussian
    >>> X = np.array([[0.0], [0.0], [5.0], [5.0]])
    >>> sorted(X[random_pivots(X, Gaussian(1.0), 4, np.random.default_rng(0))].ravel().tolist())
    [0.0, 5.0]
    """
    origin = None if sparse.issparse(X) else X.mean(axis=0, dtype=np.float64)
    everyone = kernel.prepare(X, origin)
    residual = kernel.diagonal(X)
    least = EXPLAINED_RESIDUAL * residual
    factor = np.empty((count, X.shape[0]))  # rows f_i, so that sum_i f_i f_i' is what is explained
    pivots: list[int] = []
    while len(pivots) < count and residual.any():
        i, pivot = len(pivots), rng.choice(len(residual), p=residual / residual.sum())
        values = kernel.between(kernel.prepare(X[[pivot]], origin), everyone)[0]
        values -= factor[:i, pivot] @ factor[:i]
        factor[i] = values / np.sqrt(values[pivot])
        residual -= factor[i] ** 2
        residual[residual <= least] = 0.0
        residual[pivot] = 0.0
        pivots.append(pivot)
    return np.array(pivots, dtype=np.intp)
