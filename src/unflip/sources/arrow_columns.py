"""Arrow tables as batches: features, label and weight by name, numbers of any type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from unflip._extras import extra
from unflip.border.arrays import Array
from unflip.border.labels import Labels, encode
from unflip.border.words import AS_TIMES, in_place
from unflip.sources.batch import Batch
from unflip.sources.chosen_columns import chosen_columns
from unflip.sources.column_table import ColumnTable

AT_ONCE = 1 << 21  # numbers in a batch, or somewhat more: enough for compiled loops


@dataclass(frozen=True)
class ChosenColumns:
    """Which columns of a table are features, label and weight, by name.

    >>> import pyarrow as pa
    >>> table = pa.table({"age": [30, 40], "sick": ["no", "yes"]})
    >>> choice = ChosenColumns.among(table.schema, "sick")
    >>> choice.features, [batch.X[:].tolist() for batch in choice.batches(table.to_batches())]
    (('age',), [[[30.0], [40.0]]])
    """

    gaps: ClassVar[bool] = False  # whether features may have gaps, which are NaN then

    features: tuple[str, ...]
    target: str
    weight: str | None = None

    @classmethod
    def among(
        cls,
        schema: Any,
        target: str,
        columns: Sequence[str] | None = None,
        weight: str | None = None,
        place: str = "",
    ) -> ChosenColumns:
        """The choice made by name among the columns of an Arrow schema; `place` is for messages.

        The index of a pandas frame, which became a column on its way here, is a feature only if it is named.
        """
        unwanted = index_columns(schema) - {target, weight} if columns is None else set()
        names = [name for name in schema.names if name not in unwanted]
        with in_place(place):
            choice = cls(chosen_columns(names, target, columns, weight), target, weight)
            choice.check(schema)
        return choice

    @property
    def names(self) -> list[str]:
        """All columns that have to be read."""
        return [*self.features, self.target, *([] if self.weight is None else [self.weight])]

    @property
    def rows(self) -> int:
        """How many rows a batch has at least."""
        return -(-AT_ONCE // len(self.features))

    def check(self, schema: Any) -> None:
        """Refuse what is missing, what there is twice, and what cannot be numbers or labels."""
        chosen_columns(schema.names, self.target, self.features, self.weight)
        for name in self.names:
            if schema.names.count(name) > 1:
                raise ValueError(f"there are several columns {name!r}")
            kind = schema.field(name).type
            if name == self.target:
                _refuse_as_labels(name, kind)
            else:
                _refuse_as_numbers(name, kind)

    def batches(self, pieces: Iterable[Any], place: str = "", first_row: int = 0) -> Iterator[Batch]:
        """Batches from Arrow record batches of any size; their first row is row `first_row` of the place."""
        for rows in regrouped(pieces, self.rows):
            yield self.batch(rows, place, first_row)
            first_row += rows.num_rows

    def batch(self, rows: Any, place: str = "", first_row: int = 0) -> Batch:
        """One batch from one record batch."""
        with in_place(place):
            columns = [_numbers(rows.column(name), name, first_row, gaps=self.gaps) for name in self.features]
            labels = _labels(rows.column(self.target), self.target, first_row)
            if self.weight is None:
                weight = np.ones(rows.num_rows)
            else:
                weight = _weight(rows.column(self.weight), self.weight, first_row)
        return Batch(ColumnTable(columns), labels, weight, self.features, first_row=first_row, place=place)


class WithGaps(ChosenColumns):
    """The same, where features may have gaps: for those who fill them."""

    gaps: ClassVar[bool] = True


def regrouped(pieces: Iterable[Any], rows: int) -> Iterator[Any]:
    """The rows of some record batches in record batches of about equal size: `rows` or somewhat more.

    >>> import pyarrow as pa
    >>> pieces = [pa.record_batch({"a": range(n)}) for n in (1, 2, 9)]
    >>> [batch.num_rows for batch in regrouped(pieces, 3)]
    [3, 3, 3, 3]
    """
    pa = extra("pyarrow", "io")
    waiting: list[Any] = []
    count = 0
    for piece in pieces:
        waiting.append(piece)
        count += piece.num_rows
        if count >= rows:
            yield from slices(pa.Table.from_batches(waiting), rows)
            waiting, count = [], 0
    if count:
        yield from slices(pa.Table.from_batches(waiting), rows)


def slices(table: Any, rows: int) -> Iterator[Any]:
    """A table in record batches of about equal size, `rows` or somewhat more; one piece is not copied."""
    for start, count in evenly(table.num_rows, table.num_rows // rows):
        yield from table.slice(start, count).combine_chunks().to_batches()


def evenly(n_rows: int, n_slices: int) -> list[tuple[int, int]]:
    """First row and length of some slices of about equal size; none are empty.

    >>> evenly(11, 3), evenly(2, 0), evenly(0, 3)
    ([(0, 3), (3, 4), (7, 4)], [(0, 2)], [])
    """
    cuts = [n_rows * i // max(1, n_slices) for i in range(max(1, n_slices) + 1)]
    return [(low, high - low) for low, high in pairwise(cuts) if high > low]


def index_columns(schema: Any) -> set[str | None]:
    """Columns that were the index of a pandas frame."""
    try:
        kept = (schema.pandas_metadata or {}).get("index_columns", [])
    except ValueError:  # metadata that pandas did not write
        return set()
    return {name for name in kept if isinstance(name, str)}


def refuse_other_schema(
    choice: ChosenColumns, schema: Any, first: Any, place: str, new_columns: bool
) -> None:
    """Numbers may be of any type in any file, but text and numbers are different labels.

    first: the schema of the first file, at `place`; new_columns: whether columns that are not there matter.
    """
    if is_text(schema.field(choice.target).type) != is_text(first.field(choice.target).type):
        here, there = (one.field(choice.target).type for one in (schema, first))
        raise ValueError(f"the target {choice.target!r} holds {here}, but {there} in {place}")
    more = [name for name in schema.names if name not in {*first.names, *index_columns(schema)}]
    if new_columns and more:
        raise ValueError(f"column {more[0]!r} is not in {place}; name the columns that are wanted")


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is text, or categories of text."""
    types = extra("pyarrow.types", "io")
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_number(kind: Any) -> bool:
    types = extra("pyarrow.types", "io")
    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return bool(numeric or types.is_boolean(kind) or types.is_null(kind))  # no value at all is refused by row


def _refuse_as_numbers(name: str, kind: Any) -> None:
    if _is_number(kind):
        return
    _refuse_bytes(name, kind)
    if extra("pyarrow.types", "io").is_temporal(kind):
        raise ValueError(f"column {name!r} holds {AS_TIMES.format(kind)}")
    raise ValueError(
        f"column {name!r} holds {kind}, which is not a number; leave it out by naming the other columns, or "
        "encode it as numbers first"
    )


def _refuse_bytes(name: str, kind: Any) -> None:
    if extra("pyarrow.types", "io").is_binary(kind):
        raise ValueError(
            f"column {name!r} holds bytes that are no UTF-8 text; convert the file, as iconv does for CSV"
        )


def _refuse_as_labels(name: str, kind: Any) -> None:
    _refuse_bytes(name, kind)
    types = extra("pyarrow.types", "io")
    values = kind.value_type if types.is_dictionary(kind) else kind
    if not _is_number(values) and not is_text(values):
        raise ValueError(
            f"the target {name!r} holds {kind}; labels are text, whole numbers, true and false, or "
            "probabilities"
        )


def _refuse_missing(column: Any, name: str, what: str, first_row: int) -> None:
    if column.null_count:
        row = first_row + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise ValueError(f"row {row} has no {what} (column {name!r}); drop or impute such rows")


def _numbers(column: Any, name: str, first_row: int, what: str = "value", gaps: bool = False) -> Array:
    """A column as an array of numbers, a view of it if possible."""
    if not gaps:
        _refuse_missing(column, name, what, first_row)
    if extra("pyarrow.types", "io").is_decimal(column.type):
        column = column.cast("string").cast("float64")  # rounded correctly, as the direct way is not
    if column.null_count:
        column = column.cast("float64")  # of truth values with gaps NumPy has objects only
    return column.to_numpy(zero_copy_only=False)


def _weight(column: Any, name: str, first_row: int) -> Array:
    """Weights are checked row by row: those of a whole batch may be zero, as long as others are not."""
    weight = _numbers(column, name, first_row, "weight").astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if bad.size:
        row, value = first_row + bad[0], weight[bad[0]]
        raise ValueError(
            f"the weight of row {row} (column {name!r}) is {value}; weights are finite and not negative"
        )
    return weight


def _labels(column: Any, name: str, first_row: int) -> Labels:
    types = extra("pyarrow.types", "io")
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()  # it may hold categories that no row has
    if not is_text(column.type):
        labels = _numbers(column, name, first_row, "label")
        missing = np.flatnonzero(np.isnan(labels)) if labels.dtype.kind == "f" else np.array([], np.intp)
        if missing.size:
            raise ValueError(f"row {first_row + missing[0]} has no label (column {name!r}): it is NaN")
        try:
            return encode(labels)
        except ValueError as error:
            raise ValueError(f"in the rows from {first_row} on (column {name!r}): {error}") from None
    _refuse_missing(column, name, "label", first_row)
    found = column.dictionary_encode()
    values = found.dictionary.to_pylist()
    order = sorted(range(len(values)), key=values.__getitem__)
    codes = np.empty(len(values), np.min_scalar_type(len(values)))
    codes[order] = np.arange(len(values))
    classes = np.array([values[k] for k in order], dtype=object)
    return Labels(classes, codes[found.indices.to_numpy(zero_copy_only=False)])
