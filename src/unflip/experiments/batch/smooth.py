"""Smooth losses without a penalty to speak of: L-BFGS from the zero scorer, then Newton's method.

Every fit carries a certificate: the duality gap where the loss is convex (the logistic); otherwise the norm
of the gradient and the smallest eigenvalue of the Hessian.
"""

from __future__ import annotations

from array_api_compat import array_namespace, is_numpy_namespace

from unflip.border.arrays import AnyArray
from unflip.experiments.batch.fits import Fits
from unflip.experiments.batch.whitened import Whitened
from unflip.solvers.columns import columns, norms
from unflip.solvers.lbfgs import lbfgs
from unflip.solvers.newton import newton
from unflip.solvers.problem import Problem
from unflip.solvers.step import step

SADDLE = -1e-6  # curvature below which a stationary point is left again
ROUGH, FINE = 1e-6, 1e-7  # gradient norms to hand over to Newton's method, and to stop at


def fit_smooth(white: Whitened, problem: Problem) -> Fits:
    """Minimise the mean loss of y and Q u for each label column y.

    >>> import numpy as np
    >>> from unflip.losses import Logistic
    >>> white = Whitened.of(np.array([[1.0], [1.0], [-1.0], [1.0]]))
    >>> fits = fit_smooth(white, white.problem(Logistic(), np.array([[1.0], [1.0], [-1.0], [-1.0]])))
    >>> fits.scores[0].round(4).tolist()  # log odds of three to one
    [1.0986]
    """
    if problem.loss.traits.convex:
        return certified(problem, lbfgs(problem, ROUGH, 150)[0])
    # Newton's method is for a few columns on a processor, and for all of them where arrays are big at once.
    most = 200 if is_numpy_namespace(array_namespace(white.Q)) else 60
    return certified(problem, lbfgs(problem, FINE, most)[0])


def certified(problem: Problem, U: AnyArray, escapes: int = 3) -> Fits:
    """Newton's method for the columns that are not there yet; saddles that were reached are left again."""
    xp, convex = array_namespace(U), problem.loss.traits.convex
    U, certificate, _ = newton(problem, U, FINE, judge=judged if convex else None)
    V = problem.rows.scores(U)
    separable = xp.min(problem.labels * V, axis=0) > 0
    if convex:
        return Fits(V, certificate, separable, xp.full_like(certificate, xp.inf))
    curvature = xp.min(xp.linalg.eigvalsh(problem.hessians(V)), axis=1)
    fits = Fits(V, certificate, separable, curvature)
    saddle = (curvature < SADDLE) & ~separable
    if not escapes or not bool(xp.any(saddle)):
        return fits
    where = xp.nonzero(saddle)[0]
    part = problem.some(where)
    return fits.replaced(saddle, certified(part, _pushed(part, columns(U, where)), escapes - 1))


def _pushed(problem: Problem, U: AnyArray) -> AnyArray:
    """A step off each saddle, down along its direction of least curvature."""
    xp, V = array_namespace(U), problem.rows.scores(U)
    value, gradient = problem.first(U, V)
    _, basis = xp.linalg.eigh(problem.hessians(V))
    move = basis[:, :, 0].T
    move = xp.where(xp.sum(move * gradient, axis=0) > 0, -move, move)
    length, *_ = step(problem, U, V, value, gradient, move)
    return U + length * move


def judged(problem: Problem, U: AnyArray, V: AnyArray, move: AnyArray) -> tuple[AnyArray, AnyArray]:
    """The gap, and whether to go on: where a scorer separates its labels, there is no minimum to go to."""
    gap = logistic_gap(problem, U, V, move)
    return gap, (gap > FINE) & (array_namespace(V).min(problem.labels * V, axis=0) <= 0)


def logistic_gap(problem: Problem, U: AnyArray, V: AnyArray, move: AnyArray) -> AnyArray:
    """The duality gap relative to the objective, at the dual point that a Newton step suggests.

    Dual points a lie in [0, 1] with Q'(y a) = 0, and the dual objective is the mean entropy of a. What is
    left of Q'(y a) by rounding and clipping is charged at the length of the weights: the gap then bounds the
    distance to every scorer that is no longer than this one.
    """
    xp, Y, rows = array_namespace(U), problem.labels, problem.rows
    value, slope = problem.loss.value_and_slope(Y, V)
    a = xp.clip(-Y * (slope + problem.loss.curvature(Y, V) * rows.scores(move)), 0.0, 1.0)
    entropy = -a * xp.log(xp.where(a > 0, a, 1.0)) - (1 - a) * xp.log1p(-xp.where(a < 1, a, 0.0))
    residual = norms(rows.combine(Y * a) / Y.shape[0]) * norms(U)
    return (xp.mean(value - entropy, axis=0) + residual) / xp.mean(value, axis=0)
