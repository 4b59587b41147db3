"""Means that a few outliers cannot carry away: rows are dealt into blocks, and each block has its own sums.

Of 4 m + 1 blocks an outlier spoils the one it lies in, so m of them spoil fewer than a quarter, wherever they
lie; `unflip.moments.median` makes means of the blocks that withstand this.

A row's block is a hash of its own content, and no label is looked at. So order, chunks and merges do not
matter, what is forgotten leaves the block it came into, and sparse rows go where dense ones go.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from unflip.border.arrays import Array, to_numpy
from unflip.border.blocks import row_blocks
from unflip.moments.median import median_of_means
from unflip.moments.moments import Moments
from unflip.passes.host import without_duplicates
from unflip.passes.one_batch import batch_moments
from unflip.sources.batch import Batch, batches
from unflip.sources.source import Elsewhere

MOST_OUTLIERS = 100_000  # of as many blocks, four times, sums are kept


def robust_moments(source: Any, features: Any = None, *, outliers: int, seed: int = 0) -> Moments:
    """Moments whose class means withstand up to `outliers` rows of any values: median of means.

    source, features: as for `accumulate`. outliers: how many rows may be spoiled, all classes together.
    seed: of the hash that deals rows into 4 outliers + 1 blocks. Counts are plain counts. Means, and the mean
    of squares, are medians over the blocks; sums are counts times means. A class needs rows in
    2 outliers + 1 blocks; with fewer, were it one row with a label of its own, it is refused by its name.

    >>> from unflip.moments import accumulate
    >>> X, y = [[0.01 * i] for i in range(300)] + [[1e150]], [0] * 301
    >>> plain, robust = accumulate((X, y)), robust_moments((X, y), outliers=1)
    >>> plain.mean.tolist(), robust.mean.round(2).tolist()
    ([3.322259136212624e+147], [1.49])
    """
    return median_of_means(block_moments(source, features, outliers=outliers, seed=seed))


def block_moments(source: Any, features: Any = None, *, outliers: int, seed: int = 0) -> tuple[Moments, ...]:
    """The moments of each of the 4 outliers + 1 blocks: what merges, and what rows can be taken from.

    Parts of a table, read with the same arguments, are merged by adding block to block.

    >>> here, there = (block_moments(([[x]], [0]), outliers=1) for x in (1.0, 2.0))
    >>> sum(a + b for a, b in zip(here, there)).sums.tolist()
    [[3.0]]
    """
    if not isinstance(outliers, Integral) or not 0 <= outliers <= MOST_OUTLIERS:
        raise ValueError(f"outliers is a number of rows, from 0 to {MOST_OUTLIERS}, got {outliers!r}")
    if not isinstance(seed, Integral) or seed < 0:  # drawn anew, it would deal each batch otherwise
        raise ValueError(f"the seed is a whole number, 0 or more, got {seed!r}")
    if isinstance(source, Elsewhere):
        raise ValueError(
            "robust moments are of rows that are read here, not in a database or a cluster; "
            "call block_moments on parts of the rows and add block to block"
        )
    total: list[Moments | None] = [None] * (4 * int(outliers) + 1)
    for batch in batches(source):
        for block, found in _of_batch(_on_host(batch), features, len(total), seed):
            old = total[block]
            total[block] = found if old is None else old + found
    some = next((moments for moments in total if moments is not None), None)
    if some is None:
        raise ValueError("the source has no rows")
    nothing = Moments.zero(some.sums.shape[1], some.key)
    return tuple(nothing if moments is None else moments for moments in total)


def _on_host(batch: Batch) -> Batch:
    X = to_numpy(batch.X) if batch.foreign else batch.X
    X = without_duplicates(X) if sparse.issparse(X) else X
    return replace(batch, X=X, labels=batch.labels.beside(X), weight=to_numpy(batch.weight), foreign=False)


def _of_batch(batch: Batch, features: Any, n_blocks: int, seed: int) -> list[tuple[int, Moments]]:
    """The moments of those blocks that have rows in this batch."""
    block = _block_of(batch.X, n_blocks, seed)
    order: Any = np.argsort(block, kind="stable")
    X, labels, weight = batch.X[order, :], batch.labels[order], batch.weight[order]
    ends = np.flatnonzero(np.diff(block[order], append=-1)) + 1
    found = []
    for start, stop in zip([0, *ends], ends, strict=False):
        rows = slice(start, stop)
        part = replace(batch, X=X[rows], labels=labels[rows], weight=weight[rows])
        try:
            found.append((int(block[order[start]]), batch_moments(part, features)))
        except ValueError:
            batch_moments(batch, features)  # says the same, and calls rows by their own numbers
            raise
    return found


def _block_of(X: Any, n_blocks: int, seed: int) -> Array:
    """The block of each row: a hash of its numbers as float64. Zeros add nothing, so sparse rows agree."""
    # Streams of bit generators, unlike those of generators, never change.
    odd = np.random.PCG64(seed).random_raw(X.shape[1]) | np.uint64(1)
    if sparse.issparse(X):
        grown = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_mixed_bits(X.data) * odd[X.indices])])
        sums = grown[X.indptr[1:]] - grown[X.indptr[:-1]]  # modulo 2^64, as all of this
    else:
        sums = np.empty(X.shape[0], np.uint64)
        for rows in row_blocks(*X.shape):
            sums[rows] = (_mixed_bits(X[rows, :]) * odd).sum(axis=1, dtype=np.uint64)
    return (_mixed(sums) % np.uint64(n_blocks)).astype(np.intp)


def _mixed_bits(values: Array) -> Array:
    # Adding zero makes 0.0 of -0.0. Whole numbers end in many zero bits, and so would plain products of them.
    return _mixed((np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64))


def _mixed(bits: Array) -> Array:
    """Every bit of the result depends on every bit given, and zero stays zero (the finish of SplitMix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
