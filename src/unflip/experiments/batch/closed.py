"""The two closed forms, for every label vector at once."""

from __future__ import annotations

from typing import Any

from unflip.experiments.batch.whitened import Whitened

Array = Any


def fit_unhinged(X: Array, Y: Array) -> Array:
    """E[y x] for each column of Y (Equation 8 at lambda = 1), one column each.

    >>> import numpy as np
    >>> fit_unhinged(np.array([[1.0], [3.0]]), np.array([[1.0, -1.0], [1.0, 1.0]])).tolist()
    [[2.0, 1.0]]
    """
    return X.T @ Y / X.shape[0]


def fit_square(white: Whitened, Y: Array) -> Array:
    """Least squares weights, the shortest ones, for each column of Y (Equation 11 as lambda vanishes).

    >>> import numpy as np
    >>> fit_square(Whitened.of(np.array([[1.0], [3.0]])), np.array([[1.0], [1.0]])).round(12).tolist()
    [[0.4]]
    """
    return white.weights(Y)
