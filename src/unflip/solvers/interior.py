"""The exact support vector machine for many label columns: a primal-dual interior point method in lockstep.

For each column, with u = (w, b), m_i = y_i (<w, x_i> + b), and Z the rows y_i x_i:

    min  1/2 sum_j p_j u_j^2 + <g, u> + sum_i c_i xi_i   with  m_i + xi_i - s_i = 1,  xi, s >= 0,
    max  sum_i a_i - 1/2 sum_j (Z'a - g)_j^2 / p_j       with  0 <= a_i <= c_i,

and (Z'a - g)_j = 0 where nothing is penalised, which is an intercept. Mehrotra's predictor and corrector
steps, one common step length a column, end in a primal and a dual point whose distance is the certificate,
however small the penalty is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from array_api_compat import array_namespace, device

from unflip.border.arrays import AnyArray
from unflip.solvers.columns import Lockstep, columns
from unflip.solvers.rows import RowsOfMatrix
from unflip.solvers.systems import EIGENVALUE_ROUNDING, lifted, solver

Point = tuple[AnyArray, AnyArray, AnyArray, AnyArray]  # a, room, xi, s
PATIENCE = 6  # steps without progress after which rounding has the last word


@dataclass(frozen=True, eq=False)
class HingeProblem:
    """Rows, their labels y (n, K), the weights c of their hinges, the penalty p (r,), and a linear term g.

    cost: a number, (n, 1) or (n, K). linear: zero or (r, K).
    """

    rows: RowsOfMatrix
    labels: AnyArray
    cost: Any
    penalty: AnyArray
    linear: Any = 0.0

    def some(self, where: AnyArray) -> HingeProblem:
        """The columns at some places."""
        labels = array_namespace(self.labels).take(self.labels, where, axis=-1)
        linear = self.linear
        if getattr(linear, "ndim", 0):
            linear = array_namespace(linear).take(linear, where, axis=-1)
        return replace(self, labels=labels, cost=columns(self.cost, where), linear=linear)

    def margins(self, U: AnyArray) -> AnyArray:
        """m_i for each row."""
        return self.labels * self.rows.scores(U)

    def pull(self, a: AnyArray) -> AnyArray:
        """The adjoint of `margins`: Z'a."""
        return self.rows.combine(self.labels * a)

    def value(self, U: AnyArray) -> AnyArray:
        """The primal objective of each column."""
        xp, m = array_namespace(U), self.margins(U)
        hinges = xp.sum(self.cost * xp.where(m < 1, 1 - m, 0.0), axis=0)
        return hinges + xp.sum((self.linear + self.penalty[:, None] * U / 2) * U, axis=0)

    def gap(self, U: AnyArray, a: AnyArray) -> AnyArray:
        """Primal minus dual objective of each column, with the dual point made feasible first."""
        xp = array_namespace(U)
        a = xp.where(a > 0, xp.where(a < self.cost, a, self.cost), 0.0)
        impossible = xp.zeros_like(a[0, :]) > 0
        rest, penalty = self.pull(a) - self.linear, self.penalty[:, None]
        if self.rows.intercept:  # scale one side down until sum y a = g_b
            excess = rest[-1, :]
            side = self.labels * excess > 0
            total = xp.sum(xp.where(side, a, 0.0), axis=0)
            impossible = total < xp.abs(excess)
            a = xp.where(side, a * (1 - xp.abs(excess) / xp.where(total > 0, total, 1.0)), a)
            rest, penalty = (self.pull(a) - self.linear)[:-1, :], penalty[:-1, :]
        dual = xp.sum(a, axis=0) - xp.sum(rest * rest / penalty, axis=0) / 2
        return xp.where(impossible, xp.inf, self.value(U) - dual)


def solve(
    problem: HingeProblem, start: AnyArray, enough: float, finest: float, most: int = 100, far: float = inf
) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
    """From a start: the best primal points found, dual points, the gaps between them, and the steps taken.

    enough: gaps below this are as good as none; among such points the one of least slack is the best, since
        slack is the gap without rounding.
    finest: the slack to go on to, in steps that cost little where they help most: parameters err by about the
        root of what is left.
    far: complementarity, as a share of the total cost, above which matrices of single precision will do:
        for rows that are well scaled.

    >>> import numpy as np
    >>> labels, cost = np.array([[1.0], [-1.0]]), 0.5
    >>> problem = HingeProblem(RowsOfMatrix(np.array([[2.0], [-2.0]])), labels, cost, np.array([0.1]))
    >>> w, _, gap, _ = solve(problem, np.zeros((1, 1)), 1e-10, 1e-12)
    >>> w.round(6).tolist(), bool(gap[0] <= 1e-10)  # the margin is reached: 2 w = 1
    ([[0.5]], True)
    """
    xp, U = array_namespace(start), start
    m = problem.margins(U)
    xi, s = xp.where(m < 1, 1 - m, 0.0) + 1, xp.where(m > 1, m - 1, 0.0) + 1
    share = xp.where(m > 0.8, 0.1, xp.where(m < -0.8, 0.9, (1 - m) / 2))
    a, room = problem.cost * share, problem.cost * (1 - share)  # kept apart: c - a could round to zero
    best, dual, gaps = U, a, problem.gap(U, a)
    steps = stale = xp.zeros_like(gaps)
    left = xp.full_like(gaps, xp.inf)
    lockstep = Lockstep(U)
    for _ in range(most):
        kept = lockstep.set_aside((left > finest) & (stale < PATIENCE), (best, dual, gaps, steps))
        if kept is not None:
            problem = problem.some(kept)
            U, xi, s, a, room, best, dual, gaps, stale, left, steps = (
                columns(values, kept) for values in (U, xi, s, a, room, best, dual, gaps, stale, left, steps)
            )
            if not kept.shape[0]:
                break
        U, a, room, xi, s = _advanced(problem, far, stale > 0, U, (a, room, xi, s))
        gap, slack = problem.gap(U, a), xp.sum(a * s + room * xi, axis=0)
        found = xp.where((gap > enough) & (gap > slack), gap, slack)
        stale, steps = xp.where(found < 0.9 * left, 0.0, stale + 1), steps + 1
        left = xp.where(found < left, found, left)
        better = gap <= xp.where(gaps > enough, gaps, enough)
        best, dual, gaps = (xp.where(better, new, old) for new, old in ((U, best), (a, dual), (gap, gaps)))
    best, dual, gaps, steps = lockstep.joined((best, dual, gaps, steps))
    return best, dual, gaps, steps


def _advanced(
    problem: HingeProblem, far: float, stalled: AnyArray, U: AnyArray, now: Point
) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray, AnyArray]:
    """One predictor and corrector step."""
    xp, (a, room, xi, s), penalty = array_namespace(U), now, problem.penalty
    residuals = problem.margins(U) + xi - s - 1, penalty[:, None] * U + problem.linear - problem.pull(a)
    theta = 1 / (xi / room + s / a)
    slack = xp.sum(a * s + room * xi, axis=0)
    # Far from the goal a direction needs few digits; residuals are always those of full precision.
    rough = (slack > far * xp.sum(a + room, axis=0)) & ~stalled
    eye = xp.eye(U.shape[0], dtype=U.dtype, device=device(U))
    # Singular but for rounding, where rows at the margin are few.
    towards = solver(
        lifted(problem.rows.grams(theta, rough) + penalty * eye, EIGENVALUE_ROUNDING, by_direction=True)
    )
    da, ds, dxi = _direction(problem, now, residuals, theta, towards, -a * s, -room * xi)[1:]
    length = _lengths(now, da, ds, dxi)
    ahead = xp.sum((a + length * da) * (s + length * ds) + (room - length * da) * (xi + length * dxi), axis=0)
    target = (ahead / slack) ** 3 * slack / (2 * a.shape[0])
    r1, r2 = target - a * s - da * ds, target - room * xi + da * dxi
    dU, da, ds, dxi = _direction(problem, now, residuals, theta, towards, r1, r2)
    length = 0.9995 * _lengths(now, da, ds, dxi)
    return U + length * dU, a + length * da, room - length * da, xi + length * dxi, s + length * ds


def _direction(
    problem: HingeProblem,
    now: Point,
    residuals: tuple[AnyArray, AnyArray],
    theta: AnyArray,
    towards: Callable[[AnyArray], AnyArray],
    r1: AnyArray,
    r2: AnyArray,
) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
    """The Newton steps that change a s by r1 and room xi by r2, and take the residuals away."""
    (a, room, xi, s), (primal, dual) = now, residuals
    q = r1 / a - r2 / room - primal
    dU = towards(problem.pull(theta * q) - dual)
    da = theta * (q - problem.margins(dU))
    return dU, da, (r1 - s * da) / a, (r2 + xi * da) / room


def _lengths(now: Point, da: AnyArray, ds: AnyArray, dxi: AnyArray) -> AnyArray:
    """The longest step up to one that keeps a, room, xi and s positive, for each column."""
    xp = array_namespace(da)
    # value + t change > 0 for all rows: 1 / t is at least the largest -change / value.
    shrinking = [
        xp.max(-change / value, axis=0) for value, change in zip(now, (da, -da, dxi, ds), strict=True)
    ]
    return 1 / xp.max(xp.stack([xp.ones_like(shrinking[0]), *shrinking]), axis=0)
