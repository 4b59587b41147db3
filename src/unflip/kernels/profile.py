"""Kernels that are a function of a distance: k(x, z) = profile(distance(x, z)).

The distance does not know the bandwidth. So a grid of bandwidths costs one table of distances, and an
exponential for each of them:

>>> from unflip.kernels import Laplace
>>> distance = Laplace(1.0).distance([[0.0]], [[1.0]])
>>> [round(float(Laplace(b).profile(distance)[0, 0]), 4) for b in (0.5, 1.0, 2.0)]
[0.1353, 0.3679, 0.6065]
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from unflip.border.arrays import Array
from unflip.kernels.bandwidth import as_bandwidth
from unflip.kernels.base import Kernel, as_weights
from unflip.kernels.blocks import sweep
from unflip.kernels.distances import full_table
from unflip.kernels.rows import as_table, as_tables


class DistanceKernel(Kernel):
    """exp(-distance / bandwidth), one at distance zero. A new one defines `prepare` and `distances_between`.

    >>> from unflip.kernels import Gaussian
    >>> Gaussian(2.0).bound, Gaussian(2.0).diagonal([[5.0]]).tolist()
    (1.0, [1.0])
    """

    metric: ClassVar[str]  # what `median_bandwidth` should measure

    bandwidth: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "bandwidth", as_bandwidth(self.bandwidth))

    @abstractmethod
    def distances_between(self, a: Any, b: Any) -> Array:
        """The distances of all pairs of prepared rows, in an array of their own."""

    def profile(self, distance: Array, out: Array | None = None) -> Array:
        """The values at these distances; written to `out` if given, which may be `distance` itself."""
        scaled = np.multiply(distance, -1 / self.bandwidth, out=out)
        return np.exp(scaled, out=scaled)

    def distance(self, X: Any, Z: Any) -> Array:
        """The table of distances that `profile` turns into values, the same for every bandwidth."""
        return full_table(*as_tables(X, Z), self.prepare, self.distances_between)

    def score_grid(self, X: Any, Z: Any, weights: Any, bandwidths: Sequence[float]) -> Array:
        """`score` for every bandwidth, stacked in front; distances are computed once for all of them.

        >>> from unflip.kernels import Laplace
        >>> Laplace(1.0).score_grid([[0.0]], [[1.0]], [1.0], [0.5, 2.0]).round(4).tolist()
        [[0.1353], [0.6065]]
        """
        left, right = as_tables(X, Z)
        w = as_weights(weights, right.shape[0])
        # Every kernel with a bandwidth is a dataclass, though this base class is none.
        kernels = [replace(self, bandwidth=bandwidth) for bandwidth in bandwidths]  # type: ignore[type-var]
        scores = np.zeros((len(kernels), left.shape[0], *w.shape[1:]))

        def use(rows: slice, columns: slice, apart: Array) -> None:
            values = np.empty_like(apart)
            for sums, kernel in zip(scores, kernels, strict=True):
                sums[rows] += kernel.profile(apart, out=values) @ w[columns]

        sweep(left, right, self.prepare, self.distances_between, use)
        return scores

    def between(self, a: Any, b: Any) -> Array:
        """The profile of the distances."""
        apart = self.distances_between(a, b)
        return self.profile(apart, out=apart)

    def diagonal(self, X: Any) -> Array:
        """Ones."""
        return np.ones(as_table(X, "X").shape[0])

    @property
    def bound(self) -> float:
        """One."""
        return 1.0
