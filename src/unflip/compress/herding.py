"""Kernel herding of a signed mean map: few points that score nearly as all of them do.

The kernel scorer is <mu, phi(x)> with mu = sum_i c_i phi(x_i), the coefficients c_i positive for one class
and negative for the other (or a column for each of several classes). We look for m of the points and weights
a with a small |mu - mu_m|, mu_m = sum_j a_j phi(x_j); by Cauchy and Schwarz no score then changes by more
than that times sqrt(k(x, x)).

Points are taken one at a time, positive and negative ones by the same criterion: the one that lowers the
error most when all weights are optimised anew. With an orthonormal basis v_1, ..., v_j of the span of the
points so far (built like a Cholesky factor), r = mu minus its projection and d(x) = k(x, x) - sum_l v_l(x)^2,
that is the point with the largest |r(x)|^2 / d(x), and this is by how much the squared error falls. So the
error is known exactly at every step, at the price of one column of the kernel matrix each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unflip.border.arrays import Array
from unflip.kernels import Kernel

SPENT = 1e-10  # of k(x, x): a point whose direction is spanned to this much has nothing to add


@dataclass(frozen=True, eq=False)
class Herd:
    """The points that were chosen.

    rows: (m,) their places. weights: (m, K). errors: (m + 1,) |mu - mu_j| for j = 0, ..., m points, the root
    of the sum of squares over the columns; below 1e-8 of the first they are rounding.
    """

    rows: Array
    weights: Array
    errors: Array


def herd(
    X: Any, coefficients: Array, kernel: Kernel, n_support: int, candidates: Array | None = None
) -> Herd:
    """Choose at most `n_support` of the rows of X and weights for them.

    coefficients: (n,) or (n, K), of the mean map. candidates: places of the rows that may be chosen; all of
        them when not given. It ends early when nothing is left to explain.

    >>> from unflip.kernels import Linear
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, 3.0]])
    >>> found = herd(X, np.array([0.25, -0.25, 0.25, -0.25]), Linear(), n_support=4)
    >>> len(found.rows), found.errors[-1].round(9).tolist()  # two directions, so two points will do
    (2, 0.0)
    """
    target = np.asarray(coefficients, dtype=np.float64).reshape(X.shape[0], -1)
    places = np.arange(X.shape[0]) if candidates is None else np.asarray(candidates)
    pool = X[places]
    # In units of the largest coefficient and the largest k(x, x), so that no square overflows.
    room = kernel.diagonal(pool).astype(np.float64)
    size, unit = float(np.abs(target).max()) or 1.0, float(room.max()) or 1.0
    target = target / size
    scores = kernel.score(X, X, target) / unit
    residual = scores if candidates is None else kernel.score(pool, X, target) / unit  # r at every candidate
    room = room / unit
    least = SPENT * room
    squared = [max(float(np.sum(target * scores)), 0.0)]
    basis = np.empty((len(places), min(n_support, len(places))))
    chosen: list[int] = []
    shares: list[Array] = []
    for step in range(basis.shape[1]):
        gain = np.zeros(len(room))
        np.divide(np.sum(residual**2, axis=1), room, out=gain, where=room > least)
        best = int(np.argmax(gain))  # Section 6.2
        if gain[best] <= SPENT**2 * squared[0]:
            break
        column = kernel(pool, pool[[best]])[:, 0] / unit - basis[:, :step] @ basis[best, :step]
        basis[:, step] = column / np.sqrt(room[best])
        share = residual[best] / np.sqrt(room[best])
        residual = residual - basis[:, [step]] * share
        room = np.maximum(room - basis[:, step] ** 2, 0.0)
        room[best] = 0.0
        chosen.append(best)
        shares.append(share)
        squared.append(max(squared[-1] - float(share @ share), 0.0))
    errors = size * np.sqrt(unit) * np.sqrt(squared)
    if not chosen:  # the mean map is zero, and so is any point times nothing
        return Herd(places[:1], np.zeros((1, target.shape[1])), np.append(errors, errors[0]))
    factor = basis[chosen][:, : len(chosen)]
    return Herd(places[chosen], size * np.linalg.solve(factor.T, np.array(shares)), errors)
