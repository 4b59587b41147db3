"""Piecewise linear losses: the hinge exactly, the others as a hinge minus a convex function.

Ramp and noise-corrected hinge are A max(0, 1 - m) plus a concave function of the margin m. Replacing the
concave part by its tangent leaves a support vector machine with a linear term; its solution is
never worse, and is repeated until nothing moves (the concave-convex procedure).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unflip.border.arrays import AnyArray
from unflip.solvers.certificate import Certificate
from unflip.solvers.interior import HingeProblem, solve
from unflip.solvers.problem import Problem

GAP_ROUNDING = 1e-16  # no gap is known better
WIDEST_STEP = 5000  # parameters for which an interior point step is still reasonable


def minimize_piecewise(
    problem: Problem, tolerance: float, most: int = 100
) -> tuple[AnyArray, list[Certificate]]:
    """The minimiser (hinge), or a point that no tangent improves on, of each column, from the zero scorer.

    >>> from unflip.losses import Ramp
    >>> X = np.array([[1.0], [2.0], [-2.5]])  # the last label is wrong
    >>> third = np.full((3, 1), 1 / 3)
    >>> w, (certificate,) = minimize_piecewise(
    ...     Problem.of_shares(Ramp(), X, third, 0 * third, 0.01, False), 1e-8
    ... )
    >>> bool(w[0, 0] > 0), certificate.met
    (True, True)
    """
    size = problem.rows.shape[1]
    if size > WIDEST_STEP:
        raise ValueError(
            f"{problem.loss!r} with {size} parameters takes a matrix of "
            f"{8e-9 * size**2:.1f} GB in every step; use a narrower feature map or a smooth loss, "
            "such as 'squared_hinge'"
        )
    if problem.against is not None:  # columns differ in the rows that count for both labels
        parts = [_minimize(hard_rows(problem, k), tolerance, most) for k in range(problem.labels.shape[1])]
        return np.concatenate([U for U, _ in parts], axis=1), [c for _, found in parts for c in found]
    return _minimize(problem, tolerance, most)


def hard_rows(problem: Problem, k: int) -> Problem:
    """The problem of one column, with each soft label split into its pair of hard ones."""
    labels, own = problem.labels[:, k], np.broadcast_to(problem.weight, problem.labels.shape)[:, k]
    both = np.flatnonzero(np.zeros(len(own)) if problem.against is None else problem.against[:, k])
    where = np.concatenate([np.flatnonzero(own), both])
    weight = own[own > 0]
    if problem.against is not None:
        weight = np.concatenate([weight, problem.against[both, k]])
    signs = np.concatenate([labels[own > 0], -labels[both]])
    return replace(
        problem,
        rows=problem.rows.take(where),
        labels=signs[:, None],
        weight=weight[:, None],
        against=None,
    )


# At weights of 1e-300 no step is taken, and the best one stays.
@np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore")
def _minimize(problem: Problem, tolerance: float, most: int) -> tuple[AnyArray, list[Certificate]]:
    loss, convex = problem.loss, problem.loss.traits.convex
    # The slope's jump at margin one is the weight A of the hinge.
    hinge = loss.derivative(1, 1.0) - loss.derivative(1, np.nextafter(1.0, 0.0))
    U = problem.zero
    gaps, gains, steps = (np.full(U.shape[1], start) for start in (0.0, np.inf, 0.0))
    going = np.arange(U.shape[1])
    for _ in range(1 if convex else most):
        part, here = problem.some(going), U[:, going]
        # At a kink any tangent will do; the nudge makes it the same one whatever rounding says.
        m = part.labels * part.rows.scores(here) + 1e-6
        concave_slope = loss.derivative(1, m) + hinge * (m < 1)
        pull = part.rows.combine(part.weight * part.labels * concave_slope)
        task = HingeProblem(part.rows, part.labels, hinge * part.weight, part.penalty, pull)
        enough, finest = max(1e-2 * tolerance, 10 * GAP_ROUNDING), max(1e-6 * tolerance, GAP_ROUNDING)
        there, _, gaps[going], taken = solve(task, np.zeros_like(here), enough, finest)
        gains[going] = task.value(here) - task.value(there)
        U[:, going], steps[going] = there, steps[going] + taken
        going = going[~(gains[going] <= tolerance / 2)]
        if not going.size:
            break
    if convex:
        return U, [
            Certificate("optimality", float(gap), tolerance, "interior point", int(taken))
            for gap, taken in zip(gaps, steps, strict=True)
        ]
    return U, [
        Certificate("stationarity", max(gain, 0.0) + max(gap, 0.0), tolerance, "concave-convex procedure", n)
        for gain, gap, n in zip(gains.tolist(), gaps.tolist(), steps.astype(int).tolist(), strict=True)
    ]
