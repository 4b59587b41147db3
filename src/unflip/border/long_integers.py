"""Integers of 128 bits, which polars has, and neither NumPy nor Arrow."""

from __future__ import annotations

from typing import Any

from unflip._extras import extra

LONG_TYPES = ("Int128", "UInt128")  # by name, for older releases of polars know the first one only


def long_columns(data: Any) -> list[str]:
    """The columns of a frame or series of polars with such integers.

    >>> import polars as pl
    >>> long_columns(pl.DataFrame({"a": [1], "b": [2]}, schema_overrides={"b": pl.Int128}))
    ['b']
    """
    if not type(data).__module__.startswith("polars."):
        return []
    kinds = data.collect_schema() if hasattr(data, "collect_schema") else {data.name: data.dtype}
    return [name for name, kind in kinds.items() if str(kind) in LONG_TYPES]


def without_long_integers(data: Any) -> Any:
    """Data of polars with floats in their place; anything else as it is.

    >>> import polars as pl
    >>> without_long_integers(pl.Series([2**100], dtype=pl.Int128)).to_list() == [2.0**100]
    True
    """
    long = long_columns(data)
    if not long:
        return data
    pl = extra("polars", "io")
    return data.cast(pl.Float64 if isinstance(data, pl.Series) else dict.fromkeys(long, pl.Float64))


def with_plain_integers(y: Any) -> Any:
    """Labels with Python's integers in their place: as floats, two might become one.

    >>> import polars as pl
    >>> with_plain_integers(pl.Series([2**100, 2**100 + 1], dtype=pl.Int128)) == [2**100, 2**100 + 1]
    True
    """
    if not long_columns(y):
        return y
    return y.rows() if hasattr(y, "rows") else y.to_list()
