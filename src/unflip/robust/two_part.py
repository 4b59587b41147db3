"""The kernel of `RobustClassifierCV`: half a Laplace kernel on z-scores, half one on ranks, columns weighted.

k = exp(-|w (z - z')|_2 / med_2) / 2 + exp(-2 sum_j w_j |r_j - r'_j| / med_1) / 2, with the medians of both
distances over pairs of landmarks. The second half is the closed form of an infinite forest of random
partitions of the ranks.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np

from unflip.border.arrays import Array
from unflip.kernels import Kernel
from unflip.kernels.distances import Centred, manhattan_between, prepare_euclidean, squared_between

PAIRED = 200  # landmarks whose pairs give the medians


class Prepared(NamedTuple):
    """Rows as the two halves want them; ranks of two values as points whose squared distance is their gap."""

    z: Centred
    ranks: Array
    flags: Centred | None


class TwoPart(Kernel):
    """A kernel on rows [z | r] of `Views`.

    landmarks: (m, 2 d), the rows that distances are compared with; weights: (d,), of the columns;
    two_valued: (d,), where a sum of absolute differences is a squared distance, which is much faster.

    >>> rows = np.array([[0.0, 0.0], [1.0, 0.5], [3.0, 1.0]])
    >>> TwoPart(rows, np.ones(1), np.array([False]))(rows[:1], rows).round(3).tolist()
    [[1.0, 0.371, 0.121]]
    """

    def __init__(self, landmarks: Array, weights: Array, two_valued: Array) -> None:
        self.weights, self.two_valued = weights, two_valued
        self.flag_scale = np.sqrt(weights[two_valued] / 0.5)  # mid-ranks of two values are half apart
        self.z_scale = self.rank_scale = 1.0
        rows = self.prepare(landmarks[:PAIRED], None)
        self.z_scale = _median(np.sqrt(squared_between(rows.z, rows.z)))
        self.rank_scale = _median(self._rank_distances(rows, rows)) / 2

    def __repr__(self) -> str:
        made_of = self.weights.tobytes() + self.two_valued.tobytes()
        digest = hashlib.sha256(made_of).hexdigest()[:16]
        return f"TwoPart({digest}, {self.z_scale!r}, {self.rank_scale!r})"

    def prepare(self, X: Any, origin: Array | None) -> Prepared:
        """Weighted z-scores and ranks."""
        d = len(self.weights)
        z, ranks = X[:, :d] * self.weights, X[:, d:]
        flags = ranks[:, self.two_valued] * self.flag_scale
        others = np.ascontiguousarray((ranks * self.weights)[:, ~self.two_valued])
        zero = np.zeros(d)
        return Prepared(
            prepare_euclidean(z, zero),
            others,
            prepare_euclidean(flags, np.zeros(flags.shape[1])) if flags.shape[1] else None,
        )

    def between(self, a: Any, b: Any) -> Array:
        """Half of one, half of the other."""
        near = squared_between(a.z, b.z)
        np.sqrt(near, out=near)
        near *= -1 / self.z_scale
        np.exp(near, out=near)
        also = self._rank_distances(a, b)
        also *= -1 / self.rank_scale
        np.exp(also, out=also)
        near += also
        near /= 2
        return near

    def diagonal(self, X: Any) -> Array:
        """Ones."""
        return np.ones(X.shape[0])

    @property
    def bound(self) -> float:
        """One."""
        return 1.0

    @property
    def stationary(self) -> bool:
        """False: steps count in ranks."""
        return False

    def _rank_distances(self, a: Prepared, b: Prepared) -> Array:
        if a.flags is None or b.flags is None:
            return manhattan_between(a.ranks, b.ranks)
        apart = squared_between(a.flags, b.flags)
        if a.ranks.shape[1]:
            apart += manhattan_between(a.ranks, b.ranks)
        return apart


def _median(distances: Array) -> float:
    """The median of the distances of rows that differ; one if none do."""
    pairs = distances[np.triu_indices(len(distances), 1)]
    pairs = pairs[pairs > 1e-9 * pairs.max(initial=0.0)]
    return float(np.median(pairs)) if len(pairs) else 1.0
