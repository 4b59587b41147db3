"""The exact hinge for many label vectors: interior point methods in lockstep.

For each column y of Y, in the whitened coordinates of `Whitened` and with m_i = y_i <q_i, u>:

    min  sum_i xi_i + n ridge / 2 |T u|^2     with  m_i + xi_i - s_i = 1,  xi, s >= 0,
    max  sum_i a_i - g' M^-1 g / (2 n ridge)  with  0 <= a_i <= 1,  g = Q'(y a),  M = T'T.

Mehrotra's predictor and corrector, one common step length a column. The ridge is there to choose among the
minimisers of separable labels (the widest margin). The certificate is for the loss without it: where a lies
inside (0, 1) it is moved so that g = 0, and then no scorer has a loss below sum_i a_i. Where too much is left
between that and the loss, the ridge is lowered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from array_api_compat import array_namespace

from unflip.experiments.batch.arrays import columns, merged, norms
from unflip.experiments.batch.fits import Fits
from unflip.experiments.batch.grams import solver
from unflip.experiments.batch.whitened import Whitened

Array = Any
FAR = 1e-5  # mean complementarity above which the goal is far
ENOUGH, LEAST = 5e-7, 1e-14  # of the loss, what may be left; the smallest ridge tried for it
PATIENCE = 6  # steps without progress after which rounding has the last word


def fit_hinge(
    white: Whitened, Y: Array, ridge: float = 1e-9, tolerance: float = 1e-12, most: int = 60
) -> Fits:
    """Minimise the mean hinge loss of y and Q u, for each column y of Y, with a trace of ridge.

    The tolerance is on the duality gap per row; only far below the ridge does it fix the length of weights
    that lose nothing.

    >>> import numpy as np
    >>> white = Whitened.of(np.array([[1.0], [2.0], [4.0]]))
    >>> fit_hinge(white, np.ones((3, 1))).scores.round(2).tolist()  # the shortest weight without loss
    [[1.0], [2.0], [4.0]]
    """
    xp = array_namespace(Y)
    Q, M = white.Q, white.M
    n, count = Q.shape[0], Y.shape[1]
    labels, places = Y, xp.arange(count, device=Y.device)
    # The residuals of least squares are orthogonal to Q: a dual point that is nearly feasible at once.
    U = Q.T @ Y / n
    m = Y * (Q @ U)
    xi, s = xp.where(m < 1, 1 - m, 0.0) + 1, xp.where(m > 1, m - 1, 0.0) + 1
    a = xp.clip((1 - m) / 2, 0.1, 0.9)
    room = 1 - a
    best, dual, gaps = U, a, _gaps(Q, M, Y, U, a, n * ridge)
    stale = xp.zeros_like(gaps)
    arrived: list[tuple[Array, Array, Array]] = []
    for _ in range(most):
        going = (gaps > tolerance) & (stale < PATIENCE)
        staying = int(xp.count_nonzero(going))
        if staying < 0.8 * places.shape[0]:
            left, kept = xp.nonzero(~going)[0], xp.nonzero(going)[0]
            arrived.append((columns(places, left), columns(best, left), columns(dual, left)))
            places, Y, U, xi, s, a, room, best, dual, gaps, stale = (
                columns(values, kept) for values in (places, Y, U, xi, s, a, room, best, dual, gaps, stale)
            )
        if not staying:
            break
        U, a, room, xi, s = _advanced(white, M, Y, n * ridge, stale > 0, U, a, room, xi, s)
        gap = _gaps(Q, M, Y, U, a, n * ridge)
        stale = xp.where(gap < 0.9 * gaps, 0.0, stale + 1)
        better = gap < gaps
        best, dual, gaps = (xp.where(better, new, old) for new, old in ((U, best), (a, dual), (gap, gaps)))
    arrived.append((places, best, dual))
    order = xp.argsort(xp.concat([where for where, _, _ in arrived]))
    weights = columns(xp.concat([found for _, found, _ in arrived], axis=1), order)
    dual = columns(xp.concat([reached for _, _, reached in arrived], axis=1), order)
    margins = labels * (Q @ weights)
    fits = Fits(
        Q @ weights,
        _certificate(white, labels, weights, margins, dual),
        xp.min(margins, axis=0) > 0,
        xp.full_like(margins[0, :], xp.inf),
    )
    heavy = (fits.certificate > ENOUGH) & ~fits.separable
    if ridge <= LEAST or not bool(xp.any(heavy)):
        return fits
    where = xp.nonzero(heavy)[0]
    again = fit_hinge(white, columns(labels, where), ridge / 100, tolerance, most)
    nearer = again.certificate < columns(fits.certificate, where)
    return fits.replaced(merged(heavy, nearer, heavy), again.some(xp.nonzero(nearer)[0]))


def _certificate(white: Whitened, Y: Array, U: Array, margins: Array, a: Array) -> Array:
    """What is left between the loss and the best bound on it, relative to the loss.

    What remains of g by rounding is charged at the length of the weights, as for logistic regression.
    """
    Q, xp = white.Q, array_namespace(Y)
    n, inside = Q.shape[0], xp.clip(a, 0.0, 1.0)
    slack = inside * (1 - inside)
    eye = xp.eye(Q.shape[1], dtype=Q.dtype, device=Q.device)
    grams = white.grams(slack)
    trace = xp.sum(grams * eye, axis=(1, 2))[:, None, None]
    shift = solver(grams + (1e-14 * trace + 1e-300) * eye)(Q.T @ (Y * inside))
    feasible = xp.clip(inside - slack * Y * (Q @ shift), 0.0, 1.0)
    residual = norms(Q.T @ (Y * feasible) / n) * norms(U)
    loss = xp.mean(xp.where(margins < 1, 1 - margins, 0.0), axis=0)
    left = loss - xp.mean(feasible, axis=0) + residual
    return xp.abs(left) / xp.where(loss > 0, loss, 1.0)


def _advanced(
    white: Whitened,
    M: Array,
    Y: Array,
    ridge: float,
    stalled: Array,
    U: Array,
    a: Array,
    room: Array,
    xi: Array,
    s: Array,
) -> tuple[Array, Array, Array, Array, Array]:
    """One predictor and corrector step."""
    Q, xp, now = white.Q, array_namespace(Y), (a, room, xi, s)
    residual = Y * (Q @ U) + xi - s - 1, ridge * (M @ U) - Q.T @ (Y * a)
    theta = 1 / (xi / room + s / a)
    slack = xp.sum(a * s + room * xi, axis=0)
    # Far from the goal a direction needs few digits; residuals are always those of full precision.
    rough = (slack > FAR * Y.shape[0]) & ~stalled
    grams = white.grams(theta, rough) + ridge * M
    eye = xp.eye(M.shape[0], dtype=M.dtype, device=M.device)
    trace = xp.sum(grams * eye, axis=(1, 2))[:, None, None]
    solve = solver(grams + 1e-15 * trace * eye)  # singular but for this, where rows at the margin are few
    dU, da, ds, dxi = _direction(Q, Y, now, residual, theta, solve, -a * s, -room * xi)
    length = _lengths(now, da, ds, dxi)
    ahead = xp.sum((a + length * da) * (s + length * ds) + (room - length * da) * (xi + length * dxi), axis=0)
    target = (ahead / slack) ** 3 * slack / (2 * Q.shape[0])
    r1, r2 = target - a * s - da * ds, target - room * xi + da * dxi
    dU, da, ds, dxi = _direction(Q, Y, now, residual, theta, solve, r1, r2)
    length = 0.9995 * _lengths(now, da, ds, dxi)
    return U + length * dU, a + length * da, room - length * da, xi + length * dxi, s + length * ds


def _direction(
    Q: Array,
    Y: Array,
    now: tuple[Array, Array, Array, Array],
    residual: tuple[Array, Array],
    theta: Array,
    solve: Callable[[Array], Array],
    r1: Array,
    r2: Array,
) -> tuple[Array, Array, Array, Array]:
    """The Newton steps that change a s by r1 and room xi by r2, and take the residuals away."""
    (a, room, xi, s), (primal, dual) = now, residual
    q = r1 / a - r2 / room - primal
    dU = solve(Q.T @ (Y * theta * q) - dual)
    da = theta * (q - Y * (Q @ dU))
    return dU, da, (r1 - s * da) / a, (r2 + xi * da) / room


def _lengths(now: tuple[Array, Array, Array, Array], da: Array, ds: Array, dxi: Array) -> Array:
    """The longest step up to one that keeps a, room, xi and s positive, for each column."""
    xp = array_namespace(da)
    # value + t change > 0 for all rows: 1 / t is at least the largest -change / value.
    shrinking = [
        xp.max(-change / value, axis=0) for value, change in zip(now, (da, -da, dxi, ds), strict=True)
    ]
    return 1 / xp.max(xp.stack([xp.ones_like(shrinking[0]), *shrinking]), axis=0)


def _gaps(Q: Array, M: Array, Y: Array, U: Array, a: Array, ridge: float) -> Array:
    """Primal minus dual objective of each column, per row."""
    xp = array_namespace(Q)
    m = Y * (Q @ U)
    primal = xp.sum(xp.where(m < 1, 1 - m, 0.0), axis=0) + ridge / 2 * xp.sum(U * (M @ U), axis=0)
    inside = xp.clip(a, 0.0, 1.0)
    g = Q.T @ (Y * inside)
    dual = xp.sum(inside, axis=0) - xp.sum(g * xp.linalg.solve(M, g), axis=0) / (2 * ridge)
    return (primal - dual) / Q.shape[0]
