"""Rows in orthogonal coordinates: the same column space, perfectly conditioned."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from array_api_compat import array_namespace

from unflip.border.arrays import AnyArray
from unflip.losses import Loss
from unflip.solvers.problem import Problem
from unflip.solvers.rows import RowsOfMatrix

LAMBDA = 1e-16  # the paper's


@dataclass(frozen=True, eq=False)
class Whitened:
    """X = Q T^-1 with Q'Q = n I. Weights u for Q are weights T u for X, the shortest that give those scores.

    All losses but the unhinged one depend on X only through its column space when there is no penalty
    to speak of (the paper has 1e-16), so this changes nothing but the conditioning. The columns of T are
    orthogonal: a penalty on T u is one on each weight of u.

    >>> import numpy as np
    >>> white = Whitened.of(np.array([[1.0, 1.0], [1.0, 1.0], [3.0, 3.0]]))
    >>> white.Q.shape, bool(np.allclose(white.Q.T @ white.Q, 3 * np.eye(1)))
    ((3, 1), True)
    """

    Q: AnyArray
    T: AnyArray

    @classmethod
    def of(cls, X: AnyArray) -> Whitened:
        """By singular values; directions without spread beyond rounding are dropped."""
        xp = array_namespace(X)
        n, d = X.shape
        left, values, right = xp.linalg.svd(X, full_matrices=False)
        keep = xp.nonzero(values > 1e-10 * max(n, d) ** 0.5 * xp.max(values))[0]
        left, right = xp.take(left, keep, axis=1), xp.take(right, keep, axis=0)
        root = n**0.5
        return cls(root * left, root * right.T / xp.take(values, keep))

    def problem(self, loss: Loss, Y: AnyArray) -> Problem:
        """The mean loss of y and Q u for each column y of Y, with the paper's penalty.

        It is far below all that is measured, and there for rows that fly apart: a few rows with a direction
        of their own would take their scores beyond all bounds, and rounding with them.
        """
        return Problem(loss, self.rows, Y, 1 / Y.shape[0], LAMBDA * self.lengths)

    def weights(self, scores: AnyArray) -> AnyArray:
        """The shortest weights with these scores, which lie in the column space.

        >>> import numpy as np
        >>> white = Whitened.of(np.array([[1.0, 1.0], [2.0, 2.0]]))
        >>> white.weights(np.array([[4.0], [8.0]])).round(9).tolist()
        [[2.0], [2.0]]
        """
        return self.T @ (self.Q.T @ scores / self.Q.shape[0])

    @cached_property
    def rows(self) -> RowsOfMatrix:
        """Q as solvers take it."""
        return RowsOfMatrix(self.Q)

    @cached_property
    def lengths(self) -> AnyArray:
        """The squared length of T u is the sum of these times u^2."""
        return array_namespace(self.T).sum(self.T * self.T, axis=0)

    @cached_property
    def alone(self) -> AnyArray:
        """Is the leverage of a row one, so that its score can be chosen without a change of any other?

        >>> import numpy as np
        >>> Whitened.of(np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])).alone.tolist()
        [False, False, True]
        """
        xp = array_namespace(self.Q)
        return xp.sum(self.Q * self.Q, axis=1) > (1 - 1e-9) * self.Q.shape[0]
