"""Which candidates to trust: those that leave-one-out errors on noisy labels cannot tell from the best.

A candidate's leave-one-out scores g are judged by E|t - a g|^2, t the centred noisy labels, with the slope
a that fits best but is at least one. A slope above one undoes over-shrinkage, so that the mean map, the end
of the path, is judged fairly; one below one would forgive overfitting.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unflip.border.arrays import Array


@dataclass(frozen=True, eq=False)
class ChosenModel:
    """What became of the candidates.

    errors, slopes: (C,); best: the place of the least error; kept: (C,), which are trusted; weights: (C,),
    what each contributes.
    """

    errors: Array
    slopes: Array
    best: int
    kept: Array
    weights: Array


def choose(scores: Array, labels: Array, weight: Array, freedom: Array, group: Array) -> ChosenModel:
    """Keep every candidate within one paired standard error of the best that is no more complex.

    scores: (C, n, k); labels: (n, k), centred; weight: (n,); freedom, group: (C,), degrees of freedom and
    the kind of kernel, 0 before 1.

    >>> labels = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    >>> scores = np.stack([labels * 0.9, labels * 0.1, -labels])
    >>> found = choose(scores, labels, np.ones(4), np.array([2.0, 1.0, 0.5]), np.zeros(3))
    >>> found.kept.tolist(), found.slopes.round(2).tolist()  # the second is the first, shrunk
    ([False, True, False], [1.11, 10.0, 1.0])
    """
    share = weight / weight.sum()
    along = np.einsum("cnk,nk,n->c", scores, labels, share)
    power = np.einsum("cnk,cnk,n->c", scores, scores, share)
    slopes = np.maximum(1.0, along / np.maximum(power, 1e-300))
    missed = np.sum((labels - slopes[:, None, None] * scores) ** 2, axis=2)  # (C, n)
    errors = missed @ share
    near = errors <= errors.min() + 1e-12 * np.abs(errors).max()
    best = int(np.flatnonzero(near)[np.argmin(freedom[near])])  # the simplest of equals
    worse = missed - missed[best]
    deviation = np.sqrt(np.maximum(((worse - (errors - errors[best])[:, None]) ** 2) @ share**2, 0.0))
    kept = (
        (errors - errors[best] <= deviation)
        & (freedom <= freedom[best] * (1 + 1e-9))
        & (group <= group[best])
    )
    kept[best] = True
    return ChosenModel(errors, slopes, best, kept, kept * slopes / kept.sum())
