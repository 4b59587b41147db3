"""The hinge as the paper's tables seem to have it: a solver that was stopped early.

With lambda = 1e-16 liblinear's coordinate descent is nowhere near its minimum after 100 sweeps. The exact
minimiser is in `batch.hinge`; this one is run beside it, because its numbers are those of the paper.
"""

from __future__ import annotations

import warnings

import numpy as np

from unflip.border.arrays import Array


def fit_liblinear(X: Array, Y: Array, seed: int, sweeps: int = 100) -> Array:
    """Weights after some sweeps of liblinear's dual coordinate descent, one column a label vector.

    >>> X = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> fit_liblinear(X, np.array([[1.0], [-1.0]]), seed=0).round(6).tolist()
    [[1.0], [-1.0]]
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    solver = LinearSVC(loss="hinge", C=1e12, tol=0.1, max_iter=sweeps, fit_intercept=False, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # which is the point of it
        return np.column_stack([solver.fit(*_two_classes(X, y)).coef_[0] for y in Y.T])


def _two_classes(X: Array, y: Array) -> tuple[Array, Array]:
    """The same problem with both labels: a scorer through the origin cannot tell (x, y) from (-x, -y)."""
    if y.min() < y.max():
        return X, y
    mirror = np.ones(len(y))
    mirror[0] = -1
    return X * mirror[:, None], y * mirror
