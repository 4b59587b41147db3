"""Exact leave-one-out for nearest centroids with priors.

Rows z are seen from the overall mean. Class k has weight n_k, sum S_k and centroid m_k = S_k / n_k, and its
score is

    <m_k, z> - |m_k|^2 / 2 + tau^2 prior_k,

where tau^2 is the variance within classes, per feature. Without row i the mean moves by
-omega_i z_i / (W - omega_i), S_k loses omega_i t_ik z_i, and m_k becomes a S_k + b z_i: inner products with
S_k and z_i are all it takes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unflip.border.arrays import Array


def leave_one_out(
    projections: Array,
    sum_norms: Array,
    counts: Array,
    memberships: Array,
    weight: Array,
    distance: Array,
    variance: float,
    width: int,
    priors: Callable[[Array], Array],
) -> Array:
    """Leave-one-out scores, (n, K).

    projections: (n, K), <S_k, z_i>; sum_norms: (K,), |S_k|^2; counts: (K,), n_k; memberships: (n, K), t_ik;
    weight, distance: (n,), omega_i and |z_i|^2; variance: the mean of |z|^2; width: the number of features;
    priors: the prior terms for given class weights.

    >>> z, t = np.array([-2.0, -1.0, 1.0, 2.0]), np.repeat(np.eye(2), 2, axis=0)
    >>> sums, counts = z @ t, t.sum(axis=0)
    >>> left = leave_one_out(np.outer(z, sums), sums**2, counts, t, np.ones(4), z**2, 2.5, 1, np.log)
    >>> (left[:, 1] > left[:, 0]).tolist()
    [False, False, True, True]
    """
    total = counts.sum()
    w = weight[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        others = total - w
        left = counts - w * memberships
        a, b = 1 / left, w / others - w * memberships / left
        q = distance[:, None]
        norms = a**2 * sum_norms + 2 * a * b * projections + b**2 * q
        inner = (a * projections + b * q) * (total / others)
        spread = total * variance - w * total / others * q
        between = np.sum(np.where(left > 0, left * norms, 0.0), axis=1, keepdims=True)
        within = np.maximum(spread - between, 0.0) / others / width
        scores = inner + offset(norms, within, priors(left))
    return np.where(left > 0, scores, -np.inf)


def offset(norms: Array, within: Any, priors: Array) -> Array:
    """-|m_k|^2 / 2 + tau^2 prior_k; minus infinity where the prior is, even if tau is zero.

    >>> offset(np.array([2.0, 4.0]), 0.0, np.array([1.0, -np.inf])).tolist()
    [-1.0, -inf]
    """
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(priors), -np.inf, within * priors - norms / 2)
