"""From exact sums to the float64 numbers that learners use: each rounded once, whatever the way to it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unflip.border.arrays import Array
from unflip.moments.exact import Windows, as_integers, rounded
from unflip.moments.frame import ORDINARY_BITS

BEYOND_THE_CLASSES = 1e6  # times as far out as class means are apart: such a column is seen from its mean


class Rounded(NamedTuple):
    """counts: (K,); sums: (K, d), of w z with z = (x - origin) / unit; squares: of w |z|^2; origin: (d,)."""

    counts: Array
    sums: Array
    squares: float
    origin: Array
    unit: float


def in_floats(windows: Windows) -> Rounded:
    """The sums of `exact_sums`, (K, d + 2), as floats.

    Origin and unit are functions of the sums, zero and one for ordinary data.

    >>> from unflip.passes.exact_sums import exact_sums
    >>> from unflip.sources import encode
    >>> found = in_floats(exact_sums(np.array([[1e16], [1e16 + 2]]), encode([0, 1]), np.ones(2)))
    >>> found.origin.tolist(), found.sums.tolist()
    ([1e+16], [[0.0], [2.0]])
    """
    whole, exponent = windows.integers(), windows.exponent
    sums, counts, squares = whole[:, :-2], whole[:, -2], whole[:, -1]
    total = counts.sum()
    unit = _unit(squares.sum(), total)
    origin = _origin(sums, counts)
    m, e = as_integers(origin)
    # S - count origin, over a common power of two that makes all of it whole.
    low = min(0, int(e.min(initial=0)))
    shift = np.array([1 << int(k) - low for k in e], dtype=object) * m.astype(object)  # origin 2^-low
    moved = sums * (1 << -low) - counts[:, None] * shift
    about = squares.sum() * (1 << -2 * low) - 2 * (shift * sums.sum(axis=0)).sum() * (1 << -low)
    about += (shift * shift).sum() * total
    return Rounded(
        rounded(counts, exponent),
        rounded(moved, exponent + low - unit),
        float(rounded(np.array([max(about, 0)], dtype=object), exponent + 2 * (low - unit))[0]),
        origin,
        float(np.ldexp(1.0, unit)),
    )


def _unit(squares: int, total: int) -> int:
    """The binary logarithm of the unit: of the size of the rows if that is huge or tiny, else zero."""
    size = (squares.bit_length() - total.bit_length()) // 2 if squares and total else 0
    return 0 if abs(size) <= ORDINARY_BITS else max(-1000, min(size, 1000))


def _origin(sums: Array, counts: Array) -> Array:
    """The mean of columns that lie far from zero for what tells the classes apart; zero in the others."""
    total, all_rows = counts.sum(), sums.sum(axis=0)
    mean = _ratios(all_rows, total)
    # The mean of a class, less that of all rows, times its share: (total S_k - count_k S) / total^2.
    apart = np.abs(sums * total - counts[:, None] * all_rows).max(axis=0, initial=0)
    widest = _ratios(apart, total * total)
    with np.errstate(over="ignore"):
        return np.where((widest > 0) & (np.abs(mean) > BEYOND_THE_CLASSES * widest), mean, 0.0)


def _ratios(above: Array, below: int) -> Array:
    """Python integers over another, each rounded once; zero if there is nothing to divide by."""
    return np.array([a / below if below else 0.0 for a in above], dtype=np.float64)
