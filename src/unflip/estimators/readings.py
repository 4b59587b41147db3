"""Readings of class similarities: one kernel pass, three classifiers, each with exact leave-one-out.

Let A_ik be the sum over the rows j of class k of omega_j k(x_i, x_j), n_k the weight of class k and W that of
all rows. Then

    the signed mean (unhinged) scores  (A_1 - A_0) / W,              or A_k / W with several classes,
    the nearest centroid scores        A_k / n_k - |mu_k|^2 / 2,     mu_k the mean feature of class k,
    and n_k times a kernel density is  A_k, so that Bayes' rule is the signed mean again, with zero at zero.

To leave row i out, subtract omega_i t_ik k(x_i, x_i) from A_ik and omega_i t_ik from n_k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unflip.border.arrays import Array
from unflip.border.classes import contrast, contrasted, lonely
from unflip.estimators.kept import KeptRows
from unflip.loo.mean_map import leave_one_out


@dataclass(frozen=True, eq=False)
class Reading:
    """Scores sum_i coefficients_i k(x, x_i) - zero, and those of each row had it not been there.

    coefficients, left: (n, C); zero: (C,). C is one for two classes, K for more.
    """

    coefficients: Array
    zero: Array
    left: Array


def signed_mean(
    kept: KeptRows, near: Array, own: Array, *, centered: bool = False, zero_at_mean: bool = False
) -> Reading:
    """The unhinged scorer of Equation 9; near is A above, (n, K), own is k(x_i, x_i), (n,).

    >>> kept = KeptRows(np.array([[1.0], [2.0]]), np.eye(2), np.ones(2))
    >>> near = np.array([[1.0, 2.0], [2.0, 4.0]])  # a linear kernel
    >>> reading = signed_mean(kept, near, np.array([1.0, 4.0]))
    >>> reading.coefficients.ravel().tolist(), reading.left.ravel().tolist()  # no class is left without rows
    ([-0.5, 0.5], [inf, -inf])
    """
    signs = contrast(near.shape[1])
    targets, total = kept.member @ signs.T, float(kept.weight.sum())
    share = kept.weight / total
    label_mean = share @ targets
    scores = near @ signs.T / total  # Equation 9
    middle = near.sum(axis=1) / total  # <phi_i, mean phi>
    if centered:
        targets_seen, scores = targets - label_mean, scores - np.outer(middle, label_mean)
        own = own - 2 * middle + share @ middle
    else:
        targets_seen = targets
        own = own - middle if zero_at_mean else own
    zero = share @ scores if zero_at_mean else np.zeros(len(signs))
    left = leave_one_out(
        scores - zero,
        targets,
        kept.weight,
        own,
        total,
        label_mean,
        centered=centered,
        zero_at_mean=zero_at_mean,
    )
    left = left + lonely(kept.masses, kept.counts)
    return Reading(share[:, None] * targets_seen, zero, left)


def nearest_centroid(kept: KeptRows, near: Array, own: Array) -> Reading:
    """The rule of Rocchio: class means count alike, and the nearest one wins.

    >>> kept = KeptRows(np.array([[1.0], [3.0]]), np.eye(2), np.ones(2))
    >>> near = np.array([[1.0, 3.0], [3.0, 9.0]])
    >>> reading = nearest_centroid(kept, near, np.array([1.0, 9.0]))
    >>> (2.5 * (np.array([1.0, 3.0]) @ reading.coefficients) - reading.zero).tolist()  # 2.5 is nearer to 3
    [1.0]
    """
    signs, counts = contrast(near.shape[1]), kept.counts
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.where(counts > 0, kept.masses / counts, 0.0)
        norms = np.where(counts > 0, np.sum(means * near, axis=0) / counts, 0.0)
    lost = kept.masses
    others = counts - lost
    q = own[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        part = lost / others
        length = norms * (counts / others) ** 2 - 2 * part * (near / others) + part**2 * q
        alone = np.where(others > 1e-12 * counts, near / others - part * q - length / 2, -np.inf)
        left = contrasted(alone)
    return Reading(means @ signs.T, signs @ norms / 2, left)  # Appendix E.2
