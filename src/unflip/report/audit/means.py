"""Class means in words that fit the column: a share for a level, a day for a date, a mean for a number."""

from __future__ import annotations

from datetime import date, timedelta

from unflip._words import share
from unflip.audit.differences import Difference
from unflip.audit.table import Audit
from unflip.report.words import shown
from unflip.tables.column_kinds import Categories, Numbers

LONG_DURATION = 3650  # days; shorter ones are taken for durations


def means_in_words(audit: Audit) -> list[str]:
    """A sentence for each difference, the largest first."""
    table = audit.table
    names = map(str, getattr(table, "feature_names_in_", range(len(table.columns_))))
    shares: set[str] = set()
    dates: set[str] = set()
    for name, column in zip(names, table.columns_, strict=True):
        made = column.names(name)
        shares.update(made if isinstance(column, Categories) else made[1:])
        dates.update(made[:1] if isinstance(column, Numbers) and column.dates else ())
    return [_words(found, found.column in shares, found.column in dates) for found in audit.differences]


def _words(found: Difference, is_share: bool, is_date: bool) -> str:
    """A sentence.

    >>> _words(Difference("eyes = blue", "yes", 0.5, 0.25, 1.5), True, False)
    'eyes = blue in 50.0 % of the rows where the label is yes, in 25.0 % elsewhere'
    >>> _words(Difference("born", "yes", 18262.0, 18993.0, -1.5), False, True)
    'born is earlier where the label is yes: 2020-01-01 on average, 2022-01-01 elsewhere'
    """
    column, label = shown(found.column), shown(found.label)
    if is_share:
        here, there = share(found.mean), share(found.others)
        return f"{column} in {here} of the rows where the label is {label}, in {there} elsewhere"
    if is_date and max(abs(found.mean), abs(found.others)) > LONG_DURATION:
        way = "later" if found.deviations > 0 else "earlier"
        here, there = _day(found.mean), _day(found.others)
        return f"{column} is {way} where the label is {label}: {here} on average, {there} elsewhere"
    return shown(found.words, 300)


def _day(days: float) -> str:
    try:
        return str(date(1970, 1, 1) + timedelta(days=days))
    except OverflowError:
        return f"day {days:.4g}"
