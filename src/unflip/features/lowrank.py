"""A kernel as seen from landmarks: with k(Z, Z) = L L', the features L^-1 k(Z, x).

They cost a triangular solve for each row beyond k(x, Z), and keep more digits of it when they are squared.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from unflip.border.arrays import Array
from unflip.features.landmarks import Landmarks
from unflip.kernels import Kernel

LOWRANK_JITTER = 1e-10  # of k(z, z), added to the diagonal: no feature loses more than six digits


class LowRank:
    """Features of a kernel and landmarks Z, (m, d), dense or CSR.

    >>> from unflip.kernels import Gaussian
    >>> phi = LowRank(Gaussian(1.0), np.array([[0.0], [1.0]])).transform(np.array([[0.0], [1.0]]))
    >>> (phi @ phi.T).round(6).tolist()
    [[1.0, 0.606531], [0.606531, 1.0]]
    """

    def __init__(self, kernel: Kernel, landmarks: Any) -> None:
        self.kernel = kernel
        self.landmarks = landmarks

    @property
    def key(self) -> str:
        """A name that equal kernels with equal landmarks share."""
        return f"LowRank of {Landmarks(self.kernel, self.landmarks).key}"

    @cached_property
    def factor(self) -> Array:
        """L, lower triangular."""
        table = self.kernel(self.landmarks, self.landmarks)
        own = table.diagonal()
        table[np.diag_indices_from(table)] = np.where(own > 0, own * (1 + LOWRANK_JITTER), 1.0)
        return np.asarray(cholesky(table, lower=True))

    def transform(self, X: Any) -> Array:
        """L^-1 k(Z, x) for each row."""
        values = self.kernel(X, self.landmarks)
        return solve_triangular(self.factor, values.T, lower=True, overwrite_b=True, check_finite=False).T

    def dual(self, weights: Array) -> Array:
        """Coefficients of k(x, Z) for weights of the features, (m, C).

        >>> from unflip.kernels import Gaussian
        >>> phi, w = LowRank(Gaussian(1.0), np.array([[0.0], [1.0]])), np.array([[1.0], [2.0]])
        >>> direct = phi.transform(np.array([[3.0]])) @ w
        >>> np.allclose(phi.kernel([[3.0]], phi.landmarks) @ phi.dual(w), direct, rtol=0, atol=1e-12)
        True
        """
        return solve_triangular(self.factor, weights, lower=True, trans="T", check_finite=False)
