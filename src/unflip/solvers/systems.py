"""Linear systems with a symmetric matrix for each column."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_namespace
from scipy.linalg.lapack import dpotrf, dpotrs

from unflip.border.arrays import AnyArray

EIGENVALUE_ROUNDING = 1e-15  # of the largest eigenvalue: those below are not known


def lifted(matrices: AnyArray, share: float, by_direction: bool = False) -> AnyArray:
    """The matrices with a share of the trace added to their diagonals, so that flat directions are not long.

    by_direction: each entry of the diagonal is raised in its own size, which changes less where sizes differ.

    >>> lifted(np.array([[[3.0, 0.0], [0.0, 1.0]]]), 0.25).tolist()
    [[[4.0, 0.0], [0.0, 2.0]]]
    """
    xp, r = array_namespace(matrices), matrices.shape[1]
    diagonals = matrices * xp.eye(r, dtype=matrices.dtype, device=device(matrices))
    if by_direction:
        return matrices + share * r * diagonals
    trace = xp.sum(xp.abs(diagonals), axis=(1, 2))[:, None, None]
    return matrices + share * trace * xp.eye(r, dtype=matrices.dtype, device=device(matrices))


def solver(matrices: AnyArray, definite: bool = True) -> Callable[[AnyArray], AnyArray]:
    """Solve with each of K symmetric matrices: from right-hand sides (r, K) to solutions (r, K).

    Eigenvalues count by their absolute value, so that a step downhill stays one where there are saddles, and
    for as much as they are known. A matrix that is definite, and not only by rounding, is factored instead.
    definite: all of them are at least positive semidefinite but for rounding.

    >>> solver(np.array([[[2.0]], [[-4.0]]]), definite=False)(np.array([[2.0, 2.0]])).round(9).tolist()
    [[1.0, 0.5]]
    """
    xp = array_namespace(matrices)
    if not is_numpy_namespace(xp):
        if not definite:
            return _by_eigenvalues(matrices)
        return lambda right: xp.linalg.solve(matrices, right.T[:, :, None])[:, :, 0].T
    factors = [dpotrf(matrix.T) for matrix in matrices]  # once, for several right-hand sides
    failed = [k for k, (_, info) in enumerate(factors) if info]
    rest = _by_eigenvalues(matrices[failed]) if failed else None

    def solve(right: AnyArray) -> AnyArray:
        result = np.empty_like(right)
        for k, (factor, info) in enumerate(factors):
            if not info:
                result[:, k] = dpotrs(factor, right[:, k])[0]
        if rest is not None:
            result[:, failed] = rest(right[:, failed])
        return result

    return solve


def _by_eigenvalues(matrices: AnyArray) -> Callable[[AnyArray], AnyArray]:
    xp = array_namespace(matrices)
    # LAPACK, when it is given infinite numbers, may never come back.
    finite = xp.all(xp.isfinite(matrices), axis=(1, 2))
    values, basis = xp.linalg.eigh(xp.where(finite[:, None, None], matrices, 0.0))
    size = xp.abs(values)
    least = EIGENVALUE_ROUNDING * xp.max(size, axis=1, keepdims=True)

    def solve(right: AnyArray) -> AnyArray:
        # Where there is no curvature at all, follow the right-hand side; who asked limits the step.
        length = xp.sqrt(xp.sum(right * right, axis=0))[:, None]
        flat = xp.where(least > 1e-100 * length, least, 1e-100 * length)
        divisor = xp.where(size > flat, size, xp.where(flat > 0, flat, 1.0))
        along = xp.sum(basis * right.T[:, :, None], axis=1) / divisor
        found = xp.sum(basis * along[:, None, :], axis=2).T
        return xp.where(finite, found, xp.nan)

    return solve


def least_squares(matrix: AnyArray, right: AnyArray) -> AnyArray:
    """The shortest x with the least |matrix x - right|, for each column; NaN if they are not finite.

    >>> least_squares(np.array([[np.inf, 1.0], [1.0, 2.0]]), np.ones((2, 1))).tolist()
    [[nan], [nan]]
    """
    xp = array_namespace(matrix, right)
    if not bool(xp.all(xp.isfinite(matrix))) or not bool(xp.all(xp.isfinite(right))):
        return xp.full_like(right, xp.nan)  # LAPACK might never come back
    if not is_numpy_namespace(xp):
        return xp.linalg.pinv(matrix) @ right
    return np.linalg.lstsq(matrix, right, rcond=None)[0]
