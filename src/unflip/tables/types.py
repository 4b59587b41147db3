"""What text means: numbers, truth, dates or categories, decided by all values of a column."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from unflip._extras import extra

NOTHING = ("", "na", "n/a", "nan", "null")  # no label is called so
MISSING = (*NOTHING, "none", "?", "-", ".", "#n/a", "missing")
TRUTH = {"true": True, "false": False, "t": True, "f": False}
DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y")
EITHER = ("%m/%d/%Y", "%d/%m/%Y")  # which of them is meant, only days beyond the twelfth tell
TIMES = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S%.fZ")
EARLIEST = 1000  # the year: 1.2.3 is a version
THOUSANDS = r"^-?\d{1,3}(,\d{3})+$"
MOSTLY = 0.5  # of the values: then a column is meant to be numbers, and the others are in the way


def typed(
    frame: Any,
    name: str,
    text: Collection[str] = (),
    labels: str | None = None,
    decimal_comma: bool = False,
    dates: dict[str, str] | None = None,
) -> Any:
    """A frame of text as a frame of numbers, booleans, dates and text.

    text: columns that stay text; labels: one more, in which "-" and "?" may be labels. decimal_comma: numbers
    may have one; then none may have a point, which would be a decimal point or separate thousands. dates: by
    column, the format of dates whose days look like months; where values tell it, it is added here.

    >>> import polars as pl
    >>> typed(pl.DataFrame({"a": ["1", "n/a"], "b": ["True", "false"]}), "here").to_dicts()
    [{'a': 1.0, 'b': True}, {'a': None, 'b': False}]
    """
    columns, with_comma, with_point = [], [], []
    dates = {} if dates is None else dates
    for given in frame:
        column = _without_gaps(given, NOTHING if given.name == labels else MISSING)
        kept = given.name == labels or given.name in text
        found = column if kept else _typed(column, name, dates)
        numbers = _numbers(column.str.replace(",", ".", literal=True) if decimal_comma else column)
        plain = not kept and found.dtype == column.dtype
        if plain and decimal_comma and numbers.null_count() == column.null_count() < len(column):
            _refuse_thousands(column, name)
            found = numbers
            with_comma.append(given.name)
        if found.dtype.is_float() and column.str.contains(".", literal=True).any():
            with_point.append(given.name)
        if not kept and found.dtype == column.dtype:
            _refuse_mixed(column, numbers, name)
        columns.append(found)
    if with_comma and with_point:
        raise ValueError(
            f"{name}: column {with_comma[0]!r} has decimal commas, column {with_point[0]!r} points, which "
            "may separate thousands; write numbers one way, or make one of them text or drop it"
        )
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


def _without_gaps(column: Any, gaps: Collection[str]) -> Any:
    column = column.str.strip_chars()
    return column.set(column.str.to_lowercase().is_in(list(gaps)), None)


def _typed(column: Any, name: str, known: dict[str, str]) -> Any:
    """The column as truth, numbers or dates, if all of its values are; as it is otherwise."""
    pl = extra("polars", "io")
    missing, lower = column.null_count(), column.str.to_lowercase()
    if missing == len(column):
        return column
    if lower.is_in(list(TRUTH)).sum() == len(column) - missing:
        return lower.replace_strict(TRUTH, default=None, return_dtype=pl.Boolean)
    numbers = _numbers(column)
    if numbers.null_count() == missing:
        return numbers
    for kind, formats in ((pl.Date, DATES), (pl.Datetime, TIMES)):
        for each in formats:
            dates = column.str.strptime(kind, each, strict=False)
            if dates.null_count() == missing and dates.dt.year().min() >= EARLIEST:
                return dates
    return _either_way(column, name, known)


def _either_way(column: Any, name: str, known: dict[str, str]) -> Any:
    """Dates whose days and months may stand either way; the column as it is, if it holds none."""
    pl = extra("polars", "io")
    ways = {}
    for each in EITHER:
        dates = column.str.strptime(pl.Date, each, strict=False)
        if dates.null_count() == column.null_count() and dates.dt.year().min() >= EARLIEST:
            ways[each] = dates
    if len(ways) == 1:
        known.setdefault(column.name, *ways)
    if ways and column.name in known and known[column.name] not in ways:
        raise ValueError(
            f"{name}: column {column.name!r} holds dates with {_first(*ways)} first, and before it had "
            f"{_first(known[column.name])} first; write them as 2023-12-31"
        )
    if len(ways) == 2 and column.name not in known and not ways[EITHER[0]].equals(ways[EITHER[1]]):
        example = next(value for value in column if value is not None)
        raise ValueError(
            f"{name}: column {column.name!r} holds dates such as {example}, and days look like months; "
            "write them as 2023-12-31"
        )
    return ways.get(known.get(column.name, EITHER[0]), column)


def _first(form: str) -> str:
    return "days" if form.startswith("%d") else "months"


def _numbers(column: Any) -> Any:
    """Finite numbers; whatever is none becomes a gap."""
    pl = extra("polars", "io")
    numbers = column.cast(pl.Float64, strict=False)
    return numbers.set(~numbers.is_finite(), None)


def _refuse_thousands(column: Any, name: str) -> None:
    with_comma = column.filter(column.str.contains(",", literal=True))
    if with_comma.str.contains(THOUSANDS).all():
        raise ValueError(
            f"{name}: column {column.name!r} holds {with_comma[0]}, whose comma may be decimal or separate "
            "thousands; write numbers with a point, or drop the column"
        )


def _refuse_mixed(column: Any, numbers: Any, name: str) -> None:
    known = len(column) - column.null_count()
    fitting = known - (numbers.null_count() - column.null_count())
    if fitting < MOSTLY * known or fitting == known:
        return
    row = int((numbers.is_null() & column.is_not_null()).arg_max())
    raise ValueError(
        f"{name}: column {column.name!r} holds numbers in {fitting} rows, text in {known - fitting}, "
        f"first {column[row]!r} in data row {row}; mend it, or fit it as text (--text) or not at all (--drop)"
    )
