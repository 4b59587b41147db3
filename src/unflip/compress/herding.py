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

from unflip.kernels import Kernel

Array = np.ndarray[Any, Any]
SPENT = 1e-10  # of k(x, x): a point whose direction is spanned to this much has nothing to add


@dataclass(frozen=True, eq=False)
class Herd:
    """The points that were chosen.

    rows: (m,) their places. weights: (m, K). errors: (m + 1,) |mu - mu_j| for j = 0, ..., m points.
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
    residual = kernel.score(pool, X, target)  # r at every candidate; mu itself to begin with
    squared = [float(np.sum(target * kernel.score(X, X, target)))]
    room = kernel.diagonal(pool).astype(np.float64)
    least = SPENT * room.max(initial=0.0)
    basis = np.empty((len(places), min(n_support, len(places))))
    chosen: list[int] = []
    shares: list[Array] = []
    for step in range(basis.shape[1]):
        gain = np.where(room > least, np.sum(residual**2, axis=1) / np.maximum(room, least), 0.0)
        best = int(np.argmax(gain))
        if gain[best] <= SPENT**2 * squared[0]:
            break
        column = kernel(pool, pool[[best]])[:, 0] - basis[:, :step] @ basis[best, :step]
        basis[:, step] = column / np.sqrt(room[best])
        share = residual[best] / np.sqrt(room[best])
        residual = residual - basis[:, [step]] * share
        room = np.maximum(room - basis[:, step] ** 2, 0.0)
        room[best] = 0.0
        chosen.append(best)
        shares.append(share)
        squared.append(max(squared[-1] - float(share @ share), 0.0))
    factor = basis[chosen][:, : len(chosen)]
    weights = np.linalg.solve(factor.T, np.array(shares)) if chosen else np.empty((0, target.shape[1]))
    return Herd(places[chosen], weights, np.sqrt(squared))
