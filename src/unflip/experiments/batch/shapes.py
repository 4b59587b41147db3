"""Value, slope and curvature of the three smooth losses on whole matrices, in the words of the array API.

`unflip.losses` has the same functions, checked at every call and to the last digit at any score; here a
solver calls them thousands of times with labels that are known to be -1 and +1. A test holds both together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import tan
from typing import Any

from array_api_compat import array_namespace

Array = Any


@dataclass(frozen=True)
class Shape:
    """A loss as functions of labels and scores.

    first: (y, v) -> value and slope in v. second: (y, v) -> curvature. steepest: the largest curvature.
    alone: p -> the margin m that minimises l(m) + p m^2 / 2 for tiny p: where a row ends up that shares its
        direction with no other.
    """

    first: Callable[[Array, Array], tuple[Array, Array]]
    second: Callable[[Array, Array], Array]
    alone: Callable[[Array], Array]
    steepest: float
    convex: bool


def _logistic(y: Array, v: Array) -> tuple[Array, Array]:
    xp = array_namespace(v)
    margin = y * v
    small = xp.exp(-xp.abs(margin))
    wrong = xp.where(margin > 0, small, 1.0) / (1 + small)  # the probability of the other label
    return xp.log1p(small) + xp.where(margin < 0, -margin, 0.0), -y * wrong


def _logistic_curvature(y: Array, v: Array) -> Array:
    xp = array_namespace(v)
    small = xp.exp(-xp.abs(v))
    return small / (1 + small) ** 2


def _logistic_alone(penalty: Array) -> Array:
    xp = array_namespace(penalty)
    margin = xp.full_like(penalty, 30.0)
    for _ in range(30):  # exp(-m) = p m, by a contraction
        margin = -xp.log(penalty * margin)
    return margin


def _t_logistic(y: Array, v: Array) -> tuple[Array, Array]:
    xp = array_namespace(v)
    root = xp.sqrt(1 + v * v)
    margin = y * v
    # log(1 - m + sqrt(1 + m^2)), without the cancellation at large margins m.
    away = root + xp.abs(margin)
    return xp.log1p(xp.where(margin > 0, 1 / away, away)), (v / (1 + root) - y) / (2 * root)


def _t_logistic_curvature(y: Array, v: Array) -> Array:
    xp = array_namespace(v)
    root = xp.sqrt(1 + v * v)
    return (1 / (1 + root) - (v / (1 + root) - y) * v / root) / (2 * root * root)


def _t_logistic_alone(penalty: Array) -> Array:
    return (2 * penalty) ** (-1 / 3)  # 1 / (2 m^2) = p m


def _tangent(y: Array, v: Array) -> tuple[Array, Array]:
    angle = array_namespace(v).atan(v)
    return (2 * y * angle - 1) ** 2, (8 * angle - 4 * y) / (1 + v * v)


def _tangent_curvature(y: Array, v: Array) -> Array:
    angle = array_namespace(v).atan(v)
    return (8 - (16 * angle - 8 * y) * v) / (1 + v * v) ** 2


def _tangent_alone(penalty: Array) -> Array:
    return array_namespace(penalty).full_like(penalty, tan(1 / 2))  # 2 atan(m) = 1


SHAPES = {
    "logistic": Shape(_logistic, _logistic_curvature, _logistic_alone, 0.25, convex=True),
    "t_logistic": Shape(_t_logistic, _t_logistic_curvature, _t_logistic_alone, 0.5, convex=False),
    "tangent_boost": Shape(_tangent, _tangent_curvature, _tangent_alone, 8.5, convex=False),
}
