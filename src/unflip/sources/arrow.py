"""Arrow tables, readers, datasets, and whatever speaks Arrow's stream interface."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from unflip._extras import extra
from unflip.sources.arrow_columns import ChosenColumns, evenly, slices
from unflip.sources.batch import Batch
from unflip.sources.source import Source, Stream


@dataclass(frozen=True, eq=False)
class ArrowTable(Source):
    """A table in memory, cut into slices; made by `arrow` and `frame`."""

    table: Any
    choice: ChosenColumns

    @property
    def parts(self) -> Sequence[tuple[int, int]]:
        """First row and length of each slice."""
        return evenly(self.table.num_rows, self.table.num_rows // self.choice.rows)

    def read(self, part: tuple[int, int]) -> Iterator[Batch]:
        """One slice, in one batch."""
        for rows in slices(self.table.slice(*part), part[1]):
            yield self.choice.batch(rows, first_row=part[0])

    @property
    def fingerprint(self) -> str:
        """Schema and size: other numbers in the same place go unnoticed."""
        size = [str(self.table.schema), self.table.num_rows, self.table.nbytes]
        return json.dumps(["table", size, astuple(self.choice)])


@dataclass(frozen=True, eq=False)
class ArrowStream(Stream):
    """Record batches in the order in which they come; `opened` begins a pass. Made by `arrow` and `frame`."""

    opened: Callable[[], Iterable[Any]]
    choice: ChosenColumns

    def __iter__(self) -> Iterator[Batch]:
        some = False
        for batch in self.choice.batches(self.opened()):
            some = True
            yield batch
        if not some:
            raise ValueError("this stream has no rows; was it read before? A reader can be read only once")

    @property
    def fingerprint(self) -> str:
        """The names of the columns: a stream does not say where its rows come from."""
        return json.dumps(["stream", astuple(self.choice)])


def arrow(
    data: Any, target: str, columns: Sequence[str] | None = None, weight: str | None = None
) -> ArrowTable | ArrowStream:
    """A source from an Arrow table, record-batch reader or dataset, or anything with `__arrow_c_stream__`.

    target, weight: names of the columns of labels and weights. columns: names of the features, in this order;
    all others if not given. A table is read in slices, by several threads. The rest is a stream, in constant
    memory, and a reader can be read only once. A checkpoint of a stream relies on the same rows coming again
    in the same order.

    >>> import pyarrow as pa
    >>> from unflip.moments import accumulate
    >>> table = pa.table({"age": [30, 40, 50], "sick": ["no", "no", "yes"]})
    >>> accumulate(arrow(table, target="sick")).sums.tolist()
    [[70.0], [50.0]]
    >>> accumulate(arrow(table.to_reader(), target="sick")).sums.tolist()
    [[70.0], [50.0]]
    """
    pa = extra("pyarrow", "io")
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if isinstance(data, pa.Table):
        choice = ChosenColumns.among(data.schema, target, columns, weight)
        return ArrowTable(data.select(choice.names), choice)
    if hasattr(data, "scanner"):
        choice = ChosenColumns.among(data.schema, target, columns, weight)
        return ArrowStream(_Scans(data, choice), choice)
    if not hasattr(data, "__arrow_c_stream__"):
        raise TypeError(
            "arrow takes a table, a record-batch reader, a dataset, or what has __arrow_c_stream__; "
            f"this is a {type(data).__name__}"
        )
    try:
        readers = _Readers(data)
    except pa.ArrowException as error:  # integers of 128 bits, for example, which polars alone has
        raise ValueError(
            f"Arrow cannot hold what this {type(data).__name__} streams, cast it first: {error}"
        ) from None
    return ArrowStream(readers, ChosenColumns.among(readers.schema, target, columns, weight))


@dataclass(frozen=True)
class _Scans:
    """Passes over a dataset, with little read ahead."""

    dataset: Any
    choice: ChosenColumns

    def __call__(self) -> Iterable[Any]:
        scanner = self.dataset.scanner(columns=self.choice.names, batch_readahead=1, fragment_readahead=1)
        return scanner.to_reader()


class _Readers:
    """A reader for each pass: the first is opened at once, for its schema, and readers do not come again."""

    def __init__(self, data: Any) -> None:
        pa = extra("pyarrow", "io")
        self._again = None if isinstance(data, pa.RecordBatchReader) else data
        self._reader = pa.RecordBatchReader.from_stream(data) if self._again is not None else data
        self.schema = self._reader.schema

    def __call__(self) -> Iterable[Any]:
        reader, self._reader = self._reader, None
        if reader is not None:
            return reader
        if self._again is None:
            raise ValueError(
                "this reader was read before, and a reader can be read only once; make a new one, or keep "
                "its rows in memory with reader.read_all()"
            )
        return extra("pyarrow", "io").RecordBatchReader.from_stream(self._again)
