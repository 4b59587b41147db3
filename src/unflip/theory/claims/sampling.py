"""Appendix D.1: from a noisy sample to a clean regret, and the constant in Proposition 9.

The deviation of the unhinged loss does not depend on the constant in 1 - y v, so its bound cannot be a matter
of sup |l|. On a space of one point everything can be summed: scorers are constants in [-B, B], the
empirical complexity is B E|mean of n coins|, and the deviation of the scorer B is B (mean of y - E y).
"""

from __future__ import annotations

from itertools import product
from math import comb, log, sqrt

import numpy as np

from unflip.theory.bounds import (
    clean_regret_bound,
    deviation_bound,
    empirical_rademacher,
    rademacher_bound,
)
from unflip.theory.claims.cases import noisy_worlds, worlds
from unflip.theory.distributions import FiniteDistribution
from unflip.theory.evidence import Evidence, Pairs, agree, at_most, exceeds


def rademacher_of_the_ball() -> Evidence:
    """Trying all signs: the complexity of the linear ball is at most R / sqrt(lambda n)."""
    rng = np.random.default_rng(0)
    pairs: Pairs = []
    for world in worlds(6):
        X, _ = world.sample(9, rng)
        radius = float(np.max(np.linalg.norm(X, axis=1)))
        pairs += [(empirical_rademacher(X, lam), rademacher_bound(radius, lam, len(X))) for lam in (0.3, 4.0)]
    return at_most("Appendix D.1: the Rademacher complexity of the ball is at most R/sqrt(lambda n)", pairs)


def rademacher_is_reached() -> Evidence:
    """With orthogonal points of norm R the bound is an equality."""
    pairs = [(empirical_rademacher(2 * np.eye(n), 0.3), rademacher_bound(2.0, 0.3, n)) for n in (1, 4, 10)]
    return agree("Appendix D.1: for orthogonal points that complexity is reached", pairs, tolerance=1e-12)


def proposition_9() -> Evidence:
    """The chance that the worst deviation leaves the bound, summed exactly on one point, against delta."""
    pairs = [
        (_chance_beyond(n, deviation_bound(_coin_complexity(n), 1.0, n, delta, empirical=empirical)), delta)
        for n in (10, 100, 400)
        for delta in (1e-6, 1e-3, 0.05, 0.5)
        for empirical in (False, True)
    ]
    claim = "Proposition 9, on one point with B = 1: with 2B for sup|l| it fails with chance at most delta"
    return at_most(claim, pairs)


def proposition_9_as_printed() -> Evidence:
    """With the printed constant B the chance exceeds delta = 1e-6, for the one scorer B already."""
    n, delta = 100, 1e-6
    printed = 2 * _coin_complexity(n) + sqrt(log(2 / delta) / (2 * n))
    claim = "Proposition 9, erratum: with the printed constant B the bound fails more often than delta"
    return exceeds(claim, [(_chance_beyond(n, printed) / 2, delta)])  # one of its two sides


def proposition_9_with_sup() -> Evidence:
    """Nor does sup |1 - y v| = 1 + B do: at B = 100 it is hardly more than B."""
    n, delta, bound = 100, 1e-6, 100.0
    with_sup = 2 * _coin_complexity(n) + (1 + bound) / bound * sqrt(log(2 / delta) / (2 * n))
    claim = "Proposition 9, erratum: nor is the constant sup|l| = 1 + B enough, at B = 100"
    return exceeds(claim, [(_chance_beyond(n, with_sup) / 2, delta)])


def erm_regret() -> Evidence:
    """The regret of the best weight of a sample is at most twice the largest deviation in the ball."""
    rng = np.random.default_rng(1)
    pairs: Pairs = []
    for _, _, noisy in noisy_worlds(10):
        X, y = noisy.sample(30, rng)
        mean, seen = noisy.floats().label_mean, y @ X / len(y)
        if np.any(seen):
            regret = np.linalg.norm(mean) - mean @ seen / np.linalg.norm(seen)
            pairs.append((float(regret), 2 * float(np.linalg.norm(seen - mean))))
    claim = "Appendix D.1: the regret of a sample's minimiser is at most twice the largest deviation"
    return at_most(claim, pairs)


def clean_regret_from_noisy_sample() -> Evidence:
    """The chance that the clean regret leaves its bound, summed exactly on one point, against delta.

    Ratios to delta, over sizes, rates, radii and penalties, at the clean mean that is worst for the bound.
    """
    pairs = [
        (_chance_of_regret(clean_regret_bound(R, lam, n, delta, rate), R, lam, n, rate) / delta, 1.0)
        for n in (100, 400)
        for delta in (1e-12, 1e-3, 0.05, 0.5)
        for rate in (0.0, 0.1, 0.2)
        for R, lam in ((1.0, 1.0), (3.0, 0.25))
    ]
    claim = "Appendix D.1, on one point: the chance that a clean regret leaves its bound, over delta"
    return at_most(claim, pairs)


def clean_regret_bound_is_no_waste() -> Evidence:
    """Seven tenths of that bound would not do: at delta = 1e-12 the chance of more is above delta."""
    n, delta, R, lam = 400, 1e-12, 3.0, 0.25
    pairs = [
        (_chance_of_regret(0.7 * clean_regret_bound(R, lam, n, delta, rate), R, lam, n, rate), delta)
        for rate in (0.0, 0.1, 0.2)
    ]
    claim = "Appendix D.1, on one point: seven tenths of that bound are left more often than delta = 1e-12"
    return exceeds(claim, pairs)


def one_point_by_enumeration() -> Evidence:
    """The sums used here, against listing all samples of eight labels."""
    n = 8
    labels = np.array(list(product((-1, 1), repeat=n)))
    world = FiniteDistribution([[1.0]], [1.0], [0.5])
    deviations = np.abs(labels.mean(axis=1) - world.label_mean[0])
    pairs = [(_coin_complexity(n), float(deviations.mean()))]
    pairs += [(_chance_beyond(n, t), float(np.mean(deviations > t))) for t in (0.3, 0.6, 0.9)]
    noisy = FiniteDistribution([[1.0]], [1.0], [0.8]).corrupt(0.1)  # a clean mean of 0.6, so a regret of 1.2
    chances = np.where(labels > 0, noisy.eta, 1 - noisy.eta).prod(axis=1)
    mistaken = float(chances[labels.sum(axis=1) <= 0].sum())
    pairs.append((_chance_of_regret(1.2, 1.0, 1.0, n, 0.1), mistaken))
    return agree("Appendix D.1: complexity and chances on one point, against all samples of 8", pairs, 1e-12)


def _coin_complexity(n: int) -> float:
    """E|mean of n fair signs|: the empirical complexity of the constants in [-1, 1]."""
    return sum(comb(n, k) * abs(2 * k - n) for k in range(n + 1)) / n / 2**n


def _chance_beyond(n: int, limit: float) -> float:
    """P(|mean of n fair signs| > limit): how often the worst deviation, B = 1, leaves the limit."""
    return sum(comb(n, k) for k in range(n + 1) if abs(2 * k - n) / n > limit) / 2**n


def _chance_of_regret(limit: float, R: float, lam: float, n: int, rate: float) -> float:
    """P(clean regret >= limit) of the best of n noisy labels at the point R, |w| <= 1 / sqrt(lam).

    A weight of the wrong sign has regret 2 |mean| R / sqrt(lam); a tie may go wrong as well. The clean mean
    is the least with so large a regret, since a larger one is mistaken more rarely.
    """
    mean = limit * sqrt(lam) / (2 * R)
    if mean > 1:
        return 0.0
    p = (1 + (1 - 2 * rate) * mean) / 2
    return sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n // 2 + 1))


CLAIMS = (
    rademacher_of_the_ball,
    rademacher_is_reached,
    proposition_9,
    proposition_9_as_printed,
    proposition_9_with_sup,
    erm_regret,
    clean_regret_from_noisy_sample,
    clean_regret_bound_is_no_waste,
    one_point_by_enumeration,
)
