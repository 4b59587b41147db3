"""The exact support vector machine: a primal-dual interior point method for the hinge loss.

    min  lambda / 2 |w|^2 + sum_i c_i xi_i    with  m_i + xi_i - s_i = 1,  xi, s >= 0,
    max  sum_i a_i - |Z'a|^2 / (2 lambda)     with  0 <= a_i <= c_i  (and sum_i y_i a_i = 0 for an intercept),

where m_i = y_i (<w, x_i> + b) and the rows of Z are y_i x_i. Mehrotra's predictor and corrector steps
end in a primal and a dual point whose distance is the certificate, however small lambda is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import linalg

from unflip.estimators.certificate import Certificate
from unflip.estimators.objective import Array, Objective


def minimize_hinge(objective: Objective, tolerance: float, most: int = 100) -> tuple[Array, Certificate]:
    """The minimiser of the regularised hinge risk, with its duality gap.

    >>> from unflip.losses import Hinge
    >>> X, half = np.array([[2.0], [-2.0]]), np.array([0.5, 0.0])
    >>> w, certificate = minimize_hinge(Objective(Hinge(), X, half, half[::-1], 0.1, False), 1e-8)
    >>> w.round(6).tolist(), certificate.met  # the margin is reached: 2 w = 1
    ([0.5], True)
    """
    rows, y, c = _hard_rows(objective)
    problem = replace(objective, rows=rows, positive=np.where(y > 0, c, 0), negative=np.where(y < 0, c, 0))
    penalty = np.full(problem.size, problem.ridge)
    if problem.intercept:
        penalty[-1] = 0.0

    def forward(u: Array) -> Array:
        return y * problem.scores(u)

    def backward(a: Array) -> Array:
        ya = y * a
        return np.append(rows.T @ ya, ya.sum()) if problem.intercept else rows.T @ ya

    u, a = np.zeros(problem.size), c / 2
    xi, s = np.ones(len(y)), np.ones(len(y))
    best = (np.inf, u)
    for iteration in range(most):
        gap = _duality_gap(problem, u, a, y, c)
        if gap < best[0]:
            best = (gap, u)
        if gap <= tolerance * 1e-2:
            break
        primal, dual = forward(u) + xi - s - 1, penalty * u - backward(a)
        theta = 1 / (xi / (c - a) + s / a)
        matrix = problem.gram(theta) + np.diag(penalty)
        matrix[np.diag_indices_from(matrix)] += 1e-14 * np.trace(matrix) / len(matrix)
        factor = linalg.cho_factor(matrix, check_finite=False)

        def step(r1: Array, r2: Array) -> tuple[Array, ...]:
            q = r1 / a - r2 / (c - a) - primal  # noqa: B023  # used within this iteration only
            du = linalg.cho_solve(factor, backward(theta * q) - dual)  # noqa: B023
            da = theta * (q - forward(du))  # noqa: B023
            return du, da, (r1 - s * da) / a, (r2 + xi * da) / (c - a)  # noqa: B023

        mu = (a @ s + (c - a) @ xi) / (2 * len(y))
        du, da, ds, dxi = step(-a * s, -(c - a) * xi)
        length = min(_room(a, da), _room(c - a, -da), _room(s, ds), _room(xi, dxi))
        ahead = (a + length * da) @ (s + length * ds) + (c - a - length * da) @ (xi + length * dxi)
        target = (ahead / (2 * len(y) * mu)) ** 3 * mu
        du, da, ds, dxi = step(target - a * s - da * ds, target - (c - a) * xi + da * dxi)
        length = 0.9995 * min(_room(a, da), _room(c - a, -da), _room(s, ds), _room(xi, dxi))
        u, a, s, xi = u + length * du, a + length * da, s + length * ds, xi + length * dxi
    return best[1], Certificate("optimality", best[0], tolerance, "interior point", iteration)


def _hard_rows(objective: Objective) -> tuple[Array, Array, Array]:
    """Rows, labels and weights with each soft label split into its pair of hard ones."""
    up, down = np.flatnonzero(objective.positive), np.flatnonzero(objective.negative)
    y = np.repeat([1.0, -1.0], [len(up), len(down)])
    weight = np.concatenate([objective.positive[up], objective.negative[down]])
    return objective.rows[np.concatenate([up, down])], y, weight


def _room(value: Array, change: Array) -> float:
    """The longest step up to one that keeps all values positive."""
    falling = change < 0
    return float(min(1.0, np.min(-value[falling] / change[falling], initial=1.0)))


def _duality_gap(problem: Objective, u: Array, a: Array, y: Array, c: Array) -> float:
    """Primal minus dual objective, with the dual point made feasible first."""
    a = np.clip(a, 0, c)
    if problem.intercept:  # scale the heavier side down until the two sides balance
        up, down = a[y > 0].sum(), a[y < 0].sum()
        lighter = min(up, down)
        a = a * np.where(y > 0, lighter / up if up else 0.0, lighter / down if down else 0.0)
    pull = problem.rows.T @ (y * a)
    return float(problem.value(u) - (a.sum() - pull @ pull / (2 * problem.ridge)))
