"""The moments of one batch.

Rows are summed in float64 whatever they are, without a copy of X. NaN and infinity reach the sums by
themselves, so X is scanned only when a sum is not finite, to name the culprit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from unflip._arrays import is_foreign, to_numpy
from unflip._culprits import in_place, name_the_culprit
from unflip.features import FeatureMap, as_feature_map
from unflip.features.base import Columns, row_by_row
from unflip.moments.class_sums import class_sums, second_moment
from unflip.moments.exact_sums import exact_sums
from unflip.moments.frame import frame_of, in_frame, keeps_digits, largest, unit_for
from unflip.moments.moments import Array, Moments, exact_moments
from unflip.sources import Batch
from unflip.sources.batch import feature_blocks

SAMPLE = 256  # rows looked at, without labels, to choose origin and unit


def batch_moments(batch: Batch, features: Any = None, degree: int = 1, summation: str = "fast") -> Moments:
    """The moments of one batch; the arguments are those of `accumulate`.

    >>> from unflip.sources import arrays
    >>> batch_moments(arrays([[1.0], [3.0]], ["no", "yes"])).sums.tolist()
    [[1.0], [3.0]]
    """
    feature_map = as_feature_map(features, batch.X.shape[1], batch.names)
    names = batch.names if features is None else None
    if summation == "exact":
        return _exact(batch, feature_map, names)
    origin, unit = np.zeros(batch.X.shape[1]), 1.0
    # Beside a GPU a look at some rows takes as long as many rows do: sums about zero tell as well, and are
    # nearly always those that are wanted. Otherwise the pass is made again, with a frame.
    about_zero = degree == 1 and isinstance(feature_map, Columns) and is_foreign(batch.X)
    sums = _sum(batch, feature_map, degree, origin, unit) if about_zero else None
    if sums is None or not keeps_digits(*sums.over_all):
        few = slice(0, None, max(1, batch.X.shape[0] // SAMPLE))
        try:
            sample = feature_map.transform(batch.X[few, :])
            origin, unit = frame_of(to_numpy(sample) if is_foreign(sample) else sample)
            sums = _sum(batch, feature_map, degree, origin, unit)
        except ValueError:
            _name_the_culprit_in_x(batch)  # some maps refuse what is not finite, but not by name
            raise
    if not sums.finite:
        _name_the_culprit(batch, feature_map)
        # Every value is finite, so the sample missed a giant: look at all rows for the frame.
        unit = unit_for(_largest(batch, feature_map, origin))
        sums = _sum(batch, feature_map, degree, origin, unit)
        if not sums.finite:
            raise ValueError("the weighted sums of X overflow; divide the weights by the largest one")
    return Moments(
        classes=tuple(batch.labels.classes.tolist()),
        counts=sums.counts,
        sums=sums.sums,
        second=sums.second,
        squares=float(sums.squares.sum()),
        key=feature_map.key,
        origin=origin,
        unit=unit,
        names=names,
        probabilities=batch.labels.probabilities,
    )


def _exact(batch: Batch, feature_map: FeatureMap, names: tuple[str, ...] | None) -> Moments:
    """Sums without rounding, of features that other rows have no part in."""
    if is_foreign(batch.X):
        raise ValueError(
            f"summation='exact' is for rows on the host, these are a {type(batch.X).__name__}; "
            "use summation='fast', or convert them to NumPy"
        )
    transform = row_by_row(feature_map)
    if transform is None:
        raise ValueError(
            "summation='exact' is for raw columns and for Standardize, Quantile, OneHot and Fourier: the "
            "last digits of other features depend on the rows around them"
        )
    if not batch.X.shape[0]:
        width = transform(np.zeros((1, batch.X.shape[1]))).shape[1]
        return Moments.zero(width, feature_map.key)
    windows = None
    for rows, phi in _parts(batch, feature_map, transform):
        try:
            found = exact_sums(phi, batch.labels[rows], batch.weight[rows])
        except ValueError:
            _name_the_culprit(batch, feature_map)
            raise
        windows = found if windows is None else windows + found
    assert windows is not None  # there is a row
    classes, soft = tuple(batch.labels.classes.tolist()), batch.labels.probabilities
    return exact_moments(classes, windows, feature_map.key, names, soft)


class _Sums(NamedTuple):
    """What the pass adds up, finite or not."""

    counts: Array
    sums: Array
    second: Array | None
    squares: Array

    @property
    def finite(self) -> bool:
        # No entry of the second moment exceeds the sum of squares.
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(self.sums).all() and np.isfinite(self.squares.sum()))

    @property
    def over_all(self) -> tuple[float, Array, Array]:
        """The sums of w, w z and w z^2 over all classes."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(self.counts.sum()), self.sums.sum(axis=0), self.squares


def _sum(batch: Batch, feature_map: FeatureMap, degree: int, origin: Array, unit: float) -> _Sums:
    _refuse_giant(len(origin), degree)
    counts, sums = np.zeros(len(batch.labels.classes)), np.zeros((len(batch.labels.classes), len(origin)))
    second = np.zeros((len(origin), len(origin))) if degree == 2 else None
    squares = np.zeros(len(origin))
    with np.errstate(over="ignore", invalid="ignore"):
        for rows, phi in _parts(batch, feature_map):
            weight = batch.weight[rows]
            found = class_sums(phi, batch.labels[rows], weight, origin, unit)
            counts += found.counts
            sums += found.sums
            squares += found.squares
            if second is not None:
                second += second_moment(phi, weight, origin, unit)
    return _Sums(counts, sums, second, squares)


def _parts(
    batch: Batch, feature_map: FeatureMap, transform: Callable[[Any], Any] | None = None
) -> Iterator[tuple[slice, Any]]:
    """Features with their rows: raw columns all at once, for nothing has to be made of them."""
    if isinstance(feature_map, Columns) and batch.X.shape[0]:
        return iter([(slice(None), batch.X)])
    return feature_blocks(batch.X, transform or feature_map.transform)


def _blocks(batch: Batch, feature_map: FeatureMap) -> Iterator[tuple[slice, Any]]:
    return feature_blocks(batch.X, feature_map.transform)


def _largest(batch: Batch, feature_map: FeatureMap, origin: Array) -> float:
    return max(largest(in_frame(phi, origin, 1.0)) for _, phi in _blocks(batch, feature_map))


def _refuse_giant(width: int, degree: int) -> None:
    if degree == 2 and width > 30_000:
        raise ValueError(
            f"the second moment of {width} features would take {8e-9 * width**2:.0f} GB; "
            "use a narrower feature map or a learner of degree one"
        )


def _name_the_culprit(batch: Batch, feature_map: FeatureMap) -> None:
    """Raise if some value of X, or of its features, is not finite; return otherwise."""
    _name_the_culprit_in_x(batch)
    with in_place(batch.place):
        for rows, phi in _blocks(batch, feature_map):
            name_the_culprit(phi, None, first_row=batch.first_row + rows.start)


def _name_the_culprit_in_x(batch: Batch) -> None:
    with in_place(batch.place):
        name_the_culprit(batch.X, batch.names, batch.first_row)
