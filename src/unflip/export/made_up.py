"""Rows to try an export on, where there is no table at hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from unflip._extras import extra
from unflip.export.linear import ColumnWeights, linear
from unflip.models import TableModel
from unflip.tables.column_kinds import Numbers

GAPS = 7  # every so many numbers one is missing
FARTHEST_DAY = 1e8  # days from 1970 that microseconds in 64 bits can tell


def made_up_rows(model: TableModel, n: int = 200) -> Any:
    """A polars frame that the model can score: numbers around their mean, all levels, and gaps.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [20, 30, 60, 70], "city": ["x", "y"] * 2, "old": [0, 0, 1, 1]})
    >>> made_up_rows(TableModel.fit(frame, "old"), 4)["city"].to_list()
    ['x', 'y', None, 'no such level']
    """
    pl, rng = extra("polars", "io"), np.random.default_rng(0)
    made = {column.name: _values(column, rng.normal(size=n)) for column in linear(model).columns}
    return pl.DataFrame(made)


def _values(column: ColumnWeights, normal: Any) -> Any:
    pl = extra("polars", "io")
    if isinstance(column.read, Numbers):
        numbers = (column.centers[0] or column.read.fill) + column.spreads[0] * normal
        known = [None if row % GAPS == GAPS - 1 else x for row, x in enumerate(numbers.tolist())]
        if not column.read.dates:
            return pl.Series(known)
        # By their count, since Python has no dates before the year 1 or after 9999, and Parquet does.
        days = pl.Series(known).clip(-FARTHEST_DAY, FARTHEST_DAY)
        return (days * 86_400e6).round().cast(pl.Int64).cast(pl.Datetime("us"))
    levels = list(dict.fromkeys([*column.read.levels.values, None]))
    if all(isinstance(level, str | None) for level in levels):
        levels.append("no such level")
    return pl.Series([levels[row % len(levels)] for row in range(len(normal))], strict=False)
