"""Smooth losses for many label vectors: L-BFGS from the zero scorer, then Newton's method for what is left.

Every fit carries a certificate: the duality gap where the loss is convex; otherwise the norm of the gradient
and the smallest eigenvalue of the Hessian.
"""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace, is_numpy_namespace

from unflip.experiments.batch.arrays import columns, merged, norms
from unflip.experiments.batch.descent import LAMBDA, slopes, step
from unflip.experiments.batch.fits import Fits
from unflip.experiments.batch.grams import solver
from unflip.experiments.batch.lbfgs import lbfgs
from unflip.experiments.batch.shapes import SHAPES, Shape
from unflip.experiments.batch.whitened import Whitened

Array = Any
SADDLE = -1e-6  # curvature below which a stationary point is left again
ROUGH, FINE = 1e-6, 1e-7  # gradient norms to hand over to Newton's method, and to stop at


def fit_smooth(name: str, white: Whitened, Y: Array) -> Fits:
    """Minimise the mean loss of y and Q u for each column y of Y.

    >>> import numpy as np
    >>> white = Whitened.of(np.array([[1.0], [1.0], [-1.0], [1.0]]))
    >>> fits = fit_smooth("logistic", white, np.array([[1.0], [1.0], [-1.0], [-1.0]]))
    >>> fits.scores[0].round(4).tolist()  # log odds of three to one
    [1.0986]
    """
    shape = SHAPES[name]
    # Newton's method is for a few columns on a processor, and for all of them where arrays are big at once.
    most = 200 if is_numpy_namespace(array_namespace(Y)) else 60
    U = lbfgs(shape, white, Y, ROUGH if shape.convex else FINE, 150 if shape.convex else most)
    return _certified(shape, white, Y, U)


def _certified(shape: Shape, white: Whitened, Y: Array, U: Array, escapes: int = 3) -> Fits:
    """Newton's method for the columns that are not there yet; saddles that were reached are left again."""
    xp = array_namespace(U)
    U, certificate, separable = _newton(shape, white, Y, U)
    V = white.Q @ U
    if shape.convex:
        return Fits(V, certificate, separable, xp.full_like(certificate, xp.inf))
    curvature = xp.min(xp.linalg.eigvalsh(_hessians(shape, white, Y, V)), axis=1)
    fits = Fits(V, certificate, separable, curvature)
    saddle = (curvature < SADDLE) & ~separable
    if not escapes or not bool(xp.any(saddle)):
        return fits
    where = xp.nonzero(saddle)[0]
    labels = columns(Y, where)
    pushed = _pushed(shape, white, labels, columns(U, where))
    return fits.replaced(saddle, _certified(shape, white, labels, pushed, escapes - 1))


def _newton(shape: Shape, white: Whitened, Y: Array, U: Array, most: int = 300) -> tuple[Array, Array, Array]:
    """Damped Newton steps; weights, certificates, and whether the labels are separated.

    The damping of a column grows when its step points uphill or nowhere, and fades otherwise.
    """
    xp = array_namespace(U)
    certificate, separable = _certificate(shape, white, Y, U)
    damping = xp.zeros_like(certificate)
    for _ in range(most):
        late = (certificate > FINE) & (damping < 10 * shape.steepest)
        if shape.convex:
            late = late & ~separable  # no minimum to be near to; other losses go on to a small gradient
        if not bool(xp.any(late)):
            break
        where = xp.nonzero(late)[0]
        part, labels, damped = columns(U, where), columns(Y, where), columns(damping, where)
        V = white.Q @ part
        value, gradient = slopes(shape, white, labels, part, V)
        move = -_solved(_hessians(shape, white, labels, V), damped, gradient)
        uphill = xp.sum(move * gradient, axis=0) >= 0
        move = xp.where(uphill, -gradient / shape.steepest, move)
        length, *_ = step(shape, white, labels, part, V, value, gradient, move)
        part = part + length * move
        more = xp.where(damped > 0, 4 * damped, 1e-3 * shape.steepest)
        damped = xp.where(uphill | (length == 0), more, xp.where(damped > 1e-9, damped / 8, 0.0))
        found = (part, damped, *_certificate(shape, white, labels, part))
        U, damping, certificate, separable = (
            merged(old, new, late)
            for old, new in zip((U, damping, certificate, separable), found, strict=True)
        )
    return U, certificate, separable


def _hessians(shape: Shape, white: Whitened, Y: Array, V: Array) -> Array:
    return white.grams(shape.second(Y, V)) / V.shape[0] + LAMBDA * white.M


def _solved(hessians: Array, damping: Array, gradient: Array) -> Array:
    """The gradients divided by damped Hessians."""
    xp = array_namespace(gradient)
    eye = xp.eye(gradient.shape[0], dtype=gradient.dtype, device=gradient.device)
    trace = xp.sum(xp.abs(hessians * eye), axis=(1, 2))
    return solver(hessians + (damping + 1e-15 * trace)[:, None, None] * eye)(gradient)


def _pushed(shape: Shape, white: Whitened, Y: Array, U: Array) -> Array:
    """A step off each saddle, down along its direction of least curvature."""
    xp = array_namespace(U)
    V = white.Q @ U
    value, gradient = slopes(shape, white, Y, U, V)
    _, basis = xp.linalg.eigh(_hessians(shape, white, Y, V))
    move = basis[:, :, 0].T
    move = xp.where(xp.sum(move * gradient, axis=0) > 0, -move, move)
    length, *_ = step(shape, white, Y, U, V, value, gradient, move)
    return U + length * move


def _certificate(shape: Shape, white: Whitened, Y: Array, U: Array) -> tuple[Array, Array]:
    """For each column the norm of the gradient or, where the loss is convex, the relative duality gap.

    And whether the scorer separates the labels: then there is no minimum to be near to.
    """
    V = white.Q @ U
    _, gradient = slopes(shape, white, Y, U, V)
    separable = array_namespace(V).min(Y * V, axis=0) > 0
    if not shape.convex:
        return norms(gradient), separable
    hessians = _hessians(shape, white, Y, V)
    move = -_solved(hessians, 0 * gradient[0, :], gradient)
    return _logistic_gap(shape, white.Q, Y, U, V, move), separable


def _logistic_gap(shape: Shape, Q: Array, Y: Array, U: Array, V: Array, move: Array) -> Array:
    """The duality gap relative to the objective, at the dual point that a Newton step suggests.

    Dual points a lie in [0, 1] with Q'(y a) = 0, and the dual objective is the mean entropy of a. What is
    left of Q'(y a) by rounding and clipping is charged at the length of the weights: the gap then bounds the
    distance to every scorer that is no longer than this one.
    """
    xp = array_namespace(Q)
    value, slope = shape.first(Y, V)
    a = xp.clip(-Y * (slope + shape.second(Y, V) * (Q @ move)), 0.0, 1.0)
    entropy = -a * xp.log(xp.where(a > 0, a, 1.0)) - (1 - a) * xp.log1p(-xp.where(a < 1, a, 0.0))
    residual = norms(Q.T @ (Y * a) / Q.shape[0]) * norms(U)
    return (xp.mean(value - entropy, axis=0) + residual) / xp.mean(value, axis=0)
