"""Newton's method for many label columns in lockstep.

Eigenvalues of the Hessian count by their absolute value, so that saddles repel it, and steps are shortened
until they help. Where parameters are too many for a matrix, conjugate gradients divide by it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from array_api_compat import array_namespace

from unflip.border.arrays import AnyArray
from unflip.solvers.columns import Lockstep, columns, norms
from unflip.solvers.problem import Problem
from unflip.solvers.step import ROUNDING_OF_OBJECTIVE, step
from unflip.solvers.systems import EIGENVALUE_ROUNDING, lifted, solver

Judge = Callable[[Problem, AnyArray, AnyArray, AnyArray], tuple[AnyArray, AnyArray]]


def newton(
    problem: Problem, U: AnyArray, tolerance: float = 0.0, most: int = 300, judge: Judge | None = None
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """From a start to where the gradient is no longer than the tolerance, or where no step helps.

    judge: in place of the gradient's norm says what is left, and whether it is too much, from problem,
        parameters, scores and the Newton step.

    Returned are the parameters, what is left at them, and the number of steps.

    >>> from unflip.losses import Square
    >>> from unflip.solvers.rows import RowsOfMatrix
    >>> labels = np.array([[1.0], [-1.0]])
    >>> problem = Problem(Square(), RowsOfMatrix(np.array([[1.0], [-2.0]])), labels, 0.5, np.zeros(1))
    >>> newton(problem, problem.zero)[0].round(9).tolist()  # least squares: (1 + 2) / (1 + 4)
    [[0.6]]
    """
    xp = array_namespace(U)
    V = problem.rows.scores(U)
    value, gradient = problem.first(U, V)
    lockstep, steps, moving = Lockstep(U), xp.zeros_like(value), value == value
    left = norms(gradient)
    late = left > tolerance
    for turn in range(most + 1):
        move = None
        if judge is not None:
            move = _newton_step(problem, V, gradient)
            left, late = judge(problem, U, V, move)
        going = moving & late & (turn < most)
        kept = lockstep.set_aside(going, (U, left, steps))
        if kept is not None:
            problem = problem.some(kept)
            U, V, value, gradient, steps = (columns(a, kept) for a in (U, V, value, gradient, steps))
            move = move if move is None else columns(move, kept)
            if not kept.shape[0]:
                left = columns(left, kept)
                break
        move = _newton_step(problem, V, gradient) if move is None else move
        move = xp.where(xp.sum(move * gradient, axis=0) < 0, move, -gradient)
        length, V, value_new, gradient_new = step(problem, U, V, value, gradient, move)
        lower = value_new < value - ROUNDING_OF_OBJECTIVE * xp.abs(value)
        moving = (length > 0) & (lower | (norms(gradient_new) < 0.9 * norms(gradient)))
        U, value, gradient, steps = U + length * move, value_new, gradient_new, steps + 1
        left = norms(gradient)
        late = left > tolerance
    found, left, steps = lockstep.joined((U, left, steps))
    return found, left, steps


def _newton_step(problem: Problem, V: AnyArray, gradient: AnyArray) -> AnyArray:
    hessians = lifted(problem.hessians(V), EIGENVALUE_ROUNDING)
    return -solver(hessians, problem.loss.traits.convex)(gradient)


def newton_by_conjugate_gradients(problem: Problem, start: AnyArray, most: int = 20) -> AnyArray:
    """Newton steps of one column of a convex problem, for as long as each one halves the gradient."""
    from scipy.sparse.linalg import LinearOperator, cg

    here, gradient = start, problem.gradient(start)
    for _ in range(most):
        curvature = problem.curvature(problem.rows.scores(here))

        def times(move: AnyArray, curvature: AnyArray = curvature) -> AnyArray:
            column = np.reshape(move, (-1, 1))
            product = problem.rows.combine(curvature * problem.rows.scores(column))
            return (product + problem.penalty[:, None] * column)[:, 0]

        hessian = LinearOperator((len(start),) * 2, matvec=times, dtype=np.float64)
        there = here - cg(hessian, gradient[:, 0], rtol=1e-6, maxiter=500)[0][:, None]
        nearer = problem.gradient(there)
        if not np.linalg.norm(nearer) < 0.5 * np.linalg.norm(gradient):
            break
        here, gradient = there, nearer
    return here
