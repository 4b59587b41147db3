"""Exact leave-one-out for mean maps: what each row would score had it not been there.

Leaving a row out changes a mean by a multiple of that row, so no refit is needed. With weights
omega_i, total W, memberships t (a column a class, or the label y for two classes), the score

    s(x_i) = <E[t (phi - c)], phi(x_i) - b>

becomes, without row i,

    g (W s_i - omega_i t_i' q_i) / (W - omega_i),    q_i = <phi_i - c, phi_i - b>,

where c is the overall mean (centred) or zero, b the overall mean or zero, g = W / (W - omega_i) if b is the
mean and 1 otherwise, and t_i' = t_i - mean of the other t (centred) or t_i.
"""

from __future__ import annotations

import numpy as np

from unflip.border.arrays import Array

NO_WEIGHT = 1e-12  # of the weight, that the others have: too little to know their score by subtraction


def leave_one_out(
    scores: Array,
    labels: Array,
    weight: Array,
    similarity: Array,
    total: float,
    label_mean: Array,
    *,
    centered: bool,
    zero_at_mean: bool,
) -> Array:
    """Leave-one-out scores from ordinary ones.

    scores, labels: (n, C), the s_i and t_i above; weight, similarity: (n,), the omega_i and q_i; total,
    label_mean: W and the mean of t, (C,), over all fitted rows, of which the given ones may be a part. A row
    without which nothing is left scores zero.

    >>> x, y = np.array([1.0, 2.0, 4.0]), np.array([[-1.0], [1.0], [1.0]])
    >>> scores = x[:, None] * (x @ y) / 3
    >>> leave_one_out(scores, y, np.ones(3), x * x, 3.0, y.mean(axis=0),
    ...               centered=False, zero_at_mean=False).ravel().round(12).tolist()
    [3.0, 3.0, 2.0]
    """
    share = (weight / total)[:, None]
    others = 1 - share
    known = others > NO_WEIGHT
    others = np.where(known, others, 1.0)
    own = labels - (label_mean - share * labels) / others if centered else labels
    left = (scores - share * own * similarity[:, None]) / others
    return np.where(known, left / others if zero_at_mean else left, 0.0)
