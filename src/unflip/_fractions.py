"""Exact arithmetic on arrays: fractions in object arrays, and linear algebra that stays with them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from unflip.border.arrays import Array


class SingularMatrixError(ValueError):
    """A linear system without a unique solution; callers say what that means for them."""


def is_exact(*arrays: Array) -> bool:
    """Whether every array holds fractions rather than floats."""
    return all(array.dtype == object for array in arrays)


def to_fractions(values: Any) -> Array:
    """The same numbers as fractions; a float stands for the dyadic fraction it is.

    >>> to_fractions([0.25, 3]).tolist()
    [Fraction(1, 4), Fraction(3, 1)]
    """
    array = np.asarray(values)
    exact = np.empty(array.shape, dtype=object)
    # tolist gives Python numbers: NumPy integers inside a fraction would overflow in silence.
    exact.ravel()[:] = [Fraction(value) for value in array.ravel().tolist()]
    return exact


def solve(matrix: Array, vector: Array) -> Array:
    """The solution of a square linear system, exact where both sides are; `vector` may have columns.

    >>> solve(to_fractions([[0, 2], [1, 1]]), to_fractions([1, 1])).tolist()
    [Fraction(1, 2), Fraction(1, 2)]
    """
    if not is_exact(matrix, vector):
        try:
            return np.linalg.solve(matrix.astype(np.float64), vector.astype(np.float64))
        except np.linalg.LinAlgError:
            raise SingularMatrixError("the matrix is singular") from None
    columns = vector.reshape(len(vector), -1)
    table = to_fractions(np.concatenate([matrix, columns], axis=1))
    for i in range(len(table)):  # Gauss and Jordan; in fractions any pivot but zero will do
        pivots = np.flatnonzero(table[i:, i] != 0)
        if not pivots.size:
            raise SingularMatrixError("the matrix is singular")
        table[[i, i + pivots[0]]] = table[[i + pivots[0], i]]
        table[i] = table[i] / table[i, i]
        others = np.arange(len(table)) != i
        table[others] = table[others] - table[others, i, None] * table[i]
    return table[:, len(table) :].reshape(vector.shape)


def inverse(matrix: Array) -> Array:
    """The inverse of a square matrix, exact where the matrix is.

    >>> inverse(to_fractions([[0.5, 0.5], [0, 1]])).tolist()
    [[Fraction(2, 1), Fraction(-1, 1)], [Fraction(0, 1), Fraction(1, 1)]]
    """
    return solve(matrix, to_fractions(np.eye(len(matrix))))
