"""The regularised hinge risk, minimised to the last digits: the solution of a support vector machine.

Each point carries two weighted examples, one a label, with weights c = P(x, y). The minimum of

    sum c_i max(0, 1 - y_i <w, x_i>) + 1/2 sum_j penalty_j w_j^2

is where penalty w = sum a_i y_i x_i for some a_i in [0, c_i], with a_i = c_i below margin 1 and a_i = 0
above it. A primal-dual interior-point method finds w and a together. Its linear systems are as small as
w, and a weight without penalty (an intercept) is nothing special to it. Without any penalty the
problem is a linear programme, with corners to land on, and goes to HiGHS.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linprog

from unflip.losses.base import Array
from unflip.theory.distributions import FiniteDistribution


def hinge_minimizer(distribution: FiniteDistribution, penalty: Any) -> Array:
    """The weights of least hinge risk, with a penalty for each weight, zero or positive.

    >>> world = FiniteDistribution([[2.0]], [1.0], [1.0])
    >>> hinge_minimizer(world, [0.5]).round(9).tolist()  # the margin stops at its hinge
    [0.5]
    """
    world, ridge = distribution.floats(), np.asarray(penalty, dtype=np.float64)
    rows = np.vstack([-world.points, world.points])  # y x, first for y = -1
    weights = world.joint.T.ravel()
    rows, weights = rows[weights > 0], weights[weights > 0]
    size = float(np.max(np.abs(rows))) or 1.0  # in units of the largest coordinate tolerances mean something
    rows, ridge = rows / size, ridge / size**2
    w = _by_interior_point(rows, weights, ridge) if ridge.any() else _by_linear_programme(rows, weights)
    return w / size


def _by_linear_programme(rows: Array, weights: Array) -> Array:
    n, d = rows.shape
    answer = linprog(
        np.concatenate([np.zeros(d), weights]),
        A_ub=-np.hstack([rows, np.eye(n)]),
        b_ub=-np.ones(n),
        bounds=[(None, None)] * d + [(0, None)] * n,
    )
    return answer.x[:d]


def _by_interior_point(rows: Array, upper: Array, ridge: Array) -> Array:
    w = np.zeros(rows.shape[1])
    a, room = upper / 2, upper / 2  # room is upper - a, kept apart so that it cannot round to zero
    low = high = np.ones_like(a)  # multipliers of a >= 0 and of room >= 0
    for _ in range(100):
        pull = ridge * w - a @ rows
        slope = rows @ w - 1 - low + high
        slack = a @ low + room @ high  # the duality gap, once pull and slope are zero
        if slack < 1e-15 and np.max(np.abs(pull)) < 1e-14 and np.max(np.abs(slope)) < 1e-12:
            break
        # Newton on pull = 0, slope = 0, a low = target, room high = target; all but w is eliminated.
        target = 0.1 * slack / (2 * len(a))
        stiff = low / a + high / room
        rest = target / a - target / room - low + high - slope
        system = np.diag(ridge) + (rows.T / stiff) @ rows
        d_w = np.linalg.lstsq(system, (rest / stiff) @ rows - pull)[0]
        d_a = (rest - rows @ d_w) / stiff
        d_low, d_high = (target - low * d_a) / a - low, (target + high * d_a) / room - high
        length = min(_longest(a, d_a), _longest(room, -d_a), _longest(low, d_low), _longest(high, d_high))
        w, a, room = w + length * d_w, a + length * d_a, room - length * d_a
        low, high = low + length * d_low, high + length * d_high
    return w


def _longest(value: Array, step: Array) -> float:
    """How far along a step the values stay positive, short of the wall by a hundredth."""
    falling = step < 0
    return min(1.0, 0.99 * float(np.min(-value[falling] / step[falling]))) if falling.any() else 1.0
