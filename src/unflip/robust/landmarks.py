"""A ridge path over the features that landmarks span: sums of k(x, Z), their spectrum, scores left out.

The features are L^-1 k(Z, x) with L L' = k(Z, Z) and a little on the diagonal. Only k(x, Z) is ever computed,
and its moments of degree two are all that a fit needs; k(Z, Z) is the metric of the spectrum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from unflip._threads import workers
from unflip.border.arrays import Array
from unflip.border.blocks import slices
from unflip.border.classes import contrast
from unflip.features.landmarks import Landmarks
from unflip.moments import Moments
from unflip.passes import accumulate
from unflip.robust.everyone import Units
from unflip.robust.rows import Rows
from unflip.solvers.ridge import RidgePath, Spectrum
from unflip.solvers.ridge_groups import leave_folds_out, leave_groups_out
from unflip.sources import Batch, Source

RIDGES = 10.0 ** np.arange(-5, 1.25, 0.5)  # times W and the mean squared length of centred features
FEATURES_AT_ONCE = 1 << 20  # features held at a time beyond a cache: 8 MB
SHORTEST_PART = 400  # rows of a part, where it is not the memory that decides
CACHE = 1 << 25  # features that are kept rather than computed again: 256 MB


class LandmarkPath:
    """All ridges for one kernel and its landmarks.

    sums: the moments of all rows, where the given ones are a sample; made of the given ones otherwise.
    units: what leaves with each judged row, where its copies may be outside of the sample.
    scores: (L, j, k), leave-one-out scores of the rows `judged`, about the mean target of the rows that stay.
    """

    def __init__(
        self,
        features: Landmarks,
        rows: Rows,
        judged: Array,
        sums: Moments | None = None,
        units: Units | None = None,
    ) -> None:
        self.features, self._rows, self._units = features, rows, units
        with workers(None) as spread:
            # BLAS has one thread in here: two of its kind (NumPy's, SciPy's) would wait for each other.
            values = KernelValues(rows, features)
            self.moments: Moments = accumulate(values, degree=2) if sums is None else sums
            self._values = values.kept if sums is None else None
            signs = contrast(len(rows.labels.classes))
            spectrum = Spectrum.of(self.moments, signs, features.metric)
            self.path = RidgePath(spectrum, RIDGES * spectrum.eigenvalues.sum())
            self._judged = judged if units is None else judged[units.first]
            targets = rows.targets[judged] if units is None else units.targets
            weight = rows.weight[judged] if units is None else units.weight
            self._labels = targets - spectrum.mean, weight
            left = np.empty((len(RIDGES), *targets.shape))
            parts = parts_of(len(targets), len(features.rows))
            for part, scores in zip(parts, spread(self._leave, parts), strict=True):
                left[:, part] = scores
        if rows.groups is not None and units is None:
            groups = rows.groups[judged]
            for places, scores in leave_groups_out(self.path, self._along, *self._labels, groups):
                left[:, places] = scores
        self.scores = left if units is None else left[:, units.member]

    @property
    def freedom(self) -> Array:
        """Degrees of freedom of each ridge, (L,)."""
        return self.path.freedom

    def without_folds(self, folds: Array, mixture: Array) -> Array:
        """Scores of a mixture of the ridges for the judged rows, (j, k), by fits to all but their fold."""
        units = self._units
        if units is None:
            return leave_folds_out(self.path, self._along, *self._labels, folds, mixture)
        left = leave_folds_out(self.path, self._along, *self._labels, folds[units.first], mixture)
        return left[units.member]

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
        return self._coordinates(self._judged[some])

    def _coordinates(self, places: Any) -> Array:
        kept = self._values
        phi = self.features.transform(self._rows.at(places)) if kept is None else kept[places]
        return self.path.spectrum.along(phi)


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
    size = min(FEATURES_AT_ONCE // max(1, width), max(SHORTEST_PART, -(-n // 4)))
    return slices(0, n, max(1, size))
