"""Median of means, at the level of moments: means that a few outliers cannot carry away.

Rows were dealt into 4 m + 1 blocks (`unflip.passes.robust`), each block has its own sums, and the mean of a
class is the geometric median of its block means. Let a share alpha < 1/2 of the block means be spoiled, and
all others lie within r of the truth. Then their geometric median lies within C r of it,
C = (1 - alpha) / sqrt(1 - 2 alpha) (Minsker 2015, Lemma 2.1): 1.061 at a quarter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unflip.border.arrays import Array
from unflip.moments.frame import Frame
from unflip.moments.moments import Moments

CLOSE_ENOUGH = 1e-10  # of the sum of distances: when to stop looking for the least one, or after MEDIAN_STEPS
MEDIAN_STEPS = 1000  # at most, of the iteration for it
FARTHEST_MEAN = 1e290  # a block mean that lies farther out pulls as if it lay here


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
    frame = Frame(origin, float(np.sort([block.unit for block in full])[len(full) // 2]))
    counts, means = np.array([block.counts for block in full]), np.zeros(whole.sums.shape)
    totals = counts.sum(axis=0)
    with np.errstate(over="ignore"):
        for k, label in enumerate(whole.classes):
            there = [block for block in full if block.counts[k]]
            _refuse_few(label, len(there), len(blocks))
            points = [_seen_from(frame, block, block.sums[k] / block.counts[k]) for block in there]
            means[k] = geometric_median(np.array(points)) if there else 0.0
        least = float(totals @ np.sum(means**2, axis=1))  # no sum of squares is below that of the means
        squares = float(totals.sum() * np.median([_mean_square(frame, block) for block in full]))
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
        origin=frame.origin,
        unit=frame.unit,
        names=whole.names,
        probabilities=whole.probabilities,
        outliers=len(blocks) // 4,
    )


def geometric_median(points: Array) -> Array:
    """The place whose distances to the points, (k, d), have the least sum; finite, far apart or not.

    Weiszfeld's iteration, with the step of Vardi and Zhang (2000) where it meets a point. It starts from the
    medians of the columns, which only half of the points could carry away. It ends when the sum of distances
    is within a share `CLOSE_ENOUGH` of the least one: f(y) - f* <= |g| |y - y*|, and |y - y*| <= 2 f(y) / k.
    Near a point that is itself the best place it is slow, and stays about 1e-7 away after `MEDIAN_STEPS`.

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
        centered = np.clip(centered / scale, -FARTHEST_MEAN, FARTHEST_MEAN)
    y = np.zeros(points.shape[1])
    for _ in range(MEDIAN_STEPS):
        away = centered - y
        distance = _norms(away)
        here = distance <= CLOSE_ENOUGH
        near = 1 / np.where(here, np.inf, distance)
        pull = near @ away
        length, met = float(np.linalg.norm(pull)), int(here.sum())
        if length - met <= CLOSE_ENOUGH / 2 * len(points):
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


def _seen_from(frame: Frame, block: Moments, z: Array) -> Array:
    """A place in the frame of a block, in another frame."""
    return np.clip(
        (block.unit * z + (block.origin - frame.origin)) / frame.unit, -FARTHEST_MEAN, FARTHEST_MEAN
    )


def _mean_square(frame: Frame, block: Moments) -> float:
    """E|z|^2 of a block in another frame: the spread about its mean, and the mean; perhaps infinite."""
    center = _seen_from(frame, block, block.center)
    return float(np.square(np.sqrt(block.variance) * block.unit / frame.unit) + center @ center)


def _alike(blocks: Sequence[Moments]) -> Moments:
    """Moments with all classes and the names of the blocks; blocks of different feature maps are refused."""
    kinds = {(block.classes, block.key, block.names, block.probabilities): block for block in blocks}
    nothing = (
        replace(block, counts=0 * block.counts, sums=0 * block.sums, squares=0.0) for block in kinds.values()
    )
    return sum(nothing, start=Moments.zero(blocks[0].sums.shape[1], blocks[0].key))
