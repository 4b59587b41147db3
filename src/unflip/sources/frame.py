"""Data frames of pandas and polars: in memory, or a query of polars whose rows are never there at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from unflip._extras import extra
from unflip.border.long_integers import long_columns, without_long_integers
from unflip.sources.arrow import ArrowStream, ArrowTable
from unflip.sources.arrow_columns import ChosenColumns
from unflip.sources.chosen_columns import chosen_columns


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
    lazy = kind == ("polars", "LazyFrame")
    if not lazy and kind not in (("polars", "DataFrame"), ("pandas", "DataFrame")):
        raise TypeError(f"frame takes a data frame of pandas or polars, this is a {type(data).__name__}")
    # Columns are chosen first: those that are not wanted need not be what Arrow can hold.
    available = list(data.collect_schema()) if lazy else list(data.columns)
    features = chosen_columns(available, target, columns, weight)
    names = [*features, target, *([] if weight is None else [weight])]
    choice = ChosenColumns(tuple(map(str, features)), str(target), None if weight is None else str(weight))
    wanted = data.select(extra("polars", "io").selectors.by_name(*names)) if lazy else data[names]
    if target in long_columns(wanted):
        raise ValueError(
            f"the target {target!r} holds integers of 128 bits, which Arrow does not have; cast it to 64 "
            "bits or to text"
        )
    wanted = without_long_integers(wanted)
    with _naming_odd_columns():
        if lazy:
            choice.check(wanted.clear().collect().to_arrow().schema)
            return ArrowStream(_Query(wanted, choice.rows), choice)
        table = wanted.to_arrow() if kind[0] == "polars" else _from_pandas(wanted)
    choice.check(table.schema)
    return ArrowTable(table, choice)


@contextmanager
def _naming_odd_columns() -> Iterator[None]:
    """Columns of mixed types, which Arrow names, and types that Arrow does not have."""
    pa = extra("pyarrow", "io")
    try:
        yield
    except (pa.ArrowException, TypeError) as error:
        raise ValueError(f"Arrow cannot hold this frame: {' '.join(map(str, error.args))}") from None


def _from_pandas(data: Any) -> Any:
    pa = extra("pyarrow", "io")
    return pa.Table.from_pandas(data.set_axis(data.columns.map(str), axis=1), preserve_index=False)


@dataclass(frozen=True)
class _Query:
    """Passes over a lazy frame: each call runs it, and hands on its rows as they come."""

    data: Any
    rows: int

    def __call__(self) -> Iterator[Any]:
        for piece in self.data.collect_batches(chunk_size=self.rows, lazy=True, engine="streaming"):
            yield from piece.to_arrow().to_batches()
