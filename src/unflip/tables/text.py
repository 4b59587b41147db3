"""CSV as a typed table: all values are read as text, and then each column is what all of its values are."""

from __future__ import annotations

import csv
import sys
from collections.abc import Collection, Iterator, Sequence, Set
from difflib import get_close_matches
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

from unflip._extras import extra
from unflip.tables.types import typed
from unflip.tables.wanted import Wanted

DELIMITERS = "\t;|,"
FEW = 1 << 14  # bytes that show which it is
HEAD = 1 << 20  # bytes of a file that is not read whole
csv.field_size_limit(sys.maxsize)  # texts may be long
MARK = b"\xef\xbb\xbf"  # what some programs begin a UTF-8 file with


class Ragged(ValueError):
    """A line, and how many fields it has, which are not as many as in the header."""


def read_csv(data: bytes, name: str, wanted: Wanted | None = None, delimiter: str | None = None) -> Any:
    """A polars frame from the bytes of a CSV file with a header; `name` is for messages.

    >>> read_csv(b"a;b\\n1;x\\n2,5;y\\n", "here.csv").to_dicts()
    [{'a': 1.0, 'b': 'x'}, {'a': 2.5, 'b': 'y'}]
    """
    wanted = wanted or Wanted()
    frame, separator = as_written(data, name, delimiter, set(wanted.required))
    refuse_strange(wanted.required, frame.columns, name)
    kept = [column for column in frame.columns if wanted.only is None or column in wanted.only]
    return typed(
        frame.select(column for column in kept if column not in wanted.drop), name, wanted, separator
    )


def as_written(
    data: bytes, name: str, delimiter: str | None = None, known: Set[str] = frozenset()
) -> tuple[Any, str]:
    """All values as text, nothing changed, and the delimiter. known: names that make a line a header.

    >>> as_written(b"a,b\\n007,NA\\n", "here.csv")[0].rows()
    [('007', 'NA')]
    """
    _refuse_other_encodings(data, name)
    data = data.removeprefix(MARK)
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    data = data.strip(b"\r\n") + b"\n"
    if data.count(b'"') % 2:
        raise ValueError(_open_quote(data, name))
    first = _first_record(data)
    separator = delimiter or _likely_delimiter(first, data[:FEW])
    header = next(_rows(first.encode(), separator, name))
    _refuse_header(header, name, known)
    rows = _count_rows(data, separator, len(header), name)
    if not rows:
        raise ValueError(f"{name} has a header and no rows")
    pl = extra("polars", "io")
    blank = len(header) > 1 and rows + 1 < data.count(b"\n")
    lines = _without_blank_lines(data) if blank else data
    try:
        frame = pl.read_csv(BytesIO(lines), separator=separator, infer_schema=False, new_columns=header)
    except pl.exceptions.PolarsError:
        frame = None
    if frame is None or frame.height != rows:  # quotes amid a field, as in 5" of length
        _, *values = _rows(data, separator, name)
        frame = pl.DataFrame(values, dict.fromkeys(header, pl.String), orient="row")
    return frame.with_columns(pl.all().fill_null("")), separator


def head_of_csv(path: Path, delimiter: str | None, known: Set[str] = frozenset()) -> tuple[list[str], str]:
    """The names of columns and the delimiter of a file, seen from its beginning and checked as ever."""
    with path.open("rb") as file:
        few = file.read(HEAD)
    lines = few[: few.rfind(b"\n") + 1] or few
    frame, separator = as_written(lines, str(path), delimiter, known)
    return frame.columns, separator


def _first_record(data: bytes) -> str:
    """The header as it is written: quotes may hold line breaks."""
    end = data.index(b"\n")
    while data.count(b'"', 0, end) % 2:
        end = data.index(b"\n", end + 1)
    return data[:end].decode()


def _without_blank_lines(data: bytes) -> bytes:
    """Editors leave them behind; within quotes they belong to a text."""
    kept, inside = [], False
    for line in data.split(b"\n"):
        if inside or line.strip(b"\r "):
            kept.append(line)
        inside ^= line.count(b'"') % 2 == 1
    return b"\n".join(kept) + b"\n"


def _rows(data: bytes, separator: str, name: str) -> Iterator[list[str]]:
    """The header and all rows that are no blank lines; in a single column these are gaps."""
    reader = csv.reader(StringIO(data.decode()), delimiter=separator)
    try:
        header = next(reader)
        yield header
        for row in reader:
            if len(header) == 1:
                row = row or [""]
            elif len(row) < 2 and not "".join(row).strip():
                continue
            if len(row) != len(header):
                raise Ragged(reader.line_num, len(row))
            yield row
    except csv.Error:  # nothing else can be wrong for a reader that is not strict
        raise ValueError(
            f"{name}: line {reader.line_num} has a carriage return amid its fields, and lines end in line "
            "feeds; make all line ends alike, or put quotes around the field"
        ) from None


def _likely_delimiter(header: str, few: bytes) -> str:
    """Of the usual ones that are in the header, outside quotes, the first that cuts all lines alike.

    The most frequent one comes first; a comma, which may be part of a name, after others as frequent. If none
    cuts all lines alike, the first will do for a message.
    """
    outside = "".join(header.split('"')[::2])
    found = sorted((mark for mark in DELIMITERS if mark in outside), key=lambda mark: -outside.count(mark))
    return next((each for each in found if _cuts_alike(few, each)), [*found, ","][0])


def _cuts_alike(few: bytes, separator: str) -> bool:
    text = few.decode(errors="ignore")
    whole = text if len(few) < FEW else text[: text.rfind("\n")]  # without a line that was cut off
    try:
        return bool(sum(1 for _ in _rows(whole.encode(), separator, "")))
    except ValueError:
        return False


def _refuse_other_encodings(data: bytes, name: str) -> None:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data[:1000]:
        raise ValueError(f"{name} is UTF-16 or binary; save it as UTF-8, for example with iconv -t UTF-8")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{name} is not UTF-8: line {line} has the byte 0x{data[error.start]:02x}; convert the file, for "
            "example with iconv -f latin1 -t UTF-8"
        ) from None


def refuse_strange(asked: Collection[str], columns: Sequence[str], name: str) -> None:
    """Raise if a column that was asked for is not there.

    >>> refuse_strange(["ages"], ["age", "sick"], "here.csv")
    Traceback (most recent call last):
    ValueError: here.csv has no column 'ages'; did you mean 'age'?
    """
    for column in asked:
        if column not in columns:
            near = get_close_matches(column, columns, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(map(repr, columns))}"
            raise ValueError(f"{name} has no column {column!r}; {hint}")


def _refuse_header(header: list[str], name: str, known: Set[str]) -> None:
    for place, column in enumerate(header):
        if not column.strip():
            raise ValueError(f"{name}: column {place + 1} of the header has no name")
        if header.count(column) > 1:
            raise ValueError(f"{name}: the header has {header.count(column)} columns {column!r}; rename them")
    if all(map(_is_number, header)) and not known & set(header):
        raise ValueError(f"{name} has no header: its first line is {', '.join(header[:4])}; add one")


def _count_rows(data: bytes, separator: str, fields: int, name: str) -> int:
    """How many rows there are, all as long as the header; without quotes, counting in lines will do."""
    try:
        if b'"' in data:
            return sum(1 for _ in _rows(data, separator, name)) - 1
        mark, count = separator.encode(), -1  # without the header
        for line in BytesIO(data):  # one by one: a list of them would take as much memory as all data
            if fields == 1 or line.strip(b"\r\n "):
                count += 1
                if line.count(mark) != fields - 1:
                    list(_rows(data, separator, name))  # says where
        return count
    except Ragged as found:
        line, length = found.args
        raise ValueError(
            f"{name}: line {line} has {length} fields, and the header has {fields}; if another character "
            "separates fields, name it with --delimiter"
        ) from None


def _open_quote(data: bytes, name: str) -> str:
    """Where the quotes go wrong: the row that never ends begins at the last line that a row began on."""
    reader = csv.reader(StringIO(data.decode()), strict=True)
    began = 1
    try:
        for _ in reader:
            began = reader.line_num + 1
    except csv.Error:
        pass
    return f"{name}: a quote is opened and never closed, in the row that begins on line {began}"


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
