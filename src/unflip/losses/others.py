"""Losses of the paper that are neither symmetric nor convex potentials: square, t-logistic, TangentBoost.

Two identities keep the non-convex pair simple. With u = asinh(v) the t-logistic loss (t = 2) is
the logistic loss of u; with a = atan(v) the TangentBoost loss is a parabola in a.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unflip.losses.base import Array, MarginLoss, Traits
from unflip.losses.potentials import logit, softplus
from unflip.losses.symmetric import sigmoid


@dataclass(frozen=True)
class Square(MarginLoss):
    """(1 - y v)^2, the loss of least squares and of Fisher's discriminant. Odd part -2 v.

    >>> Square().value(+1, 3.0), Square().even(3.0), Square().odd(3.0)
    (4.0, 10.0, -6.0)
    """

    traits = Traits(convex=True, linear_odd=True, smooth=True, degree=2)
    exact = True

    def _phi(self, m: Array) -> Array:
        return (1 - m) ** 2

    def _phi1(self, m: Array) -> Array:
        return -2 * (1 - m)

    def _phi2(self, m: Array) -> Array:
        return 2 * np.ones_like(m)

    def _even(self, v: Array) -> Array:
        return 1 + v**2

    def _odd(self, v: Array) -> Array:
        return -2 * v

    def _minimizer(self, eta: Array) -> Array:
        return 2 * eta - 1

    def _conditional_risk(self, eta: Array, v: Array) -> Array:
        k = 2 * eta - 1  # 1 - 2 k v + v^2 as a sum that cannot be infinity minus infinity
        return (v - k) ** 2 + 4 * eta * (1 - eta)


@dataclass(frozen=True)
class TLogistic(MarginLoss):
    """The t-logistic loss at t = 2: log(1 - y v + sqrt(1 + v^2)).

    >>> TLogistic().value(+1, 1e8)
    4.9999999875e-09
    """

    traits = Traits(smooth=True)

    def _phi(self, m: Array) -> Array:
        # log(1 + exp(-asinh m)); the first form of the exponential is exact for large margins.
        return np.where(m > 0, np.log1p(1 / (m + np.hypot(1, m))), softplus(-np.arcsinh(m)))

    def _phi1(self, m: Array) -> Array:
        return -sigmoid(-np.arcsinh(m)) / np.hypot(1, m)

    def _phi2(self, m: Array) -> Array:
        u, h = np.arcsinh(m), np.hypot(1, m)
        return sigmoid(-u) * (sigmoid(u) + m / h) / h / h

    def _even(self, v: Array) -> Array:
        u = np.abs(np.arcsinh(v))
        return u / 2 + np.log1p(np.exp(-u))

    def _odd(self, v: Array) -> Array:
        return -np.arcsinh(v) / 2

    def _minimizer(self, eta: Array) -> Array:
        return np.sinh(logit(eta))


@dataclass(frozen=True)
class TangentBoost(MarginLoss):
    """(2 atan(y v) - 1)^2, bounded, with a small penalty for being too right.

    >>> loss = TangentBoost()
    >>> round(loss.value(+1, 0.5463024898437905), 12), round(loss.value(+1, 1e300), 6)
    (0.0, 4.586419)
    """

    traits = Traits(bounded_above=True, smooth=True)

    def _phi(self, m: Array) -> Array:
        return _twice_angle_less_one(m) ** 2

    def _phi1(self, m: Array) -> Array:
        h = np.hypot(1, m)
        return 4 * _twice_angle_less_one(m) / h / h

    def _phi2(self, m: Array) -> Array:
        h = np.hypot(1, m)
        return 8 * (1 / h - m / h * _twice_angle_less_one(m)) / h / h / h

    def _even(self, v: Array) -> Array:
        return 1 + 4 * np.arctan(v) ** 2

    def _odd(self, v: Array) -> Array:
        return -4 * np.arctan(v)

    def _minimizer(self, eta: Array) -> Array:
        angle = eta - 0.5
        beyond = np.abs(angle) >= np.pi / 2
        return np.where(beyond, np.copysign(np.inf, angle), np.tan(angle))


_ROOT = 0.5463024898437905  # tan(1/2), where the loss vanishes, and what float64 leaves of it
_ROOT_REST = 2.9096576216837176e-17


def _twice_angle_less_one(m: Array) -> Array:
    """2 atan(m) - 1, by the difference formula of the tangent near its root."""
    near = 2 * np.arctan(((m - _ROOT) - _ROOT_REST) / (1 + m * _ROOT))
    return np.where(np.abs(m - _ROOT) < 0.5, near, 2 * np.arctan(m) - 1)
