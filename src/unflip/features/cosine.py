"""Cosines of whole arrays, three times as fast as NumPy takes them one by one.

An angle is counted in turns. Its distance u to the nearest whole turn is at most 1/2, and its cosine is
the sine of 1/4 - u turns, a quarter turn at most: there an odd polynomial of degree 15 has an error
below 1e-15.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unflip.border.arrays import Array

CHUNK = 1 << 15  # numbers worked on at a time, so that three arrays of them stay in cache


# Of q, q^3, ..., q^15 in sin(2 pi q) for |q| <= 1/4, by Chebyshev interpolation. In bits: computed anew they
# would differ in the last one from processor to processor, and with them features that are to be exact.
ODD = np.array(
    [
        float.fromhex(bits)
        for bits in (
            "0x1.921fb54442ceep+2",
            "-0x1.4abbce625afbep+5",
            "0x1.466bc676ff082p+6",
            "-0x1.32d2ccc72b11ap+6",
            "0x1.507829cf8b09cp+5",
            "-0x1.e30342f46c4ecp+3",
            "0x1.e81ef9cec4ec7p+1",
            "-0x1.59d89d89d89d9p-1",
        )
    ]
)


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
