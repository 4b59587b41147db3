"""Kernel means of samples: how far apart two of them are, where, and whether that could be chance.

As in `unflip.theory`, the maximum mean discrepancy is the distance of two kernel means, and the witness
is their difference as a function. Here it goes through `Kernel.score`, so large samples are welcome.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np

from unflip.border.arrays import Array
from unflip.border.blocks import slices
from unflip.kernels.base import Kernel
from unflip.kernels.rows import as_tables

PERMUTATIONS_AT_ONCE = 256  # permutations in one matrix product


def witness(
    X: Any, Z: Any, kernel: Kernel, X_weight: Any = None, Z_weight: Any = None
) -> Callable[[Any], Array]:
    """The function x -> E_X[k(x, .)] - E_Z[k(x, .)], large where X outweighs Z.

    Weights are scaled to sum to one; without them rows count alike.

    >>> from unflip.kernels import Linear
    >>> witness([[1.0]], [[-1.0]], Linear())([[3.0]]).tolist()
    [6.0]
    """
    left, right = _samples(X, Z, kernel)
    p, q = _masses(X_weight, left, "X"), _masses(Z_weight, right, "Z")
    return lambda points: kernel.score(points, left, p) - kernel.score(points, right, q)  # Appendix E.4


def mmd(
    X: Any, Z: Any, kernel: Kernel, X_weight: Any = None, Z_weight: Any = None, unbiased: bool = False
) -> float:
    """The maximum mean discrepancy |mu_X - mu_Z| of two samples, weighted or not.

    Linear and polynomial kernels see the origin: centre samples that lie far from it.

    `unbiased=True` leaves each row's value with itself out, and returns an estimate of the square,
    which is zero on average, and negative half the time, when both samples are alike.

    >>> from unflip.kernels import Linear
    >>> mmd([[0.0, 0.0]], [[3.0, 4.0]], Linear())
    5.0
    >>> mmd([[0.0], [2.0]], [[0.0], [2.0]], Linear(), unbiased=True)
    -2.0
    """
    left, right = _samples(X, Z, kernel)
    p, q = _masses(X_weight, left, "X"), _masses(Z_weight, right, "Z")
    within_X, within_Z = (float(w @ kernel.score(rows, rows, w)) for w, rows in ((p, left), (q, right)))
    across = float(p @ kernel.score(left, right, q))
    if unbiased:
        within_X = _without_itself(within_X, p, kernel.diagonal(left), "X")
        within_Z = _without_itself(within_Z, q, kernel.diagonal(right), "Z")
    squared = within_X + within_Z - 2 * across  # Appendix E.4
    if not math.isfinite(squared):
        raise ValueError(f"the values of {kernel} overflow: rescale the columns")
    return squared if unbiased else math.sqrt(max(squared, 0.0))  # rounding may leave less than nothing


def permutation_test(
    X: Any, Z: Any, kernel: Kernel, permutations: int = 1000, rng: int | np.random.Generator = 0
) -> tuple[float, float]:
    """The unbiased squared discrepancy, and the chance of one as large if X and Z are alike.

    The p-value is (1 + permutations at least as large) / (1 + permutations), which is valid for any
    sizes. Holds the table of values of all n + m rows: meant for a few thousand.

    >>> from unflip.kernels import Gaussian
    >>> rows = np.linspace(0.0, 1.0, 20)[:, None]
    >>> statistic, p_value = permutation_test(rows, rows + 1.0, Gaussian(0.5))
    >>> round(statistic, 3), round(p_value, 3)
    (0.974, 0.001)
    """
    if not isinstance(permutations, Integral) or permutations < 1:
        raise ValueError(f"permutations is a whole number from 1 on, got {permutations!r}")
    left, right = _samples(X, Z, kernel)
    n, m = left.shape[0], right.shape[0]
    if min(n, m) < 2:
        raise ValueError(f"a permutation test needs two rows on each side, got {n} and {m}")
    values = _joint_values(left, right, kernel)
    largest = float(np.abs(values).max())
    if not math.isfinite(4.0 * values.size * largest):  # no sum of any permutation is more
        raise ValueError(f"sums of the values of {kernel} overflow: rescale the columns")
    rounding = 1e-12 * largest
    in_X = np.arange(n + m) < n
    statistic = float(_statistics(values, in_X[None, :])[0])
    generator, as_large = np.random.default_rng(rng), 0
    for part in slices(0, permutations, PERMUTATIONS_AT_ONCE):
        shuffled = generator.permuted(np.tile(in_X, (part.stop - part.start, 1)), axis=1)
        as_large += int(np.count_nonzero(_statistics(values, shuffled) >= statistic - rounding))
    return statistic, (1 + as_large) / (1 + permutations)


def _samples(X: Any, Z: Any, kernel: Kernel) -> tuple[Any, Any]:
    if not isinstance(kernel, Kernel):
        raise TypeError(f"a kernel such as Gaussian(bandwidth=1.0) is needed, got {kernel!r}")
    return as_tables(X, Z)


def _masses(weight: Any, rows: Any, name: str) -> Array:
    n = rows.shape[0]
    if weight is None:
        return np.full(n, 1 / n)
    w = np.asarray(weight, dtype=np.float64)
    if w.shape != (n,):
        raise ValueError(f"{name} has {n} rows, so {name}_weight is ({n},); got {w.shape}")
    if not (np.isfinite(w).all() and (w >= 0).all() and w.any()):
        raise ValueError(f"{name}_weight is finite, not negative and not all zero, got {w}")
    w = w / w.max()
    return w / w.sum()


def _without_itself(within: float, w: Array, diagonal: Array, name: str) -> float:
    """The mean over pairs of different rows."""
    if np.count_nonzero(w) < 2:
        raise ValueError(f"an unbiased estimate needs two rows of {name} with a positive weight")
    return float((within - (w * w) @ diagonal) / (1 - w @ w))


def _joint_values(X: Any, Z: Any, kernel: Kernel) -> Array:
    """The values of X and Z together, zero on the diagonal."""
    n = X.shape[0]
    values = np.empty((n + Z.shape[0],) * 2)
    values[:n, :n], values[n:, n:] = kernel(X, X), kernel(Z, Z)
    values[:n, n:] = kernel(X, Z)
    values[n:, :n] = values[:n, n:].T
    np.fill_diagonal(values, 0.0)
    return values


def _statistics(values: Array, in_X: Array) -> Array:
    """The unbiased squared discrepancy for each row of `in_X`, which says who counts as X."""
    s = in_X.astype(np.float64)
    n = s[0].sum()
    m = len(values) - n
    from_X = s @ values  # sums over X for each row
    XX = np.einsum("ij,ij->i", from_X, s)
    XZ = from_X.sum(axis=1) - XX
    ZZ = values.sum() - XX - 2 * XZ
    return XX / (n * (n - 1)) + ZZ / (m * (m - 1)) - 2 * XZ / (n * m)
