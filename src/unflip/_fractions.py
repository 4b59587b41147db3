"""Exact arithmetic on arrays: fractions in object arrays, and a linear solve that stays with them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from unflip.losses.base import Array


def is_exact(*arrays: Array) -> bool:
    """Whether every array holds fractions rather than floats."""
    return all(array.dtype == object for array in arrays)


def to_fractions(values: Any) -> Array:
    """The same numbers as fractions; a float stands for the dyadic fraction it is."""
    array = np.asarray(values)
    exact = np.empty(array.shape, dtype=object)
    # tolist gives Python numbers: NumPy integers inside a fraction would overflow in silence.
    exact.ravel()[:] = [Fraction(value) for value in array.ravel().tolist()]
    return exact


def solve(matrix: Array, vector: Array) -> Array:
    """The solution of a square linear system, exact where both sides are; `vector` may have columns."""
    if not is_exact(matrix, vector):
        try:
            return np.linalg.solve(matrix.astype(np.float64), vector.astype(np.float64))
        except np.linalg.LinAlgError:
            raise ValueError(_SINGULAR) from None
    columns = vector.reshape(len(vector), -1)
    table = to_fractions(np.concatenate([matrix, columns], axis=1))
    for i in range(len(table)):
        pivots = np.flatnonzero(table[i:, i] != 0)
        if not pivots.size:
            raise ValueError(_SINGULAR)
        table[[i, i + pivots[0]]] = table[[i + pivots[0], i]]
        table[i] = table[i] / table[i, i]
        others = np.arange(len(table)) != i
        table[others] = table[others] - table[others, i, None] * table[i]
    return table[:, len(table) :].reshape(vector.shape)


_SINGULAR = "no unique minimiser: the second moment is singular; a positive regularization makes it unique"
