"""What text means: numbers, truth, dates or categories, decided by all values of a column."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from unflip._extras import extra

MISSING = ("na", "n/a", "nan", "null", "none", "?", "-", ".", "#n/a", "missing")
TRUTH = {"true": True, "false": False, "t": True, "f": False}
DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y")
TIMES = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S%.fZ")
MOSTLY = 0.5  # of the values: then a column is meant to be numbers, and the others are in the way


def typed(frame: Any, name: str, text: Collection[str] = (), decimal_comma: bool = False) -> Any:
    """A frame of text as a frame of numbers, booleans, dates and text. text: columns that stay text.

    >>> import polars as pl
    >>> typed(pl.DataFrame({"a": ["1", "n/a"], "b": ["True", "false"]}), "here").to_dicts()
    [{'a': 1.0, 'b': True}, {'a': None, 'b': False}]
    """
    return frame.with_columns(
        _typed(frame[column], name, decimal_comma and column not in text, column in text)
        for column in frame.columns
    )


def _typed(column: Any, name: str, decimal_comma: bool, as_text: bool) -> Any:
    pl = extra("polars", "io")
    column = column.str.strip_chars()
    lower = column.str.to_lowercase()
    column = column.set(lower.is_in(MISSING) | (lower == ""), None)
    if as_text or column.null_count() == len(column):
        return column
    missing = column.null_count()
    if lower.is_in(list(TRUTH)).sum() == len(column) - missing:
        return lower.replace_strict(TRUTH, default=None, return_dtype=pl.Boolean)
    numbers = _numbers(column)
    if numbers.null_count() > missing and decimal_comma:
        numbers = _numbers(column.str.replace(",", ".", literal=True))
    if numbers.null_count() == missing:
        return numbers
    for kind, formats in ((pl.Date, DATES), (pl.Datetime, TIMES)):
        for each in formats:
            dates = column.str.strptime(kind, each, strict=False)
            if dates.null_count() == missing:
                return dates
    _refuse_mixed(column, numbers, name)
    return column


def _numbers(column: Any) -> Any:
    """Finite numbers; whatever is none becomes a gap."""
    pl = extra("polars", "io")
    numbers = column.cast(pl.Float64, strict=False)
    return numbers.set(~numbers.is_finite(), None)


def _refuse_mixed(column: Any, numbers: Any, name: str) -> None:
    known = len(column) - column.null_count()
    fitting = known - (numbers.null_count() - column.null_count())
    if fitting < MOSTLY * known:
        return
    row = int((numbers.is_null() & column.is_not_null()).arg_max())
    raise ValueError(
        f"{name}: column {column.name!r} holds numbers in {fitting} rows, text in {known - fitting}, "
        f"first {column[row]!r} in data row {row}; mend it, make it text (--text) or drop it (--drop)"
    )
