"""Sums that a GPU begins with before the host has looked at anything.

A GPU reads gigabytes in the time that the host takes for a few questions to it: which labels there are, and
where the rows lie. So sums for the two usual pairs of labels, 0 and 1 or -1 and 1, are started on suspicion,
about zero. They answer these questions themselves: counts say whether there were other labels, means
and squares whether the rows lie so far from zero that an origin of their own is due. If so, nothing is lost
but a little time of the GPU: the pass is made as usual.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from unflip._arrays import to_numpy
from unflip._triton import is_for_triton

Array = np.ndarray[Any, Any]
NEAR = 100.0  # a column's squared mean is at most so many times its variance: two digits are lost, not more
ORDINARY = 1e150  # sums of squares between the inverse and this come from ordinary numbers
WORTH = 1 << 20  # numbers in X below which the host is as fast


class EarlySums:
    """Sums that are on their way.

    n: the number of rows; total: (3, d + 1), sums and counts by class, squares, and how many labels are -1.
    """

    def __init__(self, n: int, dtype: Any, total: Any) -> None:
        self.n, self.dtype, self.total = n, dtype, total

    def found(self) -> tuple[Array, Array, Array, float] | None:
        """Classes, counts, sums and squares; None if labels or rows turn out to be unusual.

        >>> total = np.array([[3.0, 2.0], [5.0, 1.0], [30.0, 0.0]])  # of rows 1, 2 and 5, labels 0, 0 and 1
        >>> classes, counts, sums, squares = EarlySums(3, np.dtype(int), total).found()
        >>> classes.tolist(), counts.tolist(), sums.tolist(), squares
        ([0, 1], [2.0, 1.0], [[3.0], [5.0]], 30.0)
        """
        total, n = to_numpy(self.total), self.n
        counts = total[:2, -1]
        (first, second), minus = counts.tolist(), float(total[2, -1])
        if first + second != n or not first or not second or minus not in (0, first):
            return None
        sums, squares = total[:2, :-1], total[2, :-1]
        all_squares = float(squares.sum())
        if not 1 / ORDINARY < all_squares < ORDINARY:  # so written, NaN does not pass
            return None
        shift = ((sums[0] + sums[1]) / n) ** 2
        spread = squares / n - shift
        if (shift > NEAR * spread).any():
            # Constant columns, of ones for example, are no harm beside others that vary as much.
            far = shift > NEAR * np.where(spread == 0, spread.max(), spread)
            if far.any():
                return None
        classes = np.array([-1 if minus else 0, 1]).astype(self.dtype)
        return classes, counts, sums, all_squares


@cache
def _as_numpy(dtype: Any) -> Any:
    """The dtype of NumPy that a dtype of torch or CuPy stands for; None if labels are not of that kind."""
    name = str(dtype).rpartition(".")[2]
    known = ("bool", "int8", "int16", "int32", "int64", "uint8", "float32", "float64")
    return np.dtype(name) if name in known else None


def start_early(X: Any, y: Any) -> EarlySums | None:
    """Begin with the sums of unweighted rows; None if they are not on a GPU, or not worth it.

    >>> start_early(np.ones((3, 1)), [0, 0, 1])
    """
    if not is_for_triton(X) or type(X) is not type(y) or X.device != y.device:
        return None
    if X.ndim != 2 or y.ndim != 1 or X.shape[0] != y.shape[0] or X.shape[0] * X.shape[1] < WORTH:
        return None
    dtype = _as_numpy(y.dtype)
    if dtype is None:
        return None
    from unflip.moments import triton_sums

    return EarlySums(X.shape[0], dtype, triton_sums.start_on_suspicion(X, y))
