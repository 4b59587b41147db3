"""Smooth losses for many label vectors: L-BFGS in lockstep, then Newton to the last digits.

Every column is a problem of its own with its own step length; only the matrix products are shared. Columns
that have arrived are taken out as the others go on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unflip.estimators.objective import Objective
from unflip.estimators.smooth import newton
from unflip.losses import Loss

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class BatchFit:
    """Weights for Q, one column a label vector, the objective there, and the norm of its gradient.

    >>> fit = BatchFit(np.zeros((2, 1)), np.array([0.5]), np.array([1e-9]))
    >>> fit.weights.shape
    (2, 1)
    """

    weights: Array
    objective: Array
    gradient_norm: Array


def fit_smooth(loss: Loss, Q: Array, Y: Array, tolerance: float = 1e-9, most: int = 300) -> BatchFit:
    """Minimise the mean of l(y, Q u) for each column y of Y, from u = 0.

    >>> from unflip.losses import Logistic
    >>> Q = np.array([[1.0], [1.0], [-1.0], [1.0]])
    >>> fit = fit_smooth(Logistic(), Q, np.array([[1], [1], [-1], [-1]]))
    >>> fit.weights.round(6).tolist()  # log odds of three to one
    [[1.098612]]
    """
    rough = _lbfgs(loss, Q, Y, 1e3 * tolerance, most)
    return _polished(loss, Q, Y, rough, tolerance)


def _slopes(loss: Loss, Q: Array, Y: Array, U: Array) -> tuple[Array, Array]:
    V = Q @ U
    return np.mean(loss.value(Y, V), axis=0), Q.T @ loss.derivative(Y, V) / len(Q)


def _lbfgs(loss: Loss, Q: Array, Y: Array, tolerance: float, most: int, memory: int = 8) -> Array:
    done = np.zeros((Q.shape[1], Y.shape[1]))
    places = np.arange(Y.shape[1])
    U = done.copy()
    value, gradient = _slopes(loss, Q, Y, U)
    history: list[tuple[Array, Array, Array]] = []
    for _ in range(most):
        going = np.linalg.norm(gradient, axis=0) > tolerance
        if going.mean() < 0.8:  # drop what has arrived; a few stragglers may ride along
            done[:, places] = U
            places, U, Y = places[going], U[:, going], Y[:, going]
            value, gradient = value[going], gradient[:, going]
            history = [(s[:, going], g[:, going], r[going]) for s, g, r in history]
        if not places.size:
            break
        move = _direction(gradient, history)
        slope = np.sum(move * gradient, axis=0)
        uphill = slope >= 0
        move[:, uphill], slope[uphill] = -gradient[:, uphill], -np.sum(gradient[:, uphill] ** 2, axis=0)
        U_new, value_new, gradient_new = _step(loss, Q, Y, U, value, move, slope)
        step, bend = U_new - U, gradient_new - gradient
        curve = np.sum(step * bend, axis=0)
        usable = curve > 1e-14 * np.linalg.norm(step, axis=0) * np.linalg.norm(bend, axis=0)
        history = [*history[1 - memory :], (step, bend, np.where(usable, 1 / np.where(usable, curve, 1), 0))]
        U, value, gradient = U_new, value_new, gradient_new
    done[:, places] = U
    return done


def _direction(gradient: Array, history: list[tuple[Array, Array, Array]]) -> Array:
    """Minus the gradient times the inverse Hessian that the last steps suggest (two loops, by column)."""
    q = gradient.copy()
    shares = []
    for step, bend, r in reversed(history):
        share = r * np.sum(step * q, axis=0)
        q -= share * bend
        shares.append(share)
    if history:
        _, bend, r = history[-1]
        size = r * np.sum(bend**2, axis=0)
        q /= np.where(size > 0, size, 1.0)
    for (step, bend, r), share in zip(history, reversed(shares), strict=True):
        q += step * (share - r * np.sum(bend * q, axis=0))
    return -q


def _step(
    loss: Loss, Q: Array, Y: Array, U: Array, value: Array, move: Array, slope: Array
) -> tuple[Array, Array, Array]:
    """The first of ever shorter steps that lowers each objective enough (Armijo)."""
    length = np.ones(U.shape[1])
    new = U + move
    value_new, gradient_new = _slopes(loss, Q, Y, new)
    for _ in range(40):
        short = ~(value_new <= value + 1e-4 * length * slope)
        if not short.any():
            break
        length[short] *= 0.4
        new[:, short] = U[:, short] + length[short] * move[:, short]
        value_new[short], gradient_new[:, short] = _slopes(loss, Q, Y[:, short], new[:, short])
    worse = value_new > value  # nothing helped: down to rounding
    new[:, worse] = U[:, worse]
    value_new[worse], gradient_new[:, worse] = _slopes(loss, Q, Y[:, worse], new[:, worse])
    return new, value_new, gradient_new


def _polished(loss: Loss, Q: Array, Y: Array, U: Array, tolerance: float) -> BatchFit:
    """Newton's method, one by one, for the columns that have not arrived."""
    value, gradient = _slopes(loss, Q, Y, U)
    late = np.flatnonzero(np.linalg.norm(gradient, axis=0) > tolerance)
    for k in late:
        positive, negative = (Y[:, k] > 0) / len(Q), (Y[:, k] < 0) / len(Q)
        task = Objective(loss, Q, positive, negative, 0.0, False)
        U[:, k], _ = newton(task, U[:, k], most=50, tolerance=tolerance)
    value[late], gradient[:, late] = _slopes(loss, Q, Y[:, late], U[:, late])
    return BatchFit(U, value, np.linalg.norm(gradient, axis=0))
