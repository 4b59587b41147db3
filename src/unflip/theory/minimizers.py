"""Minimisers of risks over restricted scorers: linear ones, linear ones in a ball, bounded ones.

The objective is that of Equation 7 for any loss, E[l(y, <w, x>)] + regularization / 2 |w|^2. The road is
chosen by the loss: one Newton step where the loss is a polynomial of degree one or two (exact in
fractions), a linear programme for the hinge without a penalty, and the solvers of the estimators for the
rest, whose certificates are read. For losses that are not convex the answer is the stationary point
reached from the zero scorer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq, linprog

from unflip._fractions import SingularMatrixError, solve, to_fractions
from unflip.border.arrays import AnyArray
from unflip.estimators.bounded import programme
from unflip.losses import Hinge, Loss, ZeroOne, get
from unflip.solvers.certificate import Certificate
from unflip.solvers.minimize import minimize
from unflip.solvers.piecewise import hard_rows
from unflip.solvers.problem import Problem
from unflip.theory.distributions import FiniteDistribution

SOLVER_TOLERANCE = 1e-14  # solvers are sent as near to the minimum as float64 allows, ...
TRUSTED_GAP = 1e-9  # ... and trusted if they prove to be this near


def linear_minimizer(
    distribution: FiniteDistribution,
    loss: Loss | str,
    regularization: Any = 0,
    *,
    intercept: bool = False,
) -> AnyArray:
    """The weights w of the best linear scorer <w, x>; with an intercept, unpenalised, as last entry.

    Without a penalty, a loss that tends to zero with growing margins has no minimiser on separable points
    (logistic, exponential, t-logistic). The weights returned then separate them, and are so long that the
    slope of the risk is below a millionth of that at zero; their length means nothing.

    >>> from unflip.theory.gallery import three_points
    >>> linear_minimizer(three_points(), "unhinged", regularization=2).tolist()
    [Fraction(1, 2), Fraction(-1, 2)]
    >>> linear_minimizer(three_points(), "square").tolist()
    [Fraction(1, 1), Fraction(0, 1)]
    """
    loss = get(loss)
    _check_penalty(regularization)
    if loss.traits.degree == 1 and (intercept or not regularization):
        raise ValueError(
            f"the risk of {loss!r} is unbounded below along a weight that is not penalised; "
            "ask for a positive regularization and no intercept"
        )
    if loss.traits.degree is not None:
        return _unique(*_newton_system(distribution, loss, regularization, intercept))
    world = distribution.floats()
    positive, negative = (world.masses * share for share in (world.eta, 1 - world.eta))
    shares = positive[:, None], negative[:, None]
    problem = Problem.of_shares(loss, world.points, *shares, float(regularization), intercept)
    if isinstance(loss, Hinge) and not regularization:
        return _hinge_programme(problem)
    if isinstance(loss, ZeroOne) or (loss.traits.piecewise_linear and not regularization):
        raise ValueError(f"there is no method here for {loss!r} with regularization {regularization!r}")
    weights, (certificate,) = minimize(problem, SOLVER_TOLERANCE)
    return _certified(weights[:, 0], certificate)


def ball_minimizer(distribution: FiniteDistribution, loss: Loss | str, radius: float) -> AnyArray:
    """The weights of the best linear scorer with |w| <= radius, for a convex loss.

    A weight that minimises the risk without any bound, where it lies in the ball; else the one on the
    sphere that some penalty finds.

    >>> from unflip.theory.gallery import three_points
    >>> ball_minimizer(three_points(), "unhinged", radius=1.0).round(6).tolist()
    [0.707107, -0.707107]
    >>> ball_minimizer(three_points(), "square", radius=2.0).round(12).tolist()
    [1.0, 0.0]
    """
    loss = get(loss)
    if not loss.traits.convex:
        raise ValueError(f"{loss!r} is not convex, so a penalty does not find its minimum in a ball")
    if not 0 < radius < np.inf:
        raise ValueError(f"a radius is positive and finite, got {radius!r}")
    unit = distribution.floats().map(lambda x: radius * x)  # with weights in units of the radius
    bend, pull = _newton_system(unit, loss, 0, intercept=False)
    steepness = float(np.linalg.norm(pull))
    if not steepness:
        return 0 * pull
    if loss.traits.degree == 1:
        return radius * pull / steepness
    free = linear_minimizer(unit, loss) if loss.traits.degree is None else np.linalg.lstsq(bend, pull)[0]
    if np.linalg.norm(free) <= 1:
        return radius * free

    def excess(log_penalty: float) -> float:
        return float(np.linalg.norm(linear_minimizer(unit, loss, np.exp(log_penalty)))) - 1

    # By strong convexity |w| <= steepness / penalty, so at this penalty the weight is in the ball.
    high = low = float(np.log(steepness))
    while excess(low) < 0:
        low -= 3.0
        if high - low > 36:  # a shorter minimiser than `free` is in the ball, or one to the last digit
            return radius * linear_minimizer(unit, loss, np.exp(low))
    if low == high:
        return radius * linear_minimizer(unit, loss, np.exp(low))
    found = linear_minimizer(unit, loss, np.exp(brentq(excess, low, high, xtol=1e-13)))
    return radius * found / np.linalg.norm(found)


def bounded_minimizer(distribution: FiniteDistribution, loss: Loss | str, bound: Any) -> AnyArray:
    """The scores, one a point, of the best scorer with values in [-bound, bound] (Proposition 5).

    >>> from unflip.theory.gallery import three_points
    >>> bounded_minimizer(three_points().floats(), "unhinged", bound=2.0).tolist()
    [2.0, 2.0, -2.0]
    """
    return get(loss).bayes_scorer(distribution.eta, bound)


def programme_minimizer(distribution: FiniteDistribution, bound: float = 1.0) -> AnyArray:
    """The unhinged weights under |<w, x>| <= bound at every point, instead of a bound on |w|.

    A linear programme, by HiGHS.

    >>> from unflip.theory.gallery import three_points
    >>> programme_minimizer(three_points()).round(9).tolist()
    [1.0, 0.0]
    """
    if not 0 < bound < np.inf:
        raise ValueError(f"a bound is positive and finite, got {bound!r}")
    world = distribution.floats()
    pull = world.masses * (2 * world.eta - 1)
    size = float(np.abs(world.points).max()) or 1.0  # HiGHS takes coefficients below 1e-9 for zero
    weights = _certified(*programme(world.points / size, pull, intercept=False))
    return float(bound) / size * weights + 0.0  # minus zero is zero


def multiclass_unhinged_scores(distribution: FiniteDistribution, *, center: bool = True) -> AnyArray:
    """Scores <w_k, x - mu> with w_k = E[1{y = k} (x - mu)], one row a point and one column a class.

    `center=False` takes mu = 0.

    >>> from unflip.theory.gallery import random_distribution
    >>> multiclass_unhinged_scores(random_distribution(0, n_points=4, n_classes=3)).shape
    (4, 3)
    """
    if center:
        mu = distribution.mean
        distribution = distribution.map(lambda x: x - mu)
    return distribution.points @ distribution.class_sums.T


def multiclass_square_scores(
    distribution: FiniteDistribution, regularization: Any = 0, *, intercept: bool = True
) -> AnyArray:
    """Scores of ridge regression on one-hot targets, E|t - W x|^2 + regularization |W|^2.

    The intercept is not penalised.

    >>> from unflip.theory.gallery import random_distribution
    >>> world = random_distribution(0, n_points=4, n_classes=3, exact=True)
    >>> [str(total) for total in multiclass_square_scores(world, 1).sum(axis=1)]
    ['1', '1', '1', '1']
    """
    _check_penalty(regularization)
    if intercept:
        distribution = distribution.map(_with_constant)
    matrix = distribution.second_moment + _ridge(distribution, regularization, intercept)
    return distribution.points @ _unique(matrix, distribution.class_sums.T)


def _newton_system(
    distribution: FiniteDistribution, loss: Loss, regularization: Any, intercept: bool
) -> tuple[AnyArray, AnyArray]:
    """Curvature and pull at zero; Newton's step lands on the minimum of a polynomial of degree two."""
    if intercept:
        distribution = distribution.map(_with_constant)
    eta, x, mass = distribution.eta, distribution.points, distribution.masses
    zero = 0 * mass
    first, second = (
        mass * (eta * slope(1, zero) + (1 - eta) * slope(-1, zero))
        for slope in (loss.derivative, loss.second_derivative)
    )
    ridge = _ridge(distribution, regularization, intercept)
    return (x * second[:, None]).T @ x + ridge, -(first @ x)


def _ridge(distribution: FiniteDistribution, regularization: Any, intercept: bool) -> AnyArray:
    """The curvature of the penalty, in the numbers of the distribution: none for an intercept."""
    penalised = np.ones(distribution.points.shape[1], dtype=int)
    if intercept:
        penalised[-1] = 0
    exact = distribution.is_exact
    return np.diag(penalised) * (to_fractions(regularization) if exact else np.float64(regularization))


def _unique(matrix: AnyArray, vector: AnyArray) -> AnyArray:
    """The solution of a system whose matrix is a second moment plus a ridge."""
    try:
        return solve(matrix, vector)
    except SingularMatrixError:
        raise ValueError(
            "no unique minimiser: the second moment is singular; a positive regularization makes it unique"
        ) from None


def _certified(weights: AnyArray, certificate: Certificate) -> AnyArray:
    """The weights, if their solver can vouch for them."""
    allowed = max(certificate.tolerance, TRUSTED_GAP)
    if not certificate.gap <= allowed:
        raise ValueError(
            f"no minimum was found: {certificate.method} stopped {certificate.gap:.2g} short of "
            f"{certificate.kind}, {allowed:.2g} is allowed"
        )
    return weights


def _check_penalty(regularization: Any) -> None:
    if not 0 <= regularization < np.inf:
        raise ValueError(f"regularization is finite and not negative, got {regularization!r}")


def _hinge_programme(problem: Problem) -> AnyArray:
    """Without a penalty the hinge asks for a linear programme, with corners to land on."""
    hard = hard_rows(problem, 0)
    n, d = hard.rows.shape
    margins = hard.labels * hard.rows.scores(np.eye(d))
    size = np.abs(margins).max(axis=0, initial=0.0)
    size[size == 0] = 1.0  # weights in units of their own: HiGHS takes coefficients below 1e-9 for zero
    answer = linprog(
        np.concatenate([np.zeros(d), hard.weight[:, 0]]),
        A_ub=-np.hstack([margins / size, np.eye(n)]),
        b_ub=-np.ones(n),
        bounds=[(None, None)] * d + [(0, None)] * n,
    )
    if answer.status != 0:
        raise ValueError(f"the linear programme of the hinge was not solved: {answer.message}")
    return answer.x[:d] / size


def _with_constant(points: AnyArray) -> AnyArray:
    return np.concatenate([points, 0 * points[:, :1] + 1], axis=1)
