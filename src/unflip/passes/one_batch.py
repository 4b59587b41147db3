"""The moments of one batch.

Rows are summed in float64 whatever they are, without a copy of X. NaN and infinity reach the sums by
themselves, so X is scanned only when a sum is not finite, to name the culprit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from unflip.border.arrays import is_foreign, to_numpy
from unflip.border.blocks import feature_blocks
from unflip.border.finite import name_the_culprit
from unflip.border.labels import Labels
from unflip.border.words import in_place
from unflip.features import FeatureMap, as_feature_map
from unflip.features.base import Columns, row_by_row
from unflip.moments.frame import Frame, largest
from unflip.moments.moments import Moments, exact_moments
from unflip.passes import host
from unflip.passes.engines import engine_for
from unflip.passes.exact_sums import exact_sums
from unflip.passes.sums import ClassSums
from unflip.sources.batch import Batch

WIDEST_SECOND_MOMENT = 30_000  # features: 7 GB
SAMPLE_FOR_FRAME = 256  # rows looked at, without labels, to choose origin and unit


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
    frame, found = _framed_sums(batch, feature_map, degree)
    return Moments(
        classes=tuple(batch.labels.classes.tolist()),
        counts=found.counts,
        sums=found.sums,
        second=found.second,
        key=feature_map.key,
        squares=float(found.squares.sum()),
        origin=frame.origin,
        unit=frame.unit,
        names=names,
        probabilities=batch.labels.probabilities,
    )


def _exact(batch: Batch, feature_map: FeatureMap, names: tuple[str, ...] | None) -> Moments:
    """Sums without rounding, of features that other rows have no part in."""
    if batch.foreign:
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
    for phi, labels, weight in _parts(batch, feature_map, transform):
        try:
            found = exact_sums(phi, labels, weight)
        except ValueError:
            _name_the_culprit(batch, feature_map)
            raise
        windows = found if windows is None else windows + found
    assert windows is not None  # there is a row
    classes, soft = tuple(batch.labels.classes.tolist()), batch.labels.probabilities
    return exact_moments(classes, windows, feature_map.key, names, soft)


def _framed_sums(batch: Batch, feature_map: FeatureMap, degree: int) -> tuple[Frame, ClassSums]:
    """Sums that keep what matters, and the frame that makes them do so.

    On the host a few rows, without their labels, tell the frame. A GPU reads gigabytes in the time that the
    host takes to fetch them and to think about them. So there plain sums are tried first: they tell by
    themselves, and nearly always are what was wanted. A fit then waits twice for the device, for the classes
    (`classes_and_codes`) and for the sums; only where rows lie far out is the pass made again.
    """
    if batch.foreign and degree == 1 and isinstance(feature_map, Columns):
        frame = Frame.plain(batch.X.shape[1])
        sums = _sum(batch, feature_map, degree, frame)
        if sums.keep_digits():
            return frame, sums
    few = slice(0, None, max(1, batch.X.shape[0] // SAMPLE_FOR_FRAME))
    try:
        sample = feature_map.transform(batch.X[few, :])
        frame = Frame.of(to_numpy(sample) if batch.foreign and is_foreign(sample) else sample)
        sums = _sum(batch, feature_map, degree, frame)
    except ValueError:
        _name_the_culprit_in_x(batch)  # some maps refuse what is not finite, but not by name
        raise
    if sums.finite:
        return frame, sums
    _name_the_culprit(batch, feature_map)
    # Every value is finite, so the sample missed a giant: look at all rows for the frame.
    about = Frame(frame.origin)
    frame = frame.reaching(max(largest(about.z(phi)) for _, phi in _blocks(batch, feature_map)))
    sums = _sum(batch, feature_map, degree, frame)
    if not sums.finite:
        raise ValueError("the weighted sums of X overflow; divide the weights by the largest one")
    return frame, sums


def _sum(batch: Batch, feature_map: FeatureMap, degree: int, frame: Frame) -> ClassSums:
    width = len(frame.origin)
    if degree == 2:
        _refuse_giant(width)
    total = None
    for phi, labels, weight in _parts(batch, feature_map):
        engine = engine_for(phi, labels) if batch.foreign else host
        if batch.foreign and engine is host:  # where the feature map has brought the rows
            labels, weight = labels.beside(phi), to_numpy(weight)
        found = engine.class_sums(phi, labels, weight, frame)
        if degree == 2:
            found = found._replace(second=engine.second_moment(phi, weight, frame))
        total = found if total is None else total.plus(found)
    return ClassSums.nothing(len(batch.labels.classes), width, degree) if total is None else total


def _parts(
    batch: Batch, feature_map: FeatureMap, transform: Callable[[Any], Any] | None = None
) -> Iterator[tuple[Any, Labels, Any]]:
    """Features with their labels and weights: raw columns all at once, for nothing has to be made of them."""
    if isinstance(feature_map, Columns) and batch.X.shape[0]:
        yield batch.X, batch.labels, batch.weight
        return
    for rows, phi in feature_blocks(batch.X, transform or feature_map.transform):
        yield phi, batch.labels[rows], batch.weight[rows]


def _blocks(batch: Batch, feature_map: FeatureMap) -> Iterator[tuple[slice, Any]]:
    return feature_blocks(batch.X, feature_map.transform)


def _refuse_giant(width: int) -> None:
    if width > WIDEST_SECOND_MOMENT:
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
