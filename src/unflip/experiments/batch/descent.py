"""The objective of many label vectors at once, its gradient, and how far to go along a direction."""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace

from unflip.experiments.batch.arrays import columns, merged, norms
from unflip.experiments.batch.shapes import Shape
from unflip.experiments.batch.whitened import Whitened

Array = Any
LAMBDA = 1e-16  # the paper's


def slopes(shape: Shape, white: Whitened, Y: Array, U: Array, V: Array) -> tuple[Array, Array]:
    """The objective of each column at weights U with scores V, and its gradient.

    The paper's penalty is far below all that is measured. It is there for rows that fly apart: a few rows
    with a direction of their own would take their scores beyond all bounds, and rounding with them.

    >>> import numpy as np
    >>> from unflip.experiments.batch.shapes import SHAPES
    >>> white, zero = Whitened.of(np.ones((2, 1))), np.zeros((1, 1))
    >>> value, gradient = slopes(SHAPES["logistic"], white, np.ones((2, 1)), zero, white.Q @ zero)
    >>> value.round(6).tolist(), np.abs(gradient).round(6).tolist()  # log 2, and half a label
    ([0.693147], [[0.5]])
    """
    xp = array_namespace(U)
    value, slope = shape.first(Y, V)
    penalty = LAMBDA * (white.M @ U)
    return (
        xp.mean(value, axis=0) + xp.sum(U * penalty, axis=0) / 2,
        white.Q.T @ slope / V.shape[0] + penalty,
    )


def step(
    shape: Shape, white: Whitened, Y: Array, U: Array, V: Array, value: Array, gradient: Array, move: Array
) -> tuple[Array, Array, Array, Array]:
    """How far to go along `move`: the first of ever shorter steps that lowers each objective enough.

    Scores may grow about fourfold in one step, no more: losses that level off punish a leap. Where nothing
    helps the length is zero. Also returned: scores, objective and gradient there.

    >>> import numpy as np
    >>> from unflip.experiments.batch.shapes import SHAPES
    >>> shape, white, zero = SHAPES["logistic"], Whitened.of(np.ones((2, 1))), np.zeros((1, 1))
    >>> Y, V = np.ones((2, 1)), np.zeros((2, 1))
    >>> value, gradient = slopes(shape, white, Y, zero, V)
    >>> step(shape, white, Y, zero, V, value, gradient, -10 * gradient)[0].round(6).tolist()
    [0.2]
    """
    xp = array_namespace(U)
    ahead = white.Q @ move
    slope = xp.sum(move * gradient, axis=0)
    room = 1 + 3 * xp.max(xp.abs(V), axis=0)
    leap = xp.max(xp.abs(ahead), axis=0)
    length = xp.where(leap > room, room / xp.where(leap > room, leap, 1.0), 1.0)
    V_new = V + length * ahead
    value_new, gradient_new = slopes(shape, white, Y, U + length * move, V_new)
    for _ in range(30):
        short = ~(value_new <= value + 1e-4 * length * slope)
        # Level to rounding: then the gradient decides.
        level = xp.abs(value_new - value) <= 1e-14 * value
        short = short & ~(level & (norms(gradient_new) < norms(gradient)))
        if not bool(xp.any(short)):
            return length, V_new, value_new, gradient_new
        where = xp.nonzero(short)[0]
        length = xp.where(short, 0.4 * length, length)
        trial_U, trial = (
            columns(start, where) + columns(length, where) * columns(change, where)
            for start, change in ((U, move), (V, ahead))
        )
        found = slopes(shape, white, columns(Y, where), trial_U, trial)
        V_new, value_new, gradient_new = (
            merged(whole, part, short)
            for whole, part in zip((V_new, value_new, gradient_new), (trial, *found), strict=True)
        )
    return (
        xp.where(short, 0.0, length),
        xp.where(short, V, V_new),
        xp.where(short, value, value_new),
        xp.where(short, gradient, gradient_new),
    )
