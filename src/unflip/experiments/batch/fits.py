"""What a lockstep solver returns."""

from __future__ import annotations

from dataclasses import dataclass

from array_api_compat import array_namespace

from unflip.border.arrays import AnyArray
from unflip.solvers.columns import columns, merged

FIT_NAMES = ("scores", "certificate", "separable", "curvature")


@dataclass(frozen=True, eq=False)
class Fits:
    """Scores of the training rows, one column a label vector, and how near each came to its goal.

    certificate: the duality gap relative to the objective (convex losses), or the norm of the gradient in
        whitened coordinates (the others); zero for closed forms.
    separable: does the scorer put every row on the side of its label? Then the infimum of a loss that
        vanishes for large margins is zero, and this direction leads to it.
    curvature: the smallest eigenvalue of the Hessian, where the loss is not convex; elsewhere infinity.

    >>> import numpy as np
    >>> Fits(np.zeros((2, 3)), np.zeros(3), np.zeros(3, dtype=bool), np.full(3, np.inf)).scores.shape
    (2, 3)
    """

    scores: AnyArray
    certificate: AnyArray
    separable: AnyArray
    curvature: AnyArray

    @classmethod
    def joined(cls, parts: list[Fits]) -> Fits:
        """Blocks of columns, one after another."""
        xp = array_namespace(parts[0].scores)
        return cls(*(xp.concat([getattr(part, name) for part in parts], axis=-1) for name in FIT_NAMES))

    def some(self, where: AnyArray) -> Fits:
        """The columns at some places."""
        return Fits(*(columns(getattr(self, name), where) for name in FIT_NAMES))

    def replaced(self, mask: AnyArray, part: Fits) -> Fits:
        """The same with the columns of `part` where the mask is true."""
        return Fits(*(merged(getattr(self, name), getattr(part, name), mask) for name in FIT_NAMES))
