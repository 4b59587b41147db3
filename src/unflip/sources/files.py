"""Files by path: one, several, a pattern, or all below a folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from glob import glob
from pathlib import Path
from typing import Any

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def found_files(path: Paths, endings: tuple[str, ...]) -> tuple[Path, ...]:
    """The files that are meant: a file, a folder, a pattern such as `day-*.parquet`, or a list of these.

    Of a folder, all files below it with one of the endings are taken, sorted by path; names that begin with
    a dot or an underscore are passed over, as other readers do. Folder names such as `year=2024` are names
    only: they add no column.

    >>> found_files("no/such/file.parquet", (".parquet",))
    Traceback (most recent call last):
    FileNotFoundError: there is no file, folder or pattern 'no/such/file.parquet'
    """
    if not isinstance(path, str | os.PathLike):
        files = tuple(file for one in path for file in found_files(one, endings))
        if not files:
            raise ValueError("there are no rows: the list of files is empty")
        return files
    place = Path(path)
    if place.is_dir():
        below = (file for file in place.rglob("*") if file.name.lower().endswith(endings))
        files = tuple(sorted(file for file in below if file.is_file() and not _is_hidden(file, place)))
        if not files:
            raise ValueError(f"{place} has no rows: no file below it ends with {' or '.join(endings)}")
        return files
    if place.exists():
        return (place,)
    files = tuple(Path(file) for file in sorted(glob(str(path), recursive=True)) if os.path.isfile(file))
    if not files:
        raise FileNotFoundError(f"there is no file, folder or pattern {str(path)!r}")
    return files


def _is_hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


def stamps(files: Iterable[Path]) -> list[Any]:
    """What changes when a file does: its path, size and time of change."""
    found = ((file, file.stat()) for file in files)
    return [[str(file.resolve()), facts.st_size, facts.st_mtime_ns] for file, facts in found]
