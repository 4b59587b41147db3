"""A ridge path over the features that landmarks span: sums of k(x, Z), their spectrum, scores left out.

The features are L^-1 k(Z, x) with L L' = k(Z, Z) and a little on the diagonal. Only k(x, Z) is ever computed,
and its moments of degree two are all that a fit needs; k(Z, Z) is the metric of the spectrum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from unflip._threads import workers
from unflip.estimators.border import contrast
from unflip.features.landmarks import Landmarks
from unflip.kernels import Kernel
from unflip.kernels.blocks import slices
from unflip.moments import Moments
from unflip.passes import accumulate
from unflip.robust.rows import Array, Rows
from unflip.solvers.ridge import RidgePath, Spectrum
from unflip.solvers.ridge_groups import leave_folds_out, leave_groups_out
from unflip.sources import Batch, Source

RIDGES = 10.0 ** np.arange(-5, 1.25, 0.5)  # times W and the mean squared length of centred features
NUMBERS_AT_ONCE = 1 << 22  # features held at a time beyond a cache: 32 MB
SHORTEST = 400  # rows of a part, where it is not the memory that decides
CACHE = 1 << 25  # features that are kept rather than computed again: 256 MB


class LandmarkPath:
    """All ridges for one kernel and its landmarks.

    scores: (L, j, k), leave-one-out scores of the rows `judged`, about the mean target of the rows that stay.
    """

    def __init__(self, kernel: Kernel, landmarks: Array, rows: Rows, judged: Array) -> None:
        self.features, self.judged, self._rows = Landmarks(kernel, landmarks), judged, rows
        with workers(None) as spread:
            # BLAS has one thread in here: two of its kind (NumPy's, SciPy's) would wait for each other.
            values = KernelValues(rows, self.features)
            found = accumulate(values, degree=2)
            self._values = values.kept
            self.moments: Moments = replace(found, key=self.features.key)
            signs = contrast(len(rows.labels.classes))
            spectrum = Spectrum.of(self.moments, signs, self.features.metric)
            self.path = RidgePath(spectrum, RIDGES * spectrum.eigenvalues.sum())
            self.scores = np.empty((len(RIDGES), len(judged), len(signs)))
            parts = parts_of(len(judged), len(landmarks))
            for part, left in zip(parts, spread(self._leave, parts), strict=True):
                self.scores[:, part] = left
        if rows.groups is not None:
            for places, scores in leave_groups_out(
                self.path, self._along, *self._labels, rows.groups[judged]
            ):
                self.scores[:, places] = scores

    @property
    def freedom(self) -> Array:
        """Degrees of freedom of each ridge, (L,)."""
        return self.path.freedom

    def without_folds(self, folds: Array, mixture: Array) -> Array:
        """Scores of a mixture of the ridges for the judged rows, (j, k), by fits to all but their fold."""
        return leave_folds_out(self.path, self._along, *self._labels, folds, mixture)

    def dual(self, mixture: Array) -> tuple[Array, Array]:
        """Coefficients of k(x, Z) for a mixture of the ridges, (m, k), and what to subtract, (k,)."""
        return self.path.spectrum.weights(np.einsum("rlk,l->rk", self.path.fits, mixture))

    def smoothed(self, labels: Array, mixture: Array) -> Array:
        """The same coefficients for other labels of all the rows, which are few."""
        u = self._coordinates(slice(0, len(labels)))
        along = u.T @ (self._rows.weight[:, None] * labels)
        return self.path.spectrum.weights((self.path.shrink @ mixture)[:, None] * along)[0]

    def _leave(self, part: slice) -> Array:
        labels, weight = (values[part] for values in self._labels)
        return self.path.leave_one_out(self._along(part), labels, weight).transpose(1, 0, 2)

    def _along(self, some: Any) -> Array:
        return self._coordinates(self.judged[some])

    def _coordinates(self, places: Any) -> Array:
        kept = self._values
        phi = self.features.transform(self._rows.at(places)) if kept is None else kept[places]
        return self.path.spectrum.along(phi)

    @cached_property
    def _labels(self) -> tuple[Array, Array]:
        """Centred targets and weights of the judged rows."""
        return self._rows.centred[self.judged], self._rows.weight[self.judged]


class KernelValues(Source):
    """Rows as a source of their kernel values, which are `kept` if they are few."""

    def __init__(self, rows: Rows, features: Landmarks) -> None:
        self._rows, self._features = rows, features
        n, m = len(rows.weight), len(features.rows)
        self.kept = np.empty((n, m)) if n * m <= CACHE else None

    @property
    def parts(self) -> Sequence[slice]:
        """Slices of the rows."""
        return parts_of(len(self._rows.weight), len(self._features.rows))

    def read(self, part: slice) -> Iterator[Batch]:
        """One slice, in one batch."""
        values = self._features.transform(self._rows.at(part))
        if self.kept is not None:
            self.kept[part] = values
        yield Batch(values, self._rows.labels[part], self._rows.weight[part])

    @property
    def fingerprint(self) -> str:
        """Never asked for: a pass over memory has no checkpoint."""
        return self._features.key


def parts_of(n: int, width: int) -> list[slice]:
    """Rows in parts, several if they are many, so that threads can share them; by their number alone."""
    size = min(NUMBERS_AT_ONCE // max(1, width), max(SHORTEST, -(-n // 4)))
    return slices(0, n, max(1, size))
