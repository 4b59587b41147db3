"""Minimise a differentiable objective: closed form for quadratics, Newton or L-BFGS for the rest.

With few parameters a trust-region Newton method finds the minimum and a few plain Newton steps polish
it; with many L-BFGS does. Both come from SciPy.
"""

from __future__ import annotations

import numpy as np

from unflip.estimators.certificate import Certificate
from unflip.estimators.objective import Array, Objective
from unflip.moments.accumulate import squared_norms

FEW = 300  # parameters up to which the Hessian is formed
STATIONARY = 1e-6  # the relative gradient norm that counts as a stationary point


def minimize_smooth(objective: Objective, tolerance: float) -> tuple[Array, Certificate]:
    """A minimiser (convex) or stationary point (not convex), reached from the zero scorer.

    >>> from unflip.losses import Logistic
    >>> X, half = np.array([[1.0], [-1.0]]), np.array([0.5, 0.0])
    >>> w, certificate = minimize_smooth(Objective(Logistic(), X, half, half[::-1], 0.1, False), 1e-8)
    >>> certificate.met, round(1 / (1 + np.exp(w[0])) - 0.1 * w[0], 12)  # the slope vanishes
    (True, np.float64(0.0))
    """
    from scipy.optimize import minimize

    zero = np.zeros(objective.size)
    degree = objective.loss.traits.degree
    if degree is not None and objective.size <= FEW:
        solution = np.linalg.lstsq(objective.hessian(zero), -objective.gradient(zero), rcond=None)[0]
        return solution, _certify(objective, solution, tolerance, "closed form", 1)
    call = {"fun": objective.value, "x0": zero, "jac": objective.gradient}
    with np.errstate(over="ignore", invalid="ignore"):
        if objective.size <= FEW:
            found = minimize(
                **call,
                hess=objective.hessian,
                method="trust-exact",
                options={"gtol": 1e-12, "maxiter": 500, "max_trust_radius": 1e6},
            )
            solution, steps = _polish(objective, found.x)
            return solution, _certify(objective, solution, tolerance, "newton", int(found.nit) + steps)
        options = {"maxiter": 10_000, "maxfun": 20_000, "ftol": 0.0, "gtol": 1e-10, "maxcor": 20}
        found = minimize(**call, method="L-BFGS-B", options=options)
    return found.x, _certify(objective, found.x, tolerance, "l-bfgs", int(found.nit))


def _polish(objective: Objective, start: Array, most: int = 10) -> tuple[Array, int]:
    """Newton steps for as long as each one lowers the gradient."""
    best, gradient = start, objective.gradient(start)
    for step in range(most):
        try:
            move = np.linalg.solve(objective.hessian(best), gradient)
        except np.linalg.LinAlgError:
            return best, step
        nearer = objective.gradient(best - move)
        if not np.linalg.norm(nearer) < np.linalg.norm(gradient):
            return best, step
        best, gradient = best - move, nearer
    return best, most


def _certify(
    objective: Objective, solution: Array, tolerance: float, method: str, iterations: int
) -> Certificate:
    gradient = objective.gradient(solution)
    traits = objective.loss.traits
    scale = max(1.0, abs(objective.value(np.zeros(objective.size))))
    d = objective.rows.shape[1]
    if traits.convex and traits.degree is not None:
        gap = float(gradient @ np.linalg.lstsq(objective.hessian(solution), gradient, rcond=None)[0]) / 2
        return Certificate("optimality", abs(gap), tolerance * scale, method, iterations)
    if traits.convex and objective.ridge > 0 and (not objective.intercept or traits.convex_potential):
        # Strong convexity in w: the objective is at most |g_w|^2 / (2 lambda) above its minimum, ...
        gap = float(gradient[:d] @ gradient[:d]) / (2 * objective.ridge)
        if objective.intercept:  # ... and at most |g_b| times the distance to the best intercept.
            gap += abs(float(gradient[d])) * (abs(float(solution[d])) + _largest_intercept(objective))
        return Certificate("optimality", gap, tolerance * scale, method, iterations)
    start = np.linalg.norm(objective.gradient(np.zeros(objective.size)))
    relative = float(np.linalg.norm(gradient) / start) if start else 0.0
    return Certificate("stationarity", relative, STATIONARY, method, iterations)


def _largest_intercept(objective: Objective) -> float:
    """A bound on |b| at the minimum of a convex potential phi.

    The zero scorer costs phi(0), so |w| <= sqrt(2 phi(0) / lambda), and no class may pay more than phi(0)
    in all: by convexity a class of share p at margin -c pays at least p (phi(0) + c |phi'(0)|).
    """
    level = float(objective.loss.value(1, 0.0))
    slope = -float(objective.loss.derivative(1, 0.0))
    radius = float(np.sqrt(squared_norms(objective.rows).max(initial=0.0)))
    rarest = min(objective.positive.sum(), objective.negative.sum())
    return float(radius * np.sqrt(2 * level / objective.ridge) + level / slope * (1 / rarest - 1))
