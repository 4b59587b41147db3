"""Kernel means: how far apart two distributions are, and the function that sees it best.

The unhinged scorer is a difference of kernel means (Equation 9), so it belongs to the family of the
maximum mean discrepancy. A kernel here is a function k(X, Z) of two tables of points that
returns the table of values; points without weights count alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unflip.border.arrays import AnyArray

KernelFunction = Callable[[AnyArray, AnyArray], AnyArray]


def linear_kernel(X: AnyArray, Z: AnyArray) -> AnyArray:
    """<x, z>; fractions stay fractions.

    >>> linear_kernel(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])).tolist()
    [[11.0]]
    """
    return X @ Z.T


def gaussian_kernel(bandwidth: float) -> KernelFunction:
    """exp(-|x - z|^2 / (2 bandwidth^2)).

    >>> gaussian_kernel(1.0)(np.array([[0.0]]), np.array([[0.0], [2.0]])).round(6).tolist()
    [[1.0, 0.135335]]
    """
    if not bandwidth > 0:
        raise ValueError(f"a bandwidth is positive, got {bandwidth!r}")

    def kernel(X: AnyArray, Z: AnyArray) -> AnyArray:
        apart = X.astype(np.float64)[:, None, :] - Z.astype(np.float64)[None, :, :]
        return np.exp(-(apart**2).sum(axis=2) / (2 * bandwidth**2))

    return kernel


def witness(
    P_points: Any, Q_points: Any, kernel: KernelFunction, P_weights: Any = None, Q_weights: Any = None
) -> Callable[[Any], AnyArray]:
    """The function x -> E_P[k(X, x)] - E_Q[k(X, x)], large where P outweighs Q.

    >>> sees = witness([[1.0]], [[-1.0]], linear_kernel)
    >>> sees([[3.0]]).tolist()
    [6.0]
    """
    P, p = _weighted(P_points, P_weights)
    Q, q = _weighted(Q_points, Q_weights)
    return lambda points: p @ kernel(P, np.asarray(points)) - q @ kernel(Q, np.asarray(points))


def mmd(
    P_points: Any, Q_points: Any, kernel: KernelFunction, P_weights: Any = None, Q_weights: Any = None
) -> float:
    """The maximum mean discrepancy: the distance of the two kernel means, |mu_P - mu_Q|.

    >>> mmd([[0.0, 0.0]], [[3.0, 4.0]], linear_kernel)
    5.0
    """
    P, p = _weighted(P_points, P_weights)
    Q, q = _weighted(Q_points, Q_weights)
    see = witness(P, Q, kernel, p, q)
    squared = float(p @ see(P) - q @ see(Q))
    return float(np.sqrt(max(squared, 0.0)))  # rounding may leave a tiny negative square


def _weighted(points: Any, weights: Any) -> tuple[AnyArray, AnyArray]:
    table = np.asarray(points)
    if table.ndim != 2 or not len(table):
        raise ValueError(f"points form a table with one row each, got an array of shape {table.shape}")
    if weights is None:
        return table, np.full(len(table), 1 / len(table))
    given = np.asarray(weights)
    if given.shape != (len(table),):
        raise ValueError(f"{len(table)} points need as many weights, got an array of shape {given.shape}")
    if not np.all(given >= 0):
        raise ValueError(f"weights are not negative, got {given.min()}")
    if abs(given.sum() - 1) > 1e-9:
        raise ValueError(f"weights sum to 1, got a sum of {given.sum()}")
    return table, given
