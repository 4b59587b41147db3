"""The one pass: rows in, moments out."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

from unflip._threads import workers
from unflip.moments.checkpoint import Checkpoint
from unflip.moments.cluster import cluster_moments
from unflip.moments.database import database_moments
from unflip.moments.moments import Moments
from unflip.moments.one_batch import batch_moments
from unflip.sources import Batch, Source, batches
from unflip.sources.dask import DaskSource
from unflip.sources.sql import SqlSource


def accumulate(
    source: Any,
    features: Any = None,
    degree: int = 1,
    summation: str = "fast",
    checkpoint: str | os.PathLike[str] | None = None,
) -> Moments:
    """The moments of a source, or of a plain (X, y) or (X, y, weight), in one pass.

    features: a fitted, label-free map (any scikit-learn transformer). degree: 2 keeps the second moment too,
    as the square loss needs. summation: "exact" sums without rounding, so that chunks, order, threads and
    merges cannot change a bit (degree one, raw columns, Standardize, Quantile, OneHot, Fourier). checkpoint:
    a file that holds moments and position every few parts; a pass that is started again goes on from there.
    Sources made by `sql` and `dask` are summed where their rows are, and only sums come here.

    >>> moments = accumulate(([[1.0, 0.0], [3.0, 4.0]], ["no", "yes"]), degree=2)
    >>> moments.sums.tolist(), moments.second.tolist()
    ([[1.0, 0.0], [3.0, 4.0]], [[10.0, 12.0], [12.0, 16.0]])
    """
    if degree not in (1, 2):
        raise ValueError(f"degree is 1 or 2, got {degree!r}")
    if summation not in ("fast", "exact"):
        raise ValueError(f"summation is 'fast' or 'exact', got {summation!r}")
    if summation == "exact" and degree == 2:
        raise ValueError("summation='exact' is for degree one; the second moment has no exact form here")
    if isinstance(source, SqlSource | DaskSource) and checkpoint is not None:
        raise ValueError("a checkpoint is for rows that are read here, not in a database or a cluster")
    if isinstance(source, SqlSource):
        return database_moments(source, features, degree, summation)
    if isinstance(source, DaskSource):
        return cluster_moments(source, features, degree, summation)
    one = partial(batch_moments, features=features, degree=degree, summation=summation)
    kept = Checkpoint.beside(checkpoint, source, features, degree, summation)
    total = _sum_parts(source, one, kept) if isinstance(source, Source) else _sum_batches(source, one, kept)
    if total is None:
        raise ValueError("the source has no rows")
    if total.classes and not total.counts.any():
        raise ValueError("every row has weight zero; at least one weight must be positive")
    kept.done()
    return total


def _sum_parts(source: Source, one: Callable[[Batch], Moments], kept: Checkpoint) -> Moments | None:
    """Parts are read by several threads, and summed in their order."""

    def read(part: Any) -> Moments | None:
        total = None
        for found in map(one, source.read(part)):  # no batch is kept while the next is read
            total = found if total is None else total + found
        return total

    position, total = kept.load()
    with workers(None) as spread:
        for found in spread(read, source.parts[position:]):
            position += 1
            if found is not None:
                total = found if total is None else total + found
            kept.save(position, total)
    return total


def _sum_batches(source: Any, one: Callable[[Batch], Moments], kept: Checkpoint) -> Moments | None:
    position, total = kept.load()
    place = -1
    for place, batch in enumerate(batches(source)):
        if place < position:
            continue
        found = one(batch)
        total = found if total is None else total + found
        kept.save(place + 1, total)
    if place + 1 < position:
        raise ValueError(
            f"{kept.path} holds the sums of {position} batches, and the source has {place + 1}: "
            "it is another one"
        )
    return total
