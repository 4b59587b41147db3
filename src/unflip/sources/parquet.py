"""Parquet files: row groups are the parts.

Of a row group a few columns are read at a time, which is all that has to be in memory beside their numbers;
one that is too large for that is read in batches of rows. Footers are parsed once, whatever the number of
row groups.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unflip._extras import extra
from unflip.border.words import in_place
from unflip.sources.arrow_columns import ChosenColumns, refuse_other_schema, slices
from unflip.sources.batch import Batch
from unflip.sources.files import Paths, found_files, stamps
from unflip.sources.source import Source

IN_MEMORY = 1 << 23  # numbers of a row group that are in memory at once: 32 MB of float32
TURNS = 16  # in which the columns of a row group are read


class RowGroup(NamedTuple):
    """A row group; `first_row` counts from the beginning of the file."""

    path: Path
    number: int
    first_row: int
    n_rows: int


@dataclass(frozen=True, eq=False)
class ParquetSource(Source):
    """The rows of Parquet files; made by `parquet`."""

    files: tuple[Path, ...]
    choice: ChosenColumns
    groups: tuple[RowGroup, ...]

    @property
    def parts(self) -> Sequence[RowGroup]:
        """Row groups."""
        return self.groups

    def read(self, part: RowGroup) -> Iterator[Batch]:
        """The rows of a row group."""
        place = str(part.path)
        if part.n_rows * len(self.choice.features) > IN_MEMORY:
            yield from self.choice.batches(_in_batches(part, self.choice), place, part.first_row)
            return
        first_row = part.first_row
        for rows in slices(_by_columns(part, self.choice.names), self.choice.rows):
            yield self.choice.batch(rows, place, first_row)
            first_row += rows.num_rows

    @property
    def fingerprint(self) -> str:
        """Path, size and time of change of every file, and the names of the columns."""
        return json.dumps(["parquet", stamps(self.files), astuple(self.choice)])


def parquet(
    path: Paths, target: str, columns: Sequence[str] | None = None, weight: str | None = None
) -> ParquetSource:
    """A source from a Parquet file, a folder of them, a pattern or a list, in constant memory.

    target, weight: names of the columns of labels and weights. columns: names of the features, in this order;
    all others if not given. Files are read in the order of their paths (a list: as given), row groups by
    several threads, and a checkpoint counts them. Folder names such as `year=2024` add no column.

    >>> import tempfile, pyarrow as pa, pyarrow.parquet as pq
    >>> from unflip.moments import accumulate
    >>> file = tempfile.mkdtemp() + "/people.parquet"
    >>> pq.write_table(pa.table({"age": [30, 40, 50], "sick": ["no", "no", "yes"]}), file)
    >>> moments = accumulate(parquet(file, target="sick"))
    >>> moments.classes, moments.sums.tolist()
    (('no', 'yes'), [[70.0], [50.0]])
    """
    files = found_files(path, (".parquet", ".pq"))
    first = _footer(files[0]).schema.to_arrow_schema()
    choice = ChosenColumns.among(first, target, columns, weight, str(files[0]))
    groups: list[RowGroup] = []
    for file in files:
        footer = _footer(file)
        schema = footer.schema.to_arrow_schema()
        with in_place(str(file)):
            choice.check(schema)
            refuse_other_schema(choice, schema, first, str(files[0]), new_columns=columns is None)
        first_row = 0
        for number in range(footer.num_row_groups):
            n_rows = footer.row_group(number).num_rows
            groups += [RowGroup(file, number, first_row, n_rows)] if n_rows else []
            first_row += n_rows
    if not groups:
        raise ValueError(f"{path} has no rows")
    return ParquetSource(files, choice, tuple(groups))


def _footer(file: Path) -> Any:
    """Schema and row groups of a file; that of a file which did not change is parsed once."""
    facts = file.stat()
    return _parsed(file, facts.st_size, facts.st_mtime_ns)


@lru_cache(maxsize=16)
def _parsed(file: Path, size: int, changed: int) -> Any:
    try:
        return extra("pyarrow.parquet", "io").read_metadata(file)
    except _troubles() as error:
        raise ValueError(f"{file} is no Parquet file, or a damaged one: {_sentence(error)}") from error


@contextmanager
def _opened(group: RowGroup) -> Iterator[Any]:
    """The file of a row group; what is wrong in it is named."""
    pq = extra("pyarrow.parquet", "io")
    try:
        checked = {"page_checksum_verification": True, "pre_buffer": False}
        with pq.ParquetFile(group.path, metadata=_footer(group.path), **checked) as file:
            yield file
    except FileNotFoundError:
        raise
    except _troubles() as error:
        raise ValueError(
            f"{group.path} is damaged in row group {group.number}: {_sentence(error)}"
        ) from error


def _by_columns(group: RowGroup, names: list[str]) -> Any:
    """A row group as an Arrow table, all of its rows or `ValueError`."""
    columns: dict[str, Any] = {}
    with _opened(group) as file:
        for few in np.array_split(np.asarray(names, dtype=object), min(TURNS, len(names))):
            table = file.read_row_group(group.number, columns=few.tolist(), use_threads=False)
            columns |= {name: table.column(name) for name in few}
    counts = {len(column) for column in columns.values()}
    if counts != {group.n_rows}:
        raise ValueError(
            f"{group.path} is damaged in row group {group.number}: columns of {min(counts)} rows where its "
            f"footer promises {group.n_rows}"
        )
    return extra("pyarrow", "io").table(columns)


def _in_batches(group: RowGroup, choice: ChosenColumns) -> Iterator[Any]:
    """The same in record batches, of which few are in memory."""
    with _opened(group) as file:
        yield from file.iter_batches(
            choice.rows, row_groups=[group.number], columns=choice.names, use_threads=False
        )


def _troubles() -> tuple[type[BaseException], ...]:
    """What Arrow raises of a damaged file."""
    return extra("pyarrow", "io").ArrowException, OSError, MemoryError, ValueError


def _sentence(error: BaseException) -> str:
    """The first line of a message: what follows are advice and traces of the library's own."""
    return next(iter(str(error).splitlines()), type(error).__name__)
