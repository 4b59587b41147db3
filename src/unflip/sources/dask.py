"""Dask collections: a partition is read where it is, and only its sums travel."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isnan
from typing import Any

import numpy as np

from unflip._extras import extra
from unflip.border.words import in_place, refuse_masked
from unflip.sources.arrow_columns import ChosenColumns
from unflip.sources.batch import Batch, arrays
from unflip.sources.chosen_columns import chosen_columns
from unflip.sources.source import Elsewhere, Source, naming_the_partition


@dataclass(frozen=True, eq=False)
class DaskSource(Elsewhere, Source):
    """Partitions in delayed pieces, and what makes batches of these pieces; made by `dask`."""

    pieces: tuple[tuple[Any, ...], ...]
    load: Callable[..., Iterator[Batch]]

    @property
    def parts(self) -> Sequence[int]:
        """The numbers of the partitions."""
        return range(len(self.pieces))

    def read(self, part: int) -> Iterator[Batch]:
        """The rows of one partition, brought here."""
        with naming_the_partition(part):
            yield from self.load(*extra("dask", "dask").compute(*self.pieces[part]))

    def summed_by(self, sums: Any) -> Any:
        """The sums of all partitions, a task each."""
        return sums.of_partitions(self)

    @property
    def fingerprint(self) -> str:
        """The keys of the pieces, which Dask derives from the data or draws anew."""
        keys = repr([[str(piece.key) for piece in pieces] for pieces in self.pieces])
        return "dask:" + hashlib.sha256(keys.encode()).hexdigest()


def dask(
    X: Any, target: Any = None, weight: Any = None, columns: Sequence[str] | None = None, *, y: Any = None
) -> DaskSource:
    """A source from Dask collections; `accumulate` sums each partition in a task, then the sums as a tree.

    Any scheduler will do. The tree is fixed by the partitions: neither the number of workers nor their deaths
    change a bit of the result. (Dask gives up on a partition after `distributed.scheduler.allowed-failures`
    deaths of its workers, three unless it is told otherwise.)

    Parameters
    ----------
    X : Dask array or data frame, or list or bag of paths
        The rows; paths are those of Parquet files.
    target : str or array-like
        The column of labels of a data frame or of files; the labels themselves for an array.
    weight : str or array-like, optional
        The weights, in the same way.
    columns : list of str, optional
        Names of the features, in this order; all other columns if not given. Those of an array have none.
    y : str or array-like, optional
        What `target` was called in version 0.1.

    Examples
    --------
    >>> import dask.array as da
    >>> from unflip.moments import accumulate
    >>> X = da.from_array(np.array([[0.0], [1.0], [5.0]]), chunks=(2, 1))
    >>> source = dask(X, target=["no", "no", "yes"])
    >>> len(source.parts), accumulate(source).sums.tolist()
    (2, [[1.0], [5.0]])
    """
    if (target is None) == (y is None):
        raise TypeError("dask takes the labels, or the name of their column, once, as target=")
    target = y if target is None else target
    da, db = extra("dask.array", "dask"), extra("dask.bag", "dask")
    if isinstance(X, da.Array):
        if columns is not None:
            raise TypeError("columns are chosen by name, and those of an array have none; take X[:, numbers]")
        return _from_arrays(X, target, weight)
    names = {"target": target, "columns": columns, "weight": weight}
    if hasattr(X, "to_delayed") and hasattr(X, "columns"):
        _refuse_other_than_names(target, weight)
        names["columns"] = chosen_columns(list(X.columns), target, columns, weight)
        parts = X[[*names["columns"], target, *([] if weight is None else [weight])]].to_delayed()
        return DaskSource(tuple((part,) for part in parts), partial(_split_frame, **names))
    if isinstance(X, db.Bag):
        files = X.to_delayed()
    elif isinstance(X, list | tuple) and X and all(isinstance(path, str | os.PathLike) for path in X):
        files = db.from_sequence(map(os.fspath, X), partition_size=1).to_delayed()
    else:
        raise TypeError(
            "dask takes a Dask array, a Dask data frame, or a list or bag of paths of Parquet files; "
            f"this is a {type(X).__name__}"
        )
    _refuse_other_than_names(target, weight)
    if columns is None and isinstance(X, list | tuple):  # later files may have them in another order
        place = os.fspath(X[0])
        with in_place(place), extra("pyarrow.parquet", "io").ParquetFile(X[0]) as first:
            found = ChosenColumns.among(first.schema_arrow, target, None, weight, place)
        names["columns"] = found.features
    return DaskSource(tuple((part,) for part in files), partial(_read_files, **names))


def _refuse_other_than_names(target: Any, weight: Any) -> None:
    for name, value in (("target", target), ("weight", weight)):
        if not isinstance(value, str) and not (name == "weight" and value is None):
            raise TypeError(
                f"for data frames and files, {name} is the name of a column; this is a {type(value).__name__}"
            )


def _from_arrays(X: Any, target: Any, weight: Any) -> DaskSource:
    if X.ndim != 2:
        raise ValueError(f"X is a table of rows and columns, got an array of shape {X.shape}")
    whole = X.rechunk({1: -1})
    sides = [_beside(whole, target, "target")]
    if weight is not None:
        sides.append(_beside(whole, weight, "weight"))
    return DaskSource(tuple(zip(whole.to_delayed().ravel(), *sides, strict=True)), _one_batch)


def _beside(X: Any, values: Any, name: str) -> Sequence[Any]:
    """Labels or weights in the same chunks of rows as X, delayed."""
    da = extra("dask.array", "dask")
    rows = X.chunks[0]
    known = not any(isnan(size) for size in rows)
    if not hasattr(values, "to_delayed"):
        if not known:
            raise TypeError(
                f"the lengths of the chunks of X are unknown, so {name} must be a Dask collection in the "
                "same chunks; or call X.compute_chunk_sizes() first"
            )
        refuse_masked(values, name)
        given = np.asarray(values)
        values = da.from_array(given, chunks=given.shape)
    if isinstance(values, da.Array):
        values = values.rechunk({1: -1}) if values.ndim == 2 else values
        if known and not isnan(values.shape[0]):
            if values.shape[0] != X.shape[0]:
                raise ValueError(f"X has {X.shape[0]} rows, {name} has {values.shape[0]}")
            values = values.rechunk({0: rows})
    blocks = np.ravel(values.to_delayed())
    if len(blocks) != len(rows):
        raise ValueError(
            f"X has {len(rows)} chunks of rows, {name} has {len(blocks)}, and their lengths are unknown; "
            "call compute_chunk_sizes() on both"
        )
    return list(blocks)


def _one_batch(X: Any, y: Any, weight: Any = None) -> Iterator[Batch]:
    if weight is None or np.any(weight):
        yield arrays(X, y, weight)
    else:  # a partition may be without any weight, as long as others have some
        batch = arrays(X, y)
        yield replace(batch, weight=np.zeros(len(batch.labels)))


def _split_frame(rows: Any, target: str, columns: Sequence[str], weight: str | None) -> Iterator[Batch]:
    return _one_batch(rows[list(columns)], rows[target], None if weight is None else rows[weight])


def _read_files(
    paths: list[str], target: str, columns: Sequence[str] | None, weight: str | None
) -> Iterator[Batch]:
    """The rows of Parquet files. One thread reads them: there are other tasks for the others."""
    for path in paths:
        with in_place(path):
            opened = extra("pyarrow.parquet", "io").ParquetFile(path)
        with opened as file:
            choice = ChosenColumns.among(file.schema_arrow, target, columns, weight, path)
            pieces = file.iter_batches(choice.rows, columns=choice.names, use_threads=False)
            yield from choice.batches(pieces, path)
