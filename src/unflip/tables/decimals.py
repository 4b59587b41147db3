"""Points and commas in numbers: where both readings are possible, nothing is guessed."""

from __future__ import annotations

from typing import Any

from unflip._extras import extra
from unflip.tables.wanted import Habits

THOUSANDS = r"^-?[1-9]\d{0,2}(\%s\d{3})+$"  # what may be 1.234 or one thousand


def numbers(column: Any) -> Any:
    """Finite numbers; whatever is none becomes a gap.

    >>> import polars as pl
    >>> numbers(pl.Series(["1.5", "x", "inf"])).to_list()
    [1.5, None, None]
    """
    found = column.cast(extra("polars", "io").Float64, strict=False)
    return found.set(~found.is_finite(), None)


def settle_decimals(name: str, habits: Habits, commas: list[Any], points: list[Any], unsure: bool) -> None:
    """Raise if points or commas in numbers may separate thousands; note in `habits` which is decimal.

    commas, points: columns, as text, whose values are all numbers, some with the one or the other. unsure:
    points may separate thousands too, as they do in most files that have semicolons between fields.
    """
    if commas and points:
        raise ValueError(
            f"{name}: column {commas[0].name!r} has decimal commas, column {points[0].name!r} points, which "
            "may separate thousands; write numbers one way, or make one of them text or drop it"
        )
    if points and habits.decimal == ",":
        raise ValueError(
            f"{name}: column {points[0].name!r} holds {_with(points[0], '.')[0]}, and decimals have a comma "
            "here; write numbers without points"
        )
    for mark, columns in ((",", commas), (".", points if unsure else [])):
        found = [_with(column, mark) for column in columns]
        if found and habits.decimal is None and all(x.str.contains(THOUSANDS % mark).all() for x in found):
            called = "comma" if mark == "," else "point"
            raise ValueError(
                f"{name}: column {found[0].name!r} holds {found[0][0]}, whose {called} may be decimal or "
                'separate thousands; say which is decimal (--decimal "," or "."), or drop the column'
            )
    if commas or points:
        habits.decimal = "," if commas else "."


def _with(column: Any, mark: str) -> Any:
    return column.filter(column.str.contains(mark, literal=True))
