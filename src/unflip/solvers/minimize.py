"""Read the traits of the loss, take the shortest road, certify the result."""

from __future__ import annotations

import numpy as np

from unflip.border.arrays import Array
from unflip.solvers.certificate import Certificate
from unflip.solvers.columns import blocks
from unflip.solvers.piecewise import minimize_piecewise
from unflip.solvers.problem import Problem
from unflip.solvers.smooth import minimize_smooth


def minimize(problem: Problem, tolerance: float) -> tuple[Array, list[Certificate]]:
    """Parameters of each column, from the zero scorer, and how near they are to what was looked for.

    >>> from unflip.losses import Square
    >>> half = np.array([[0.5], [0.0]])
    >>> problem = Problem.of_shares(Square(), np.array([[1.0], [-2.0]]), half, half[::-1], 1e-9, False)
    >>> minimize(problem, 1e-8)[0].round(6).tolist()
    [[0.6]]
    """
    solve = minimize_piecewise if problem.loss.traits.piecewise_linear else minimize_smooth
    (n, r), count = problem.rows.shape, problem.labels.shape[1]
    found = [
        solve(problem.some(np.arange(count)[part]), tolerance) for part in blocks(n, count, r, problem.labels)
    ]
    return np.concatenate([U for U, _ in found], axis=1), [c for _, some in found for c in some]
