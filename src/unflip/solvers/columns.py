"""A few moves on the columns of arrays, in the words that every array library knows."""

from __future__ import annotations

from collections.abc import Iterator

from array_api_compat import array_namespace, device, is_numpy_namespace

from unflip.border.arrays import AnyArray

CACHED = 2**17  # numbers of one array that stay near a processor while a block of columns is worked on
ROOM = 25_000_000  # numbers that arrays of work may take: 200 MB


def blocks(rows: int, columns: int, parameters: int, like: AnyArray) -> Iterator[slice]:
    """Slices of columns as many as a processor's cache is good for; all at once on other devices.

    Their matrices of second derivatives must have room, too.

    >>> import numpy as np
    >>> list(blocks(2**14, 20, 3, np.zeros(1)))
    [slice(0, 8, None), slice(8, 16, None), slice(16, 20, None)]
    """
    width = columns
    if is_numpy_namespace(array_namespace(like)):
        width = max(1, min(max(8, CACHED // rows), ROOM // parameters**2))
    for start in range(0, columns, width):
        yield slice(start, min(start + width, columns))


def columns(values: AnyArray, where: AnyArray) -> AnyArray:
    """The last axis of an array at some places; of what all columns share, a number or one column, itself.

    >>> import numpy as np
    >>> columns(np.array([[1, 2, 3]]), np.array([2, 0])).tolist(), columns(0.5, np.array([2, 0]))
    ([[3, 1]], 0.5)
    """
    if getattr(values, "ndim", 0) == 0 or (values.ndim == 2 and values.shape[1] == 1):
        return values
    return array_namespace(values).take(values, where, axis=-1)


def merged(whole: AnyArray, part: AnyArray, mask: AnyArray) -> AnyArray:
    """A copy of `whole` with the columns of `part` where the mask is true.

    >>> import numpy as np
    >>> merged(np.array([1, 2, 3]), np.array([7, 8]), np.array([True, False, True])).tolist()
    [7, 2, 8]
    """
    xp = array_namespace(whole)
    size = mask.shape[0]
    counted = xp.cumulative_sum(xp.astype(mask, xp.int64)) + (size - 1)
    place = xp.where(mask, counted, xp.arange(size, dtype=xp.int64, device=device(mask)))
    return xp.take(xp.concat([whole, part], axis=-1), place, axis=-1)


def norms(values: AnyArray) -> AnyArray:
    """The length of each column.

    >>> import numpy as np
    >>> norms(np.array([[3.0], [4.0]])).tolist()
    [5.0]
    """
    xp = array_namespace(values)
    return xp.sqrt(xp.sum(values * values, axis=0))


class Lockstep:
    """Columns that are worked on together, and set aside one by one as they arrive.

    >>> import numpy as np
    >>> lockstep, values = Lockstep(np.zeros(3)), np.array([1.0, 2.0, 3.0])
    >>> kept = lockstep.set_aside(np.array([True, False, False]), (values,))
    >>> kept.tolist(), lockstep.joined((10 * values[kept],))[0].tolist()
    ([0], [10.0, 2.0, 3.0])
    """

    def __init__(self, like: AnyArray) -> None:
        xp = array_namespace(like)
        self.places = xp.arange(like.shape[-1], device=device(like))
        self.arrived: list[tuple[AnyArray, ...]] = []

    def set_aside(self, going: AnyArray, results: tuple[AnyArray, ...]) -> AnyArray | None:
        """Keep the results of columns that do not go on; the places of the others.

        None as long as nearly all go on: a few that have arrived may ride along.
        """
        xp = array_namespace(going)
        if int(xp.count_nonzero(going)) >= 0.8 * going.shape[0] > 0:
            return None
        left, kept = xp.nonzero(~going)[0], xp.nonzero(going)[0]
        self.arrived.append(tuple(xp.take(a, left, axis=-1) for a in (self.places, *results)))
        self.places = xp.take(self.places, kept)
        return kept

    def joined(self, results: tuple[AnyArray, ...]) -> list[AnyArray]:
        """The results of all columns in their first order; given are those that are still going."""
        self.arrived.append((self.places, *results))
        xp = array_namespace(self.places)
        parts = list(zip(*self.arrived, strict=True))
        order = xp.argsort(xp.concat(parts[0]))
        return [xp.take(xp.concat(part, axis=-1), order, axis=-1) for part in parts[1:]]
