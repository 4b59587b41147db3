"""Convex potentials: phi(y v) with phi convex, non-increasing and vanishing at infinity.

Long and Servedio showed that with linear scorers all of them can be reduced to guessing by any
amount of symmetric noise (Proposition 1); strong regularisation is the cure (Propositions 7, 8).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from array_api_compat import array_namespace

from unflip.border.arrays import AnyArray
from unflip.losses.base import MarginLoss, SmoothMarginLoss, Traits, ones
from unflip.losses.symmetric import bump


@dataclass(frozen=True)
class Hinge(MarginLoss):
    """max(0, 1 - y v), the loss of the support vector machine.

    >>> Hinge().value(+1, [-1.0, 0.5, 2.0]).tolist()
    [2.0, 0.5, 0.0]
    """

    traits = Traits(convex=True, convex_potential=True, piecewise_linear=True)
    exact = True

    def _phi(self, m: AnyArray) -> AnyArray:
        return np.maximum(1 - m, 0)  # Proposition 7: unhinged up to margin 1

    def _phi1(self, m: AnyArray) -> AnyArray:
        return np.where(m < 1, -ones(m), 0)

    def _phi2(self, m: AnyArray) -> AnyArray:
        return np.zeros_like(m)

    def _even(self, v: AnyArray) -> AnyArray:
        return np.maximum(1, _middle(v))

    def _odd(self, v: AnyArray) -> AnyArray:
        return -np.sign(v) * np.minimum(np.abs(v), _middle(v))

    def _minimizer(self, eta: AnyArray) -> AnyArray:
        return _infinite_beyond_one(eta, np.sign(2 * eta - 1))


@dataclass(frozen=True)
class SquaredHinge(MarginLoss):
    """max(0, 1 - y v)^2.

    >>> SquaredHinge().value(+1, [-1.0, 0.5, 2.0]).tolist()
    [4.0, 0.25, 0.0]
    """

    traits = Traits(convex=True, convex_potential=True, steepest=2.0)
    exact = True

    def _phi(self, m: AnyArray) -> AnyArray:
        return np.maximum(1 - m, 0) ** 2

    def _phi1(self, m: AnyArray) -> AnyArray:
        return -2 * np.maximum(1 - m, 0)

    def _phi2(self, m: AnyArray) -> AnyArray:
        return np.where(m < 1, 2 * ones(m), 0)

    def _even(self, v: AnyArray) -> AnyArray:
        return np.where(np.abs(v) <= 1, 1 + v**2, 2 * _middle(v) ** 2)

    def _odd(self, v: AnyArray) -> AnyArray:
        return np.where(np.abs(v) <= 1, -2 * v, -np.sign(v) * (2 * _middle(v) ** 2))

    def _minimizer(self, eta: AnyArray) -> AnyArray:
        return _infinite_beyond_one(eta, 2 * eta - 1)


@dataclass(frozen=True)
class Logistic(SmoothMarginLoss):
    """log(1 + exp(-y v)), the loss of logistic regression. Its odd part is linear: -v / 2.

    >>> round(Logistic().value(+1, 0.0), 6), Logistic().odd(7.0)
    (0.693147, -3.5)
    """

    traits = Traits(convex=True, convex_potential=True, linear_odd=True, smooth=True, steepest=0.25)

    def _phi_and_slope(self, m: AnyArray) -> tuple[AnyArray, AnyArray]:
        xp = array_namespace(m)
        small = xp.exp(-xp.abs(m))
        value = xp.log1p(small) + xp.where(m < 0, -m, 0.0)
        return value, -xp.where(m > 0, small, 1.0) / (1 + small)

    def _phi2(self, m: AnyArray) -> AnyArray:
        return bump(m)

    def _even(self, v: AnyArray) -> AnyArray:
        return np.abs(v) / 2 + np.log1p(np.exp(-np.abs(v)))

    def _odd(self, v: AnyArray) -> AnyArray:
        return -v / 2

    def _minimizer(self, eta: AnyArray) -> AnyArray:
        return logit(eta)


@dataclass(frozen=True)
class Exponential(MarginLoss):
    """exp(-y v), the loss of AdaBoost.

    >>> Exponential().value(-1, 0.0), Exponential().odd(0.0)
    (1.0, -0.0)
    """

    traits = Traits(convex=True, convex_potential=True, smooth=True)

    def _phi(self, m: AnyArray) -> AnyArray:
        return np.exp(-m)

    def _phi1(self, m: AnyArray) -> AnyArray:
        return -np.exp(-m)

    def _phi2(self, m: AnyArray) -> AnyArray:
        return np.exp(-m)

    def _even(self, v: AnyArray) -> AnyArray:
        return np.cosh(v)

    def _odd(self, v: AnyArray) -> AnyArray:
        return -np.sinh(v)

    def _odd2(self, v: AnyArray) -> AnyArray:
        return -np.sinh(v)

    def _minimizer(self, eta: AnyArray) -> AnyArray:
        return logit(eta) / 2


def logit(eta: AnyArray) -> AnyArray:
    """log(eta / (1 - eta)); infinite at and beyond 0 and 1. Accurate near 1/2, where it vanishes."""
    inside = np.clip(eta, 0.0, 1.0)
    near_half = np.abs(inside - 0.5) < 0.25
    return np.where(near_half, 2 * np.arctanh(2 * inside - 1), np.log(inside) - np.log1p(-inside))


def _middle(v: AnyArray) -> AnyArray:
    """(1 + |v|) / 2: half of what the losing side of a hinge pays beyond its kink."""
    return (1 + np.abs(v)) / 2


def _infinite_beyond_one(eta: AnyArray, score: AnyArray) -> AnyArray:
    """The score for a probability; infinity beyond, where the corrected loss has no minimum."""
    return np.where(eta < 0, -np.inf, np.where(eta > 1, np.inf, score))
