"""How one column of a table is read: as numbers, as categories, or not at all.

Each kind says how many columns of numbers it makes, what they are called, and makes them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from numbers import Number
from typing import Any, ClassVar
from zlib import crc32

import numpy as np

from unflip.border.arrays import Array
from unflip.border.no_numbers import FRAME_NUMBERS
from unflip.border.words import is_missing
from unflip.features.levels import Levels, factorized

NESTED = ("list", "array", "struct", "binary")  # how polars calls what is no number and no text
DAY = np.timedelta64(1, "D")
OWN = 0.9  # of the values different from all others: then they name rows rather than describe them
OWN_VALUES, NUMBERED = "nearly every row has a value of its own", "it numbers the rows"
FEWEST = 20  # rows below which nothing is called an identifier
IDENTIFIER = re.compile(r"(^|[_\s.-])(id|uuid|guid|index|key|rownum|row_?id)$", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers as they are; gaps hold `fill`, the median, and a column more marks them if there were any.

    dates: the numbers are days since 1970.
    """

    fill: float
    marks: bool = False
    dates: bool = False

    @property
    def width(self) -> int:
        """How many columns."""
        return 2 if self.marks else 1

    def names(self, label: str) -> list[str]:
        """What the columns are called."""
        return [label, f"{label} is missing"] if self.marks else [label]

    def features(self, values: Any, label: str) -> Array:
        """The columns, (n, 1 or 2)."""
        kind = kind_of(values)
        other = kind in ("levels", "nothing") or (kind == "dates") != self.dates
        if other and all(map(is_missing, np.asarray(values, dtype=object))):
            values = np.full(len(values), np.nan)  # gaps are gaps, whatever their type
        elif other:
            held = "dates" if self.dates else "numbers"
            odd = (
                f"{v!r} in row {i}"
                for i, v in enumerate(values)
                if not is_missing(v) and kind_of([v]) != held
            )
            raise ValueError(f"column {label} of X held {held} when fitted, and now {next(odd, kind)}")
        numbers = as_numbers(values, label)
        gaps = np.isnan(numbers)
        filled = np.where(gaps, self.fill, numbers)
        return np.column_stack([filled, gaps]) if self.marks else filled[:, None]


@dataclass(frozen=True, eq=False)
class Categories:
    """A column for each level; those without one share `buckets` columns by a hash of their text."""

    levels: Levels
    buckets: int = 0

    @property
    def width(self) -> int:
        """How many columns."""
        return len(self.levels) + self.buckets

    def names(self, label: str) -> list[str]:
        """What the columns are called."""
        others = [f"{label} in bucket {k}" for k in range(self.buckets)]
        return [*(f"{label} = {level}" for level in self.levels.names), *others]

    def features(self, values: Any, label: str) -> Array:
        """The columns, (n, levels + buckets)."""
        distinct, codes = factorized(values, label)
        place = {level: k for k, level in enumerate(self.levels.values)}
        at = np.array([place.get(level, self._bucket(level)) for level in distinct], dtype=np.intp)[codes]
        return (at[:, None] == np.arange(self.width)).astype(np.float64)

    def _bucket(self, level: Any) -> int:
        if level is None or not self.buckets:
            return -1
        return len(self.levels) + crc32(str(level).encode()) % self.buckets


@dataclass(frozen=True, eq=False)
class LeftOut:
    """No column at all, and why."""

    reason: str
    width: ClassVar[int] = 0

    def names(self, label: str) -> list[str]:
        """None."""
        return []

    def features(self, values: Any, label: str) -> Array:
        """No columns, (n, 0)."""
        return np.zeros((len(values), 0))


Column = Numbers | Categories | LeftOut


def read_column(values: Any, label: str, max_levels: int, buckets: int = 0, lenient: bool = False) -> Column:
    """How to read a column like this one. lenient: leave out what cannot help, rather than refuse or keep it.

    >>> read_column(np.array([1.0, np.nan, 3.0]), "'age'", max_levels=2)
    Numbers(fill=2.0, marks=True, dates=False)
    >>> read_column(np.array([f"user {i}" for i in range(99)]), "'name'", max_levels=2, lenient=True)
    LeftOut(reason="nearly every row has a value of its own, such as 'user 0'")
    """
    kind = kind_of(values)
    if lenient and kind == "nothing":
        return LeftOut("it has no values")
    if lenient and str(getattr(values, "dtype", "")).lower().startswith(NESTED):
        return LeftOut("its values are neither numbers nor text")
    if kind == "times":
        if lenient:
            return LeftOut("it holds times of day")
        raise ValueError(f"column {label} of X holds times of day; turn them into numbers, such as hours")
    if kind == "levels":
        return _read_categories(values, label, max_levels, buckets, lenient)
    numbers = as_numbers(values, label)
    known = numbers[~np.isnan(numbers)]
    if not known.size:
        if lenient:
            return LeftOut("it has no values")
        raise ValueError(f"column {label} of X has no values at all; leave it out")
    if lenient and kind == "numbers" and _numbers_rows(known, label):
        return LeftOut(NUMBERED)
    return Numbers(float(np.median(known)), len(known) < len(numbers), kind == "dates")


def _read_categories(values: Any, label: str, max_levels: int, buckets: int, lenient: bool) -> Column:
    try:
        distinct, codes = factorized(values, label)
    except TypeError:
        if lenient:
            return LeftOut("its values are neither numbers nor text")
        raise
    counts = np.bincount(codes, minlength=len(distinct))
    known = int(sum(count for level, count in zip(distinct, counts, strict=True) if level is not None))
    n_levels = sum(level is not None for level in distinct)
    if lenient and not n_levels:
        return LeftOut("it has no values")
    if lenient and known >= FEWEST and n_levels > OWN * known:
        example = next(level for level in distinct if level is not None)
        return LeftOut(f"{OWN_VALUES}, such as {str(example)[:40]!r}")
    return Categories(Levels.of(distinct, codes, max_levels), buckets if len(distinct) > max_levels else 0)


def _numbers_rows(known: Array, label: str) -> bool:
    """Whether these are whole numbers, all different, and either without a gap or called an identifier."""
    if known.size < FEWEST or (known != np.floor(known)).any() or len(np.unique(known)) < known.size:
        return False
    return bool(known.max() - known.min() + 1 == known.size or IDENTIFIER.search(label.strip("'\"")))


def kind_of(values: Any) -> str:
    """What a column holds: numbers, dates (or durations), times of day, levels of anything else, or nothing.

    >>> kind_of(np.array([True])), kind_of(np.array(["a", 1], dtype=object)), kind_of([date(2020, 1, 1)])
    ('numbers', 'levels', 'dates')
    """
    kind = str(getattr(values, "dtype", "object")).lower()
    if kind == "null" or (kind in ("string", "str") and _count_of_gaps(values) == len(values)):
        return "nothing"
    if kind.startswith(("datetime", "date", "timestamp", "timedelta", "duration", "period")):
        return "dates"
    if kind.startswith("time"):
        return "times"
    if not kind.startswith("object"):
        return "numbers" if kind.startswith(FRAME_NUMBERS) else "levels"
    found = [value for value in np.asarray(values, dtype=object) if not is_missing(value)]
    if not found:
        return "nothing"
    kinds: Sequence[tuple[str, Any]] = (
        ("numbers", (Number, np.bool_)),  # decimals and fractions too
        ("dates", (date, timedelta, np.datetime64, np.timedelta64)),
        ("times", time),
    )
    return next((name for name, types in kinds if all(isinstance(v, types) for v in found)), "levels")


def _count_of_gaps(values: Any) -> int:
    return int(values.null_count() if hasattr(values, "null_count") else values.isna().sum())


def as_numbers(values: Any, label: str) -> Array:
    """Numbers, days since 1970 or durations in days, with NaN for gaps.

    >>> as_numbers([date(1970, 1, 3), None], "'day'").tolist()
    [2.0, nan]
    """
    if kind_of(values) == "dates":
        return _days(values)
    if hasattr(values, "iloc") and not isinstance(values.dtype, np.dtype):  # pandas, with a gap of its own
        values = values.to_numpy(dtype=float, na_value=np.nan)
    numbers = np.asarray(values)
    if numbers.dtype == object:
        numbers = np.array([np.nan if is_missing(value) else value for value in numbers])
    if numbers.dtype.kind == "c":
        raise ValueError(f"column {label} of X is complex; give real and imaginary parts as columns")
    try:
        numbers = numbers.astype(np.float64)
    except OverflowError:
        raise ValueError(f"column {label} of X holds an integer that is more than float64 can hold") from None
    if np.isinf(numbers).any():
        row = int(np.argmax(np.isinf(numbers)))
        raise ValueError(f"Input X contains infinity: row {row}, column {label} is {numbers[row]}")
    return numbers


def _days(values: Any) -> Array:
    """Dates as days since 1970, in UTC if they have a zone; durations as days."""
    if hasattr(values, "dt") and getattr(values.dtype, "tz", None) is not None:  # pandas
        values = values.dt.tz_convert(None)
    given = np.asarray(values)
    if given.dtype == object:
        plain = [None if is_missing(value) else value for value in given]
        duration = any(isinstance(value, timedelta) for value in plain)
        given = np.array(plain, dtype="timedelta64[us]" if duration else "datetime64[us]")
    if given.dtype.kind == "M":
        given = given - np.datetime64(0, "D").astype(given.dtype)
    gaps = np.isnat(given)
    return np.where(gaps, np.nan, np.where(gaps, DAY, given) / DAY)
