"""Data frames of pandas and polars: in memory, or a query of polars whose rows are never there at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from unflip._extras import extra
from unflip.sources.arrow import ArrowStream, ArrowTable
from unflip.sources.columns import chosen_columns
from unflip.sources.tables import Choice


def frame(
    data: Any, target: str, columns: Sequence[str] | None = None, weight: str | None = None
) -> ArrowTable | ArrowStream:
    """A source from a data frame of pandas or polars, or from a lazy frame of polars, in constant memory.

    target, weight: names of the columns of labels and weights. columns: names of the features, in this order;
    all others if not given. A lazy frame runs anew in each pass, in the streaming engine of polars.

    >>> import polars as pl
    >>> from unflip.moments import accumulate
    >>> people = pl.DataFrame({"age": [30, 40, 50], "sick": ["no", "no", "yes"]})
    >>> accumulate(frame(people, target="sick")).sums.tolist()
    [[70.0], [50.0]]
    >>> accumulate(frame(people.lazy().filter(pl.col("age") < 50), target="sick")).sums.tolist()
    [[70.0]]
    """
    kind = type(data).__module__.split(".")[0], type(data).__name__
    if kind == ("polars", "LazyFrame"):
        pl = extra("polars", "io")
        schema = pl.DataFrame(schema=data.collect_schema()).to_arrow().schema
        choice = Choice.among(schema, target, columns, weight)
        return ArrowStream(_Query(data.select(pl.selectors.by_name(*choice.names)), choice.rows), choice)
    if kind not in (("polars", "DataFrame"), ("pandas", "DataFrame")):
        raise TypeError(f"frame takes a data frame of pandas or polars, this is a {type(data).__name__}")
    # Columns are chosen first: those that are not wanted need not be what Arrow can hold.
    features = chosen_columns(list(data.columns), target, columns, weight)
    wanted = data[[*features, target, *([] if weight is None else [weight])]]
    table = _as_arrow(wanted, pandas=kind[0] == "pandas")
    choice = Choice(tuple(map(str, features)), str(target), None if weight is None else str(weight))
    choice.check(table.schema)
    return ArrowTable(table, choice)


def _as_arrow(data: Any, pandas: bool) -> Any:
    pa = extra("pyarrow", "io")
    try:
        if not pandas:
            return data.to_arrow()
        return pa.Table.from_pandas(data.set_axis(data.columns.map(str), axis=1), preserve_index=False)
    except pa.ArrowException as error:  # a column of mixed types, which the message names, or an odd type
        raise ValueError(" ".join(map(str, error.args))) from None


@dataclass(frozen=True)
class _Query:
    """Passes over a lazy frame: each call runs it, and hands on its rows as they come."""

    data: Any
    rows: int

    def __call__(self) -> Iterator[Any]:
        if not hasattr(self.data, "collect_batches"):
            raise ImportError("lazy frames need polars 1.34 or newer; pip install -U polars")
        for piece in self.data.collect_batches(chunk_size=self.rows, lazy=True, engine="streaming"):
            yield from piece.to_arrow().to_batches()
