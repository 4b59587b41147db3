"""A fitted `Tabular` as facts that JSON keeps, and back, with every doubt a `ValueError`."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from unflip.features import Tabular
from unflip.features.levels import Levels
from unflip.features.table_columns import Categories, Column, LeftOut, Numbers

LEVEL = str | int | float | None


def as_facts(table: Tabular) -> dict[str, Any]:
    """What makes the map.

    >>> as_facts(Tabular().fit([[1.0], [2.0]]))["columns"]
    [{'kind': 'numbers', 'fill': 1.5, 'marks': False, 'dates': False}]
    """
    return {
        "names": [str(name) for name in getattr(table, "feature_names_in_", range(table.n_features_in_))],
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
    names, columns = facts["names"], [_column(fact) for fact in facts["columns"]]
    width = sum(len(column.names("")) for column in columns)
    kept = facts["kept"]
    if len(set(names)) != len(columns) or not all(isinstance(name, str) for name in names):
        raise ValueError("columns and their names do not match")
    sound = all(type(place) is int and 0 <= place < width for place in kept)
    if not kept or not sound or sorted(set(kept)) != kept:
        raise ValueError("the columns that are kept are not there")
    table = Tabular()
    table.feature_names_in_ = np.asarray(names, dtype=object)
    table.n_features_in_, table.columns_, table.kept_ = len(names), columns, np.asarray(kept)
    table.left_out_ = {str(name): str(reason) for name, reason in facts["left_out"].items()}
    return table


def _fact(column: Column) -> dict[str, Any]:
    if isinstance(column, Numbers):
        return {"kind": "numbers", "fill": column.fill, "marks": column.marks, "dates": column.dates}
    if isinstance(column, LeftOut):
        return {"kind": "left out", "reason": column.reason}
    for level in column.levels.values:
        if not isinstance(level, LEVEL):
            raise ValueError(f"the level {level!r} is a {type(level).__name__}; files keep text and numbers")
    return {"kind": "levels", "levels": list(column.levels.values), "buckets": column.buckets}


def _column(fact: dict[str, Any]) -> Column:
    kind = fact["kind"]
    if kind == "left out":
        return LeftOut(str(fact["reason"]))
    if kind == "numbers":
        fill, marks, dates = fact["fill"], fact["marks"], fact["dates"]
        if type(fill) is not float or not isfinite(fill) or {marks, dates} - {True, False}:
            raise ValueError(f"{fact} is no column of numbers")
        return Numbers(fill, marks, dates)
    levels, buckets = fact["levels"], fact["buckets"]
    sound = isinstance(levels, list) and all(isinstance(level, LEVEL) for level in levels)
    sound = sound and len(set(levels)) == len(levels)
    if kind != "levels" or not sound or type(buckets) is not int or not 0 <= buckets <= 1000:
        raise ValueError("there is a column of no known kind")
    return Categories(Levels(tuple(levels)), buckets)
