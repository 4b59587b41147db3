"""Rows that are copies of others: their labels are copies too, so they leave together.

Leaving out one of two equal rows leaves the other, which has the same label, right or wrong. Every score
would confirm its own label, and wrong labels would look right.
"""

from __future__ import annotations

import numpy as np

from unflip.border.arrays import Array

FEW_VALUES, CROWDED = (
    20,
    10,
)  # different rows, and equal ones on average: columns of few values, and nobody copied


def copies(X: Array) -> Array | None:
    """A number for each row, equal for equal rows; None if there are no copies. It never looks at labels.

    >>> X = np.arange(40.0).reshape(20, 2)
    >>> copies(np.vstack([X, X[:3]]))[-3:].tolist(), copies(X)
    ([0, 1, 2], None)
    """
    first, codes = np.unique(marks_of(X), return_index=True, return_inverse=True)[1:]
    if not max(FEW_VALUES, len(X) / CROWDED) <= len(first) < len(X):
        return None
    return np.asarray(np.argsort(np.argsort(first))[codes])  # numbered as they come


def distinct(rows: Array) -> Array:
    """The rows without those that equal an earlier one: a landmark that is there twice spans nothing more.

    >>> distinct(np.array([[2.0], [1.0], [2.0]])).tolist()
    [[2.0], [1.0]]
    """
    return rows[np.sort(np.unique(rows, axis=0, return_index=True)[1])]


def marks_of(X: Array) -> Array:
    """64 bits of each row, (n,), alike for equal rows and hardly ever for others.

    >>> one, other, same = marks_of(np.array([[0.0, 1.0], [1.0, 0.0], [-0.0, 1.0]]))
    >>> bool(one == same != other)
    True
    """
    bits = (np.ascontiguousarray(X, dtype=np.float64) + 0.0).view(np.uint64)  # minus zero is zero
    factors = np.random.default_rng(0).integers(0, 2**63, X.shape[1], dtype=np.uint64) * 2 + 1
    marks = np.zeros(len(X), dtype=np.uint64)
    for column, factor in zip(bits.T, factors, strict=True):
        mixed = (column ^ (column >> np.uint64(33))) * factor
        marks += (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return marks
