"""Exact leave-one-out for ridge regression with an unpenalised intercept and weights.

The objective is a mean, E[(t - f)^2] + lam |w|^2, so leaving out row i also changes the share of the
penalty. In the eigenbasis of the scatter matrix both changes are closed form: with kappa_i =
omega_i W / (W - omega_i), G_i = scatter + (W - omega_i) lam I, and centred rows z_i,

    s_i = mean of the other t + W / (W - omega_i) (z' G^-1 b - kappa (t_i - mean t) h) / (1 - kappa h),

where h = z' G^-1 z and b is the centred cross moment (Sherman and Morrison).
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def leave_one_out(
    rotated: Array,
    memberships: Array,
    weight: Array,
    eigenvalues: Array,
    cross: Array,
    class_weight_sums: Array,
    ridge: float,
) -> tuple[Array, Array]:
    """Leave-one-out scores, (n, K), and the leverage kappa h of each row, (n,).

    Where the leverage is one the row owns a direction, and the formula has no answer.

    rotated: (n, r) centred rows in the eigenbasis of the scatter, the sum of w z z' over all fitted rows;
    eigenvalues: (r,) of it, all positive; memberships: (n, K); cross: (r, K), the sum of w z t' in the same
    basis; class_weight_sums: (K,), the weight of each class; ridge: lam.

    >>> z, t = np.array([[-1.0], [0.0], [1.0]]), np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> left, _ = leave_one_out(z, t, np.ones(3), np.array([2.0]), z.T @ t, t.sum(axis=0), 0.0)
    >>> left[:, 0].round(12).tolist()  # each row on the line through the other two
    [2.0, 0.5, 1.0]
    """
    w = weight[:, None]
    total = class_weight_sums.sum()
    others = total - w
    mean = class_weight_sums / total
    inverse = rotated / (eigenvalues + others * ridge)  # z' G^-1, row by row
    with np.errstate(divide="ignore", invalid="ignore"):
        leverage = w * total / others * np.sum(inverse * rotated, axis=1, keepdims=True)
        deviation = memberships - mean
        fit = (inverse @ cross - leverage * deviation) / (1 - leverage)
        scores = mean - w * deviation / others + total / others * fit
    return scores, leverage[:, 0]
