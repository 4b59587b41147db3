"""Losses of the paper that are neither symmetric nor convex potentials: square, t-logistic, TangentBoost.

Two identities keep the non-convex pair simple. With u = asinh(v) the t-logistic loss (t = 2) is
the logistic loss of u, and exp(-|u|) = 1 / (|v| + sqrt(1 + v^2)) takes a root, no exponential; with
a = atan(v) the TangentBoost loss is a parabola in a.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from array_api_compat import array_namespace, is_numpy_namespace

from unflip.border.arrays import AnyArray
from unflip.losses.base import MarginLoss, SmoothMarginLoss, Traits, ones
from unflip.losses.potentials import logit


@dataclass(frozen=True)
class Square(MarginLoss):
    """(1 - y v)^2, the loss of least squares and of Fisher's discriminant. Odd part -2 v.

    >>> Square().value(+1, 3.0), Square().even(3.0), Square().odd(3.0)
    (4.0, 10.0, -6.0)
    """

    traits = Traits(convex=True, linear_odd=True, smooth=True, degree=2, steepest=2.0)
    exact = True

    def _phi(self, m: AnyArray) -> AnyArray:
        return (1 - m) ** 2

    def _phi1(self, m: AnyArray) -> AnyArray:
        return -2 * (1 - m)

    def _phi2(self, m: AnyArray) -> AnyArray:
        return 2 * ones(m)

    def _even(self, v: AnyArray) -> AnyArray:
        return 1 + v**2

    def _odd(self, v: AnyArray) -> AnyArray:
        return -2 * v

    def _minimizer(self, eta: AnyArray) -> AnyArray:
        return 2 * eta - 1

    def _conditional_risk(self, eta: AnyArray, v: AnyArray) -> AnyArray:
        # The average of two positive losses loses no digits. Beyond 0 and 1, met by corrected losses,
        # it could be infinity minus infinity, which 1 - 2 k v + v^2 is not in the form below.
        k = 2 * eta - 1
        beyond = (v - k) ** 2 + 4 * eta * (1 - eta)
        return np.where(np.abs(k) <= 1, super()._conditional_risk(eta, v), beyond)


@dataclass(frozen=True)
class TLogistic(SmoothMarginLoss):
    """The t-logistic loss at t = 2: log(1 - y v + sqrt(1 + v^2)).

    >>> TLogistic().value(+1, 1e8)
    4.9999999875e-09
    """

    traits = Traits(smooth=True, steepest=0.5)

    def _phi_and_slope(self, m: AnyArray) -> tuple[AnyArray, AnyArray]:
        xp, size, h = array_namespace(m), *_size_and_root(m)
        away = h + size
        z = xp.where(m > 0, 1 / away, away)  # exp(-u) = h - m, without the cancellation
        return xp.log1p(z), -(1 + z) / (1 + h) / h / 2

    def _phi2(self, m: AnyArray) -> AnyArray:
        xp, size, h = array_namespace(m), *_size_and_root(m)
        small = 1 / (h + size)
        right = xp.where(m > 0, 1.0, small) / (1 + small)  # sigmoid(u) and sigmoid(-u)
        wrong = xp.where(m > 0, small, 1.0) / (1 + small)
        total = _refined(right + m / h, m, _INFLECTION, self._sum_near_its_root)
        return wrong * total / h / h

    @staticmethod
    def _sum_near_its_root(m: AnyArray) -> AnyArray:
        """sigmoid(u) + m / h, which is (2 + z - z^3) / (1 + z) / (1 + z^2) with z = h - m, factored."""
        _, h = _size_and_root(m)
        z, r = h - m, _INFLECTION_Z
        cubic = _less(m, _INFLECTION) * (z + r) / (h + _INFLECTION_H) * (z * (z + r) + r * r - 1)
        return cubic / (1 + z) / (1 + z * z)

    def _even(self, v: AnyArray) -> AnyArray:
        u = np.abs(np.arcsinh(v))
        return u / 2 + np.log1p(np.exp(-u))

    def _odd(self, v: AnyArray) -> AnyArray:
        return -np.arcsinh(v) / 2

    def _odd2(self, v: AnyArray) -> AnyArray:
        h = np.hypot(1, v)
        return v / h / h / h / 2

    def _minimizer(self, eta: AnyArray) -> AnyArray:
        return np.sinh(logit(eta))


@dataclass(frozen=True)
class TangentBoost(SmoothMarginLoss):
    """(2 atan(y v) - 1)^2, bounded, with a small penalty for being too right.

    >>> loss = TangentBoost()
    >>> round(loss.value(+1, 0.5463024898437905), 12), round(loss.value(+1, 1e300), 6)
    (0.0, 4.586419)
    """

    traits = Traits(bounded_above=True, smooth=True, steepest=8.5)

    def _phi_and_slope(self, m: AnyArray) -> tuple[AnyArray, AnyArray]:
        _, h = _size_and_root(m)
        t = _twice_angle_less_one(m)
        return t**2, 4 * t / h / h

    def _phi2(self, m: AnyArray) -> AnyArray:
        _, h = _size_and_root(m)
        bend = 1 / h - m / h * _twice_angle_less_one(m)  # (1 - m t) / h, which has two roots
        for root in _BENDS:
            bend = _refined(bend, m, root, partial(self._bend_near, root=root))
        return 8 * bend / h / h / h

    @staticmethod
    def _bend_near(m: AnyArray, root: tuple[float, float]) -> AnyArray:
        """(1 - m t) / h near a root r; 1 = r t(r) there, so 1 - m t is a difference again."""
        (_, h), r, gap = _size_and_root(m), root[0], _less(m, root)
        angle = array_namespace(m).atan(gap / (1 + m * r))
        return -(gap * _twice_angle_less_one(m) + 2 * r * angle) / h

    def _even(self, v: AnyArray) -> AnyArray:
        return 1 + 4 * np.arctan(v) ** 2

    def _odd(self, v: AnyArray) -> AnyArray:
        return -4 * np.arctan(v)

    def _odd1(self, v: AnyArray) -> AnyArray:
        h = np.hypot(1, v)
        return -4 / h / h

    def _odd2(self, v: AnyArray) -> AnyArray:
        h = np.hypot(1, v)
        return 8 * (v / h) / h / h / h

    def _minimizer(self, eta: AnyArray) -> AnyArray:
        angle = eta - 0.5
        beyond = np.abs(angle) >= np.pi / 2
        return np.where(beyond, np.copysign(np.inf, angle), np.tan(angle))


# Where losses or their curvatures vanish: the root, and what float64 leaves of it.

NEAR_ROOT = 0.02  # margins nearer to a root have too few digits without the root's own
_ROOT = (0.5463024898437905, 2.9096576216837176e-17)  # tan(1/2): TangentBoost is zero
_BENDS = (  # 1 = m (2 atan(m) - 1): TangentBoost has no curvature
    (-0.5132473179249821, -1.8821719328184225e-17),
    (1.2555733424472708, -7.376452073186801e-17),
)
_INFLECTION = (-0.4320408003330958, -1.359137034327355e-17)  # the same for the t-logistic loss,
_INFLECTION_Z = 1.5213797068045676  # and z = h - m at this m, a root of z^3 - z - 2,
_INFLECTION_H = math.hypot(1, _INFLECTION[0])  # with h = sqrt(1 + m^2)


def _size_and_root(m: AnyArray) -> tuple[AnyArray, AnyArray]:
    """|m| and sqrt(1 + m^2), which are the same for large m, where the square might overflow."""
    xp = array_namespace(m)
    size = xp.abs(m)
    return size, xp.where(size < 1e10, xp.sqrt(1 + size * size), size)


def _less(m: AnyArray, root: tuple[float, float]) -> AnyArray:
    """m - root, with all its digits."""
    return (m - root[0]) - root[1]


def _twice_angle_less_one(m: AnyArray) -> AnyArray:
    """2 atan(m) - 1, near its root by the difference formula of the tangent."""
    xp = array_namespace(m)

    def near_its_root(m: AnyArray) -> AnyArray:
        return 2 * xp.atan(_less(m, _ROOT) / (1 + m * _ROOT[0]))

    return _refined(2 * xp.atan(m) - 1, m, _ROOT, near_its_root)


def _refined(
    values: AnyArray, m: AnyArray, root: tuple[float, float], near: Callable[[AnyArray], AnyArray]
) -> AnyArray:
    """The values, with those of `near` put in at margins near a root, where digits would be lost."""
    xp = array_namespace(m)
    close = xp.abs(m - root[0]) < NEAR_ROOT
    if not is_numpy_namespace(xp):
        return xp.where(close, near(m), values)
    values[close] = near(m[close])
    return values
