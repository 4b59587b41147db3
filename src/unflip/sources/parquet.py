"""Parquet files: row groups are the parts.

Footers are read by pyarrow, rows by polars, which decodes them in about three quarters of the time. A large
row group is read in slices, which bounds memory; but each slice passes over the rows before it, and reads
the dictionaries of its columns again, so groups of some 100,000 rows are read fastest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from unflip._culprits import in_place
from unflip._extras import extra
from unflip.sources.batch import Batch
from unflip.sources.files import Paths, found_files, stamps
from unflip.sources.source import Source
from unflip.sources.tables import Choice, evenly, refuse_other_schema, slices

IN_MEMORY = 1 << 23  # numbers in the features of a part at most: 32 MB of float32


class Slice(NamedTuple):
    """Rows of one row group; `first_row` counts from the beginning of the file."""

    path: Path
    group: int
    first_row: int
    n_rows: int


@dataclass(frozen=True, eq=False)
class ParquetSource(Source):
    """The rows of Parquet files; made by `parquet`."""

    files: tuple[Path, ...]
    choice: Choice
    slices: tuple[Slice, ...]

    @property
    def parts(self) -> Sequence[Slice]:
        """Row groups, the large ones in slices."""
        return self.slices

    def read(self, part: Slice) -> Iterator[Batch]:
        """The rows of a part."""
        table, first_row = _decoded(part, self.choice.names), part.first_row
        for rows in slices(table, self.choice.rows):
            yield self.choice.batch(rows, str(part.path), first_row)
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
    first, _ = _footer(files[0])
    choice = Choice.among(first, target, columns, weight, str(files[0]))
    parts: list[Slice] = []
    for file in files:
        schema, groups = _footer(file)
        with in_place(str(file)):
            choice.check(schema)
            _refuse_unreadable(choice, schema)
            refuse_other_schema(choice, schema, first, str(files[0]), new_columns=columns is None)
        first_row = 0
        for group, n_rows in enumerate(groups):
            cuts = evenly(n_rows, -(-n_rows * len(choice.features) // IN_MEMORY))
            parts += [Slice(file, group, first_row + start, count) for start, count in cuts]
            first_row += n_rows
    if not parts:
        raise ValueError(f"{path} has no rows")
    return ParquetSource(files, choice, tuple(parts))


def _footer(file: Path) -> tuple[Any, list[int]]:
    """The schema of a file, and the lengths of its row groups."""
    pa, pq = extra("pyarrow", "io"), extra("pyarrow.parquet", "io")
    try:
        with pq.ParquetFile(file) as opened:
            facts = opened.metadata
            return opened.schema_arrow, [facts.row_group(i).num_rows for i in range(facts.num_row_groups)]
    except (pa.ArrowException, OSError, MemoryError, ValueError) as error:
        raise ValueError(f"{file} is no Parquet file, or a damaged one: {_sentence(error)}") from error


def _refuse_unreadable(choice: Choice, schema: Any) -> None:
    """What Parquet can hold, but polars cannot read."""
    for name in schema.names:
        if schema.names.count(name) > 1:
            raise ValueError(f"there are several columns {name!r}, so no column can be told by its name")
    for name in choice.names:
        kind = schema.field(name).type
        if extra("pyarrow.types", "io").is_decimal256(kind):
            raise ValueError(f"column {name!r} holds {kind}, of which 38 digits can be read; store float64")


def _decoded(part: Slice, names: list[str]) -> Any:
    """Some rows as an Arrow table, all of them or `ValueError`."""
    pl = extra("polars", "io")
    try:
        scan = pl.scan_parquet(part.path, glob=False, hive_partitioning=False)
        rows = scan.select(pl.selectors.by_name(*names)).slice(part.first_row, part.n_rows)
        table = rows.collect(engine="in-memory").to_arrow()
    except FileNotFoundError:
        raise
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, MemoryError) as error:
        raise ValueError(f"{part.path} is damaged in row group {part.group}: {_sentence(error)}") from error
    if table.num_rows != part.n_rows:
        raise ValueError(
            f"{part.path} is damaged in row group {part.group}: {table.num_rows} rows where its footer "
            f"promises {part.n_rows}"
        )
    return table


def _sentence(error: BaseException) -> str:
    """The first line of a message: what follows are advice and traces of the library's own."""
    return next(iter(str(error).splitlines()), type(error).__name__)
