"""The one pass: rows in, moments out."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

from unflip.features import FeatureMap, Transformed
from unflip.moments.moments import Moments
from unflip.passes.checkpoint import Checkpoint
from unflip.passes.cluster import tree_of_tasks
from unflip.passes.database import database_moments
from unflip.passes.one_batch import batch_moments
from unflip.passes.walk import fold
from unflip.sources.batch import Batch
from unflip.sources.source import Elsewhere


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
    away = isinstance(source, Elsewhere)
    if away and checkpoint is not None:
        raise ValueError("a checkpoint is for rows that are read here, not in a database or a cluster")
    sums = SumsOfRows(features, degree, summation)
    kept = Checkpoint.beside(checkpoint, source, features, degree, summation)
    total = source.summed_by(sums) if away else fold(source, sums.of_batch, kept)
    if total is None:
        raise ValueError("the source has no rows")
    if total.classes and not total.counts.any():
        raise ValueError("the weight is zero in every row; at least one weight must be positive")
    kept.done()
    return total


@dataclass(frozen=True)
class SumsOfRows:
    """Which sums a pass takes of rows, whatever way the rows come."""

    features: Any
    degree: int
    summation: str

    def of_batch(self, batch: Batch) -> Moments:
        """The moments of one batch."""
        return batch_moments(batch, self.features, self.degree, self.summation)

    def of_partitions(self, source: Any) -> Moments | None:
        """The moments of partitions on a cluster."""
        features = self.features
        if features is not None and not isinstance(features, FeatureMap):
            features = Transformed(features)  # with a key that other processes do not have to find again
        return tree_of_tasks(source, replace(self, features=features).of_batch)

    def of_aggregates(self, source: Any) -> Moments:
        """The moments that queries return."""
        return database_moments(source, self.features, self.degree, self.summation)
