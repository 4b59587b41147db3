"""CSV as a typed table: all values are read as text, and then each column is what all of its values are."""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches
from io import BytesIO, StringIO
from typing import Any

from unflip._extras import extra
from unflip.tables.types import typed

DELIMITERS = ",;\t|"
csv.field_size_limit(sys.maxsize)  # texts may be long
MARK = b"\xef\xbb\xbf"  # what some programs begin a UTF-8 file with


def read_csv(
    data: bytes,
    name: str,
    delimiter: str | None = None,
    text: Collection[str] = (),
    drop: Collection[str] = (),
    labels: str | None = None,
    only: Collection[str] | None = None,
    dates: dict[str, str] | None = None,
) -> Any:
    """A polars frame from the bytes of a CSV file with a header; `name` is for messages.

    >>> read_csv(b"a;b\\n1;x\\n2,5;y\\n", "here.csv").to_dicts()
    [{'a': 1.0, 'b': 'x'}, {'a': 2.5, 'b': 'y'}]
    """
    frame, separator = as_written(data, name, delimiter)
    refuse_strange((*text, *drop, *([] if labels is None else [labels])), frame.columns, name)
    wanted = [column for column in frame.columns if column not in drop and (only is None or column in only)]
    return typed(frame.select(wanted), name, text, labels, separator != ",", dates)


def as_written(data: bytes, name: str, delimiter: str | None = None) -> tuple[Any, str]:
    """All values as text, nothing changed, and the delimiter.

    >>> as_written(b"a,b\\n007,NA\\n", "here.csv")[0].rows()
    [('007', 'NA')]
    """
    _refuse_other_encodings(data, name)
    data = _lines(data.removeprefix(MARK))
    if data.count(b'"') % 2:
        raise ValueError(_open_quote(data, name))
    first = next(csv.reader(StringIO(data[: 1 << 20].decode(errors="replace")), delimiter="\0"), [])
    separator = delimiter or _likely_delimiter("".join(first))
    try:
        header = next(_rows(data, separator))
        _refuse_header(header, name)
        _refuse_ragged(data, separator, len(header), name)
    except csv.Error as error:
        raise ValueError(f"{name} cannot be read as CSV: {error}") from None
    pl = extra("polars", "io")
    try:
        frame = pl.read_csv(BytesIO(data), separator=separator, infer_schema=False, new_columns=header)
    except pl.exceptions.PolarsError as error:
        reason = next(iter(str(error).splitlines()), "")
        raise ValueError(f"{name} cannot be read as CSV: {reason}") from None
    if not frame.height:
        raise ValueError(f"{name} has a header and no rows")
    return frame.with_columns(pl.all().fill_null("")), separator


def _lines(data: bytes) -> bytes:
    """The same lines without blank ones, which editors leave behind; in a single column they are gaps."""
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    data = data.strip(b"\r\n")
    header = data[: data.find(b"\n")] if b"\n" in data else data
    if not any(delimiter in header.decode() for delimiter in DELIMITERS):
        return data + b"\n"
    kept, inside = [], False  # inside quotes, where a blank line is part of a text
    for line in data.split(b"\n"):
        if inside or line.strip(b"\r "):
            kept.append(line)
        inside ^= line.count(b'"') % 2 == 1
    return b"\n".join(kept) + b"\n"


def _rows(data: bytes, separator: str) -> Iterator[list[str]]:
    return csv.reader(StringIO(data.decode()), delimiter=separator)


def _likely_delimiter(header: str) -> str:
    """The most frequent of the usual ones, outside quotes."""
    outside = "".join(header.split('"')[::2])
    counts = Counter(character for character in outside if character in DELIMITERS)
    return max(DELIMITERS, key=lambda character: counts[character])


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


def _refuse_header(header: list[str], name: str) -> None:
    for place, column in enumerate(header):
        if not column.strip():
            raise ValueError(f"{name}: column {place + 1} of the header has no name")
        if header.count(column) > 1:
            raise ValueError(f"{name}: the header has {header.count(column)} columns {column!r}; rename them")
    if all(map(_is_number, header)):
        raise ValueError(f"{name} has no header: its first line is {', '.join(header[:4])}; add one")


def _refuse_ragged(data: bytes, separator: str, fields: int, name: str) -> None:
    """Rows of another length than the header; where there are no quotes, counting finds out at once."""
    if b'"' not in data:
        lines = [line for line in data.splitlines() if line]
        if data.count(separator.encode()) == len(lines) * (fields - 1) and fields > 1:
            return
    reader = _rows(data, separator)
    for row in reader:
        if len(row) != fields and row:
            raise ValueError(
                f"{name}: line {reader.line_num} has {len(row)} fields, and the header has {fields}"  # type: ignore[attr-defined]
            )


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
