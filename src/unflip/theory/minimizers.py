"""Minimisers of risks over restricted scorers: linear ones, linear ones in a ball, bounded ones.

The objective is that of Equation 7 for any loss, E[l(y, <w, x>)] + regularization / 2 |w|^2. The road is
chosen by the loss: one Newton step where the loss is a polynomial of degree one or two (exact in
fractions), a linear programme for the hinge without a penalty, and the solvers of the estimators for the
rest. For losses that are not convex the answer is the stationary point reached from the zero scorer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq, linprog

from unflip.estimators.objective import Objective
from unflip.estimators.piecewise import hard_rows, minimize_piecewise
from unflip.estimators.smooth import minimize_smooth
from unflip.losses import Hinge, Loss, ZeroOne, get
from unflip.losses.base import Array
from unflip.theory._fractions import solve, to_fractions
from unflip.theory.distributions import FiniteDistribution

TOLERANCE = 1e-14  # as near to the minimum as float64 allows


def linear_minimizer(
    distribution: FiniteDistribution,
    loss: Loss | str,
    regularization: Any = 0,
    *,
    intercept: bool = False,
) -> Array:
    """The weights w of the best linear scorer <w, x>; with an intercept, unpenalised, as last entry.

    >>> from unflip.theory.gallery import three_points
    >>> linear_minimizer(three_points(), "unhinged", regularization=2).tolist()
    [Fraction(1, 2), Fraction(-1, 2)]
    >>> linear_minimizer(three_points(), "square").tolist()
    [Fraction(1, 1), Fraction(0, 1)]
    """
    loss = get(loss)
    if not regularization >= 0:
        raise ValueError(f"regularization is not negative, got {regularization!r}")
    if loss.traits.degree is not None:
        return _newton_step(distribution, loss, regularization, intercept)
    world = distribution.floats()
    positive, negative = world.masses * world.eta, world.masses * (1 - world.eta)
    objective = Objective(loss, world.points, positive, negative, float(regularization), intercept)
    if isinstance(loss, Hinge) and not regularization:
        return _hinge_programme(objective)
    if isinstance(loss, ZeroOne) or (loss.traits.piecewise_linear and not regularization):
        raise ValueError(f"there is no method here for {loss!r} with regularization {regularization!r}")
    minimize = minimize_piecewise if loss.traits.piecewise_linear else minimize_smooth
    return minimize(objective, TOLERANCE)[0]


def ball_minimizer(distribution: FiniteDistribution, loss: Loss | str, radius: float) -> Array:
    """The weights of the best linear scorer with |w| <= radius, for a convex loss.

    >>> from unflip.theory.gallery import three_points
    >>> ball_minimizer(three_points(), "unhinged", radius=1.0).round(6).tolist()
    [0.707107, -0.707107]
    """
    loss = get(loss)
    if not loss.traits.convex:
        raise ValueError(f"{loss!r} is not convex, so a penalty does not find its minimum in a ball")
    if not radius > 0:
        raise ValueError(f"a radius is positive, got {radius!r}")
    world = distribution.floats()

    def excess(log_penalty: float) -> float:
        return float(np.linalg.norm(linear_minimizer(world, loss, np.exp(log_penalty)))) - radius

    low, high = -20.0, 20.0  # the norm falls as the penalty grows: bracket the radius, then halve
    if excess(low) <= 0:
        return linear_minimizer(world, loss, np.exp(low))
    return linear_minimizer(world, loss, np.exp(brentq(excess, low, high, xtol=1e-13)))


def bounded_minimizer(distribution: FiniteDistribution, loss: Loss | str, bound: Any) -> Array:
    """The scores, one a point, of the best scorer with values in [-bound, bound] (Proposition 5).

    >>> from unflip.theory.gallery import three_points
    >>> bounded_minimizer(three_points().floats(), "unhinged", bound=2.0).tolist()
    [2.0, 2.0, -2.0]
    """
    return get(loss).bayes_scorer(distribution.eta, bound)


def programme_minimizer(distribution: FiniteDistribution, bound: float = 1.0) -> Array:
    """The unhinged weights under |<w, x>| <= bound at every point, instead of a bound on |w|.

    A linear programme, by HiGHS.

    >>> from unflip.theory.gallery import three_points
    >>> programme_minimizer(three_points()).round(9).tolist()
    [1.0, 0.0]
    """
    world = distribution.floats()
    x = world.points
    limits = np.full(2 * len(x), float(bound))
    answer = linprog(-world.label_mean, A_ub=np.vstack([x, -x]), b_ub=limits, bounds=(None, None))
    return answer.x + 0.0  # minus zero is zero


def multiclass_unhinged_scores(distribution: FiniteDistribution, *, center: bool = True) -> Array:
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
) -> Array:
    """Scores of ridge regression on one-hot targets, E|t - W x|^2 + regularization |W|^2.

    The intercept is not penalised.

    >>> from unflip.theory.gallery import random_distribution
    >>> world = random_distribution(0, n_points=4, n_classes=3, exact=True)
    >>> [str(total) for total in multiclass_square_scores(world, 1).sum(axis=1)]
    ['1', '1', '1', '1']
    """
    if intercept:
        distribution = distribution.map(_with_constant)
    ridge = np.eye(distribution.points.shape[1], dtype=int) * _kind(distribution, regularization)
    if intercept:
        ridge[-1, -1] *= 0
    return distribution.points @ solve(distribution.second_moment + ridge, distribution.class_sums.T)


def _newton_step(distribution: FiniteDistribution, loss: Loss, regularization: Any, intercept: bool) -> Array:
    """Newton's step from zero, which lands on the minimum of a polynomial of degree two."""
    if intercept:
        distribution = distribution.map(_with_constant)
    eta, x, mass = distribution.eta, distribution.points, distribution.masses
    zero = 0 * mass
    first, second = (
        mass * (eta * slope(1, zero) + (1 - eta) * slope(-1, zero))
        for slope in (loss.derivative, loss.second_derivative)
    )
    ridge = np.eye(x.shape[1], dtype=int) * _kind(distribution, regularization)
    if intercept:
        ridge[-1, -1] *= 0
    return solve((x * second[:, None]).T @ x + ridge, -(first @ x))


def _hinge_programme(objective: Objective) -> Array:
    """Without a penalty the hinge asks for a linear programme, with corners to land on."""
    hard, y, weight = hard_rows(objective)
    n, d = len(y), objective.size
    margins = y[:, None] * np.array([hard.scores(unit) for unit in np.eye(d)]).T
    answer = linprog(
        np.concatenate([np.zeros(d), weight]),
        A_ub=-np.hstack([margins, np.eye(n)]),
        b_ub=-np.ones(n),
        bounds=[(None, None)] * d + [(0, None)] * n,
    )
    return answer.x[:d]


def _with_constant(points: Array) -> Array:
    return np.concatenate([points, 0 * points[:, :1] + 1], axis=1)


def _kind(distribution: FiniteDistribution, numbers: Any) -> Array:
    """Numbers of the same kind as those of the distribution."""
    return to_fractions(numbers) if distribution.is_exact else np.asarray(numbers, dtype=np.float64)
