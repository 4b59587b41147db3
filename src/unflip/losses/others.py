"""Losses of the paper that are neither symmetric nor convex potentials: square, t-logistic, TangentBoost.

Two identities keep the non-convex pair simple. With u = asinh(v) the t-logistic loss (t = 2) is
the logistic loss of u; with a = atan(v) the TangentBoost loss is a parabola in a.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unflip.losses.base import Array, MarginLoss, Traits, ones
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
        return 2 * ones(m)

    def _even(self, v: Array) -> Array:
        return 1 + v**2

    def _odd(self, v: Array) -> Array:
        return -2 * v

    def _minimizer(self, eta: Array) -> Array:
        return 2 * eta - 1

    def _conditional_risk(self, eta: Array, v: Array) -> Array:
        # The average of two positive losses loses no digits. Beyond 0 and 1, met by corrected losses,
        # it could be infinity minus infinity, which 1 - 2 k v + v^2 is not in the form below.
        k = 2 * eta - 1
        beyond = (v - k) ** 2 + 4 * eta * (1 - eta)
        return np.where(np.abs(k) <= 1, super()._conditional_risk(eta, v), beyond)


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
        z, r = np.exp(-u), _INFLECTION_Z
        # With z = h - m the sum below is (2 + z - z^3) / (1 + z) / (1 + z^2): near its root, factored.
        cubic = (
            _less(m, _INFLECTION) * (z + r) / (h + np.hypot(1, _INFLECTION[0])) * (z * (z + r) + r * r - 1)
        )
        near = np.abs(m - _INFLECTION[0]) < 0.25
        total = np.where(near, cubic / (1 + z) / (1 + z * z), sigmoid(u) + m / h)
        return sigmoid(-u) * total / h / h

    def _even(self, v: Array) -> Array:
        u = np.abs(np.arcsinh(v))
        return u / 2 + np.log1p(np.exp(-u))

    def _odd(self, v: Array) -> Array:
        return -np.arcsinh(v) / 2

    def _odd2(self, v: Array) -> Array:
        h = np.hypot(1, v)
        return v / h / h / h / 2

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
        t = _twice_angle_less_one(m)
        bend = 1 / h - m / h * t  # (1 - m t) / h, which has two roots
        for root in _BENDS:
            r, gap = root[0], _less(m, root)  # 1 = r t(r) there, so 1 - m t is a difference again
            near = -(gap * t + 2 * r * np.arctan(gap / (1 + m * r))) / h
            bend = np.where(np.abs(m - r) < 0.25, near, bend)
        return 8 * bend / h / h / h

    def _even(self, v: Array) -> Array:
        return 1 + 4 * np.arctan(v) ** 2

    def _odd(self, v: Array) -> Array:
        return -4 * np.arctan(v)

    def _odd1(self, v: Array) -> Array:
        h = np.hypot(1, v)
        return -4 / h / h

    def _odd2(self, v: Array) -> Array:
        h = np.hypot(1, v)
        return 8 * (v / h) / h / h / h

    def _minimizer(self, eta: Array) -> Array:
        angle = eta - 0.5
        beyond = np.abs(angle) >= np.pi / 2
        return np.where(beyond, np.copysign(np.inf, angle), np.tan(angle))


# Where losses or their curvatures vanish: the root, and what float64 leaves of it.

_ROOT = (0.5463024898437905, 2.9096576216837176e-17)  # tan(1/2): TangentBoost is zero
_BENDS = (  # 1 = m (2 atan(m) - 1): TangentBoost has no curvature
    (-0.5132473179249821, -1.8821719328184225e-17),
    (1.2555733424472708, -7.376452073186801e-17),
)
_INFLECTION = (-0.4320408003330958, -1.359137034327355e-17)  # the same for the t-logistic loss,
_INFLECTION_Z = 1.5213797068045676  # and z = sqrt(1 + m^2) - m at this m, a root of z^3 - z - 2


def _less(m: Array, root: tuple[float, float]) -> Array:
    """m - root, with all its digits."""
    return (m - root[0]) - root[1]


def _twice_angle_less_one(m: Array) -> Array:
    """2 atan(m) - 1, by the difference formula of the tangent near its root."""
    near = 2 * np.arctan(_less(m, _ROOT) / (1 + m * _ROOT[0]))
    return np.where(np.abs(m - _ROOT[0]) < 0.5, near, 2 * np.arctan(m) - 1)
