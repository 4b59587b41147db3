"""How far to go along a direction, for every column at once."""

from __future__ import annotations

from array_api_compat import array_namespace

from unflip.border.arrays import AnyArray
from unflip.solvers.columns import columns, merged, norms
from unflip.solvers.problem import Problem

ROUNDING_OF_OBJECTIVE = 1e-14  # of the objective: changes below it are rounding


def step(
    problem: Problem, U: AnyArray, V: AnyArray, value: AnyArray, gradient: AnyArray, move: AnyArray
) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
    """The first of ever shorter steps that lowers each objective enough; where none does, zero.

    Scores may grow about fourfold in one step, no more: losses that level off punish a leap. Returned are
    the lengths, and scores, objective and gradient there.

    >>> import numpy as np
    >>> from unflip.losses import Logistic
    >>> from unflip.solvers.rows import RowsOfMatrix
    >>> one = np.ones((2, 1))
    >>> problem = Problem(Logistic(), RowsOfMatrix(one), one, 0.5, np.zeros(1))
    >>> U, V = problem.zero, np.zeros((2, 1))
    >>> value, gradient = problem.first(U, V)
    >>> step(problem, U, V, value, gradient, -10 * gradient)[0].round(6).tolist()
    [0.2]
    """
    xp = array_namespace(U)
    ahead = problem.rows.scores(move)
    slope = xp.sum(move * gradient, axis=0)
    room = 1 + 3 * xp.max(xp.abs(V), axis=0)
    leap = xp.max(xp.abs(ahead), axis=0)
    length = xp.where(leap > room, room / xp.where(leap > room, leap, 1.0), 1.0)
    V_new = V + length * ahead
    value_new, gradient_new = problem.first(U + length * move, V_new)
    for _ in range(30):
        short = ~(value_new <= value + 1e-4 * length * slope)
        # Level to rounding: then the gradient decides.
        level = xp.abs(value_new - value) <= ROUNDING_OF_OBJECTIVE * xp.abs(value)
        short = short & ~(level & (norms(gradient_new) < norms(gradient)))
        if not bool(xp.any(short)):
            return length, V_new, value_new, gradient_new
        length = xp.where(short, 0.4 * length, length)
        if bool(xp.all(short)):
            V_new = V + length * ahead
            value_new, gradient_new = problem.first(U + length * move, V_new)
            continue
        where = xp.nonzero(short)[0]
        trial_U, trial = (
            columns(start, where) + columns(length, where) * columns(change, where)
            for start, change in ((U, move), (V, ahead))
        )
        found = problem.some(where).first(trial_U, trial)
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
