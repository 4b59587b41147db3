"""Dates in text: in the usual formats, with a time of day or without; days and months are never guessed."""

from __future__ import annotations

from typing import Any

from unflip._extras import extra
from unflip.tables.wanted import Habits

LIKE_A_DATE = r"^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}"
DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y")
TIMES = (
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M:%S%.fZ",
    "%Y-%m-%dT%H:%M:%S%.f%:z",
    "%Y-%m-%d %H:%M:%S%.f%:z",
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
)
EITHER = ("%{}/%{}/%Y", "%{}-%{}-%Y", "%{}/%{}/%Y %H:%M", "%{}/%{}/%Y %H:%M:%S")  # only a 13th tells which
EARLIEST = 1000  # the year: 1.2.3 is a version


def as_dates(column: Any, name: str, habits: Habits) -> Any:
    """A column of text as dates, if all its values are; None otherwise. `name`: of the file, for messages.

    >>> import polars as pl
    >>> as_dates(pl.Series(["31.12.2023", None]), "here", Habits()).to_list()
    [datetime.date(2023, 12, 31), None]
    """
    first = column.drop_nulls().head(1)
    if not first.str.contains(LIKE_A_DATE).any():
        return None
    for form in (*DATES, *TIMES):
        found = _all_dates(column, form)
        if found is not None:
            return found
    for form in EITHER:
        ways = {
            "day": _all_dates(column, form.format("d", "m")),
            "month": _all_dates(column, form.format("m", "d")),
        }
        ways = {order: dates for order, dates in ways.items() if dates is not None}
        if ways:
            return ways[_order(column, ways, name, habits)]
    return None


def _order(column: Any, ways: dict[str, Any], name: str, habits: Habits) -> str:
    """What comes first in these dates, the day or the month."""
    if len(ways) == 1:
        habits.dates.setdefault(column.name, *ways)
    elif column.name not in habits.dates and ways["day"].equals(ways["month"]):
        return "day"
    if column.name not in habits.dates:
        raise ValueError(
            f"{name}: column {column.name!r} holds dates such as {column.drop_nulls()[0]}, and days look "
            "like months; write them as 2023-12-31"
        )
    order = habits.dates[column.name]
    if order not in ways:
        raise ValueError(
            f"{name}: column {column.name!r} holds dates with the {next(iter(ways))} first, and before it "
            f"had the {order} first; write them as 2023-12-31"
        )
    return order


def _all_dates(column: Any, form: str) -> Any:
    pl = extra("polars", "io")
    kind = pl.Datetime if "%H" in form else pl.Date
    found = column.str.strptime(kind, form, strict=False)
    whole = found.null_count() == column.null_count() and found.dt.year().min() >= EARLIEST
    return found if whole else None
