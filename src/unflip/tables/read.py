"""A whole table from a file or a pipe: what it is shows in its first bytes, whatever its name says."""

from __future__ import annotations

import lzma
import os
import sys
from collections.abc import Collection
from io import BytesIO
from typing import Any

from unflip._extras import extra
from unflip._files import content_of
from unflip.border.long_integers import long_columns
from unflip.tables.text import as_written, read_csv, refuse_strange
from unflip.tables.wanted import Wanted

PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\x00": "xz"}
ARROW_STREAM = b"\xff\xff\xff\xff"


def read_table(
    path: str | os.PathLike[str], wanted: Wanted | None = None, delimiter: str | None = None
) -> Any:
    """A polars frame from CSV, TSV, Parquet or Arrow, compressed or not; "-" is standard input.

    wanted: which columns, and as what. delimiter: of CSV; seen from the header if not given. Errors are
    `ValueError` with the name of the file, and the line or the column.

    >>> read_table("no/such/file.csv")
    Traceback (most recent call last):
    ValueError: there is no file no/such/file.csv
    """
    data, name = _bytes_of(path)
    frame = _binary(data, name)
    if frame is None:
        return read_csv(data, name, wanted, delimiter)
    wanted = wanted or Wanted()
    refuse_strange(wanted.required, frame.columns, name)
    return _without_long_integers(frame.drop(wanted.drop), wanted.labels)


def read_as_written(
    path: str | os.PathLike[str], delimiter: str | None = None, known: Collection[str] = ()
) -> tuple[Any, str | None]:
    """A frame in which nothing of a CSV file is changed, all being text, and its delimiter, if it has one.

    known: names of columns; a line with one of them is a header, also if all of it is numbers.

    >>> read_as_written("no/such/file.csv")
    Traceback (most recent call last):
    ValueError: there is no file no/such/file.csv
    """
    data, name = _bytes_of(path)
    frame = _binary(data, name)
    return as_written(data, name, delimiter, set(known)) if frame is None else (frame, None)


def _bytes_of(path: str | os.PathLike[str]) -> tuple[bytes, str]:
    name = "standard input" if str(path) == "-" else str(path)
    data = _unpacked(_content(path, name), name)
    if not data.strip():
        raise ValueError(f"{name} is empty")
    if data.startswith(b"PK\x03\x04"):
        raise ValueError(f"{name} is a zip archive or a workbook; unpack it, or save it as CSV")
    return data, name


def _binary(data: bytes, name: str) -> Any:
    """The frame of a Parquet or Arrow file; None for any other."""
    pl = extra("polars", "io")
    readers = {b"PAR1": pl.read_parquet, b"ARROW1": pl.read_ipc, ARROW_STREAM: pl.read_ipc_stream}
    for magic, reader in readers.items():
        if data.startswith(magic):
            return _decoded(reader, data, name)
    return None


def _without_long_integers(frame: Any, labels: str | None) -> Any:
    """Integers that NumPy does not have as numbers that it has; labels stay, as no two must become one."""
    pl = extra("polars", "io")
    long = [name for name in long_columns(frame) if name != labels]
    return frame.with_columns(pl.col(long).cast(pl.Float64))


def _content(path: str | os.PathLike[str], name: str) -> bytes:
    if str(path) == "-":
        return sys.stdin.buffer.read()
    try:
        return content_of(path)
    except FileNotFoundError:
        raise ValueError(f"there is no file {name}") from None
    except IsADirectoryError:
        raise ValueError(f"{name} is a folder; name one file in it") from None
    except OSError as error:
        raise ValueError(f"{name} cannot be read: {error.strerror}") from None


def _unpacked(data: bytes, name: str) -> bytes:
    kind = next((kind for magic, kind in PACKED.items() if data.startswith(magic)), None)
    if kind is None:
        return data
    try:
        if kind == "xz":
            return lzma.decompress(data)
        pa = extra("pyarrow", "io")
        with pa.CompressedInputStream(pa.BufferReader(data), kind) as stream:
            return bytes(stream.read())
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise ValueError(f"{name} is damaged: its {kind} content ends early or is no {kind}") from error


def _decoded(reader: Any, data: bytes, name: str) -> Any:
    pl = extra("polars", "io")
    try:
        return reader(BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = next(iter(str(error).splitlines()), "it cannot be decoded")
        raise ValueError(f"{name} is damaged: {reason}") from error
