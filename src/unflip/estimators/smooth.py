"""Minimise a differentiable objective: closed form for quadratics, Newton or L-BFGS for the rest.

With few parameters Newton's method goes to the last digit: eigenvalues of the Hessian are taken by their
absolute value, so that saddles repel it, and steps are halved until they help. With many, SciPy's L-BFGS.
"""

from __future__ import annotations

import numpy as np

from unflip.estimators.certificate import Certificate
from unflip.estimators.objective import Array, Objective
from unflip.moments.frame import squared_norms

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
    zero = np.zeros(objective.size)
    with np.errstate(over="ignore", invalid="ignore"):
        if objective.size > FEW:
            return _lbfgs(objective, tolerance)
        if objective.loss.traits.degree is not None:
            solution = least_squares(objective.hessian(zero), -objective.gradient(zero))
            return solution, _certify(objective, solution, tolerance, "closed form", 1)
        solution, steps = newton(objective, zero)
        return solution, _certify(objective, solution, tolerance, "newton", steps)


def least_squares(matrix: Array, right: Array) -> Array:
    """The shortest x with the least |matrix x - right|; NaN if they are not finite.

    LAPACK, when it is given infinite numbers, may never come back.

    >>> least_squares(np.array([[np.inf, 1.0], [1.0, 2.0]]), np.ones(2)).tolist()
    [nan, nan]
    """
    if not (np.isfinite(matrix).all() and np.isfinite(right).all()):
        return np.full(matrix.shape[1], np.nan)
    return np.linalg.lstsq(matrix, right, rcond=None)[0]


def _lbfgs(objective: Objective, tolerance: float) -> tuple[Array, Certificate]:
    from scipy.optimize import minimize

    options = {"maxiter": 10_000, "maxfun": 20_000, "ftol": 0.0, "gtol": 1e-10, "maxcor": 20}
    start = np.zeros(objective.size)
    found = minimize(objective.value, start, jac=objective.gradient, method="L-BFGS-B", options=options)
    solution = _polish(objective, found.x) if objective.loss.traits.convex else found.x
    return solution, _certify(objective, solution, tolerance, "l-bfgs", int(found.nit))


def _polish(objective: Objective, start: Array, most: int = 20) -> Array:
    """Newton steps by conjugate gradients, for as long as each one halves the gradient."""
    from scipy.sparse.linalg import LinearOperator, cg

    here, gradient = start, objective.gradient(start)
    for _ in range(most):
        times = LinearOperator((objective.size,) * 2, matvec=objective.curving(here), dtype=np.float64)
        there = here - cg(times, gradient, rtol=1e-6, maxiter=500)[0]
        nearer = objective.gradient(there)
        if not np.linalg.norm(nearer) < 0.5 * np.linalg.norm(gradient):
            break
        here, gradient = there, nearer
    return here


def newton(objective: Objective, start: Array, most: int = 300, tolerance: float = 0.0) -> tuple[Array, int]:
    """Newton's method from a start to a stationary point, and the number of steps it took.

    It ends where the gradient is no longer than `tolerance`, or where no step helps.

    >>> from unflip.losses import Square
    >>> half = np.array([0.5, 0.0])
    >>> task = Objective(Square(), np.array([[1.0], [-2.0]]), half, half[::-1], 0.0, False)
    >>> newton(task, np.zeros(1))[0].round(9).tolist()  # least squares: (1 + 2) / (1 + 4)
    [0.6]
    """
    here, value, gradient = start, objective.value(start), objective.gradient(start)
    reach = 1.0  # how far scores may move in one step; losses that level off punish a leap
    for step in range(most):
        if np.linalg.norm(gradient) <= tolerance:
            return here, step
        eigenvalues, basis = np.linalg.eigh(objective.hessian(here))
        size = np.abs(eigenvalues)
        # Where there is no curvature at all, follow the gradient; `reach` limits the step.
        flat = max(1e-15 * size.max(initial=0.0), 1e-100 * float(np.linalg.norm(gradient)))
        move = basis @ (basis.T @ gradient / np.maximum(size, flat or 1.0))
        leap = float(np.abs(objective.scores(move)).max(initial=0.0))
        there = _shortened(objective, here, value, gradient, move * min(1.0, reach / max(leap, 1e-300)))
        if there is None:
            return here, step
        here, value, gradient = there, objective.value(there), objective.gradient(there)
        reach *= 4
    return here, most


def _shortened(objective: Objective, here: Array, value: float, gradient: Array, move: Array) -> Array | None:
    """The longest of ever halved steps that lowers the objective or, level to rounding, the gradient."""
    slope, norm = float(gradient @ move), float(np.linalg.norm(gradient))
    for halvings in range(60):
        length = 0.5**halvings
        there = here - length * move
        new = objective.value(there)
        if new <= value - 1e-4 * length * slope and new < value:
            return there
        level = abs(new - value) <= 1e-14 * max(abs(value), 1e-300)
        if level and np.linalg.norm(objective.gradient(there)) < 0.9 * norm:
            return there
    return None


def _certify(
    objective: Objective, solution: Array, tolerance: float, method: str, iterations: int
) -> Certificate:
    gradient = objective.gradient(solution)
    traits = objective.loss.traits
    scale = max(1.0, abs(objective.value(np.zeros(objective.size))))
    d = objective.rows.shape[1]
    if traits.convex and traits.degree is not None and objective.size <= FEW:
        gap = float(gradient @ least_squares(objective.hessian(solution), gradient)) / 2
        return Certificate("optimality", abs(gap), tolerance * scale, method, iterations)
    if traits.convex and objective.ridge > 0 and (not objective.intercept or traits.convex_potential):
        # Strong convexity in w: the objective is at most |g_w|^2 / (2 lambda) above its minimum, ...
        gap = float(gradient[:d] @ gradient[:d]) / (2 * objective.ridge)
        if objective.intercept:  # ... and at most |g_b| times the distance to the best intercept.
            gap += abs(float(gradient[d])) * (abs(float(solution[d])) + _largest_intercept(objective))
            # No potential is below zero, which alone is known where a class weighs nothing beside the others.
            gap = min(objective.value(solution), gap)
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
    with np.errstate(divide="ignore"):  # infinite, if one of them has no share that float64 can hold
        return float(radius * np.sqrt(2 * level / objective.ridge) + level / slope * (1 / rarest - 1))
