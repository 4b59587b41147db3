"""Piecewise linear losses: the hinge exactly, the others as a hinge minus a convex function.

Ramp and noise-corrected hinge are A max(0, 1 - m) plus a concave function of the margin m. Replacing the
concave part by its tangent leaves a support vector machine with a linear term; its solution is
never worse, and is repeated until nothing moves (the concave-convex procedure).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unflip.estimators.certificate import Certificate
from unflip.estimators.interior import HingeProblem, solve
from unflip.estimators.objective import Array, Objective

WIDEST = 5000  # parameters for which an interior point step is still reasonable


def minimize_piecewise(objective: Objective, tolerance: float, most: int = 100) -> tuple[Array, Certificate]:
    """The minimiser (hinge), or a point that no tangent improves on, reached from the zero scorer.

    >>> from unflip.losses import Ramp
    >>> X = np.array([[1.0], [2.0], [-2.5]])  # the last label is wrong
    >>> third = np.full(3, 1 / 3)
    >>> w, certificate = minimize_piecewise(Objective(Ramp(), X, third, 0 * third, 0.01, False), 1e-8)
    >>> bool(w[0] > 0), certificate.met
    (True, True)
    """
    if objective.size > WIDEST:
        raise ValueError(
            f"{objective.loss!r} with {objective.size} parameters takes a matrix of "
            f"{8e-9 * objective.size**2:.1f} GB in every step; use a narrower feature map or a smooth loss, "
            "such as 'squared_hinge'"
        )
    hard, y, weight = hard_rows(objective)
    loss = objective.loss
    # The slope's jump at margin one is the weight A of the hinge.
    hinge = loss.derivative(1, 1.0) - loss.derivative(1, np.nextafter(1.0, 0.0))
    u, gap, gain, steps = np.zeros(objective.size), 0.0, np.inf, 0
    for _ in range(1 if loss.traits.convex else most):
        # At a kink any tangent will do; the nudge makes it the same one whatever rounding says.
        m = y * hard.scores(u) + 1e-6
        concave_slope = loss.derivative(1, m) + hinge * (m < 1)
        problem = HingeProblem(hard, y, hinge * weight, hard.combine(y * weight * concave_slope))
        new, gap, more = solve(problem, 1e-2 * tolerance)
        gain, steps = problem.value(u) - problem.value(new), steps + more
        u = new
        if gain <= tolerance / 2:
            break
    if loss.traits.convex:
        return u, Certificate("optimality", gap, tolerance, "interior point", steps)
    left = max(gain, 0.0) + max(gap, 0.0)
    return u, Certificate("stationarity", left, tolerance, "concave-convex procedure", steps)


def hard_rows(objective: Objective) -> tuple[Objective, Array, Array]:
    """The problem with each soft label split into its pair of hard ones; their labels and weights."""
    up, down = np.flatnonzero(objective.positive), np.flatnonzero(objective.negative)
    y = np.repeat([1.0, -1.0], [len(up), len(down)])
    weight = np.concatenate([objective.positive[up], objective.negative[down]])
    rows = objective.rows[np.concatenate([up, down])]
    split = replace(
        objective, rows=rows, positive=np.where(y > 0, weight, 0.0), negative=np.where(y < 0, weight, 0.0)
    )
    return split, y, weight
