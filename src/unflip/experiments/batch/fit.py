"""Weights for many label vectors and any of the six losses of the paper's tables."""

from __future__ import annotations

from math import inf
from typing import Any

from array_api_compat import array_namespace

from unflip.experiments.batch.arrays import blocks, merged
from unflip.experiments.batch.closed import fit_square, fit_unhinged
from unflip.experiments.batch.descent import LAMBDA
from unflip.experiments.batch.fits import Fits
from unflip.experiments.batch.hinge import fit_hinge
from unflip.experiments.batch.shapes import SHAPES
from unflip.experiments.batch.smooth import fit_smooth
from unflip.experiments.batch.whitened import Whitened

Array = Any
CLOSED = ("square", "unhinged")  # the losses with a closed form, which have no solver to blame


def fit(name: str, X: Array, white: Whitened, Y: Array) -> tuple[Array, Fits]:
    """Weights for the columns of X, one column a label vector, and their certificates.

    >>> import numpy as np
    >>> X, Y = np.array([[1.0], [2.0]]), np.array([[1.0], [1.0]])
    >>> fit("unhinged", X, Whitened.of(X), Y)[0].tolist()
    [[1.5]]
    """
    xp = array_namespace(X)
    if name in CLOSED:
        weights = fit_unhinged(X, Y) if name == "unhinged" else fit_square(white, Y)
        scores = X @ weights
        zero = xp.zeros_like(scores[0, :])
        return weights, Fits(scores, zero, xp.min(Y * scores, axis=0) > 0, zero + inf)
    alone = white.alone
    if not bool(xp.any(alone)):
        fits = Fits.joined([_solve(name, white, block) for block in blocks(Y)])
        return white.weights(fits.scores), fits
    # Rows of leverage one go their own way: the others are fitted without them, with fewer directions.
    others = xp.nonzero(~alone)[0]
    part, labels = Whitened.of(xp.take(X, others, axis=0)), xp.take(Y, others, axis=0)
    fits = Fits.joined([_solve(name, part, block) for block in blocks(labels)])
    margins = xp.full_like(Y, 1.0) if name == "hinge" else SHAPES[name].alone(_penalty(white))[:, None]
    scores = merged((Y * margins).T, fits.scores.T, ~alone).T
    return white.weights(scores), fits


def _solve(name: str, white: Whitened, Y: Array) -> Fits:
    return fit_hinge(white, Y) if name == "hinge" else fit_smooth(name, white, Y)


def _penalty(white: Whitened) -> Array:
    """What a row pays for a score of its own: n lambda times the squared length of the weights for it."""
    n = white.Q.shape[0]
    towards = white.T @ white.Q.T / n
    return n * LAMBDA * array_namespace(towards).sum(towards * towards, axis=0)
