"""Smooth losses for many label vectors: L-BFGS in lockstep, then Newton's method for what is left.

Every column is a problem of its own with its own step length; only the matrix products are shared. Columns
that have arrived are taken out as the others go on. The start is the zero scorer.
"""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace

from unflip.experiments.batch.arrays import columns, merged, norms
from unflip.experiments.batch.fits import Fits
from unflip.experiments.batch.grams import solver
from unflip.experiments.batch.shapes import SHAPES, Shape
from unflip.experiments.batch.whitened import Whitened

Array = Any
MEMORY = 8  # steps that L-BFGS remembers
LAMBDA = 1e-16  # the paper's
SADDLE = -1e-6  # curvature below which a stationary point is left again
ROUGH, FINE = 1e-6, 1e-8  # gradient norms to hand over to Newton's method, and to stop at


def fit_smooth(name: str, white: Whitened, Y: Array, most: int = 600) -> Fits:
    """Minimise the mean loss of y and Q u for each column y of Y.

    >>> import numpy as np
    >>> white = Whitened.of(np.array([[1.0], [1.0], [-1.0], [1.0]]))
    >>> fits = fit_smooth("logistic", white, np.array([[1.0], [1.0], [-1.0], [-1.0]]))
    >>> fits.scores[0].round(4).tolist()  # log odds of three to one
    [1.0986]
    """
    shape = SHAPES[name]
    U = _lbfgs(shape, white, Y, ROUGH if shape.convex else FINE, most)
    return _certified(shape, white, Y, U)


def _slopes(shape: Shape, white: Whitened, Y: Array, U: Array, V: Array) -> tuple[Array, Array]:
    """The objective of each column at weights U with scores V, and its gradient.

    The paper's penalty is far below all that is measured. It is there for rows that fly apart: a few rows
    with a direction of their own would take their scores beyond all bounds, and rounding with them.
    """
    xp = array_namespace(U)
    value, slope = shape.first(Y, V)
    penalty = LAMBDA * (white.M @ U)
    return (
        xp.mean(value, axis=0) + xp.sum(U * penalty, axis=0) / 2,
        white.Q.T @ slope / V.shape[0] + penalty,
    )


def _lbfgs(shape: Shape, white: Whitened, Y: Array, tolerance: float, most: int) -> Array:
    Q, xp = white.Q, array_namespace(Y)
    places = xp.arange(Y.shape[1], device=Q.device)
    arrived: list[tuple[Array, Array]] = []
    U, V = xp.zeros((Q.shape[1], Y.shape[1]), dtype=Q.dtype, device=Q.device), xp.zeros_like(Y)
    value, gradient = _slopes(shape, white, Y, U, V)
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
        length, V, value, gradient_new = _step(shape, white, Y, U, V, value, gradient, move)
        step, bend = length * move, gradient_new - gradient
        curve = xp.sum(step * bend, axis=0)
        usable = curve > 1e-14 * norms(step) * norms(bend)
        history = [
            *history[1 - MEMORY :],
            (step, bend, xp.where(usable, 1 / xp.where(usable, curve, 1.0), 0.0)),
        ]
        U, gradient, moving = U + step, gradient_new, length > 0
    arrived.append((places, U))
    order = xp.argsort(xp.concat([where for where, _ in arrived]))
    return columns(xp.concat([found for _, found in arrived], axis=1), order)


def _direction(shape: Shape, gradient: Array, history: list[tuple[Array, Array, Array]]) -> Array:
    """Minus the gradient times the inverse Hessian that the last steps suggest (two loops, by column)."""
    xp = array_namespace(gradient)
    if not history:
        return -gradient / shape.steepest
    q, shares = gradient, []
    for step, bend, r in reversed(history):
        share = r * xp.sum(step * q, axis=0)
        q = q - share * bend
        shares.append(share)
    _, bend, r = history[-1]
    size = r * xp.sum(bend * bend, axis=0)
    q = q / xp.where(size > 0, size, shape.steepest)
    for (step, bend, r), share in zip(history, reversed(shares), strict=True):
        q = q + step * (share - r * xp.sum(bend * q, axis=0))
    return -q


def _step(
    shape: Shape, white: Whitened, Y: Array, U: Array, V: Array, value: Array, gradient: Array, move: Array
) -> tuple[Array, Array, Array, Array]:
    """How far to go along `move`: the first of ever shorter steps that lowers each objective enough.

    Scores may grow about fourfold in one step, no more: losses that level off punish a leap. Where nothing
    helps the length is zero. Also returned: scores, objective and gradient there.
    """
    xp = array_namespace(U)
    ahead = white.Q @ move
    slope = xp.sum(move * gradient, axis=0)
    room = 1 + 3 * xp.max(xp.abs(V), axis=0)
    leap = xp.max(xp.abs(ahead), axis=0)
    length = xp.where(leap > room, room / xp.where(leap > room, leap, 1.0), 1.0)
    V_new = V + length * ahead
    value_new, gradient_new = _slopes(shape, white, Y, U + length * move, V_new)
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
        found = _slopes(shape, white, columns(Y, where), trial_U, trial)
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


def _certified(shape: Shape, white: Whitened, Y: Array, U: Array, most: int = 60) -> Fits:
    """Newton steps for the columns that do not meet their certificate yet."""
    xp = array_namespace(U)
    certificate, curvature, separable, move = _certificate(shape, white, Y, U)
    moving = certificate >= 0
    for _ in range(most):
        late = moving & ((certificate > FINE) | (curvature < SADDLE)) & ~separable
        if not bool(xp.any(late)):
            break
        where = xp.nonzero(late)[0]
        part, labels, towards = columns(U, where), columns(Y, where), columns(move, where)
        V = white.Q @ part
        length, *_ = _step(shape, white, labels, part, V, *_slopes(shape, white, labels, part, V), towards)
        found = _certificate(shape, white, labels, part + length * towards)
        U = merged(U, part + length * towards, late)
        certificate, curvature, separable, move, moving = (
            merged(old, new, late)
            for old, new in zip(
                (certificate, curvature, separable, move, moving), (*found, length > 0), strict=True
            )
        )
    return Fits(white.Q @ U, certificate, separable, curvature)


def _certificate(shape: Shape, white: Whitened, Y: Array, U: Array) -> tuple[Array, Array, Array, Array]:
    """For each column: certificate, smallest curvature, whether it is separable, and a Newton step."""
    Q, xp = white.Q, array_namespace(U)
    n = Q.shape[0]
    V = Q @ U
    value, slope = shape.first(Y, V)
    bend = shape.second(Y, V)
    gradient = Q.T @ slope / n + LAMBDA * (white.M @ U)
    separable = xp.min(Y * V, axis=0) > 0
    hessians = white.grams(bend) / n + LAMBDA * white.M
    if not shape.convex:
        sizes, basis = xp.linalg.eigh(hessians)
        turned = xp.matmul(xp.matrix_transpose(basis), gradient.T[:, :, None])
        # Absolute eigenvalues, so that saddles repel; a push, where one has been reached all the same.
        floor = 1e-9 * xp.max(xp.abs(sizes), axis=1)[:, None]
        turned = turned / xp.maximum(xp.abs(sizes), floor)[:, :, None]
        push = xp.sign(turned + 1e-300) * xp.astype(sizes < SADDLE, Q.dtype)[:, :, None]
        turned = turned + push
        return norms(gradient), xp.min(sizes, axis=1), separable, -xp.matmul(basis, turned)[:, :, 0].T
    eye = xp.eye(Q.shape[1], dtype=Q.dtype, device=Q.device)
    trace = xp.sum(hessians * eye, axis=(1, 2))[:, None, None]
    move = -solver(hessians + 1e-15 * trace * eye)(gradient)
    gap = _logistic_gap(Q, Y, U, -Y * slope, bend, move, xp.mean(value, axis=0))
    return gap, xp.full_like(gap, xp.inf), separable, move


def _logistic_gap(
    Q: Array, Y: Array, U: Array, wrong: Array, bend: Array, move: Array, value: Array
) -> Array:
    """The duality gap relative to the objective, at the dual point that a Newton step suggests.

    Dual points a lie in [0, 1] with Q'(y a) = 0, and the dual objective is the mean entropy of a. What is
    left of Q'(y a) by rounding and clipping is charged at the length of the weights: the gap then bounds the
    distance to every scorer that is no longer than this one.
    """
    xp = array_namespace(Q)
    a = xp.clip(wrong - bend * Y * (Q @ move), 0.0, 1.0)
    entropy = -a * xp.log(xp.where(a > 0, a, 1.0)) - (1 - a) * xp.log1p(-xp.where(a < 1, a, 0.0))
    residual = norms(Q.T @ (Y * a) / Q.shape[0]) * norms(U)
    return (value - xp.mean(entropy, axis=0) + residual) / value
