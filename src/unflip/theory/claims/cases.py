"""What the checks are tried on: random exact worlds, rates, scores, and all losses."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from unflip._fractions import to_fractions
from unflip.border.arrays import AnyArray
from unflip.losses import Loss, WeightedUnhinged, get, names, noise_corrected
from unflip.theory.distributions import FiniteDistribution
from unflip.theory.gallery import random_distribution
from unflip.theory.risks import risk

CLAIM_RATES: tuple[Any, ...] = (Fraction(1, 100), Fraction(1, 5), Fraction(49, 100))

CLAIM_LOSSES: tuple[Loss, ...] = (
    *(get(name) for name in names() if name != "weighted_unhinged"),
    WeightedUnhinged(Fraction(1, 2)),
    WeightedUnhinged(Fraction(1, 4)),
)
POTENTIALS = tuple(loss for loss in CLAIM_LOSSES if loss.traits.convex_potential)

# Scores on a grid, for claims about a loss itself.
SCORES = np.linspace(-3, 3, 25)


@cache
def worlds(count: int = 20, n_classes: int = 2) -> tuple[FiniteDistribution, ...]:
    """Random distributions in fractions, the same ones at every call."""
    return tuple(random_distribution(seed, n_classes=n_classes, exact=True) for seed in range(count))


def noisy_worlds(count: int = 20) -> Iterator[tuple[FiniteDistribution, Fraction, FiniteDistribution]]:
    """Each random distribution with each rate: clean, rate, noisy."""
    for clean in worlds(count):
        for rate in CLAIM_RATES:
            yield clean, rate, clean.corrupt(rate)


def random_scores(shape: int | tuple[int, ...], seed: int, bound: int = 3) -> AnyArray:
    """Scores in [-bound, bound], in fractions."""
    return to_fractions(np.random.default_rng(seed).integers(-12, 13, size=shape)) * bound / 12


def corrected(loss: Loss, rate: Fraction) -> Loss:
    """The loss of Equation 4, in fractions where the loss can."""
    return noise_corrected(loss, rate if loss.exact else float(rate))


def risk_by_cells(world: FiniteDistribution, loss: Loss, scores: AnyArray) -> Any:
    """The risk as a sum over points and labels, which takes no shortcut through conditional risks."""
    negative, positive = world.joint.T
    return negative @ loss.value(-1, scores) + positive @ loss.value(1, scores)


def error(world: FiniteDistribution, weights: AnyArray) -> Any:
    """The 0-1 risk of the linear scorer with these weights; one weight more is an intercept."""
    d = world.points.shape[1]
    return risk(world, "zero_one", world.points @ weights[:d] + sum(weights[d:]))


def spread(values: AnyArray) -> float:
    """Largest less smallest: zero for a constant."""
    return float(max(values) - min(values))
