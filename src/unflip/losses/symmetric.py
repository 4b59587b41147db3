"""Losses whose even part is constant, so that label noise only rescales their risk.

Equation 6 asks that l(+1, v) + l(-1, v) be the same for every v. The unhinged loss is the only
convex member (Proposition 4); sigmoid and ramp trade convexity for boundedness, zero-one is what
all of them stand in for. The weighted unhinged loss is symmetric at equal costs only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from unflip.border.arrays import AnyArray
from unflip.losses.base import Loss, MarginLoss, Traits, constant, ones


def _infinite_sign(k: AnyArray) -> AnyArray:
    """An infinite score with the sign of k, zero where k is zero."""
    return np.where(k > 0, np.inf, np.where(k < 0, -np.inf, 0.0))


@dataclass(frozen=True)
class Unhinged(MarginLoss):
    """The hinge loss without its hinge: l(y, v) = 1 - y v.

    >>> loss = Unhinged()
    >>> loss.value(+1, 3.0), loss.even(3.0), loss.odd(3.0)
    (-2.0, 1.0, -3.0)
    """

    traits = Traits(convex=True, symmetric=True, bounded_below=False, linear_odd=True, smooth=True, degree=1)
    exact = True

    def _phi(self, m: AnyArray) -> AnyArray:
        return 1 - m  # Proposition 4

    def _phi1(self, m: AnyArray) -> AnyArray:
        return -ones(m)

    def _phi2(self, m: AnyArray) -> AnyArray:
        return 0 * ones(m)

    def _even(self, v: AnyArray) -> AnyArray:
        return ones(v)  # Equation 6, with C = 2

    def _odd(self, v: AnyArray) -> AnyArray:
        return -v

    def _minimizer(self, eta: AnyArray) -> AnyArray:
        return _infinite_sign(2 * eta - 1)  # Proposition 5, B without limit

    def _conditional_risk(self, eta: AnyArray, v: AnyArray) -> AnyArray:
        # At large scores the two losses cancel; at small ones their average keeps more digits.
        difference = 1 - (2 * eta - 1) * v  # Equation 12
        return np.where(np.abs(v) > 2, difference, super()._conditional_risk(eta, v))


@dataclass(frozen=True)
class WeightedUnhinged(Loss):
    """The unhinged loss with a cost for each label: -(1 - cost) v for y = +1, cost v for y = -1.

    Its best bounded scorer is bound * sign(eta - cost), so scorers at many costs tell eta itself.

    >>> WeightedUnhinged(cost=0.25).bayes_scorer([0.2, 0.3], bound=1.0).tolist()
    [-1.0, 1.0]
    """

    cost: Any = 0.5
    exact = True

    def __post_init__(self) -> None:
        if not 0 <= self.cost <= 1:
            raise ValueError(f"cost must lie between 0 and 1, got {self.cost}")

    @property
    def traits(self) -> Traits:  # type: ignore[override]  # they depend on the cost
        """Symmetric and calibrated for the 0-1 loss at equal costs only."""
        fair = self.cost == 0.5
        return Traits(
            convex=True,
            symmetric=fair,
            calibrated=fair,
            bounded_below=False,
            linear_odd=True,
            smooth=True,
            degree=1,
        )

    def _value(self, y: AnyArray, v: AnyArray) -> AnyArray:
        return self._derivative(y, v) * v

    def _derivative(self, y: AnyArray, v: AnyArray) -> AnyArray:
        return np.where(y > 0, constant(self.cost - 1, v), constant(self.cost, v))  # Appendix E.3

    def _second_derivative(self, y: AnyArray, v: AnyArray) -> AnyArray:
        return np.zeros_like(v)

    def _even(self, v: AnyArray) -> AnyArray:
        return constant(2 * self.cost - 1, v) * (v / 2)

    def _odd(self, v: AnyArray) -> AnyArray:
        return -v / 2

    def _minimizer(self, eta: AnyArray) -> AnyArray:
        return _infinite_sign(eta - constant(self.cost, eta))

    def _conditional_risk(self, eta: AnyArray, v: AnyArray) -> AnyArray:
        return (constant(self.cost, eta) - eta) * v


@dataclass(frozen=True)
class ZeroOne(MarginLoss):
    """One for a wrong sign, zero for a right one, 1/2 for no sign: what classification is about.

    >>> ZeroOne().value(+1, [-2.0, 0.0, 2.0]).tolist()
    [1.0, 0.5, 0.0]
    """

    traits = Traits(symmetric=True, bounded_above=True)
    exact = True

    def _phi(self, m: AnyArray) -> AnyArray:
        return (ones(m) - np.sign(m)) / 2

    def _phi1(self, m: AnyArray) -> AnyArray:
        return np.zeros_like(m)

    def _phi2(self, m: AnyArray) -> AnyArray:
        return np.zeros_like(m)

    def _even(self, v: AnyArray) -> AnyArray:
        return ones(v) / 2

    def _odd(self, v: AnyArray) -> AnyArray:
        return -ones(v) / 2 * np.sign(v)

    def _minimizer(self, eta: AnyArray) -> AnyArray:
        return np.sign(2 * eta - 1)


@dataclass(frozen=True)
class Ramp(MarginLoss):
    """A straight line between the levels of the 0-1 loss: clip((1 - y v) / 2, 0, 1).

    >>> Ramp().value(+1, [-3.0, 0.5, 3.0]).tolist()
    [1.0, 0.25, 0.0]
    """

    traits = Traits(symmetric=True, bounded_above=True, piecewise_linear=True)
    exact = True

    def _phi(self, m: AnyArray) -> AnyArray:
        return np.clip((1 - m) / 2, 0, 1)

    def _phi1(self, m: AnyArray) -> AnyArray:
        return np.where((m >= -1) & (m < 1), -ones(m) / 2, 0)

    def _phi2(self, m: AnyArray) -> AnyArray:
        return np.zeros_like(m)

    def _even(self, v: AnyArray) -> AnyArray:
        return ones(v) / 2

    def _odd(self, v: AnyArray) -> AnyArray:
        return -np.clip(v, -1, 1) * (ones(v) / 2)

    def _minimizer(self, eta: AnyArray) -> AnyArray:
        return np.sign(2 * eta - 1)


@dataclass(frozen=True)
class Sigmoid(MarginLoss):
    """A smooth step between the levels of the 0-1 loss: 1 / (1 + exp(y v)).

    >>> Sigmoid().value(+1, 0.0), Sigmoid().even(12.3)
    (0.5, 0.5)
    """

    traits = Traits(symmetric=True, bounded_above=True, smooth=True)

    def _phi(self, m: AnyArray) -> AnyArray:
        return sigmoid(-m)

    def _phi1(self, m: AnyArray) -> AnyArray:
        return -bump(m)

    def _phi2(self, m: AnyArray) -> AnyArray:
        return bump(m) * np.tanh(m / 2)

    def _even(self, v: AnyArray) -> AnyArray:
        return ones(v) / 2

    def _odd(self, v: AnyArray) -> AnyArray:
        return -np.tanh(v / 2) / 2

    def _minimizer(self, eta: AnyArray) -> AnyArray:
        return _infinite_sign(2 * eta - 1)


def sigmoid(m: AnyArray) -> AnyArray:
    """1 / (1 + exp(-m)), with full relative accuracy in both tails."""
    e = np.exp(-np.abs(m))
    return np.where(m > 0, 1.0, e) / (1 + e)


def bump(m: AnyArray) -> AnyArray:
    """sigmoid(m) sigmoid(-m), the slope of the sigmoid."""
    xp = array_namespace(m)
    e = xp.exp(-xp.abs(m))
    return e / (1 + e) ** 2
