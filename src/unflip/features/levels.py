"""The levels of a categorical column, whatever it is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from unflip.border.arrays import Array
from unflip.border.words import is_missing


@dataclass(frozen=True, eq=False)
class Levels:
    """Different values in a fixed order: numbers, then text, then the rest, and None for what is missing.

    >>> Levels.of(["b", None, "a", 2], np.array([0, 1, 2, 3, 0])).values
    (2, 'a', 'b', None)
    """

    values: tuple[Any, ...]

    @classmethod
    def of(cls, distinct: list[Any], codes: Array, most: int | None = None) -> Self:
        """The levels that occur in a factorized column; the `most` frequent ones, the earlier of equals."""
        counts = np.bincount(codes, minlength=len(distinct))
        found = sorted(np.flatnonzero(counts), key=lambda code: _place(distinct[code]))
        if most is not None and len(found) > most:
            kept = set(sorted(found, key=lambda code: -counts[code])[:most])
            found = [code for code in found if code in kept]
        return cls(tuple(distinct[code] for code in found))

    def codes(self, distinct: list[Any], codes: Array) -> Array:
        """For each row of a factorized column the position of its level here, or -1.

        >>> Levels(("a", "b")).codes(["b", "c"], np.array([0, 1, 0])).tolist()
        [1, -1, 1]
        """
        place = {value: k for k, value in enumerate(self.values)}
        return np.array([place.get(value, -1) for value in distinct], dtype=np.intp)[codes]

    @property
    def names(self) -> Iterator[str]:
        """Each level as text."""
        return ("missing" if value is None else str(value) for value in self.values)

    @property
    def described(self) -> list[list[str]]:
        """Each level as text that no other level has."""
        return [[str(part) for part in _place(value)] for value in self.values]

    def __len__(self) -> int:
        return len(self.values)


def factorized(column: Any, label: str) -> tuple[list[Any], Array]:
    """The distinct values of a column, None for what is missing, and for each row the position of its own.

    >>> factorized(np.array([3.0, np.nan, 3.0]), "0")
    ([3.0, None], array([0, 1, 0]))
    """
    if str(getattr(column, "dtype", "")) == "String":  # polars, which sorts text faster than we loop over it
        distinct = column.drop_nulls().unique().sort().to_list()
        codes = column.rank("dense").fill_null(len(distinct) + 1).to_numpy().astype(np.intp) - 1
        return [*distinct, *([None] if column.null_count() else [])], codes
    values = np.asarray(column)
    if values.ndim > 1:  # of type Array in polars
        raise TypeError(
            f"column {label} of X holds a list of {values.shape[1]} in row 0; a category as an argument "
            "must be a string or a number, so give each value a column of its own, or leave the column out"
        )
    if values.dtype.kind in "biufUS":
        distinct, codes = np.unique(values, return_inverse=True)
        return [None if value != value else value for value in distinct.tolist()], codes
    place: dict[Any, int] = {}
    codes = np.empty(len(values), dtype=np.intp)
    for row, value in enumerate(values.astype(object)):
        level = None if is_missing(value) else value
        try:
            codes[row] = place.setdefault(level, len(place))
        except TypeError:
            raise TypeError(
                f"column {label} of X holds a {type(value).__name__} in row {row}; "
                "a category as an argument must be a string or a number"
            ) from None
    return list(place), codes


def _place(value: Any) -> tuple[int, Any, str]:
    """Where a level stands among others, and what sets it apart."""
    if value is None:
        return 3, "", ""
    if isinstance(value, int | float | np.number):
        whole = isinstance(value, int) or (np.isfinite(value) and value == int(value))
        return 0, int(value) if whole else float(value), ""  # 1, 1.0 and True are one level
    if isinstance(value, str):
        return 1, value, ""
    return 2, repr(value), type(value).__name__
