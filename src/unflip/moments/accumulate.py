"""The one pass: rows in, moments out.

Each batch is summed in blocks, in float64 whatever the input, without a copy of X. NaN and infinity
reach the sums by themselves, so X is scanned only when a sum is not finite, to name the culprit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from unflip._culprits import name_the_culprit
from unflip.features import FeatureMap, as_feature_map
from unflip.moments.moments import Array, Moments
from unflip.sources import Batch, batches
from unflip.sources.batch import feature_blocks

SAMPLE = 256  # rows looked at, without labels, to choose origin and unit
FAR = 100.0  # a column this many times farther from zero than it is wide is summed about its own place
ORDINARY = 1e90  # features between the inverse and this are summed as they are


def accumulate(source: Any, features: Any = None, degree: int = 1, summation: str = "fast") -> Moments:
    """The moments of a source, or of a plain (X, y) or (X, y, weight), in one pass.

    `features` is a fitted, label-free map (any scikit-learn transformer); `degree` is 2 to keep the
    second moment too, as the square loss needs.

    >>> moments = accumulate(([[1.0, 0.0], [3.0, 4.0]], ["no", "yes"]), degree=2)
    >>> moments.sums.tolist(), moments.second.tolist()
    ([[1.0, 0.0], [3.0, 4.0]], [[10.0, 12.0], [12.0, 16.0]])
    """
    if degree not in (1, 2):
        raise ValueError(f"degree is 1 or 2, got {degree!r}")
    if summation != "fast":
        raise ValueError(f"summation is 'fast', got {summation!r}")
    parts = [batch_moments(batch, features, degree) for batch in batches(source)]
    if not parts:
        raise ValueError("the source has no rows")
    return sum(parts[1:], start=parts[0])


def batch_moments(batch: Batch, features: Any = None, degree: int = 1) -> Moments:
    """The moments of one batch."""
    feature_map = as_feature_map(features, batch.X.shape[1], batch.names)
    few = slice(0, None, max(1, batch.X.shape[0] // SAMPLE))
    try:
        origin, unit = _frame(feature_map.transform(batch.X[few]))
        sums = _sum(batch, feature_map, degree, origin, unit)
    except ValueError:
        name_the_culprit(batch.X, batch.names)  # some maps refuse what is not finite, but not by name
        raise
    if not sums.finite:
        _name_the_culprit(batch, feature_map)
        # Every value is finite, so the sample missed a giant: look at all rows for the frame.
        unit = _unit(_largest(batch, feature_map, origin))
        sums = _sum(batch, feature_map, degree, origin, unit)
        if not sums.finite:
            raise ValueError("the weighted sums of X overflow; divide the weights by the largest one")
    return Moments(
        classes=tuple(batch.labels.classes.tolist()),
        **sums._asdict(),
        key=feature_map.key,
        origin=origin,
        unit=unit,
        names=batch.names if features is None else None,
    )


class _Sums(NamedTuple):
    """What the pass adds up, finite or not."""

    counts: Array
    sums: Array
    second: Array | None
    squares: float

    @property
    def finite(self) -> bool:
        # No entry of the second moment exceeds the sum of squares.
        return bool(np.isfinite(self.sums).all() and np.isfinite(self.squares))


def _sum(batch: Batch, feature_map: FeatureMap, degree: int, origin: Array, unit: float) -> _Sums:
    width = len(origin)
    _refuse_giant(width, degree)
    counts = np.zeros(len(batch.labels.classes))
    sums = np.zeros((len(counts), width))
    second = np.zeros((width, width)) if degree == 2 else None
    squares = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for rows, phi in _blocks(batch, feature_map):
            z = in_frame(phi, origin, unit)
            w = batch.weight[rows]
            by_class = batch.labels.weighted(batch.weight, rows)
            counts += by_class.sum(axis=1)
            sums += dense(by_class @ z)
            squares += float(w @ squared_norms(z))
            if second is not None:
                second += dense(scaled_rows(z, w).T @ z)
    return _Sums(counts, sums, second, squares)


def in_frame(phi: Any, origin: Array, unit: float) -> Any:
    """z = (phi - origin) / unit in float64. Sparse rows stay sparse as long as the origin is zero.

    It is zero for rows that are mostly zeros; only a model of other rows shifts them.
    """
    shifted = origin.any()
    if sparse.issparse(phi):
        z = phi.toarray().astype(np.float64) if shifted else phi.astype(np.float64, copy=False)
    else:
        z = np.asarray(phi, dtype=np.float64)
    if shifted:
        z = z - origin
    return z if unit == 1 else z / unit


def squared_norms(z: Any) -> Array:
    """|z|^2 for each row."""
    if sparse.issparse(z):
        return dense(z.multiply(z).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", z, z)


def scaled_rows(z: Any, w: Array) -> Any:
    """Each row times its weight."""
    return z.multiply(w[:, None]).tocsr() if sparse.issparse(z) else z * w[:, None]


def dense(product: Any) -> Array:
    """A small result as an array, however it was computed."""
    return product.toarray() if sparse.issparse(product) else np.asarray(product)


def _blocks(batch: Batch, feature_map: FeatureMap) -> Iterator[tuple[slice, Any]]:
    return feature_blocks(batch.X, feature_map.transform)


def _frame(sample: Any) -> tuple[Array, float]:
    """Origin and unit for features like these; zero and one unless they are far out, huge or tiny."""
    mostly_zeros = sparse.issparse(sample) and 2 * sample.count_nonzero() <= math.prod(sample.shape)
    if mostly_zeros or not sample.shape[0]:
        origin = np.zeros(sample.shape[1])
    else:
        with np.errstate(invalid="ignore", over="ignore"):
            origin = _origin(np.asarray(dense(sample), dtype=np.float64))
    return origin, _unit(_size(in_frame(sample, origin, 1.0)))


def _unit(largest: float) -> float:
    if largest == 0 or 1 / ORDINARY < largest < ORDINARY:
        return 1.0
    return float(np.ldexp(1.0, min(int(np.frexp(largest)[1]), 1000)))


def _size(z: Any) -> float:
    """The largest finite absolute value."""
    values = np.abs(z.data if sparse.issparse(z) else z)
    return float(values[np.isfinite(values)].max(initial=0.0))


def _largest(batch: Batch, feature_map: FeatureMap, origin: Array) -> float:
    return max(_size(in_frame(phi, origin, 1.0)) for _, phi in _blocks(batch, feature_map))


def _origin(x: Array) -> Array:
    """The first row in columns that lie far from zero for their spread, zero in the others."""
    first = np.abs(x[0])
    spread = np.abs(x - x[0]).max(axis=0)
    widest = np.max(spread, initial=0.0)
    # A constant column has no spread; it matters if rounding its mean shows beside the others.
    far_constant = first > (1e3 * widest if widest else 1e6)
    far = np.isfinite(first) & (first > FAR * spread) & ((spread > 0) | far_constant)
    return np.where(far, x[0], 0.0)


def _refuse_giant(width: int, degree: int) -> None:
    if degree == 2 and width > 30_000:
        raise ValueError(
            f"the second moment of {width} features would take {8e-9 * width**2:.0f} GB; "
            "use a narrower feature map or a learner of degree one"
        )


def _name_the_culprit(batch: Batch, feature_map: FeatureMap) -> None:
    """Raise if some value of X, or of its features, is not finite; return otherwise."""
    name_the_culprit(batch.X, batch.names)
    for rows, phi in _blocks(batch, feature_map):
        name_the_culprit(phi, None, first_row=rows.start)
