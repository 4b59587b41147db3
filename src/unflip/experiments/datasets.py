"""The paper's data: loaded, checked, and named when it cannot be had.

Four tables travel with the package and iris with scikit-learn. Three have no licence that lets us ship
them: they are read from a folder that the user names, by argument or in UNFLIP_DATA.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import os
import zlib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from unflip.border.arrays import Array
from unflip.experiments.catalogue import CATALOGUE, Entry


class MissingDatasetError(FileNotFoundError):
    """A dataset that is neither shipped nor in the folder the user named; the message says what to do."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows as they come (numbers, or categories as strings), names of columns, and labels -1 and +1.

    target holds the classes as they come, of which the paper sets one against the rest.

    >>> load("ionosphere").X.shape
    (351, 34)
    """

    name: str
    X: Array
    y: Array
    columns: tuple[str, ...]
    categorical: bool
    target: Array


def load(name: str, data_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """A dataset of the paper by its name, checked for size, class counts and content.

    >>> iris = load("iris")
    >>> iris.X.shape, int((iris.y == 1).sum())
    ((150, 4), 50)
    """
    if name not in CATALOGUE:
        raise ValueError(f"no dataset is called {name!r}; choose one of {', '.join(CATALOGUE)}")
    entry = CATALOGUE[name]
    if entry.origin == "scikit-learn":
        return checked(name, entry, *_iris())
    content, origin = _content(name, entry, data_dir)
    try:
        return checked(name, entry, *parse(content))
    except ValueError as error:
        raise ValueError(f"{origin} cannot be used: {error}") from None


def is_available(name: str, data_dir: str | os.PathLike[str] | None = None) -> bool:
    """Can this dataset be loaded without fetching it?

    >>> is_available("spambase")
    True
    """
    entry = CATALOGUE[name]
    return entry.origin != "elsewhere" or _path(name, data_dir) is not None


def checked(name: str, entry: Entry, columns: list[str], rows: list[list[str]]) -> Dataset:
    """The dataset of a parsed table, if it is the one of the catalogue."""
    positives = sum(row[-1] == entry.positive for row in rows)
    found = (len(rows), len(columns) - 1, positives)
    expected = (entry.n_rows, entry.n_columns, entry.n_positives)
    if found != expected:
        raise ValueError(
            f"{name} should have {expected[0]} rows, {expected[1]} columns and {expected[2]} rows of class "
            f"{entry.positive!r}, but has {found[0]}, {found[1]} and {found[2]}"
        )
    if content_digest(rows, entry.categorical, entry.ordered) != entry.digest:
        order = ", or not its order" if entry.ordered else ""
        raise ValueError(f"{name} has the right size but not the content of the paper's data{order}")
    if not entry.ordered:  # copies differ in the order of rows; results should not
        rows = sorted(rows, key=lambda row: _tidy(row, entry.categorical))
    values = [row[:-1] for row in rows]
    X = np.array(values, dtype=object if entry.categorical else np.float64)
    target = np.array([row[-1] for row in rows])
    y = np.where(target == entry.positive, 1, -1)
    return Dataset(name, X, y, tuple(columns[:-1]), entry.categorical, target)


def parse(content: bytes) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a CSV, compressed or not.

    >>> parse(b"size,target\\n2.0,yes\\n")
    (['size', 'target'], [['2.0', 'yes']])
    """
    try:
        text = (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode("utf-8")
        header, *rows = csv.reader(io.StringIO(text))
    except (EOFError, OSError, ValueError, zlib.error, csv.Error):
        raise ValueError("it is empty, cut short or no CSV") from None
    return header, rows


def content_digest(rows: list[list[str]], categorical: bool, ordered: bool = False) -> str:
    """SHA-256 of what the rows say, not of how they are written: spelling of numbers aside, and order.

    >>> one, other = [["2", "a"], ["1.50", "b"]], [["1.5", "b"], ["2.0", "a"]]
    >>> content_digest(one, categorical=False) == content_digest(other, categorical=False)
    True
    """
    tidy = [_tidy(row, categorical) for row in rows]
    return hashlib.sha256("\n".join(tidy if ordered else sorted(tidy)).encode()).hexdigest()


def _tidy(row: list[str], categorical: bool) -> str:
    values = row[:-1] if categorical else [repr(float(value)) for value in row[:-1]]
    return "\x1f".join([*values, row[-1]])


def _content(name: str, entry: Entry, data_dir: str | os.PathLike[str] | None) -> tuple[bytes, Any]:
    """The bytes of a dataset and where they come from."""
    if entry.origin == "shipped":
        shipped = files("unflip.experiments").joinpath("data", f"{name}.csv.gz")
        return shipped.read_bytes(), shipped
    path = _path(name, data_dir)
    if path is None:
        raise MissingDatasetError(
            f"{name} may not be shipped with unflip: put {name}.csv.gz into a folder and name the folder in "
            f"--data-dir or UNFLIP_DATA, or run: unflip datasets fetch {name}"
        )
    return path.read_bytes(), path


def _path(name: str, data_dir: str | os.PathLike[str] | None) -> Path | None:
    folder = data_dir or os.environ.get("UNFLIP_DATA")
    candidates = [Path(folder, name + ending) for ending in (".csv.gz", ".csv")] if folder else []
    return next((path for path in candidates if path.is_file()), None)


def _iris() -> tuple[list[str], list[list[str]]]:
    from sklearn.datasets import load_iris

    iris = load_iris()
    rows = [
        [*map(str, row), str(iris.target_names[k])]
        for row, k in zip(iris.data.tolist(), iris.target, strict=True)
    ]
    return [*iris.feature_names, "target"], rows
