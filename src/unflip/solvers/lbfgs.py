"""L-BFGS for many label columns in lockstep.

Every column is a problem of its own with its own step length; only the matrix products are shared.
"""

from __future__ import annotations

from math import isfinite

from array_api_compat import array_namespace

from unflip.border.arrays import AnyArray
from unflip.solvers.columns import Lockstep, columns, norms
from unflip.solvers.problem import Problem
from unflip.solvers.step import step

History = list[tuple[AnyArray, AnyArray, AnyArray]]


def lbfgs(problem: Problem, tolerance: float, most: int, memory: int = 8) -> tuple[AnyArray, AnyArray]:
    """From the zero scorer to where the gradient is no longer than the tolerance, and the steps it took.

    A column also ends where no step helps, or after `most` steps.

    >>> import numpy as np
    >>> from unflip.losses import Logistic
    >>> from unflip.solvers.rows import RowsOfMatrix
    >>> labels = np.array([[1.0], [1.0], [1.0], [-1.0]])
    >>> U, _ = lbfgs(Problem(Logistic(), RowsOfMatrix(np.ones((4, 1))), labels, 0.25, np.zeros(1)), 1e-9, 50)
    >>> U[0].round(6).tolist()  # log odds of three to one
    [1.098612]
    """
    xp, U = array_namespace(problem.labels), problem.zero
    V = problem.rows.scores(U)
    value, gradient = problem.first(U, V)
    lockstep, history = Lockstep(U), list[tuple[AnyArray, AnyArray, AnyArray]]()
    steps = xp.zeros_like(value)
    moving = value == value
    for _ in range(most):
        kept = lockstep.set_aside(moving & (norms(gradient) > tolerance), (U, steps))
        if kept is not None:
            problem = problem.some(kept)
            U, V, value, gradient, steps = (columns(a, kept) for a in (U, V, value, gradient, steps))
            history = [(columns(s, kept), columns(b, kept), columns(r, kept)) for s, b, r in history]
            if not kept.shape[0]:
                break
        move = _direction(problem, gradient, history)
        slope = xp.sum(move * gradient, axis=0)
        move = xp.where(slope < 0, move, -gradient)
        length, V, value, gradient_new = step(problem, U, V, value, gradient, move)
        taken, bend = length * move, gradient_new - gradient
        curve = xp.sum(taken * bend, axis=0)
        usable = curve > 1e-14 * norms(taken) * norms(bend)
        inverse = xp.where(usable, 1 / xp.where(usable, curve, 1.0), 0.0)
        history = [*history[1 - memory :], (taken, bend, inverse)]
        U, gradient, moving, steps = U + taken, gradient_new, length > 0, steps + 1
    found, taken = lockstep.joined((U, steps))
    return found, taken


def _direction(problem: Problem, gradient: AnyArray, history: History) -> AnyArray:
    """Minus the gradient times the inverse Hessian that the last steps suggest (two loops, by column)."""
    xp, steepest = array_namespace(gradient), problem.loss.traits.steepest
    steepest = steepest if isfinite(steepest) else 1.0
    if not history:
        return -gradient / steepest
    q, shares = gradient, []
    for taken, bend, r in reversed(history):
        share = r * xp.sum(taken * q, axis=0)
        q = q - share * bend
        shares.append(share)
    _, bend, r = history[-1]
    size = r * xp.sum(bend * bend, axis=0)
    q = q / xp.where(size > 0, size, steepest)
    for (taken, bend, r), share in zip(history, reversed(shares), strict=True):
        q = q + taken * (share - r * xp.sum(bend * q, axis=0))
    return -q
