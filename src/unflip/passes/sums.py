"""What an engine makes of rows: their sums by class, in a frame."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from unflip.border.arrays import Array
from unflip.moments.frame import FAR_FROM_ZERO, ORDINARY


class ClassSums(NamedTuple):
    """Weighted sums of z = (phi - origin) / unit.

    counts: (K,), sums of w; sums: (K, d), of w z by class; squares: (d,), of w z^2 over all classes; second:
    (d, d), of w z z' over all classes, if it was asked for.
    """

    counts: Array
    sums: Array
    squares: Array
    second: Array | None = None

    @classmethod
    def nothing(cls, n_classes: int, width: int, degree: int) -> ClassSums:
        """The sums of no rows."""
        second = np.zeros((width, width)) if degree == 2 else None
        return cls(np.zeros(n_classes), np.zeros((n_classes, width)), np.zeros(width), second)

    @np.errstate(over="ignore", invalid="ignore")
    def plus(self, other: ClassSums) -> ClassSums:
        """The sums of both."""
        second = None if self.second is None or other.second is None else self.second + other.second
        return ClassSums(
            self.counts + other.counts, self.sums + other.sums, self.squares + other.squares, second
        )

    @property
    def finite(self) -> bool:
        """Whether the rows were, and the sums are, finite."""
        with np.errstate(over="ignore", invalid="ignore"):
            # No entry of the second moment exceeds the sum of squares.
            return bool(np.isfinite(self.sums).all() and np.isfinite(self.squares.sum()))

    @np.errstate(over="ignore", invalid="ignore")
    def keep_digits(self) -> bool:
        """Whether a plain frame was good enough, of which the sums tell by themselves.

        Columns far from zero for their spread, and huge or tiny ones, want a frame of their own. Constant
        columns, of ones for example, are no harm beside others that vary as much.

        >>> near = ClassSums(np.array([2.0]), np.array([[3.0]]), np.array([5.0]))  # of 1 and 2
        >>> far = ClassSums(np.array([2.0]), np.array([[2001.0]]), np.array([2002001.0]))  # of 1000 and 1001
        >>> near.keep_digits(), far.keep_digits()
        (True, False)
        """
        total = float(self.counts.sum())
        if not 0 < total < math.inf:
            return False
        size = math.sqrt(float(self.squares.sum()) / total)
        if not 1 / ORDINARY < size < ORDINARY:  # so written, NaN does not pass
            return False
        place = np.square(self.sums.sum(axis=0) / total)
        spread = self.squares / total - place
        return not (place > FAR_FROM_ZERO**2 * np.where(spread == 0, spread.max(), spread)).any()
