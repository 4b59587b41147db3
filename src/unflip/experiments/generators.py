"""The two datasets of the paper that are drawn, not read."""

from __future__ import annotations

import numpy as np

from unflip.border.arrays import Array
from unflip.theory import long_servedio


def draw_long(
    n: int, rng: np.random.Generator, gamma: float = 1 / 12, masses: tuple[float, ...] = (0.25, 0.5, 0.25)
) -> tuple[Array, Array]:
    """Rows of Long and Servedio's three points, (1, 0), (gamma, 5 gamma), (gamma, -gamma), all positive.

    >>> X, y = draw_long(5, np.random.default_rng(0))
    >>> X.shape, y.tolist()
    ((5, 2), [1, 1, 1, 1, 1])
    """
    points = long_servedio(gamma, masses).points.astype(np.float64)
    return points[rng.choice(len(points), size=n, p=masses)], np.ones(n, dtype=int)


def draw_mease(n: int, rng: np.random.Generator, *, normal: bool = False) -> tuple[Array, Array]:
    """Rows in 20 dimensions, positive if the first five sum to more than 2.5.

    The text says uniform on [0, 1], which makes half of the rows positive; `normal=True` draws standard
    normal features instead, which makes 13 % of them positive.

    >>> X, y = draw_mease(1000, np.random.default_rng(0))
    >>> X.shape, round(float((y == 1).mean()), 1)
    ((1000, 20), 0.5)
    """
    X = rng.normal(size=(n, 20)) if normal else rng.random(size=(n, 20))
    return X, np.where(X[:, :5].sum(axis=1) > 2.5, 1, -1)
