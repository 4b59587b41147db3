"""Weights for many label vectors and any of the six losses of the paper's tables, as its protocol has them.

The penalty of 1e-16 leaves three things that only the paper needs: coordinates in which it does not matter
(`Whitened`), scores for rows that share their direction with no other, and certificates that hold without it.
"""

from __future__ import annotations

from math import inf

import numpy as np
from array_api_compat import array_namespace

from unflip.border.arrays import AnyArray, beside, to_numpy
from unflip.experiments.batch.fits import Fits
from unflip.experiments.batch.hinge import fit_hinge
from unflip.experiments.batch.smooth import fit_smooth
from unflip.experiments.batch.whitened import LAMBDA, Whitened
from unflip.losses import Loss, Unhinged, get
from unflip.solvers.columns import blocks, merged
from unflip.solvers.problem import Problem
from unflip.solvers.rows import RowsOfMatrix
from unflip.solvers.smooth import closed_form

CLOSED = ("square", "unhinged")  # the losses with a closed form, which have no solver to blame


def fit(name: str, X: AnyArray, white: Whitened, Y: AnyArray) -> tuple[AnyArray, Fits]:
    """Weights for the columns of X, one column a label vector, and their certificates.

    >>> import numpy as np
    >>> X, Y = np.array([[1.0], [2.0]]), np.array([[1.0], [1.0]])
    >>> fit("unhinged", X, Whitened.of(X), Y)[0].tolist()
    [[1.5]]
    """
    xp, loss = array_namespace(X), get(name)
    if name in CLOSED:
        weights = fit_closed(loss, X, white, Y)
        scores = X @ weights
        zero = xp.zeros_like(scores[0, :])
        return weights, Fits(scores, zero, xp.min(Y * scores, axis=0) > 0, zero + inf)
    alone = white.alone
    if not bool(xp.any(alone)):
        fits = _solved(loss, white, Y)
        return white.weights(fits.scores), fits
    # Rows of leverage one go their own way: the others are fitted without them, with fewer directions.
    others = xp.nonzero(~alone)[0]
    fits = _solved(loss, Whitened.of(xp.take(X, others, axis=0)), xp.take(Y, others, axis=0))
    margins = beside(margin_alone(loss, to_numpy(_price(white))), Y)
    scores = merged((Y * margins[:, None]).T, fits.scores.T, ~alone).T
    return white.weights(scores), fits


def fit_closed(loss: Loss, X: AnyArray, white: Whitened, Y: AnyArray) -> AnyArray:
    """E[y x] (Equation 8 at lambda = 1), or least squares by the shortest weights (Equation 11 at none).

    >>> import numpy as np
    >>> X = np.array([[1.0], [3.0]])
    >>> fit_closed(get("square"), X, Whitened.of(X), np.array([[1.0], [1.0]])).round(12).tolist()
    [[0.4]]
    """
    if isinstance(loss, Unhinged):
        # All of it times n: sums of whole numbers stay exact, and equal scores equal.
        return closed_form(Problem(loss, RowsOfMatrix(X), Y, 1.0, 0 * X[0, :] + X.shape[0]))
    return white.T @ closed_form(white.problem(loss, Y))


def margin_alone(loss: Loss, price: AnyArray) -> AnyArray:
    """The margin m that minimises l(m) + p m^2 / 2 for each tiny price p: where a row alone ends up.

    >>> margin_alone(get("hinge"), np.array([1e-12])).round(9).tolist()
    [1.0]
    """
    low, high = np.zeros_like(price), np.full_like(price, 1e16)
    for _ in range(200):  # the slope is negative at zero, and changes its sign once
        # The middle of the logarithms, as long as the range is wide.
        middle = np.where(high > 4 * low + 1, np.sqrt((low + 1) * (high + 1)) - 1, (low + high) / 2)
        rising = loss.derivative(1, middle) + price * middle >= 0
        low, high = np.where(rising, low, middle), np.where(rising, middle, high)
    return high


def _solved(loss: Loss, white: Whitened, Y: AnyArray) -> Fits:
    solve = fit_hinge if loss.traits.piecewise_linear else fit_smooth
    parts = blocks(Y.shape[0], Y.shape[1], white.Q.shape[1], Y)
    return Fits.joined([solve(white, white.problem(loss, Y[:, part])) for part in parts])


def _price(white: Whitened) -> AnyArray:
    """What a row pays for a score of its own: n lambda times the squared length of the weights for it."""
    n = white.Q.shape[0]
    towards = white.T @ white.Q.T / n
    return n * LAMBDA * array_namespace(towards).sum(towards * towards, axis=0)
