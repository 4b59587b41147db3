"""CSV files, plain or compressed: streams, for no row is found without reading those before it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from unflip._extras import extra
from unflip.border.words import in_place
from unflip.sources.arrow_columns import ChosenColumns, is_text, refuse_other_schema
from unflip.sources.batch import Batch
from unflip.sources.files import Paths, found_files, stamps
from unflip.sources.source import Stream
from unflip.tables.types import NOTHING, SPELLINGS

PACKED_SUFFIXES = ("", ".gz", ".bz2", ".zst", ".lz4")
TABS = (".tsv", ".tab")
ENDINGS = tuple(kind + packed for kind in (".csv", *TABS) for packed in PACKED_SUFFIXES)


@dataclass(frozen=True, eq=False)
class CsvStream(Stream):
    """The rows of CSV files; made by `csv`. `types`: how columns are read, in all files alike."""

    files: tuple[Path, ...]
    choice: ChosenColumns
    types: dict[str, Any]
    delimiter: str | None = None

    def __iter__(self) -> Iterator[Batch]:
        some = False
        for file in self.files:
            for batch in self.choice.batches(self._pieces(file), str(file)):
                some = True
                yield batch
        if not some:
            raise ValueError(f"{self.files[0]} has no rows")

    def _pieces(self, file: Path) -> Iterator[Any]:
        with (
            _naming_the_file(file, self.delimiter, self.types),
            _opened(file, self.delimiter, self.types) as pieces,
        ):
            yield from (_without_gaps(piece, self.choice.target) for piece in pieces)

    @property
    def fingerprint(self) -> str:
        """Path, size and time of change of every file, the names of the columns and the delimiter."""
        return json.dumps(["csv", stamps(self.files), astuple(self.choice), self.delimiter])


def csv(
    path: Paths,
    target: str,
    columns: Sequence[str] | None = None,
    weight: str | None = None,
    delimiter: str | None = None,
) -> CsvStream:
    """A source from CSV files with a header: a file, a folder of them, a pattern or a list.

    target, weight: names of the columns of labels and weights. columns: names of the features, in this order;
    all others if not given. Files may be compressed (.gz, .bz2, .zst, .lz4). delimiter: a comma unless given,
    a tab in .tsv files. Whether labels are text or numbers is seen from the beginning of the first file.
    What is empty, or says that nothing is there (NA, NaN, null, none, missing, ? and - in any case), is
    missing, and refused with its row; of labels that are text only what is empty or says NA, N/A, NaN or
    null. Rows are counted from zero, without the header. A checkpoint counts batches: a pass that goes on
    reads earlier rows again, but sums them no more.

    >>> import tempfile
    >>> from unflip.moments import accumulate
    >>> file = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("age,sick\\n30,no\\n40,no\\n50.5,yes\\n")
    >>> accumulate(csv(file, target="sick")).sums.tolist()
    [[70.0], [50.5]]
    """
    files = found_files(path, ENDINGS)
    with _naming_the_file(files[0], delimiter), _opened(files[0], delimiter) as reader:
        schema = reader.schema
    choice = ChosenColumns.among(schema, target, columns, weight, str(files[0]))
    for file in files[1:]:
        with _naming_the_file(file, delimiter), _opened(file, delimiter) as reader:
            found = reader.schema
        with in_place(str(file)):
            choice.check(found)
            refuse_other_schema(choice, found, schema, str(files[0]), new_columns=columns is None)
    return CsvStream(files, choice, _types(schema, choice), delimiter)


def _without_gaps(rows: Any, target: str) -> Any:
    """The rows of a batch, with nothing where labels of text say that there is none."""
    column = rows.column(target)
    if not is_text(column.type):
        return rows
    compute, pa = extra("pyarrow.compute", "io"), extra("pyarrow", "io")
    said = compute.utf8_lower(compute.utf8_trim_whitespace(column))
    known = compute.if_else(compute.is_in(said, pa.array(NOTHING)), pa.scalar(None, column.type), column)
    return rows.set_column(rows.schema.get_field_index(target), target, known)


def _types(schema: Any, choice: ChosenColumns) -> dict[str, Any]:
    """Numbers are read as float64, for what begins with whole numbers need not go on so."""
    pa, types = extra("pyarrow", "io"), extra("pyarrow.types", "io")
    kinds = {name: schema.field(name).type for name in choice.names}
    for name, kind in kinds.items():
        if name != choice.target and not types.is_boolean(kind):
            kinds[name] = pa.float64()
    if is_text(kinds[choice.target]):
        kinds[choice.target] = pa.string()
    return kinds


def _opened(file: Path, delimiter: str | None, types: Any = None, threads: bool = True) -> Any:
    """A reader of record batches; with types, of these columns alone."""
    csv = extra("pyarrow.csv", "io")
    plain = (
        file.name.lower().removesuffix(file.suffix.lower())
        if file.suffix.lower() in PACKED_SUFFIXES
        else file.name
    )
    if delimiter is None:
        delimiter = "\t" if plain.lower().endswith(TABS) else ","
    return csv.open_csv(
        file,
        read_options=csv.ReadOptions(use_threads=threads),
        # Without newlines_in_values a block that ends inside quotes would begin a row of its own.
        parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            column_types=types,
            include_columns=None if types is None else list(types),
            null_values=SPELLINGS,
        ),
    )


@contextmanager
def _naming_the_file(file: Path, delimiter: str | None, types: Any = None) -> Iterator[None]:
    """Errors of Arrow, as those of one file."""
    pa = extra("pyarrow", "io")
    try:
        yield
    except FileNotFoundError:
        raise
    except UnicodeDecodeError:
        reason = "names of columns are no UTF-8 text; convert it, as iconv does"
        raise ValueError(f"{file} cannot be read: {reason}") from None
    except (pa.ArrowException, OSError, KeyError) as error:
        if "Empty CSV file" in str(error):
            raise ValueError(f"{file} has no rows") from None
        reason = _with_its_row(file, delimiter, types) or str(error)
        raise ValueError(f"{file} cannot be read: {reason.splitlines()[0]}") from error


def _with_its_row(file: Path, delimiter: str | None, types: Any) -> str:
    """What goes wrong if the file is read again by one thread: only so Arrow knows the number of the row."""
    try:
        for _ in _opened(file, delimiter, types, threads=False):
            pass
    except (extra("pyarrow", "io").ArrowException, OSError, KeyError) as error:
        return str(error)
    return ""
