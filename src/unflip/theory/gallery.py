"""Instructive distributions: ones that break a loss, and random ones to try a claim on."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from unflip._fractions import to_fractions
from unflip.theory.distributions import FiniteDistribution


def long_servedio(gamma: Any, masses: Any = (0.25, 0.25, 0.5)) -> FiniteDistribution:
    """Long and Servedio's three points, all positive, on which noise defeats convex potentials.

    One point of large margin, (1, 0), pulls; one puller, (gamma, 5 gamma); and the penaliser
    (gamma, -gamma), which carries half the mass and is lost when the weight leans to the puller.

    >>> long_servedio(Fraction(1, 12)).points[1].tolist()
    [Fraction(1, 12), Fraction(5, 12)]
    """
    if not gamma > 0:
        raise ValueError(f"gamma is positive, got {gamma!r}")
    points = [[1, 0], [gamma, 5 * gamma], [gamma, -gamma]]  # Proposition 1
    return FiniteDistribution(points, masses, [1, 1, 1])


def three_points() -> FiniteDistribution:
    """A separable distribution that the linear unhinged classifier gets wrong on one point of three.

    >>> three_points().label_mean.tolist()
    [Fraction(1, 1), Fraction(-1, 1)]
    """
    return FiniteDistribution([[1, 2], [1, -4], [-1, 1]], [Fraction(1, 3)] * 3, [1, 1, 0])  # Appendix G


def random_distribution(
    seed: int, n_points: int = 5, n_features: int = 2, n_classes: int = 2, *, exact: bool = False
) -> FiniteDistribution:
    """A distribution drawn at random, from small integers; the same one for the same seed.

    >>> random_distribution(0, exact=True).masses.sum()
    Fraction(1, 1)
    """
    rng = np.random.default_rng(seed)
    points = to_fractions(rng.integers(-9, 10, size=(n_points, n_features))) / 4
    masses = to_fractions(rng.integers(1, 10, size=n_points))
    if n_classes == 2:
        probability = to_fractions(rng.integers(0, 13, size=n_points)) / 12
    else:
        probability = to_fractions(rng.integers(0, 7, size=(n_points, n_classes)))
        probability[:, 0] += 1  # no empty row
        probability = probability / probability.sum(axis=1, keepdims=True)
    drawn = FiniteDistribution(points, masses / masses.sum(), probability)
    return drawn if exact else drawn.floats()
