"""Features that no row can make large: clipped to a norm, and whole multiples of a step.

What a row adds to sums of such features is known before any row is seen, and in whole numbers, so that no
rounding of floating point can give a row away.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from unflip.border.arrays import Array
from unflip.features import FeatureMap
from unflip.features.base import row_by_row

CLIPPED_BITS = 26  # of a whole number: squares of up to 2^26 have sums below 2^53, which floats hold


class Clipped:
    """The features of another map, each row scaled down to norm `bound`, in multiples of `step`.

    Rows are rounded towards zero, so that none gets longer. largest: the bound in steps.

    >>> from unflip.features import Columns
    >>> Clipped(Columns(2), bound=1.0).transform(np.array([[3.0, 4.0], [0.5, 0.0]])).round(6).tolist()
    [[0.6, 0.8], [0.5, 0.0]]
    """

    def __init__(self, features: FeatureMap, bound: float) -> None:
        transform = row_by_row(features)
        if transform is None:
            raise ValueError(
                "private sums are for raw columns and for Standardize, Quantile, OneHot and Fourier: the "
                "last digits of other features depend on the rows around them"
            )
        self.key, self.features = features.key, transform
        self.bound, self.step = bound, 2.0 ** (math.ceil(math.log2(bound)) - CLIPPED_BITS)
        self.largest = int(bound / self.step)

    def transform(self, X: Any) -> Array:
        """The clipped features of rows."""
        with np.errstate(invalid="ignore"):  # infinite rows become NaN, and are refused with the sums
            phi = self.features(X)
            phi = np.asarray(phi.toarray() if sparse.issparse(phi) else phi, dtype=np.float64)
            whole = np.trunc(self._in_steps(phi))
        outside = self._outside(whole)
        while outside.any():  # by the rounding above
            whole[outside] -= np.sign(whole[outside])
            outside = self._outside(whole)
        return whole * self.step

    row_by_row = transform

    def _in_steps(self, phi: Array) -> Array:
        """Rows scaled down to the bound where they are longer, by steps that no other row has a part in."""
        largest = np.abs(phi).max(axis=1, initial=0.0)
        relative = phi / np.where(largest > 0, largest, 1.0)[:, None]
        squares = np.zeros(len(phi))
        for column in relative.T:
            squares += np.square(column)
        longest = self.bound / np.sqrt(np.maximum(squares, 1.0))  # that the largest entry may be
        return relative * (np.minimum(largest, longest) / self.step)[:, None]

    def _outside(self, whole: Array) -> Array:
        return np.square(whole).sum(axis=1) > self.largest**2  # exact: whole numbers below 2^53
