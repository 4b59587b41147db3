"""The exact hinge for many label vectors: interior point methods in lockstep.

For each column y of Y, in the whitened coordinates of `Whitened` and with m_i = y_i <q_i, u>:

    min  sum_i xi_i + n ridge / 2 |T u|^2     with  m_i + xi_i - s_i = 1,  xi, s >= 0,
    max  sum_i a_i - g' M^-1 g / (2 n ridge)  with  0 <= a_i <= 1,  g = Q'(y a),  M = T'T.

Mehrotra's predictor and corrector, one common step length a column. The ridge is there to choose among the
minimisers of separable labels (the widest margin); the duality gap is the certificate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unflip.experiments.batch.whitened import Whitened

Array = np.ndarray[Any, Any]
ROOM = 25_000_000  # numbers that the products of pairs of columns may take


@dataclass(frozen=True, eq=False)
class HingeFit:
    """Weights for Q, one column a label vector; the mean hinge loss there; the duality gap, per row.

    >>> HingeFit(np.zeros((2, 1)), np.array([1.0]), np.array([1e-9])).gap.tolist()
    [1e-09]
    """

    weights: Array
    objective: Array
    gap: Array


def fit_hinge(
    white: Whitened, Y: Array, ridge: float = 1e-9, tolerance: float = 1e-12, most: int = 60
) -> HingeFit:
    """Minimise the mean hinge loss of y and Q u, for each column y of Y, with a trace of ridge.

    The tolerance is on the duality gap per row; only far below the ridge does it fix the length of weights
    that lose nothing.

    >>> white = Whitened.of(np.array([[1.0], [2.0], [4.0]]))
    >>> fit = fit_hinge(white, np.array([[1], [1], [1]]))
    >>> (white.T @ fit.weights).round(2).tolist()  # the shortest weight without loss
    [[1.0]]
    """
    Q, M = white.Q, white.T.T @ white.T
    n, r = Q.shape
    labels, pairs = Y, _pairs(Q)
    weights, gaps = np.zeros((r, Y.shape[1])), np.full(Y.shape[1], np.inf)
    places = np.arange(Y.shape[1])
    U = Q.T @ Y / (2 * n)
    m = Y * (Q @ U)
    xi, s = np.maximum(1 - m, 0) + 0.3, np.maximum(m - 1, 0) + 0.3
    a, room = np.full(Y.shape, 0.5), np.full(Y.shape, 0.5)
    for _ in range(most):
        gap = _gaps(Q, M, Y, U, a, n * ridge)
        better = gap < gaps[places]
        weights[:, places[better]], gaps[places[better]] = U[:, better], gap[better]
        going = gaps[places] > tolerance
        if not going.any():
            break
        if going.mean() < 0.8:
            places, Y, U = places[going], Y[:, going], U[:, going]
            xi, s, a, room = xi[:, going], s[:, going], a[:, going], room[:, going]
        now = (a, room, xi, s)
        residual = Y * (Q @ U) + xi - s - 1, n * ridge * (M @ U) - Q.T @ (Y * a)
        theta = 1 / (xi / room + s / a)
        grams = _grams(Q, pairs, theta) + n * ridge * M
        grams[:, np.arange(r), np.arange(r)] *= 1 + 1e-13
        slack = np.sum(a * s + room * xi, axis=0)
        dU, da, ds, dxi = _direction(Q, Y, now, residual, theta, grams, -a * s, -room * xi)
        length = _lengths(now, da, ds, dxi)
        ahead = np.sum((a + length * da) * (s + length * ds) + (room - length * da) * (xi + length * dxi), 0)
        target = (ahead / slack) ** 3 * slack / (2 * n)
        r1, r2 = target - a * s - da * ds, target - room * xi + da * dxi
        dU, da, ds, dxi = _direction(Q, Y, now, residual, theta, grams, r1, r2)
        length = 0.9995 * _lengths(now, da, ds, dxi)
        U = U + length * dU
        a, room = a + length * da, room - length * da
        s, xi = s + length * ds, xi + length * dxi
    return HingeFit(weights, np.mean(np.maximum(1 - labels * (Q @ weights), 0), axis=0), gaps)


def _pairs(Q: Array) -> Array | None:
    """Products of pairs of columns, row by row, so that all Gram matrices are one matrix product."""
    upper = np.triu_indices(Q.shape[1])
    return Q[:, upper[0]] * Q[:, upper[1]] if len(Q) * len(upper[0]) <= ROOM else None


def _grams(Q: Array, pairs: Array | None, theta: Array) -> Array:
    """Q' diag(theta_k) Q for each column k, (K, r, r)."""
    r, trials = Q.shape[1], theta.shape[1]
    if pairs is None:
        return np.array([(Q * theta[:, [k]]).T @ Q for k in range(trials)])
    upper = np.triu_indices(r)
    grams = np.empty((trials, r, r))
    grams[:, upper[0], upper[1]] = grams[:, upper[1], upper[0]] = theta.T @ pairs
    return grams


def _direction(
    Q: Array,
    Y: Array,
    now: tuple[Array, Array, Array, Array],
    residual: tuple[Array, Array],
    theta: Array,
    grams: Array,
    r1: Array,
    r2: Array,
) -> tuple[Array, Array, Array, Array]:
    """The Newton steps that change a s by r1 and room xi by r2, and take the residuals away."""
    (a, room, xi, s), (primal, dual) = now, residual
    q = r1 / a - r2 / room - primal
    right = Q.T @ (Y * theta * q) - dual
    dU = np.linalg.solve(grams, right.T[:, :, None])[:, :, 0].T
    da = theta * (q - Y * (Q @ dU))
    return dU, da, (r1 - s * da) / a, (r2 + xi * da) / room


def _lengths(now: tuple[Array, Array, Array, Array], da: Array, ds: Array, dxi: Array) -> Array:
    """The longest step up to one that keeps a, room, xi and s positive, for each column."""
    longest = np.ones(da.shape[1])
    for value, change in zip(now, (da, -da, dxi, ds), strict=True):
        with np.errstate(divide="ignore"):
            longest = np.minimum(longest, np.min(np.where(change < 0, -value / change, np.inf), axis=0))
    return longest


def _gaps(Q: Array, M: Array, Y: Array, U: Array, a: Array, ridge: float) -> Array:
    """Primal minus dual objective of each column, per row."""
    primal = np.sum(np.maximum(1 - Y * (Q @ U), 0), axis=0) + ridge / 2 * np.sum(U * (M @ U), axis=0)
    inside = np.clip(a, 0, 1)
    g = Q.T @ (Y * inside)
    dual = inside.sum(axis=0) - np.sum(g * np.linalg.solve(M, g), axis=0) / (2 * ridge)
    return (primal - dual) / len(Q)
