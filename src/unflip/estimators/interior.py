"""The exact support vector machine: a primal-dual interior point method.

    min  lambda / 2 |w|^2 + <g, u> + sum_i c_i xi_i   with  m_i + xi_i - s_i = 1,  xi, s >= 0,
    max  sum_i a_i - |Z'a - g_w|^2 / (2 lambda)       with  0 <= a_i <= c_i,  sum_i y_i a_i = g_b,

where u = (w, b), m_i = y_i (<w, x_i> + b), the rows of Z are y_i x_i, and the last condition is there for an
intercept only. Mehrotra's predictor and corrector steps end in a primal and a dual point whose
distance is the certificate, however small lambda is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from unflip.estimators.objective import Array, Objective

ROUNDING = 1e-15  # gaps below this are noise: the later point is the better one


@dataclass(frozen=True, eq=False)
class HingeProblem:
    """Rows, their labels y, the weights c of their hinges, and a linear term g."""

    objective: Objective
    y: Array
    c: Array
    g: Array

    def margins(self, u: Array) -> Array:
        """m_i for each row."""
        return self.y * self.objective.scores(u)

    def pull(self, a: Array) -> Array:
        """The adjoint of `margins`."""
        return self.objective.combine(self.y * a)

    def value(self, u: Array) -> float:
        """The primal objective."""
        w = u[: self.objective.rows.shape[1]]
        hinges = self.c @ np.maximum(1 - self.margins(u), 0)
        return float(hinges + self.g @ u + self.objective.ridge / 2 * (w @ w))

    def gap(self, u: Array, a: Array) -> float:
        """Primal minus dual objective, with the dual point made feasible first."""
        a = np.clip(a, 0, self.c)
        d = self.objective.rows.shape[1]
        if self.objective.intercept:  # scale one side down until sum y a = g_b
            excess = self.y @ a - self.g[d]
            side = self.y > 0 if excess > 0 else self.y < 0
            total = a[side].sum()
            if total < abs(excess):
                return np.inf
            a = np.where(side, a * (1 - abs(excess) / total if total else 1.0), a)
        rest = self.pull(a)[:d] - self.g[:d]
        return self.value(u) - float(a.sum() - rest @ rest / (2 * self.objective.ridge))


@np.errstate(over="ignore", invalid="ignore")  # at weights of 1e-300 no step is taken, and the best one stays
def solve(problem: HingeProblem, tolerance: float, most: int = 100) -> tuple[Array, float, int]:
    """The best primal point found, its duality gap, and the number of steps.

    >>> from unflip.losses import Hinge
    >>> X, half = np.array([[2.0], [-2.0]]), np.full(2, 0.5)
    >>> objective = Objective(Hinge(), X, half, half, 0.1, False)
    >>> w, gap, _ = solve(HingeProblem(objective, np.array([1.0, -1.0]), half, np.zeros(1)), 1e-10)
    >>> w.round(6).tolist(), gap <= 1e-10  # the margin is reached: 2 w = 1
    ([0.5], True)
    """
    penalty, n = problem.objective.penalty, len(problem.y)
    u, xi, s = np.zeros(problem.objective.size), np.ones(n), np.ones(n)
    a = room = problem.c / 2  # room is c - a, kept apart so that it cannot round to zero
    best, best_gap = u, problem.gap(u, a)
    for iteration in range(most):
        theta = 1 / (xi / room + s / a)
        matrix = problem.objective.gram(theta) + np.diag(penalty)
        matrix[np.diag_indices_from(matrix)] *= 1 + 1e-14
        try:
            factor = linalg.cho_factor(matrix, check_finite=False)
        except linalg.LinAlgError:  # as far as float64 goes
            return best, best_gap, iteration
        now = (a, room, xi, s)
        residuals = (problem.margins(u) + xi - s - 1, penalty * u + problem.g - problem.pull(a))
        slack = a @ s + room @ xi
        du, da, ds, dxi = _direction(problem, now, residuals, theta, factor, -a * s, -room * xi)
        length = _length(now, da, ds, dxi)
        ahead = (a + length * da) @ (s + length * ds) + (room - length * da) @ (xi + length * dxi)
        target = (ahead / slack) ** 3 * slack / (2 * n)
        r1, r2 = target - a * s - da * ds, target - room * xi + da * dxi
        du, da, ds, dxi = _direction(problem, now, residuals, theta, factor, r1, r2)
        length = 0.9995 * _length(now, da, ds, dxi)
        u, a, room = u + length * du, a + length * da, room - length * da
        s, xi = s + length * ds, xi + length * dxi
        gap = problem.gap(u, a)
        if gap <= max(best_gap, ROUNDING):
            best, best_gap = u, gap
        if slack <= tolerance:  # the gap without rounding, before this step
            return best, best_gap, iteration + 1
    return best, best_gap, most


def _direction(
    problem: HingeProblem,
    now: tuple[Array, Array, Array, Array],
    residuals: tuple[Array, Array],
    theta: Array,
    factor: tuple[Array, bool],
    r1: Array,
    r2: Array,
) -> tuple[Array, Array, Array, Array]:
    """The Newton step that changes a s by r1 and room xi by r2, and takes the residuals away."""
    (a, room, xi, s), (primal, dual) = now, residuals
    q = r1 / a - r2 / room - primal
    du = linalg.cho_solve(factor, problem.pull(theta * q) - dual, check_finite=False)
    da = theta * (q - problem.margins(du))
    return du, da, (r1 - s * da) / a, (r2 + xi * da) / room


def _length(now: tuple[Array, Array, Array, Array], da: Array, ds: Array, dxi: Array) -> float:
    """The longest step up to one that keeps a, room, xi and s positive."""
    value, change = np.concatenate(now), np.concatenate([da, -da, dxi, ds])
    falling = change < 0
    return float(np.min(-value[falling] / change[falling], initial=1.0))
