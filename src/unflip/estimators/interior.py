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


def solve(problem: HingeProblem, tolerance: float, most: int = 100) -> tuple[Array, float, int]:
    """The best primal point found, its duality gap, and the number of steps.

    >>> from unflip.losses import Hinge
    >>> X, half = np.array([[2.0], [-2.0]]), np.full(2, 0.5)
    >>> objective = Objective(Hinge(), X, half, half, 0.1, False)
    >>> w, gap, _ = solve(HingeProblem(objective, np.array([1.0, -1.0]), half, np.zeros(1)), 1e-10)
    >>> w.round(6).tolist(), gap <= 1e-10  # the margin is reached: 2 w = 1
    ([0.5], True)
    """
    c, penalty, n = problem.c, problem.objective.penalty, len(problem.y)
    u, a, xi, s = np.zeros(problem.objective.size), c / 2, np.ones(n), np.ones(n)
    best, best_gap = u, problem.gap(u, a)
    for iteration in range(most):
        primal = problem.margins(u) + xi - s - 1
        dual = penalty * u + problem.g - problem.pull(a)
        theta = 1 / (xi / (c - a) + s / a)
        matrix = problem.objective.gram(theta) + np.diag(penalty)
        matrix[np.diag_indices_from(matrix)] += 1e-14 * np.trace(matrix) / len(matrix)
        factor = linalg.cho_factor(matrix, check_finite=False)
        now = (primal, dual, theta, factor, a, xi, s)
        mu = (a @ s + (c - a) @ xi) / (2 * n)
        du, da, ds, dxi = _direction(problem, *now, -a * s, -(c - a) * xi)
        length = _length(a, c, s, xi, da, ds, dxi)
        ahead = (a + length * da) @ (s + length * ds) + (c - a - length * da) @ (xi + length * dxi)
        target = (ahead / (2 * n * mu)) ** 3 * mu
        du, da, ds, dxi = _direction(
            problem, *now, target - a * s - da * ds, target - (c - a) * xi + da * dxi
        )
        length = 0.9995 * _length(a, c, s, xi, da, ds, dxi)
        u, a, s, xi = u + length * du, a + length * da, s + length * ds, xi + length * dxi
        gap = problem.gap(u, a)
        if gap < best_gap:
            best, best_gap = u, gap
        if best_gap <= tolerance or not np.isfinite(gap + mu):
            return best, best_gap, iteration + 1
    return best, best_gap, most


def _direction(
    problem: HingeProblem,
    primal: Array,
    dual: Array,
    theta: Array,
    factor: tuple[Array, bool],
    a: Array,
    xi: Array,
    s: Array,
    r1: Array,
    r2: Array,
) -> tuple[Array, Array, Array, Array]:
    """One Newton step towards a s = r1 + a s, (c - a) xi = r2 + (c - a) xi and vanishing residuals."""
    q = r1 / a - r2 / (problem.c - a) - primal
    du = linalg.cho_solve(factor, problem.pull(theta * q) - dual, check_finite=False)
    da = theta * (q - problem.margins(du))
    return du, da, (r1 - s * da) / a, (r2 + xi * da) / (problem.c - a)


def _length(a: Array, c: Array, s: Array, xi: Array, da: Array, ds: Array, dxi: Array) -> float:
    """The longest step up to one that keeps 0 < a < c, s > 0 and xi > 0."""
    value, change = np.concatenate([a, c - a, s, xi]), np.concatenate([da, -da, ds, dxi])
    falling = change < 0
    return float(np.min(-value[falling] / change[falling], initial=1.0))
