"""What a table map must know of plain columns of numbers, summed over rows that are read in batches.

Facts of two sets of rows add up to those of both: ends, mean and variance, whether numbers are whole, and a
sum of hashes, which tells whether whole numbers are all those of their range, each once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from unflip.border.arrays import Array

DIGIT = 11  # bits that a pass finds of each median


@dataclass(frozen=True, eq=False)
class ColumnFacts:
    """rows: how many there are; known: (d,), how many have a number; labels: how many have each label.

    low, high, mean, squares (about the mean), whole, hashes: (d,), of the numbers that are known.
    """

    rows: int
    known: Array
    low: Array
    high: Array
    mean: Array
    squares: Array
    whole: Array
    hashes: Array
    labels: Counter[Any]

    @classmethod
    def of(cls, X: Array, labels: Counter[Any]) -> Self:
        """The facts of some rows, NaN being a gap; numbers that cannot be squared are refused."""
        gaps = np.isnan(X)
        known = len(X) - gaps.sum(axis=0)
        filled = np.where(gaps, 0.0, X)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = filled.sum(axis=0) / np.maximum(known, 1)
            squares = np.where(gaps, 0.0, (X - mean) ** 2).sum(axis=0)
        if not np.isfinite(squares).all():
            raise ValueError("some numbers are infinite, or too large to be squared")
        whole = (filled == np.floor(filled)).all(axis=0)
        hashes = np.zeros(X.shape[1], np.uint64)
        counted = np.where(gaps[:, whole], np.uint64(0), _hashed(filled[:, whole]))
        hashes[whole] = counted.sum(axis=0, dtype=np.uint64)
        low, high = np.where(gaps, np.inf, X).min(axis=0), np.where(gaps, -np.inf, X).max(axis=0)
        return cls(len(X), known, low, high, mean, squares, whole, hashes, labels)

    def __add__(self, other: ColumnFacts) -> ColumnFacts:
        known = self.known + other.known
        apart, share = other.mean - self.mean, other.known / np.maximum(known, 1)
        return ColumnFacts(
            self.rows + other.rows,
            known,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.mean + apart * share,
            self.squares + other.squares + apart**2 * share * self.known,
            self.whole & other.whole,
            self.hashes + other.hashes,
            self.labels + other.labels,
        )

    def numbers_rows(self, j: int) -> bool:
        """Whether a column holds each whole number of its range once, or 64 bits agree by chance."""
        if not self.whole[j] or self.high[j] - self.low[j] + 1 != self.known[j]:
            return False
        low, end, block = int(self.low[j]), int(self.high[j]) + 1, 1 << 20
        total = np.zeros(1, np.uint64)
        for start in range(low, end, block):
            values = np.arange(start, min(start + block, end), dtype=np.float64)
            total += _hashed(values).sum(dtype=np.uint64)
        return bool(total[0] == self.hashes[j])


class Medians:
    """The medians of columns, exactly, from one pass for every `DIGIT` bits of a float.

    Floats are ordered as integers are, once the bits of negative ones are turned. Each pass counts, among the
    numbers that begin as a median does, the next digit, and so finds it.
    """

    def __init__(self, known: Array) -> None:
        # Of an even number the two in the middle are found, and their mean taken; of none, nothing.
        self.ranks = np.where(known > 0, [(known - 1) // 2, known // 2], -1)
        self.prefixes = np.zeros(self.ranks.shape, np.uint64)
        self.left = 64  # bits that are not known yet

    def counts(self, X: Array) -> Array:
        """How often each next digit comes after each prefix, (2, columns, digits)."""
        digit = min(DIGIT, self.left)
        found = np.zeros((2, X.shape[1], 1 << digit), np.int64)
        for j in range(X.shape[1]):
            gaps = np.isnan(X[:, j])
            keys = _ordered(X[~gaps, j] if gaps.any() else X[:, j])
            digits = ((keys >> np.uint64(self.left - digit)) & np.uint64((1 << digit) - 1)).astype(np.intp)
            for which in range(2):
                if which and self.prefixes[0, j] == self.prefixes[1, j]:
                    found[1, j] = found[0, j]
                    continue
                mine = digits
                if self.left < 64:
                    mine = digits[keys >> np.uint64(self.left) == self.prefixes[which, j]]
                found[which, j] = np.bincount(mine, minlength=1 << digit)
        return found

    def learn(self, counts: Array) -> None:
        """Take the next digit of each median from the counts of all rows."""
        digit = min(DIGIT, self.left)
        below = np.cumsum(counts, axis=2)
        at = (below <= self.ranks[..., None]).sum(axis=2)
        before = np.take_along_axis(below - counts, at[..., None], axis=2)[..., 0]
        self.ranks = self.ranks - before
        self.prefixes = (self.prefixes << np.uint64(digit)) | at.astype(np.uint64)
        self.left -= digit

    @property
    def values(self) -> Array:
        """The medians, once no bit is left."""
        top = np.uint64(1 << 63)
        bits = np.where(self.prefixes & top, self.prefixes ^ top, ~self.prefixes)
        return np.asarray(bits.view(np.float64).mean(axis=0))


def _ordered(X: Array) -> Array:
    """Floats as unsigned integers in the same order.

    >>> _ordered(np.array([-2.0, -1.0, 0.0, 3.0])).argsort().tolist()
    [0, 1, 2, 3]
    """
    bits = np.ascontiguousarray(X + 0.0, np.float64).view(np.uint64)  # of zeros there is one
    top = np.uint64(1 << 63)
    return np.asarray(np.where(bits & top, ~bits, bits | top))


def _hashed(values: Array) -> Array:
    """Sixty-four bits that look like chance (the finaliser of splitmix64)."""
    z = np.ascontiguousarray(values + 0.0).view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))
