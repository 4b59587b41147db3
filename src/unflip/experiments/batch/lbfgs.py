"""L-BFGS for many label vectors in lockstep.

Every column is a problem of its own with its own step length; only the matrix products are shared. Columns
that have arrived are taken out as the others go on.
"""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace

from unflip.experiments.batch.arrays import columns, norms
from unflip.experiments.batch.descent import slopes, step
from unflip.experiments.batch.shapes import Shape
from unflip.experiments.batch.whitened import Whitened

Array = Any
MEMORY = 8  # steps that are remembered


def lbfgs(shape: Shape, white: Whitened, Y: Array, tolerance: float, most: int) -> Array:
    """Weights where the gradient of each column is no longer than the tolerance, or after `most` steps.

    >>> import numpy as np
    >>> from unflip.experiments.batch.shapes import SHAPES
    >>> white = Whitened.of(np.ones((4, 1)))
    >>> U = lbfgs(SHAPES["logistic"], white, np.array([[1.0], [1.0], [1.0], [-1.0]]), 1e-9, 50)
    >>> (white.Q @ U)[0].round(6).tolist()  # log odds of three to one
    [1.098612]
    """
    Q, xp = white.Q, array_namespace(Y)
    places = xp.arange(Y.shape[1], device=Q.device)
    arrived: list[tuple[Array, Array]] = []
    U, V = xp.zeros((Q.shape[1], Y.shape[1]), dtype=Q.dtype, device=Q.device), xp.zeros_like(Y)
    value, gradient = slopes(shape, white, Y, U, V)
    history: list[tuple[Array, Array, Array]] = []
    moving = value > 0
    for _ in range(most):
        going = moving & (norms(gradient) > tolerance)
        staying = int(xp.count_nonzero(going))
        if staying < 0.8 * places.shape[0]:  # drop what has arrived; a few may ride along
            left, kept = xp.nonzero(~going)[0], xp.nonzero(going)[0]
            arrived.append((columns(places, left), columns(U, left)))
            places, U, V, Y, value, gradient = (columns(a, kept) for a in (places, U, V, Y, value, gradient))
            history = [(columns(s, kept), columns(b, kept), columns(r, kept)) for s, b, r in history]
        if not staying:
            break
        move = _direction(shape, gradient, history)
        slope = xp.sum(move * gradient, axis=0)
        move = xp.where(slope < 0, move, -gradient)
        length, V, value, gradient_new = step(shape, white, Y, U, V, value, gradient, move)
        taken, bend = length * move, gradient_new - gradient
        curve = xp.sum(taken * bend, axis=0)
        usable = curve > 1e-14 * norms(taken) * norms(bend)
        history = [
            *history[1 - MEMORY :],
            (taken, bend, xp.where(usable, 1 / xp.where(usable, curve, 1.0), 0.0)),
        ]
        U, gradient, moving = U + taken, gradient_new, length > 0
    arrived.append((places, U))
    order = xp.argsort(xp.concat([where for where, _ in arrived]))
    return columns(xp.concat([found for _, found in arrived], axis=1), order)


def _direction(shape: Shape, gradient: Array, history: list[tuple[Array, Array, Array]]) -> Array:
    """Minus the gradient times the inverse Hessian that the last steps suggest (two loops, by column)."""
    xp = array_namespace(gradient)
    if not history:
        return -gradient / shape.steepest
    q, shares = gradient, []
    for taken, bend, r in reversed(history):
        share = r * xp.sum(taken * q, axis=0)
        q = q - share * bend
        shares.append(share)
    _, bend, r = history[-1]
    size = r * xp.sum(bend * bend, axis=0)
    q = q / xp.where(size > 0, size, shape.steepest)
    for (taken, bend, r), share in zip(history, reversed(shares), strict=True):
        q = q + taken * (share - r * xp.sum(bend * q, axis=0))
    return -q
