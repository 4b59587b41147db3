"""Means that a few outliers cannot carry away: median of means, at the level of moments.

Rows are dealt into 4 m + 1 blocks, each block has sums of its own, and the mean of a class is the geometric
median of its block means. An outlier spoils the one block it lies in, so m of them spoil fewer than a quarter
of all blocks, wherever they lie. Let a share alpha < 1/2 of the block means be spoiled, and all others lie
within r of the truth. Then their geometric median lies within C r of it, C = (1 - alpha) / sqrt(1 - 2 alpha)
(Minsker 2015, Lemma 2.1): 1.061 at a quarter.

A row's block is a hash of its own content, and no label is looked at. So order, chunks and merges do not
matter, what is forgotten leaves the block it came into, and sparse rows go where dense ones go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from unflip._arrays import is_foreign, to_numpy
from unflip.moments.frame import without_duplicates
from unflip.moments.moments import Array, Moments
from unflip.moments.one_batch import batch_moments
from unflip.sources import Batch, batches
from unflip.sources.batch import row_blocks
from unflip.sources.dask import DaskSource
from unflip.sources.sql import SqlSource

ENOUGH = 1e-10  # of the sum of distances: when to stop looking for the least one, or after STEPS
STEPS = 1000  # at most, of the iteration for it
MOST = 100_000  # outliers: of as many blocks, four times, sums are kept
FARTHEST = 1e290  # a block mean that lies farther out pulls as if it lay here


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
    if not isinstance(outliers, Integral) or not 0 <= outliers <= MOST:
        raise ValueError(f"outliers is a number of rows, from 0 to {MOST}, got {outliers!r}")
    if not isinstance(seed, Integral) or seed < 0:  # drawn anew, it would deal each batch otherwise
        raise ValueError(f"the seed is a whole number, 0 or more, got {seed!r}")
    if isinstance(source, SqlSource | DaskSource):
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


def median_of_means(blocks: Sequence[Moments]) -> Moments:
    """The moments of all rows, with means that are medians of the means of blocks; see `robust_moments`.

    >>> from unflip.moments import accumulate
    >>> blocks = [accumulate(([[x]], [0])) for x in (1.0, 2.0, 3.0, 4.0, 1e9)]
    >>> median_of_means(blocks).sums.tolist()  # five rows of mean 3
    [[15.0]]
    """
    if len(blocks) % 4 != 1 or any(block.degree != 1 for block in blocks):
        raise ValueError(f"these are {len(blocks)} moments; 4 m + 1 of degree one come from block_moments")
    if any(block.privacy is not None for block in blocks):
        raise ValueError("private sums have no median of means: each block would have to be paid for")
    if any(block.outliers for block in blocks):
        raise ValueError("these are already medians (robust_moments); take the median of plain block_moments")
    full = [block for block in blocks if block.total]
    if not full:
        raise ValueError("the blocks have no rows, or none that counts, and so no mean")
    whole = _alike(full)
    full = [block.with_classes(whole.classes) for block in full]
    # A frame that most blocks would choose, so that a giant in one of them does not crush the others.
    origin = np.median([block.origin for block in full], axis=0)
    unit = float(np.sort([block.unit for block in full])[len(full) // 2])
    counts, means = np.array([block.counts for block in full]), np.zeros(whole.sums.shape)
    totals = counts.sum(axis=0)
    with np.errstate(over="ignore"):
        for k, label in enumerate(whole.classes):
            there = [block for block in full if block.counts[k]]
            _refuse_few(label, len(there), len(blocks))
            points = [_seen_from(origin, unit, block, block.sums[k] / block.counts[k]) for block in there]
            means[k] = geometric_median(np.array(points)) if there else 0.0
        least = float(totals @ np.sum(means**2, axis=1))  # no sum of squares is below that of the means
        squares = float(totals.sum() * np.median([_mean_square(origin, unit, block) for block in full]))
    if not np.isfinite(max(squares, least)):
        raise ValueError(
            "most blocks hold rows too far away for a mean to stand for them; allow more outliers"
        )
    return Moments(
        classes=whole.classes,
        counts=totals,
        sums=totals[:, None] * means,
        key=whole.key,
        squares=max(squares, least),
        origin=origin,
        unit=unit,
        names=whole.names,
        probabilities=whole.probabilities,
        outliers=len(blocks) // 4,
    )


def geometric_median(points: Array) -> Array:
    """The place whose distances to the points, (k, d), have the least sum; finite, far apart or not.

    Weiszfeld's iteration, with the step of Vardi and Zhang (2000) where it meets a point. It starts from the
    medians of the columns, which only half of the points could carry away. It ends when the sum of distances
    is within a share `ENOUGH` of the least one: f(y) - f* <= |g| |y - y*|, and |y - y*| <= 2 f(y) / k. Near a
    point that is itself the best place it is slow, and stays after `STEPS` steps about 1e-7 away.

    >>> corners = [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [1e9, 1e9]]  # the diagonals meet in (1, 1)
    >>> geometric_median(np.array(corners)).round(6).tolist()
    [1.0, 1.0]
    """
    start = np.median(points, axis=0)
    centered = points - start
    scale = float(np.median(np.abs(centered).max(axis=1)))
    if scale == 0:  # more than half of the points are one, and so it is this one
        return start
    with np.errstate(over="ignore"):
        centered = np.clip(centered / scale, -FARTHEST, FARTHEST)
    y = np.zeros(points.shape[1])
    for _ in range(STEPS):
        away = centered - y
        distance = _norms(away)
        here = distance <= ENOUGH
        near = 1 / np.where(here, np.inf, distance)
        pull = near @ away
        length, met = float(np.linalg.norm(pull)), int(here.sum())
        if length - met <= ENOUGH / 2 * len(points):
            break
        y = y + (1 - met / length) * pull / near.sum()
    return start + scale * y


def _norms(rows: Array) -> Array:
    """|row| without overflow or underflow."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    safe = np.where(largest > 0, largest, 1.0)
    return largest * np.linalg.norm(rows / safe[:, None], axis=1)


def _refuse_few(label: Any, there: int, n_blocks: int) -> None:
    spoiled = n_blocks // 4
    if 0 < there <= 2 * spoiled:
        raise ValueError(
            f"class {label!r} has rows in {there} of {n_blocks} blocks, and it takes {2 * spoiled + 1} to "
            f"withstand {spoiled} outliers; give it more rows, or allow fewer outliers"
        )


def _seen_from(origin: Array, unit: float, block: Moments, z: Array) -> Array:
    """A place in the frame of a block, in another frame."""
    return np.clip((block.unit * z + (block.origin - origin)) / unit, -FARTHEST, FARTHEST)


def _mean_square(origin: Array, unit: float, block: Moments) -> float:
    """E|z|^2 of a block in another frame: the spread about its mean, and the mean; perhaps infinite."""
    center = _seen_from(origin, unit, block, block.center)
    return float(np.square(np.sqrt(block.variance) * block.unit / unit) + center @ center)


def _alike(blocks: Sequence[Moments]) -> Moments:
    """Moments with all classes and the names of the blocks; blocks of different feature maps are refused."""
    kinds = {(block.classes, block.key, block.names, block.probabilities): block for block in blocks}
    nothing = (
        replace(block, counts=0 * block.counts, sums=0 * block.sums, squares=0.0) for block in kinds.values()
    )
    return sum(nothing, start=Moments.zero(blocks[0].sums.shape[1], blocks[0].key))


def _on_host(batch: Batch) -> Batch:
    X = to_numpy(batch.X) if is_foreign(batch.X) else without_duplicates(batch.X)
    return replace(batch, X=X, labels=batch.labels.beside(X), weight=to_numpy(batch.weight))


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
