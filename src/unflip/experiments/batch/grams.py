"""Weighted Gram matrices of one matrix for many weights: where the second-order methods spend their time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_numpy_namespace
from scipy.linalg.lapack import dpotrf, dpotrs

Array = Any
ROOM = 25_000_000  # numbers that the products of pairs of columns may take


class Grams:
    """Q' diag(theta) Q for each column theta of a matrix, as an array of shape (K, r, r).

    >>> Grams(np.array([[1.0], [2.0]]))(np.array([[1.0, 0.0], [1.0, 0.5]])).tolist()
    [[[5.0]], [[2.0]]]
    """

    def __init__(self, Q: Array) -> None:
        self.Q, self.pairs = Q, None
        n, r = Q.shape
        if is_numpy_namespace(array_namespace(Q)) and n * r * (r + 1) // 2 <= ROOM:
            # Products of pairs of columns, row by row: then all matrices are one product.
            self.upper = np.triu_indices(r)
            self.pairs = Q[:, self.upper[0]] * Q[:, self.upper[1]]

    def __call__(self, theta: Array, rough: Array | None = None) -> Array:
        """One matrix a column; where `rough` says so, with the digits of single precision will do."""
        Q, xp = self.Q, array_namespace(self.Q)
        r, count = Q.shape[1], theta.shape[1]
        if not is_numpy_namespace(xp):
            return xp.matmul(Q.T * theta.T[:, None, :], Q)
        grams = np.empty((count, r, r))
        if self.pairs is not None:
            grams[:, self.upper[0], self.upper[1]] = theta.T @ self.pairs
            grams[:, self.upper[1], self.upper[0]] = grams[:, self.upper[0], self.upper[1]]
            return grams
        for k in range(count):
            precise = rough is None or not rough[k]
            grams[k] = _gram(Q if precise else self.single, theta[:, k])
        return grams

    @cached_property
    def single(self) -> Array:
        """Q in single precision."""
        return self.Q.astype(np.float32)


def _gram(Q: Array, theta: Array) -> Array:
    half = Q * np.sqrt(np.abs(theta)).astype(Q.dtype)[:, None]
    gram = half.T @ half  # NumPy sees that this is symmetric, and does half of the work
    below = half[theta < 0]
    return gram - 2 * below.T @ below if len(below) else gram


def solver(matrices: Array) -> Callable[[Array], Array]:
    """Solve with each of K positive definite matrices: from right-hand sides (r, K) to solutions (r, K).

    >>> solver(np.array([[[2.0]], [[4.0]]]))(np.array([[2.0, 2.0]])).round(9).tolist()
    [[1.0, 0.5]]
    """
    xp = array_namespace(matrices)

    def solve(right: Array) -> Array:
        return xp.linalg.solve(matrices, right.T[:, :, None])[:, :, 0].T

    if not is_numpy_namespace(xp):
        return solve
    factors = [dpotrf(matrix.T) for matrix in matrices]  # once, for several right-hand sides
    if any(failed for _, failed in factors):
        return solve  # no longer positive definite, by rounding

    def solve_by_factors(right: Array) -> Array:
        found = [dpotrs(factor, side)[0] for (factor, _), side in zip(factors, right.T, strict=True)]
        return np.stack(found, axis=1)

    return solve_by_factors
