"""What can be sums of rows: numbers of fitting shapes that some rows might have."""

from __future__ import annotations

import sys
from operator import ne
from typing import TYPE_CHECKING, Any

import numpy as np

from unflip.border.arrays import Array

if TYPE_CHECKING:
    from unflip.moments.moments import Moments


def refuse_unsound(moments: Moments) -> None:
    """Raise unless all fields fit together.

    >>> from unflip.moments import Moments
    >>> Moments(classes=("no", "yes"), counts=[1.0, -1.0], sums=[[0.0], [0.0]])
    Traceback (most recent call last):
    ValueError: counts and squares of moments are not negative
    """
    _refuse_other_shapes(moments)
    _refuse_nonsense(moments)
    if moments.probabilities:
        _refuse_classes_among_probabilities(moments)


def as_numbers(name: str, values: Any) -> Array:
    """A read-only float64 copy, or the array itself if nobody else can write to it."""
    given = np.asarray(values)
    if given.dtype.kind not in "fiub":
        raise ValueError(f"the {name} of moments must be numbers, got {given.dtype}")
    ours = given.dtype == np.float64 and given.flags.owndata and not given.flags.writeable
    numbers = given if ours else np.array(given, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError(f"the {name} of moments must be finite")
    numbers.flags.writeable = False
    return numbers


def as_number(name: str, value: Any) -> float:
    """A finite number of any type of number, as a float."""
    number = isinstance(value, int | float | np.integer | np.floating)
    if not number or not abs(value) <= sys.float_info.max:  # so written, NaN does not pass
        raise ValueError(f"the {name} of moments must be a finite number, got {value!r}")
    return float(value)


def _refuse_other_shapes(moments: Moments) -> None:
    n_classes, width = len(moments.classes), moments.sums.shape[-1] if moments.sums.ndim else 0
    second_fits = moments.second is None or moments.second.shape == (width, width)
    if moments.sums.shape != (n_classes, width) or moments.counts.shape != (n_classes,) or not second_fits:
        raise ValueError("classes, counts, sums and second moment of different sizes are no moments")
    if moments.origin.shape != (width,):
        raise ValueError(f"the origin has shape {moments.origin.shape}, the features have width {width}")
    if moments.names is not None and len(moments.names) != width:
        raise ValueError(f"there are {len(moments.names)} names for features of width {width}")


def _refuse_nonsense(moments: Moments) -> None:
    try:
        unique = len(set(moments.classes)) == len(moments.classes)
    except TypeError:
        raise ValueError(f"the classes {list(moments.classes)} cannot be labels") from None
    if not unique or any(map(ne, moments.classes, moments.classes)):
        raise ValueError(f"the classes {list(moments.classes)} are not different labels")
    if np.any(moments.counts < 0) or moments.squares < 0:
        raise ValueError("counts and squares of moments are not negative")
    with np.errstate(over="ignore"):
        if not np.isfinite(moments.total):
            raise ValueError("the counts of moments have an infinite sum")
    if np.frexp(moments.unit)[0] != 0.5:
        raise ValueError(f"the unit of moments is a power of two, got {moments.unit!r}")
    if type(moments.outliers) is not int or moments.outliers < 0:
        raise ValueError(
            f"the outliers that moments withstand are a number of rows, got {moments.outliers!r}"
        )
    if not isinstance(moments.key, str):
        raise ValueError(f"the key of moments is a string, got {moments.key!r}")


def _refuse_classes_among_probabilities(moments: Moments) -> None:
    """Whether a label is a probability is seen batch by batch; here, whether all batches agree."""
    for label, count in zip(moments.classes, moments.counts, strict=True):
        if count and label not in range(moments.probabilities):
            raise ValueError(
                f"some labels are probabilities, and others the class {label!r}; beside probabilities, "
                f"labels are numbers from 0 to {moments.probabilities - 1}"
            )
