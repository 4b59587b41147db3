"""Each column as if it were normal: its ranks, turned into quantiles of the normal distribution."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtri
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils._param_validation import Interval

from unflip.border.arrays import Array
from unflip.features.labelfree import LabelFree


class Quantile(OneToOneFeatureMixin, LabelFree):
    """The normal quantile of the mid-rank in each column, clipped to [-clip, clip].

    A value x has mid-rank (P(X < x) + P(X <= x)) / 2 among the fitted rows, so ties share one. Between fitted
    values the map is linear, beyond them it is constant. Increasing functions of a column change nothing
    at fitted values.

    Parameters
    ----------
    n_quantiles: at most this many values are kept for each column, evenly spaced in rank.
    clip: no feature is larger in absolute value.

    Attributes: `values_` and `scores_`, for each column the kept values and their features.

    >>> Quantile().fit_transform([[1.0], [10.0], [10.0], [1000.0]]).round(3).tolist()
    [[-1.15], [0.0], [0.0], [1.15]]
    """

    elementwise = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_quantiles": [Interval(Integral, 2, None, closed="left")],
        "clip": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(self, n_quantiles: int = 1000, clip: float = 3.0) -> None:
        self.n_quantiles = n_quantiles
        self.clip = clip

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.values_)

    @property
    def radius(self) -> float:
        """The largest feature of each column, squared and summed, under a root: at most clip sqrt(d)."""
        return math.hypot(*(float(np.abs(scores).max()) for scores in self.scores_))

    def _learn(self, X: Array) -> None:
        self._refuse_giant_span(X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64))
        kept = [self._column(X[:, j]) for j in range(X.shape[1])]
        self.values_ = [values for values, _ in kept]
        self.scores_ = [scores for _, scores in kept]

    def _column(self, column: Array) -> tuple[Array, Array]:
        """The values kept of a column, and their features."""
        values, counts = np.unique(column.astype(np.float64), return_counts=True)
        up_to = np.cumsum(counts)
        if len(values) > self.n_quantiles:
            rows = np.linspace(1, up_to[-1], self.n_quantiles)  # the first and the last row among them
            kept = np.unique(np.searchsorted(up_to, rows))
            values, counts, up_to = values[kept], counts[kept], up_to[kept]
        ranks = (up_to - counts / 2) / len(column)
        return values, np.clip(ndtri(ranks), -self.clip, self.clip)

    def _map(self, X: Array) -> Array:
        features = np.empty(X.shape)
        for j, (values, scores) in enumerate(zip(self.values_, self.scores_, strict=True)):
            features[:, j] = np.interp(X[:, j], values, scores)
        np.copyto(features, np.nan, where=np.isinf(X))  # infinity is no large value, but a mistake
        return features

    def _parts(self) -> dict[str, Any]:
        return {
            "sizes": [len(values) for values in self.values_],
            "values": np.concatenate(self.values_),
            "scores": np.concatenate(self.scores_),
        }
