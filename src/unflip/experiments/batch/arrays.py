"""A few moves on the columns of arrays, in the words that every array library knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from array_api_compat import array_namespace, is_numpy_namespace

Array = Any  # of NumPy, or of any library that speaks the array API standard

CACHED = 2**17  # numbers of one array that stay near a processor while a block of columns is worked on


def blocks(Y: Array) -> Iterator[Array]:
    """The columns of Y in blocks that fit a processor's cache; all at once on other devices.

    >>> import numpy as np
    >>> [block.shape[1] for block in blocks(np.zeros((2**14, 20)))]
    [8, 8, 4]
    """
    n, columns = Y.shape
    width = max(8, CACHED // n) if is_numpy_namespace(array_namespace(Y)) else columns
    for start in range(0, columns, width):
        yield Y[:, start : start + width]


def columns(values: Array, where: Array) -> Array:
    """The last axis of an array at some places.

    >>> import numpy as np
    >>> columns(np.array([[1, 2, 3]]), np.array([2, 0])).tolist()
    [[3, 1]]
    """
    return array_namespace(values).take(values, where, axis=-1)


def merged(whole: Array, part: Array, mask: Array) -> Array:
    """A copy of `whole` with the columns of `part` where the mask is true.

    >>> import numpy as np
    >>> merged(np.array([1, 2, 3]), np.array([7, 8]), np.array([True, False, True])).tolist()
    [7, 2, 8]
    """
    xp = array_namespace(whole)
    size = mask.shape[0]
    counted = xp.cumulative_sum(xp.astype(mask, xp.int64)) + (size - 1)
    place = xp.where(mask, counted, xp.arange(size, dtype=xp.int64, device=mask.device))
    return columns(xp.concat([whole, part], axis=-1), place)


def norms(values: Array) -> Array:
    """The length of each column.

    >>> import numpy as np
    >>> norms(np.array([[3.0], [4.0]])).tolist()
    [5.0]
    """
    xp = array_namespace(values)
    return xp.sqrt(xp.sum(values * values, axis=0))
