"""Mean zero and variance one, column by column."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import OneToOneFeatureMixin

from unflip.border.arrays import Array
from unflip.features.labelfree import LabelFree

ROWS_AT_ONCE = 1 << 14  # rows worked on at a time
CONSTANT = 1e-12  # a variance below this share of the second moment is rounding, once only sums are left


class Standardize(OneToOneFeatureMixin, LabelFree):
    """(x - mean) / standard deviation in each column; a constant column becomes zero.

    Parameters
    ----------
    center: subtract the mean. Sparse rows need `center=False`: they are scaled and stay sparse. Every
        classifier that centres its features, or has an intercept, is none the worse for it.

    Attributes: `mean_`, `scale_` (the standard deviation; zero in constant columns).

    >>> Standardize().fit_transform([[0.0, 7.0], [4.0, 7.0]]).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """

    elementwise = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"center": ["boolean"]}

    def __init__(self, center: bool = True) -> None:
        self.center = center

    @classmethod
    def from_moments(cls, moments: Any, center: bool = True) -> Self:
        """The map for all rows behind these moments of plain columns, of degree two.

        So rows in many places are standardised alike: sum them once, share the map, sum again.

        >>> from unflip.moments import accumulate
        >>> shards = [([[0.0], [1.0]], [0, 1]), ([[5.0]], [1])]
        >>> scaler = Standardize.from_moments(sum(accumulate(shard, degree=2) for shard in shards))
        >>> scaler.mean_.tolist(), scaler.transform([[2.0]]).tolist()
        ([2.0], [[0.0]])
        """
        if moments.second is None:
            raise ValueError("Standardize needs moments of degree 2, these are of degree 1")
        if moments.key.split(":")[0] not in ("columns", ""):
            raise ValueError(f"Standardize needs moments of columns, these are of the map {moments.key!r}")
        second = np.diagonal(moments.second) / moments.total if moments.total else 0.0
        variance = second - moments.center**2  # which raises if there are no rows
        spread = np.sqrt(np.where(variance > CONSTANT * second, variance, 0.0))
        made = cls(center)
        made.n_features_in_ = len(moments.center)
        if moments.names is not None:
            made.feature_names_in_ = np.asarray(moments.names, dtype=object)
        made.mean_, made.scale_ = moments.mean, moments.unit * spread
        return made

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.scale_)

    @property
    def radius(self) -> float:
        """Infinite: a new row may lie anywhere."""
        return np.inf

    @property
    def _takes_sparse(self) -> bool:
        return not self.center

    def _learn(self, X: Any) -> None:
        if sparse.issparse(X) and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        low, high = (_flat(end(axis=0)).astype(np.float64) for end in (X.min, X.max))
        self._refuse_giant_span(low, high)
        span = high - low
        # In units of the span neither sums nor squares overflow.
        unit = np.where(span > 0, span, 1.0)
        share, _ = _mean_and_square(X, low, unit)
        rest, square = _mean_and_square(X, low + unit * share, unit)
        self.mean_ = low + unit * (share + rest)
        self.scale_ = np.where(span > 0, unit * np.sqrt(np.maximum(square - rest**2, 0.0)), 0.0)

    @np.errstate(over="ignore", invalid="ignore")  # what is not finite is looked for, and named, later
    def _map(self, X: Any) -> Any:
        divisor = np.where(self.scale_ > 0, self.scale_, np.inf)
        if sparse.issparse(X):
            scaled = sparse.csr_array(X, dtype=np.float64, copy=True)
            scaled.data /= divisor[scaled.indices]
            return scaled
        centred = np.subtract(X, self.mean_ if self.center else 0.0, dtype=np.float64)
        centred /= divisor
        return centred

    def _parts(self) -> dict[str, Any]:
        mean = self.mean_ if self.center else None
        return {"mean": mean, "scale": self.scale_}


def _mean_and_square(X: Any, about: Array, unit: Array) -> tuple[Array, Array]:
    """The means of z and of z^2 in each column, with z = (x - about) / unit."""
    n, d = X.shape
    total, squares = np.zeros(d), np.zeros(d)
    if sparse.issparse(X):
        zero = -about / unit
        z = (X.data - about[X.indices]) / unit[X.indices]
        empty = n - np.bincount(X.indices, minlength=d)
        total = np.bincount(X.indices, z, d) + empty * zero
        squares = np.bincount(X.indices, z * z, d) + empty * zero**2
    else:
        for start in range(0, n, ROWS_AT_ONCE):
            z = np.subtract(
                X[start : start + ROWS_AT_ONCE], about, order="C"
            )  # the same sums for any layout of X
            z /= unit
            total += z.sum(axis=0)
            squares += np.einsum("ij,ij->j", z, z)
    return total / n, squares / n


def _flat(row: Any) -> Array:
    return np.ravel(row.toarray() if sparse.issparse(row) else row)
