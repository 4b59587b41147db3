"""Two label-free views of a table, side by side: clipped z-scores, and mid-ranks in [0, 1]."""

from __future__ import annotations

import hashlib
from typing import Self

import numpy as np

from unflip.border.arrays import Array

SAMPLE_FOR_VIEWS = 2000  # rows that means, deviations and ranks are taken from
CLIP = 3.0  # standard deviations


class Views:
    """z and r of each column, fitted to a sample of rows, never to labels.

    >>> views = Views().fit(np.array([[0.0], [1.0], [5.0]]), np.random.default_rng(0))
    >>> views.transform(np.array([[1.0], [1e6]])).round(3).tolist()
    [[-0.463, 0.5], [3.0, 1.0]]
    """

    mean: Array
    scale: Array
    columns: Array

    @classmethod
    def of(cls, mean: Array, scale: Array, columns: Array) -> Self:
        """Views that were fitted before."""
        views = cls()
        views.mean, views.scale, views.columns = mean, scale, columns
        return views

    def fit(self, X: Array, rng: np.random.Generator) -> Self:
        """Remember mean, deviation and sorted values of each column."""
        rows = X if len(X) <= SAMPLE_FOR_VIEWS else X[rng.choice(len(X), SAMPLE_FOR_VIEWS, replace=False)]
        # Deviations of tiny or huge columns are taken in units of the largest value: no square overflows.
        unit = np.abs(rows).max(axis=0)
        unit = np.where(unit > 0, unit, 1.0)
        self.mean = (rows / unit).mean(axis=0) * unit
        spread = ((rows - self.mean) / unit).std(axis=0) * unit
        self.scale = np.where(spread > 0, spread, 1.0)
        self.columns = np.sort(rows, axis=0)
        return self

    @property
    def key(self) -> str:
        """A name that equal views share."""
        digest = hashlib.sha256()
        for part in (self.mean, self.scale, self.columns):
            digest.update(np.ascontiguousarray(part).tobytes())
        return f"Views:{digest.hexdigest()[:40]}"

    @property
    def two_valued(self) -> Array:
        """Which columns have two values, as far as the sample tells, (d,)."""
        jumps = np.count_nonzero(np.diff(self.columns, axis=0), axis=0)
        return np.asarray(jumps <= 1)

    def transform(self, X: Array) -> Array:
        """[z | r], (n, 2 d)."""
        n, d = X.shape
        both = np.empty((n, 2 * d))
        np.clip((X - self.mean) / self.scale, -CLIP, CLIP, out=both[:, :d])
        for j, column in enumerate(self.columns.T):
            below, upto = (np.searchsorted(column, X[:, j], side) for side in ("left", "right"))
            both[:, d + j] = (below + upto) / (2 * len(column))
        return both
