"""A sample of rows from anywhere, in one pass, the same whatever the parts, and without a look at labels.

Row i has a key, a hash of i. The sample is the rows of positive weight with the smallest keys, in their
order. Samples of parts make the sample of the whole, so that a pass may run in any order and on any machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from unflip.border.arrays import Array, is_foreign, to_numpy
from unflip.border.blocks import ROWS_IN_BLOCK, slices
from unflip.border.labels import Labels
from unflip.passes.anywhere import sum_in_order
from unflip.sources import Batch, Source

NUMBER_KINDS = "biuf"  # of labels, which do not mix with text


@dataclass(frozen=True, eq=False)
class Sample:
    """At most `most` rows, with what all rows have in common.

    X: (m, d). masses: (m, K), P(class | row) of the classes. weight: (m,). places: (m,), their numbers among
    all rows, ascending. keys: (m,). rows, total: how many rows of positive weight there were, and their
    weight. names: of the columns, if they have any.
    """

    X: Any
    masses: Array
    weight: Array
    places: Array
    keys: Array
    classes: Array
    rows: int
    total: float
    names: tuple[str, ...] | None
    probabilities: int
    most: int

    @classmethod
    def of(cls, batch: Batch, first: int, seed: int, most: int) -> Sample:
        """From one batch, whose first row has this number."""
        weight = to_numpy(batch.weight)
        counting = np.flatnonzero(weight > 0)
        keys = keys_of(first + counting, seed)
        chosen = _smallest(keys, most)
        some = counting[chosen]
        return cls(
            X=_safe_indexing(plain(batch.X), some),
            masses=batch.labels[some].membership,
            weight=weight[some],
            places=first + some,
            keys=keys[chosen],
            classes=batch.labels.classes,
            rows=len(counting),
            total=float(weight.sum()),
            names=batch.names,
            probabilities=batch.labels.probabilities,
            most=most,
        )

    def __add__(self, other: Sample) -> Sample:
        classes = self.classes
        if self.X.shape[1] != other.X.shape[1]:
            raise ValueError(
                f"batches of a source have the same columns; one has {self.X.shape[1]}, a later one "
                f"{other.X.shape[1]}"
            )
        if classes.tolist() != other.classes.tolist():
            if (classes.dtype.kind in NUMBER_KINDS) != (other.classes.dtype.kind in NUMBER_KINDS):
                one, two = classes.tolist()[0], other.classes.tolist()[0]
                raise ValueError(f"labels are of mixed types: {one!r} in one batch, {two!r} in another")
            classes = np.unique(np.concatenate([classes, other.classes]))
        keys = np.concatenate([self.keys, other.keys])
        places = np.concatenate([self.places, other.places])
        kept = _smallest(keys, self.most)
        kept = kept[np.argsort(places[kept])]
        stack = sparse.vstack if sparse.issparse(self.X) else np.vstack
        return Sample(
            X=stack([self.X, other.X])[kept],
            masses=np.vstack([_among(self, classes), _among(other, classes)])[kept],
            weight=np.concatenate([self.weight, other.weight])[kept],
            places=places[kept],
            keys=keys[kept],
            classes=classes,
            rows=self.rows + other.rows,
            total=self.total + other.total,
            names=self.names,
            probabilities=max(self.probabilities, other.probabilities),
            most=self.most,
        )

    @property
    def labels(self) -> Labels:
        """The labels of the sample, among the classes of all rows."""
        hard = (self.masses == 1).sum(axis=1) == 1
        if hard.all():
            return Labels(self.classes, self.masses.argmax(axis=1))
        return Labels(self.classes, None, sparse.csc_array(self.masses.T), self.probabilities)


@dataclass(frozen=True, eq=False)
class RowsAndLabels(Source):
    """Rows of any kind in memory: sampled at once, and summed in slices."""

    X: Any
    labels: Labels
    weight: Array

    @property
    def parts(self) -> Sequence[slice]:
        """Slices of the rows."""
        return slices(0, len(self.labels), ROWS_IN_BLOCK)

    def read(self, part: slice) -> Iterator[Batch]:
        """One slice, in one batch."""
        yield Batch(_safe_indexing(self.X, part), self.labels[part], self.weight[part])

    def __iter__(self) -> Iterator[Batch]:
        yield Batch(self.X, self.labels, self.weight)

    @property
    def fingerprint(self) -> str:
        """Never asked for: a pass over memory has no checkpoint."""
        return f"{len(self.labels)} rows in memory"


def draw(source: Any, most: int, seed: int) -> Sample:
    """The sample of a source.

    >>> from unflip.sources import arrays
    >>> X, y = np.arange(6.0)[:, None], [0, 1] * 3
    >>> parts = [arrays(X[:1], y[:1]), arrays(X[1:], y[1:])]
    >>> draw(arrays(X, y), 3, 0).places.tolist() == draw(parts, 3, 0).places.tolist()
    True
    """
    found = sum_in_order(source, partial(Sample.of, seed=seed, most=most))
    if found is None or not found.rows:
        raise ValueError("the source has no rows of positive weight")
    assert isinstance(found, Sample)
    return found


def plain(X: Any) -> Any:
    """Rows as an array, a sparse matrix or a frame, wherever they were and however a file holds them."""
    ready = isinstance(X, np.ndarray) or sparse.issparse(X) or hasattr(X, "dtypes")  # a frame
    return X if ready else np.asarray(to_numpy(X) if is_foreign(X) else X)


def keys_of(numbers: Array, seed: int) -> Array:
    """64 bits for each row number, as good as drawn (the finaliser of SplitMix64).

    >>> bool(len(np.unique(keys_of(np.arange(1000), 0))) == 1000)
    True
    """
    x = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def _smallest(keys: Array, most: int) -> Array:
    """The places of at most so many keys, ascending."""
    if len(keys) <= most:
        return np.arange(len(keys))
    return np.sort(np.argpartition(keys, most - 1)[:most])


def _among(sample: Sample, classes: Array) -> Array:
    """The masses with a column for each of more classes."""
    if sample.classes.tolist() == classes.tolist():
        return sample.masses
    masses = np.zeros((len(sample.masses), len(classes)))
    masses[:, np.searchsorted(classes, sample.classes)] = sample.masses
    return masses
