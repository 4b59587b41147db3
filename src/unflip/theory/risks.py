"""Risks and regrets on finite distributions: sums, and exact ones where loss and numbers allow.

A scorer is its scores at the points, or a function of the points. With a loss of plain arithmetic
(`loss.exact`), fractions in the distribution and fractions as scores, the risk is a fraction.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from unflip.border.arrays import AnyArray
from unflip.losses import Loss, get
from unflip.theory.distributions import FiniteDistribution

Scorer = Callable[[AnyArray], Any] | Any


def risk(distribution: FiniteDistribution, loss: Loss | str, scorer: Scorer) -> Any:
    """E[l(y, s(x))], Equation 1, as the mean of the conditional risk over the points.

    >>> world = FiniteDistribution([[1], [3]], [Fraction(1, 2)] * 2, [1, Fraction(1, 3)])
    >>> risk(world, "zero_one", lambda x: x[:, 0])
    Fraction(1, 3)
    """
    loss = get(loss)
    masses, eta, scores = _ready(distribution, loss, scorer)
    return _total(masses, loss.conditional_risk(eta, scores))  # Equation 1


def stochastic_risk(distribution: FiniteDistribution, loss: Loss | str, scores: Any, chances: Any) -> Any:
    """The risk of a scorer that draws its score: scores[i, j] with probability chances[i, j] at point i.

    >>> world = FiniteDistribution([[0.0]], [1.0], [1.0])
    >>> stochastic_risk(world, "unhinged", [[-1.0, 1.0]], [[0.5, 0.5]])
    1.0
    """
    # A score drawn at a point is a point of its own, with its share of the mass.
    scores, chances = np.asarray(scores), np.asarray(chances)
    each = [np.repeat(part, scores.shape[1], axis=0) for part in (distribution.points, distribution.eta)]
    masses = (distribution.masses[:, None] * chances).ravel()
    return risk(FiniteDistribution(each[0], masses, each[1]), loss, scores.ravel())


def regret(distribution: FiniteDistribution, loss: Loss | str, scorer: Scorer, bound: Any = None) -> Any:
    """How much the risk of a scorer exceeds the least one, over all scorers or over those in [-bound, bound].

    Infinite where the least risk is: the unhinged loss has no least risk over all scorers.

    >>> world = FiniteDistribution([[0.0], [1.0]], [0.5, 0.5], [1.0, 0.25])
    >>> regret(world, "unhinged", [1.0, 1.0], bound=1.0)
    0.5
    """
    loss = get(loss)
    masses, eta, scores = _ready(distribution, loss, scorer)
    if bound is not None and np.any(np.abs(scores) > bound):
        raise ValueError(f"the scorer leaves [-{bound}, {bound}], so it is not among those compared")
    best = loss.bayes_scorer(eta, bound)
    if masses.dtype == object:  # a float among fractions would spoil them
        best = np.array([v if abs(v) == np.inf else Fraction(v) for v in best], dtype=object)
    here, least = loss.conditional_risk(eta, scores), loss.conditional_risk(eta, best)
    # An infinite best score whose halves run apart sums to NaN; the infimum is minus infinity.
    with np.errstate(invalid="ignore"):
        excess = np.where(least != least, np.inf, here - least)
    return _total(masses, np.where((here == least) | (scores == best), 0, excess))


def _scores_of(distribution: FiniteDistribution, scorer: Scorer) -> AnyArray:
    """The scores of a scorer at the points of a distribution."""
    scores = np.asarray(scorer(distribution.points) if callable(scorer) else scorer)
    if scores.shape != distribution.masses.shape:
        raise ValueError(
            f"a scorer gives one score a point: {len(distribution.masses)} of them, "
            f"got an array of shape {scores.shape}"
        )
    return scores


def _ready(
    distribution: FiniteDistribution, loss: Loss, scorer: Scorer
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Masses, class probabilities and scores, without points of no mass, in one kind of number."""
    scores = _scores_of(distribution, scorer)
    if not (loss.exact and scores.dtype == object):
        distribution, scores = distribution.floats(), scores.astype(np.float64)
    there = distribution.masses > 0
    return distribution.masses[there], distribution.eta[there], scores[there]


def _total(masses: AnyArray, values: AnyArray) -> Any:
    total = masses @ values
    return float(total) if isinstance(total, np.floating) else total
