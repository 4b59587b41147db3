"""What text means: numbers, truth, dates or categories, decided by all values of a column."""

from __future__ import annotations

from collections.abc import Collection
from itertools import product
from typing import Any

from unflip._extras import extra
from unflip.tables.dates import as_dates
from unflip.tables.decimals import numbers, settle_decimals
from unflip.tables.wanted import Habits, Wanted

NOTHING = ("", "na", "n/a", "nan", "null")  # no label is called so
MISSING = (*NOTHING, "none", "?", "-", ".", "#n/a", "missing")
SPELLINGS = sorted(
    {"".join(letters) for word in MISSING for letters in product(*({c.lower(), c.upper()} for c in word))}
)
TRUTH = {"true": True, "false": False, "t": True, "f": False}
MOSTLY = 0.5  # of the values: then a column is meant to be numbers, and the others are in the way


def typed(frame: Any, name: str, wanted: Wanted | None = None, separator: str = ",") -> Any:
    """A frame of text as a frame of numbers, booleans, dates and text. `name`: of the file, for messages.

    >>> import polars as pl
    >>> typed(pl.DataFrame({"a": ["1", "n/a"], "b": ["True", "false"]}), "here").to_dicts()
    [{'a': 1.0, 'b': True}, {'a': None, 'b': False}]
    """
    wanted = wanted or Wanted()
    habits, columns, commas, points = wanted.habits, [], [], []
    for given in frame:
        is_label = given.name == wanted.labels
        gaps = NOTHING if is_label else MISSING
        column = _without_gaps(given, gaps, wanted.levels.get(given.name, ()))
        if is_label or given.name in wanted.text:
            columns.append(column)
            continue
        found = _typed(column, name, habits)
        if found is None and separator != "," and habits.decimal != ".":
            found = _whole(numbers(column.str.replace(",", ".", literal=True)), column)
            commas += [column] if found is not None else []
        elif found is not None and found.dtype.is_float() and column.str.contains(".", literal=True).any():
            points.append(column)
        if found is None:
            _refuse_mixed(column, name, separator)
        columns.append(column if found is None else found)
    if separator != ",":
        settle_decimals(name, habits, commas, points, separator == ";")
    return frame.with_columns(columns)


def without_gaps(frame: Any, labels: str) -> Any:
    """The frame with nothing in its column of labels where that says that there is none.

    >>> import polars as pl
    >>> without_gaps(pl.DataFrame({"y": ["-", "NA", "+"]}), "y")["y"].to_list()
    ['-', None, '+']
    """
    pl = extra("polars", "io")
    if labels not in frame.columns or frame[labels].dtype != pl.String:
        return frame
    return frame.with_columns(_without_gaps(frame[labels], NOTHING))


def _without_gaps(column: Any, gaps: Collection[str], levels: Collection[str] = ()) -> Any:
    column = column.str.strip_chars()
    gap = column.str.to_lowercase().is_in(list(gaps))
    return column.set(gap & ~column.is_in(list(levels)) if levels else gap, None)


def _typed(column: Any, name: str, habits: Habits) -> Any:
    """The column as truth, numbers or dates, if all of its values are; None otherwise."""
    pl = extra("polars", "io")
    missing, lower = column.null_count(), column.str.to_lowercase()
    if missing == len(column):
        return None
    if lower.is_in(list(TRUTH)).sum() == len(column) - missing:
        return lower.replace_strict(TRUTH, default=None, return_dtype=pl.Boolean)
    found = _whole(numbers(column), column)
    return as_dates(column, name, habits) if found is None else found


def _whole(found: Any, column: Any) -> Any:
    """Numbers, if they are all values of a column that has some."""
    return found if found.null_count() == column.null_count() < len(column) else None


def _refuse_mixed(column: Any, name: str, separator: str) -> None:
    """Raise if most values are numbers, or all would be without commas between thousands."""
    plain = numbers(column.str.replace_all(",", "", literal=True))
    if separator == "," and _whole(plain, column) is not None:
        example = column.filter(column.str.contains(",", literal=True))[0]
        raise ValueError(
            f"{name}: column {column.name!r} holds {example}; write numbers without commas, or fit it as "
            "text (--text) or not at all (--drop)"
        )
    found = numbers(column if separator == "," else column.str.replace(",", ".", literal=True))
    known = len(column) - column.null_count()
    fitting = known - (found.null_count() - column.null_count())
    if fitting < MOSTLY * known or fitting == known:
        return
    row = int((found.is_null() & column.is_not_null()).arg_max())
    raise ValueError(
        f"{name}: column {column.name!r} holds numbers in {fitting} rows, text in {known - fitting}, "
        f"first {column[row]!r} in data row {row}; mend it, or fit it as text (--text) or not at all (--drop)"
    )
