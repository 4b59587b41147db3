"""Cosines of whole arrays, three times as fast as NumPy takes them one by one.

An angle is counted in turns. Its distance u to the nearest whole turn is at most 1/2, and its cosine is
the sine of 1/4 - u turns, a quarter turn at most: there an odd polynomial of degree 15 has an error
below 1e-15.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev

from unflip.features.labelfree import Array

CHUNK = 1 << 15  # numbers worked on at a time, so that three arrays of them stay in cache
DEGREE = 15


def _coefficients() -> Array:
    """Of q, q^3, ..., q^15 in sin(2 pi q) for |q| <= 1/4."""
    series = Chebyshev.interpolate(lambda q: np.sin(2 * np.pi * q), DEGREE + 10, domain=[-0.25, 0.25])
    # `convert` would keep the rounding of the even coefficients, which are zero.
    return series.truncate(DEGREE + 1).convert(domain=[-1, 1], kind=np.polynomial.Polynomial).coef[1::2]


ODD = _coefficients()


def cosines(turns: Array, scale: float = 1.0) -> Any:
    """Replace turns, a C-contiguous array of float64, by scale * cos(2 pi turns), and return it.

    >>> cosines(np.array([0.0, 0.25, 0.5, -3.0])).round(14).tolist()
    [1.0, 0.0, -1.0, 1.0]
    """
    flat = turns.reshape(-1)
    distance, square = np.empty((2, min(CHUNK, flat.size)))
    *middle, last = scale * ODD
    for start in range(0, flat.size, CHUNK):
        value = flat[start : start + CHUNK]
        q, s = distance[: value.size], square[: value.size]
        np.rint(value, out=q)
        np.subtract(value, q, out=q)
        np.abs(q, out=q)
        np.subtract(0.25, q, out=q)
        np.multiply(q, q, out=s)
        np.multiply(s, last, out=value)
        for c in middle[:0:-1]:
            value += c
            value *= s
        value += middle[0]
        value *= q
    return turns
