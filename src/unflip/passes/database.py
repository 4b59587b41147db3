"""Moments of a table in a database, from the sums that a query returns.

The frame is chosen from a few rows, without their labels, as it is for rows in memory. Rows that come first
in a database can be unlike the others, so the sums are looked at afterwards: if they show that the frame
was wrong, the query runs once more with a better one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unflip.border.arrays import Array
from unflip.features.base import Columns
from unflip.moments.frame import Frame
from unflip.moments.moments import Moments
from unflip.passes.one_batch import SAMPLE_FOR_FRAME

LOST_VARIANCE = (
    1e4  # a mean this many times the spread away from its place has cost the variance half of its digits
)


def database_moments(source: Any, features: Any = None, degree: int = 1, summation: str = "fast") -> Moments:
    """The moments of plain columns, or of columns that a fitted `Standardize` maps.

    >>> import ibis, pyarrow
    >>> from unflip.sources import sql
    >>> table = ibis.memtable(pyarrow.table({"time": [1e15, 1e15 + 2.0], "sick": [False, True]}))
    >>> moments = database_moments(sql(table, "sick"), degree=2)
    >>> moments.origin.tolist(), moments.second.tolist()
    ([1000000000000000.0], [[4.0]])
    """
    if summation != "fast":
        raise ValueError("summation='exact' is for rows that are read here; databases sum floats as they do")
    mean, slope, key = _affine(features, source.columns)
    place, unit = Frame.of(source.sample(SAMPLE_FOR_FRAME))
    if features is not None:
        place, unit = np.where(mean == 0, place, mean), 1.0
    place = _short(place)

    def moments(place: Array, unit: float, retry: bool) -> Moments:
        found = source.aggregate(place, slope / unit, degree, retry)
        names = source.columns if features is None else None
        return Moments(**found._asdict(), key=key, origin=(place - mean) * slope, unit=unit, names=names)

    try:
        total = moments(place, unit, False)
    except OverflowError:
        unit = Frame(place).reaching(source.largest(place)).unit if features is None else unit
        try:
            total = moments(place, unit, True)
        except OverflowError:
            raise ValueError("the weighted sums overflow; divide the weights by the largest one") from None
    lost = np.abs(total.center) > LOST_VARIANCE * np.sqrt(total.variance)
    if lost.any():
        shift = np.divide(unit * total.center, slope, out=np.zeros(len(slope)), where=lost)
        total = moments(_short(place + shift), unit, True)
    return total


def _affine(features: Any, names: tuple[str, ...]) -> tuple[Array, Array, str]:
    """phi = (x - mean) slope, and the key of this map."""
    from unflip.features import Standardize

    width = len(names)
    if features is None:
        return np.zeros(width), np.ones(width), Columns(width, names).key
    fitted = getattr(features, "transformer", features)
    if not isinstance(fitted, Standardize):
        raise ValueError(
            f"{type(fitted).__name__} does not run inside a database; compute its features as columns of the "
            "query, use Standardize.from_moments, or read the rows from files with unflip.sources.parquet"
        )
    expected = getattr(fitted, "feature_names_in_", None)
    if fitted.width != width or (expected is not None and list(expected) != list(names)):
        fitted_to = f"{fitted.width} columns" if expected is None else str(list(expected))
        raise ValueError(f"the columns are {list(names)}, but Standardize was fitted to {fitted_to}")
    mean = fitted.mean_ if fitted.center else np.zeros(width)
    slope = np.divide(1.0, fitted.scale_, out=np.zeros(width), where=fitted.scale_ > 0)
    return mean, slope, fitted.key


def _short(place: Array) -> Array:
    """Numbers of 15 digits, which every database reads as the same float64, decimal or not."""
    return np.array([float(f"{x:.15g}") for x in place])
