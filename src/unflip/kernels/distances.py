"""Distances of all pairs of rows, accurate for near-duplicates and far from the origin.

|x|^2 + |z|^2 - 2 <x, z> is one matrix product, and cancels where x and z are much closer to each other
than to the origin. So rows are first centred, and the pairs that are still close in this sense are
computed again from their differences. The relative error of a squared distance stays near 1e-12, and
that of a kernel exp(-t) with it, since t exp(-t) is below 0.37: no bandwidth can make the error visible.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from unflip.border.arrays import Array
from unflip.border.blocks import slices
from unflip.kernels.blocks import Between, Prepare, sweep
from unflip.kernels.rows import as_dense, as_float64, as_tables, inner_products, squared_norms

CLOSE_POINTS = 1e-3  # of |x|^2 + |z|^2: squared distances below it have lost three digits or more
FEW_COLUMNS = 3  # columns; differences are then as fast as a product
PAIRS_TO_ONE_CLOSE = 32  # if one pair in so many is close, the whole tile is computed from differences


def squared_distances(X: Any, Z: Any) -> Array:
    """|x - z|^2 for all pairs of rows of X and Z, dense or sparse.

    >>> squared_distances([[1e8, 1.0], [1e8, 3.0]], [[1e8, 1.001]]).round(9).tolist()
    [[1e-06], [3.996001]]
    """
    return full_table(*as_tables(X, Z), prepare_euclidean, squared_between)


def manhattan_distances(X: Any, Z: Any) -> Array:
    """|x - z|_1 for all pairs of rows of X and Z, dense only.

    >>> manhattan_distances([[0.0, 0.0]], [[3.0, -4.0]]).tolist()
    [[7.0]]
    """
    return full_table(*as_tables(X, Z), prepare_manhattan, manhattan_between)


def full_table(X: Any, Z: Any, prepare: Prepare, between: Between) -> Array:
    """All values of all pairs, computed in tiles.

    >>> X = np.array([[1.0], [2.0]])
    >>> full_table(X, X, lambda rows, origin: rows, lambda a, b: a @ b.T).tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """
    values = np.empty((X.shape[0], Z.shape[0]))

    def use(rows: slice, columns: slice, tile: Array) -> None:
        values[rows, columns] = tile

    sweep(X, Z, prepare, between, use)
    return values


class Centred(NamedTuple):
    """Rows as they came, about an origin with two columns more: |x|^2 and 1, and |x|^2 by itself."""

    given: Any
    rows: Any
    squares: Array


def prepare_euclidean(X: Any, origin: Array | None) -> Centred:
    """Rows ready for `squared_between`.

    >>> prepare_euclidean(np.array([[3.0, 5.0]]), np.array([0.0, 1.0])).rows.tolist()
    [[3.0, 4.0, 25.0, 1.0]]
    """
    n, d = X.shape
    with np.errstate(over="ignore", invalid="ignore"):
        if origin is None:
            rows = as_float64(X)
            squares = squared_norms(rows)
        else:
            rows = np.ones((n, d + 2))
            np.subtract(X, origin, out=rows[:, :d])
            rows[:, d] = squares = squared_norms(rows[:, :d])
    if not (squares < 1e307).all():
        raise ValueError("squared distances overflow: some rows reach beyond 1e150; rescale the columns")
    return Centred(X, rows, squares)


def squared_between(a: Centred, b: Centred) -> Array:
    """Squared Euclidean distances of prepared rows.

    >>> a = prepare_euclidean(np.array([[3.0, 5.0]]), np.zeros(2))
    >>> b = prepare_euclidean(np.array([[0.0, 1.0]]), np.zeros(2))
    >>> squared_between(a, b).tolist()
    [[25.0]]
    """
    mixed = is_sparse(a, b)
    if not mixed and a.given.shape[1] <= FEW_COLUMNS:
        return cdist(as_float64(a.given), as_float64(b.given), "sqeuclidean")
    apart = _with_sparse(a, b) if mixed else scaled_product(a, b, 1.0)
    if apart.min() < CLOSE_POINTS * (a.squares.max() + b.squares.max()):
        close = apart < CLOSE_POINTS * (a.squares[:, None] + b.squares)
        if not mixed and np.count_nonzero(close) > apart.size // PAIRS_TO_ONE_CLOSE:
            return cdist(as_float64(a.given), as_float64(b.given), "sqeuclidean")
        i, j = np.nonzero(close)
        apart[i, j] = _by_differences(a.given, b.given, i, j)
    return apart


def is_sparse(a: Centred, b: Centred) -> bool:
    """Whether one side is.

    >>> rows = prepare_euclidean(np.ones((1, 4)), np.zeros(4))
    >>> is_sparse(rows, rows)
    False
    """
    return sparse.issparse(a.given) or sparse.issparse(b.given)


def prepare_manhattan(X: Any, origin: Array | None) -> Array:
    """Rows ready for `manhattan_between`; they stay where they are.

    >>> prepare_manhattan(np.array([[1, 2]]), None).tolist()
    [[1.0, 2.0]]
    """
    return as_dense(X, "the Laplace kernel, by sums of absolute differences,")


def manhattan_between(a: Array, b: Array) -> Array:
    """Sums of absolute differences of prepared rows.

    >>> manhattan_between(np.array([[1.0, 2.0]]), np.zeros((1, 2))).tolist()
    [[3.0]]
    """
    return cdist(a, b, "cityblock")


def scaled_product(a: Centred, b: Centred, scale: float) -> Array:
    """`scale` times the squared distances of dense rows, as the product rounds them.

    This is (x, |x|^2, 1) times (-2z, 1, |z|^2): the norms are added inside the product. The error is
    a few roundings of scale (|x|^2 + |z|^2), so a result that should be zero may have either sign.

    >>> a = prepare_euclidean(np.array([[3.0, 5.0]]), np.zeros(2))
    >>> scaled_product(a, prepare_euclidean(np.array([[0.0, 1.0]]), np.zeros(2)), -0.5).tolist()
    [[-12.5]]
    """
    turned = np.empty_like(b.rows)
    np.multiply(b.rows[:, :-2], -2.0 * scale, out=turned[:, :-2])
    turned[:, -2] = scale
    np.multiply(b.squares, scale, out=turned[:, -1])
    return a.rows @ turned.T


def _with_sparse(a: Centred, b: Centred) -> Array:
    apart = inner_products(a.rows, b.rows)
    apart *= -2.0
    apart += a.squares[:, None]
    apart += b.squares
    return apart


def _by_differences(X: Any, Z: Any, i: Array, j: Array) -> Array:
    """|x_i - z_j|^2 for the listed pairs, a few at a time."""
    apart = np.empty(len(i))
    for part in slices(0, len(i), max(1, (1 << 17) // X.shape[1])):
        x, z = as_float64(X[i[part]]), as_float64(Z[j[part]])
        if not (sparse.issparse(x) and sparse.issparse(z)):
            x, z = (rows.toarray() if sparse.issparse(rows) else rows for rows in (x, z))
        apart[part] = squared_norms(x - z)
    return apart
