"""The hinge without a penalty: the minimiser with a trace of one, and a certificate that does without.

The trace chooses among the minimisers of separable labels (the widest margin). Where the dual point a of the
interior point method lies inside (0, 1/n) it is moved until Q'(y a) = 0, and then no scorer has a mean loss
below sum_i a_i. Where too much is left between that and the loss, the trace is made fainter.
"""

from __future__ import annotations

from array_api_compat import array_namespace

from unflip.border.arrays import AnyArray
from unflip.experiments.batch.fits import Fits
from unflip.experiments.batch.whitened import Whitened
from unflip.solvers.columns import columns, merged, norms
from unflip.solvers.interior import HingeProblem, solve
from unflip.solvers.problem import Problem
from unflip.solvers.systems import lifted, solver

FAR_FROM_MINIMUM = 1e-5  # mean complementarity above which single precision will do
ENOUGH_LEFT, SMALLEST_RIDGE = 5e-7, 1e-14  # of the loss, what may be left; the smallest ridge tried for it


def fit_hinge(white: Whitened, problem: Problem, ridge: float = 1e-9, tolerance: float = 1e-12) -> Fits:
    """Minimise the mean hinge loss of y and Q u, for each label column y, with a trace of ridge.

    The tolerance is on the duality gap per row; only far below the ridge does it fix the length of weights
    that lose nothing.

    >>> import numpy as np
    >>> from unflip.losses import Hinge
    >>> white = Whitened.of(np.array([[1.0], [2.0], [4.0]]))
    >>> fits = fit_hinge(white, white.problem(Hinge(), np.ones((3, 1))))
    >>> fits.scores.round(2).tolist()  # the shortest weight without loss
    [[1.0], [2.0], [4.0]]
    """
    xp, Y, rows = array_namespace(problem.labels), problem.labels, problem.rows
    task = HingeProblem(rows, Y, problem.weight, ridge * white.lengths)
    # The residuals of least squares are orthogonal to Q: a dual point that is nearly feasible at once.
    start = rows.combine(Y) / Y.shape[0]
    U, dual, _, _ = solve(task, start, tolerance, tolerance, most=60, far=FAR_FROM_MINIMUM)
    scores = rows.scores(U)
    margins = Y * scores
    certificate = _certificate(problem, U, margins, dual)
    fits = Fits(scores, certificate, xp.min(margins, axis=0) > 0, xp.full_like(margins[0, :], xp.inf))
    heavy = (fits.certificate > ENOUGH_LEFT) & ~fits.separable
    if ridge <= SMALLEST_RIDGE or not bool(xp.any(heavy)):
        return fits
    where = xp.nonzero(heavy)[0]
    again = fit_hinge(white, problem.some(where), ridge / 100, tolerance)
    nearer = again.certificate < columns(fits.certificate, where)
    return fits.replaced(merged(heavy, nearer, heavy), again.some(xp.nonzero(nearer)[0]))


def _certificate(problem: Problem, U: AnyArray, margins: AnyArray, a: AnyArray) -> AnyArray:
    """What is left between the loss and the best bound on it, relative to the loss.

    What remains of Q'(y a) by rounding is charged at the length of the weights, as for logistic regression.
    """
    xp, Y, rows = array_namespace(U), problem.labels, problem.rows
    n = Y.shape[0]
    inside = xp.clip(n * a, 0.0, 1.0)
    slack = inside * (1 - inside)
    eye = xp.eye(U.shape[0], dtype=U.dtype, device=U.device)
    shift = solver(lifted(rows.grams(slack), 1e-14) + 1e-300 * eye)(rows.combine(Y * inside))
    feasible = xp.clip(inside - slack * Y * rows.scores(shift), 0.0, 1.0)
    residual = norms(rows.combine(Y * feasible) / n) * norms(U)
    loss = xp.mean(xp.where(margins < 1, 1 - margins, 0.0), axis=0)
    left = loss - xp.mean(feasible, axis=0) + residual
    return xp.abs(left) / xp.where(loss > 0, loss, 1.0)
