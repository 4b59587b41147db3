"""Minimise a differentiable risk: closed form for polynomials, Newton or L-BFGS for the rest.

With few parameters Newton's method goes to the last digit; with many, L-BFGS, and Newton's method by
conjugate gradients for what is left where the loss is convex. Each column gets a certificate.
"""

from __future__ import annotations

import numpy as np
from array_api_compat import array_namespace, device

from unflip.border.arrays import AnyArray
from unflip.solvers.certificate import Certificate
from unflip.solvers.columns import norms
from unflip.solvers.lbfgs import lbfgs
from unflip.solvers.newton import newton, newton_by_conjugate_gradients
from unflip.solvers.problem import Problem
from unflip.solvers.systems import least_squares

FEW_PARAMETERS = 300  # up to which the Hessian is formed
STATIONARY = 1e-6  # the relative gradient norm that counts as a stationary point


def minimize_smooth(problem: Problem, tolerance: float) -> tuple[AnyArray, list[Certificate]]:
    """A minimiser (convex) or stationary point (not convex) of each column, reached from the zero scorer.

    >>> from unflip.losses import Logistic
    >>> X, half = np.array([[1.0], [-1.0]]), np.array([[0.5], [0.0]])
    >>> U, (certificate,) = minimize_smooth(
    ...     Problem.of_shares(Logistic(), X, half, half[::-1], 0.1, False), 1e-8
    ... )
    >>> w = U[0, 0]
    >>> certificate.met, abs(1 / (1 + np.exp(w)) - 0.1 * w) < 1e-12  # the slope vanishes
    (True, np.True_)
    """
    traits, few = problem.loss.traits, problem.rows.shape[1] <= FEW_PARAMETERS
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if few and traits.degree is not None:
            method, U, steps = "closed form", closed_form(problem), np.ones(problem.labels.shape[1])
        elif few:
            method, (U, _, steps) = "newton", newton(problem, problem.zero)
        else:
            method, (U, steps) = "l-bfgs", lbfgs(problem, 1e-10, most=10_000, memory=20)
            if traits.convex:
                ends = [
                    newton_by_conjugate_gradients(problem.some([k]), U[:, [k]]) for k in range(U.shape[1])
                ]
                U = np.concatenate(ends, axis=1)
        return U, _certificates(problem, U, tolerance, method, steps)


def closed_form(problem: Problem) -> AnyArray:
    """One Newton step from zero: exact where the loss is a polynomial of degree one or two.

    Its curvature knows no labels, so all columns share one matrix. Degree one needs a penalty everywhere.

    >>> from unflip.losses import Unhinged
    >>> from unflip.solvers.rows import RowsOfMatrix
    >>> X, Y = np.array([[1.0], [3.0]]), np.array([[1.0, -1.0], [1.0, 1.0]])
    >>> closed_form(Problem(Unhinged(), RowsOfMatrix(X), Y, 0.5, np.ones(1))).tolist()  # E[y x], Equation 8
    [[2.0, 1.0]]
    """
    zero = problem.zero
    gradient = problem.gradient(zero)
    if problem.loss.traits.degree == 1:
        return -gradient / problem.penalty[:, None]
    return least_squares(_common_hessian(problem), -gradient)


def _common_hessian(problem: Problem) -> AnyArray:
    """The matrix of second derivatives that all columns have, where the loss is a polynomial."""
    first = problem.some(array_namespace(problem.labels).arange(1, device=device(problem.labels)))
    return first.hessians(first.rows.scores(first.zero))[0, :, :]


def _certificates(
    problem: Problem, U: AnyArray, tolerance: float, method: str, steps: AnyArray
) -> list[Certificate]:
    zero = problem.zero
    at_zero, slope_at_zero = problem.first(zero, problem.rows.scores(zero))
    value, gradient = problem.first(U, problem.rows.scores(U))
    goals = tolerance * np.maximum(1.0, np.abs(at_zero))
    kind, gaps = "optimality", _optimality_gaps(problem, U, value, gradient)
    if gaps is None:
        start = norms(slope_at_zero)
        kind, gaps = "stationarity", np.where(start > 0, norms(gradient) / np.where(start > 0, start, 1), 0)
        goals = np.full(len(gaps), STATIONARY)
    return [
        Certificate(kind, float(gap), float(goal), method, int(taken))
        for gap, goal, taken in zip(gaps, goals, steps, strict=True)
    ]


def _optimality_gaps(problem: Problem, U: AnyArray, value: AnyArray, gradient: AnyArray) -> AnyArray | None:
    """Bounds on what is left to gain where the loss is convex; None if it is not, or nothing is known."""
    traits, intercept = problem.loss.traits, problem.rows.intercept
    if not traits.convex:
        return None
    if traits.degree is not None and len(problem.penalty) <= FEW_PARAMETERS:
        towards = least_squares(_common_hessian(problem), gradient)
        return np.abs(np.sum(gradient * towards, axis=0)) / 2
    ridge = problem.penalty[0]
    if ridge > 0 and (not intercept or traits.convex_potential):
        # Strong convexity in w: the objective is at most |g_w|^2 / (2 lambda) above its minimum, ...
        d = len(problem.penalty) - intercept
        gaps = np.sum(gradient[:d] ** 2, axis=0) / (2 * ridge)
        if intercept:  # ... and at most |g_b| times the distance to the best intercept.
            gaps = gaps + np.abs(gradient[d]) * (np.abs(U[d]) + _largest_intercepts(problem))
            # No potential is below zero, which alone is known where a class weighs nothing beside the others.
            gaps = np.fmin(value, gaps)
        return gaps
    return None


def _largest_intercepts(problem: Problem) -> AnyArray:
    """A bound on |b| at the minimum of a convex potential phi.

    The zero scorer costs phi(0), so |w| <= sqrt(2 phi(0) / lambda), and no class may pay more than phi(0)
    in all: by convexity a class of share p at margin -c pays at least p (phi(0) + c |phi'(0)|).
    """
    level, slope = float(problem.loss.value(1, 0.0)), -float(problem.loss.derivative(1, 0.0))
    own, other = (problem.weight * (problem.labels == y) for y in (1, -1))
    if problem.against is not None:
        own, other = (a + problem.against * (problem.labels == y) for a, y in ((own, -1), (other, 1)))
    rarest = np.minimum(own.sum(axis=0), other.sum(axis=0))
    # Infinite, if one of them has no share that float64 can hold.
    reach = problem.rows.largest_norm * np.sqrt(2 * level / problem.penalty[0])
    return reach + level / slope * (1 / rarest - 1)
