"""Rows that a model keeps where sums are not enough: joined, or found again and taken away."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from unflip.border.arrays import Array
from unflip.sources import Batch

WEIGHT_ROUNDING = 1e-12  # of a weight: what is left when 0.3 goes in three parts of 0.1


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Rows X (dense or CSR), class memberships (n, K) and positive weights (n,).

    >>> kept = KeptRows(np.array([[1.0], [2.0]]), np.eye(2), np.array([3.0, 1.0]))
    >>> kept.counts.tolist()
    [3.0, 1.0]
    """

    X: Any
    member: Array
    weight: Array

    @classmethod
    def of(cls, batch: Batch) -> Self:
        """The rows of a batch that count at all."""
        counting = np.flatnonzero(batch.weight > 0)
        return cls(batch.X[counting], batch.labels.membership[counting], batch.weight[counting])

    @property
    def masses(self) -> Array:
        """What each row adds to each class, (n, K)."""
        return self.weight[:, None] * self.member

    @property
    def counts(self) -> Array:
        """The weight of each class, (K,)."""
        return self.weight @ self.member

    def __add__(self, other: KeptRows) -> KeptRows:
        theirs = _in_the_manner_of(self.X, other.X)
        thin = sparse.issparse(self.X)
        return KeptRows(
            sparse.vstack([self.X, theirs], format="csr") if thin else np.vstack([self.X, theirs]),
            np.vstack([self.member, other.member]),
            np.concatenate([self.weight, other.weight]),
        )

    def without(self, gone: KeptRows, numbers: Array) -> tuple[Array, KeptRows]:
        """The places of the rows that are left, and these rows, with what is left of their weight.

        A row is found by its values and its label. `numbers` are what messages call the rows that go.

        >>> kept = KeptRows(np.array([[1.0], [2.0]]), np.eye(2), np.array([3.0, 1.0]))
        >>> places, rest = kept.without(KeptRows(np.array([[1.0]]), np.eye(2)[:1], np.array([2.0])), [0])
        >>> rest.weight.tolist()
        [1.0, 1.0]
        """
        places = defaultdict(list)
        for place, name in enumerate(_names(self.X, self.member)):
            places[name].append(place)
        left = self.weight.copy()
        names = _names(_in_the_manner_of(self.X, gone.X), gone.member)
        for row, name, weight in zip(numbers, names, gone.weight, strict=True):
            rest = weight
            for place in places[name]:
                taken = min(rest, left[place])
                left[place] -= taken
                rest -= taken
            if rest > WEIGHT_ROUNDING * weight:
                raise ValueError(
                    f"row {row} cannot be taken away: no fitted row has its values, label and so much weight"
                )
        stay = np.flatnonzero(left > WEIGHT_ROUNDING * self.weight)
        return stay, KeptRows(self.X[stay], self.member[stay], left[stay])


def _in_the_manner_of(kept: Any, X: Any) -> Any:
    """X as a CSR matrix or as an array, like the rows that are kept."""
    if sparse.issparse(kept) == sparse.issparse(X):
        return X
    return X.toarray() if sparse.issparse(X) else type(kept)(X)


def _names(X: Any, member: Array) -> Iterator[bytes]:
    """A name for each row that equal rows with equal labels share."""
    labels = (row.tobytes() for row in member)
    if not sparse.issparse(X):
        yield from (row.tobytes() + label for row, label in zip(X + 0.0, labels, strict=True))  # no -0
        return
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    for start, stop, label in zip(X.indptr[:-1], X.indptr[1:], labels, strict=True):
        yield X.indices[start:stop].astype(np.int64).tobytes() + X.data[start:stop].tobytes() + label
