"""How messages call what they speak of: rows, columns, files, missing values.

A message says what is wrong, where it is, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

AS_TIMES = (
    "dates or times ({}), which are not numbers; turn them into numbers, such as days since a fixed date"
)


def refuse_masked(values: Any, name: str) -> None:
    """Masks of `numpy.ma` say which values are missing, and plain arrays made of them would forget it.

    >>> refuse_masked(np.ma.array([1.0, 2.0], mask=[False, True]), "y")
    Traceback (most recent call last):
    ValueError: y is masked in row 1; drop or impute such rows
    """
    if np.ma.is_masked(values):
        place = np.argwhere(np.ma.getmaskarray(values))[0]
        where = f"row {place[0]}" + (f", column {place[1]}" if len(place) > 1 else "")
        raise ValueError(f"{name} is masked in {where}; drop or impute such rows")


@contextmanager
def in_place(place: str) -> Iterator[None]:
    """Tell in which file, or part of it, something was wrong; no place adds nothing.

    >>> with in_place("rows.parquet"):
    ...     raise ValueError("row 0 is odd")
    Traceback (most recent call last):
    ValueError: rows.parquet: row 0 is odd
    """
    try:
        yield
    except ValueError as error:
        if not place:
            raise
        raise ValueError(f"{place}: {error}") from None


def is_missing(value: Any) -> bool:
    """None, or what does not equal itself.

    >>> is_missing(float("nan")), is_missing("nan")
    (True, False)
    """
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA does not say whether it equals itself
        return True
    except ValueError:  # an array of several values
        return False


def column_label(column: int, names: Any) -> str:
    """How messages call a column: by its name if it has one, by its number otherwise.

    >>> column_label(1, ["age", "height"]), column_label(1, None)
    ("'height'", '1')
    """
    return repr(str(names[column])) if names is not None else str(column)
