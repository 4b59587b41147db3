"""Rows a block at a time, so that what is made of them stays small.

How many rows a block has depends on their number and on how wide they turn out, never on threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from scipy import sparse

from unflip.border.arrays import is_foreign

ROWS_IN_BLOCK = 1 << 14  # rows worked on at a time, so that temporary arrays stay small
NUMBERS_IN_BLOCK = 1 << 21  # numbers in a block of wide rows: 16 MB
NUMBERS_ON_DEVICE = 1 << 24  # numbers of a foreign array that are turned into float64 at a time: 128 MB


def slices(start: int, stop: int, size: int) -> list[slice]:
    """Slices of at most `size` that cover start to stop.

    >>> slices(0, 5, 3)
    [slice(0, 3, None), slice(3, 5, None)]
    """
    return [slice(at, min(at + size, stop)) for at in range(start, stop, size)]


def row_blocks(n_rows: int, width: int = 1) -> list[slice]:
    """Slices that cover the rows, a block at a time; blocks of rows that turn out `width` wide are shorter.

    >>> [rows.stop for rows in row_blocks(600, 10_000)]
    [209, 418, 600]
    """
    return slices(0, n_rows, max(1, min(ROWS_IN_BLOCK, NUMBERS_IN_BLOCK // max(1, width))))


def device_blocks(n_rows: int, width: int) -> list[slice]:
    """The same for foreign arrays: as many rows at a time as one step is worth on a GPU.

    >>> [rows.stop for rows in device_blocks(3, NUMBERS_ON_DEVICE // 2)]
    [2, 3]
    """
    return slices(0, n_rows, max(1, NUMBERS_ON_DEVICE // max(1, width)))


def feature_blocks(X: Any, transform: Callable[[Any], Any]) -> Iterator[tuple[slice, Any]]:
    """The features of all rows, with the rows they belong to, a block at a time.

    >>> import numpy as np
    >>> [(rows.stop, phi.shape) for rows, phi in feature_blocks(np.ones((3, 2)), lambda X: X)]
    [(3, (3, 2))]
    """
    return ((rows, transform(X[rows, :])) for rows in feature_rows(X, transform))


def feature_rows(X: Any, transform: Callable[[Any], Any]) -> list[slice]:
    """The rows of each block: as many as have features that are worked on at a time.

    >>> import numpy as np
    >>> feature_rows(np.ones((3, 2)), lambda X: X)
    [slice(0, 3, None)]
    """
    if not X.shape[0]:
        return []
    one = transform(X[:1, :])
    if is_foreign(one):
        return device_blocks(X.shape[0], one.shape[1])
    return row_blocks(X.shape[0], 1 if sparse.issparse(one) else one.shape[1])
