"""A fitted `Tabular` as facts that JSON keeps, and back, with every doubt a `ValueError`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from math import isfinite
from typing import Any

import numpy as np

from unflip.features.levels import Levels
from unflip.tables.column_kinds import Categories, Column, LeftOut, Numbers
from unflip.tables.tabular import Tabular

LEVEL = str | int | float | None
DOUBTS = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""What readers of forged facts raise."""
HALF_A_LETTER = re.compile("[\ud800-\udfff]")  # a surrogate, which UTF-8 does not write


def as_facts(table: Tabular) -> dict[str, Any]:
    """What makes the map.

    >>> as_facts(Tabular().fit([[1.0], [2.0]]))["columns"]
    [{'kind': 'numbers', 'fill': 1.5, 'marks': False, 'dates': False}]
    """
    names = [str(name) for name in getattr(table, "feature_names_in_", range(table.n_features_in_))]
    refuse_unwritable(names)
    return {
        "names": names,
        "columns": [_fact(column) for column in table.columns_],
        "kept": table.kept_.tolist(),
        "left_out": table.left_out_,
    }


def from_facts(facts: dict[str, Any]) -> Tabular:
    """The map that these facts describe.

    >>> import pandas as pd
    >>> from_facts(as_facts(Tabular().fit(pd.DataFrame({"a": [1, 2]})))).transform(pd.DataFrame({"a": [5]}))
    array([[5.]])
    """
    refuse_others(facts, ("names", "columns", "kept", "left_out"))
    names, kept = facts["names"], facts["kept"]
    if not all_text(names) or not len(names) == len(set(names)) == len(facts["columns"]):
        raise ValueError("columns and their names do not match")
    refuse_unwritable(names)
    columns = [_column(fact) for fact in facts["columns"]]
    width = sum(column.width for column in columns)
    sound = all(type(place) is int and 0 <= place < width for place in kept)
    if not kept or not sound or sorted(set(kept)) != kept:
        raise ValueError("the columns that are kept are not there")
    left_out = facts["left_out"]
    if not isinstance(left_out, dict) or not all_text(list(left_out.values())):
        raise ValueError("what was left out is not said in words")
    table = Tabular()
    table.feature_names_in_ = np.asarray(names, dtype=object)
    table.n_features_in_, table.columns_, table.kept_ = len(names), columns, np.asarray(kept)
    table.left_out_ = left_out
    return table


def history_from_facts(facts: Any) -> tuple[str, ...]:
    """What was done, in words.

    >>> history_from_facts("fitted")
    Traceback (most recent call last):
    ValueError: the history is no list of words
    """
    if not all_text(facts):
        raise ValueError("the history is no list of words")
    return tuple(facts)


def all_text(values: Any) -> bool:
    """Whether this is a list of text."""
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def refuse_unwritable(values: Iterable[Any]) -> None:
    """Raise if a name, a class or a level is nothing that all formats can write.

    >>> refuse_unwritable(["a", 1, None, float("inf")])
    Traceback (most recent call last):
    ValueError: inf can be no name, class or level in a file
    """
    for value in values:
        broken = isinstance(value, str) and HALF_A_LETTER.search(value)
        if broken or (isinstance(value, float) and not isfinite(value)):
            raise ValueError(f"{value!r} can be no name, class or level in a file")


def refuse_others(facts: dict[str, Any], known: Collection[str]) -> None:
    """Raise if there is a fact that nothing here reads.

    >>> refuse_others({"a": 1, "b": 2}, ["a"])
    Traceback (most recent call last):
    ValueError: 'b' is out of place
    """
    for name in facts:
        if name not in known:
            raise ValueError(f"{name!r} is out of place")


def _fact(column: Column) -> dict[str, Any]:
    if isinstance(column, Numbers):
        return {"kind": "numbers", "fill": column.fill, "marks": column.marks, "dates": column.dates}
    if isinstance(column, LeftOut):
        return {"kind": "left out", "reason": column.reason}
    for level in column.levels.values:
        if not isinstance(level, LEVEL):
            raise ValueError(f"the level {level!r} is a {type(level).__name__}; files keep text and numbers")
    refuse_unwritable(column.levels.values)
    return {"kind": "levels", "levels": list(column.levels.values), "buckets": column.buckets}


def _column(fact: dict[str, Any]) -> Column:
    kind = fact["kind"]
    if kind == "left out":
        refuse_others(fact, ("kind", "reason"))
        if not isinstance(fact["reason"], str):
            raise ValueError("a column is left out for no reason")
        return LeftOut(fact["reason"])
    if kind == "numbers":
        refuse_others(fact, ("kind", "fill", "marks", "dates"))
        fill, marks, dates = fact["fill"], fact["marks"], fact["dates"]
        if type(fill) is not float or not isfinite(fill) or {marks, dates} - {True, False}:
            raise ValueError("a column of numbers has a median or marks that cannot be")
        return Numbers(fill, marks, dates)
    refuse_others(fact, ("kind", "levels", "buckets"))
    levels, buckets = fact["levels"], fact["buckets"]
    sound = isinstance(levels, list) and all(isinstance(level, LEVEL) for level in levels)
    sound = sound and len(set(levels)) == len(levels)
    if kind != "levels" or not sound or type(buckets) is not int or not 0 <= buckets <= 1000:
        raise ValueError("there is a column of no known kind")
    refuse_unwritable(levels)
    return Categories(Levels(tuple(levels)), buckets)
