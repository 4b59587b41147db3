"""The regularised risk of Equation 7 for many label columns over the same rows, with its derivatives.

Column k of the parameters U belongs to column k of the labels:

    sum_i c_ik l(y_ik, v_ik) + 1/2 sum_j p_j u_jk^2,    v = rows.scores(U).

An intercept is a parameter without a penalty. A soft label counts as the weighted pair of hard ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from unflip.border.arrays import AnyArray
from unflip.losses import Loss
from unflip.solvers.columns import columns
from unflip.solvers.rows import RowsOfMatrix


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be minimised, one column at a time.

    labels: (n, K), -1 or +1.
    weight: c above, a number, (n, 1) or (n, K).
    penalty: p above, (r,).
    against: what a row weighs under the opposite label, (n, K); None if all labels are hard.
    """

    loss: Loss
    rows: RowsOfMatrix
    labels: AnyArray
    weight: Any
    penalty: AnyArray
    against: AnyArray | None = None

    @classmethod
    def of_shares(
        cls, loss: Loss, X: Any, positive: AnyArray, negative: AnyArray, ridge: float, intercept: bool
    ) -> Problem:
        """From what each row weighs as a positive and as a negative, (n, K), without rows of no weight.

        >>> from unflip.losses import Square
        >>> half = np.array([[0.5], [0.0]])
        >>> problem = Problem.of_shares(Square(), np.array([[1.0], [-2.0]]), half, half[::-1], 0.1, True)
        >>> problem.labels.ravel().tolist(), problem.against, problem.penalty.tolist()
        ([1.0, -1.0], None, [0.1, 0.0])
        """
        counted = np.flatnonzero(((positive > 0) | (negative > 0)).any(axis=1))
        if len(counted) < len(positive):
            X, positive, negative = X[counted], positive[counted], negative[counted]
        rows = RowsOfMatrix(X, intercept)
        penalty = np.full(rows.shape[1], ridge)
        penalty[X.shape[1] :] = 0.0
        against = np.minimum(positive, negative)
        return cls(
            loss,
            rows,
            np.where(positive >= negative, 1.0, -1.0),
            np.maximum(positive, negative),
            penalty,
            against if against.any() else None,
        )

    def some(self, where: AnyArray) -> Problem:
        """The columns at some places."""
        against = None if self.against is None else columns(self.against, where)
        labels = array_namespace(self.labels).take(self.labels, where, axis=-1)
        return replace(self, labels=labels, weight=columns(self.weight, where), against=against)

    @property
    def zero(self) -> AnyArray:
        """The parameters of the zero scorer."""
        xp = array_namespace(self.penalty)
        return xp.zeros_like(self.penalty)[:, None] + xp.zeros_like(self.labels[:1, :])

    def value(self, U: AnyArray) -> AnyArray:
        """The regularised risk of each column."""
        return self.first(U, self.rows.scores(U))[0]

    def gradient(self, U: AnyArray) -> AnyArray:
        """Its gradient, one column each."""
        return self.first(U, self.rows.scores(U))[1]

    def first(self, U: AnyArray, V: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Both, at parameters U with scores V.

        >>> from unflip.losses import Logistic
        >>> one = np.ones((2, 1))
        >>> problem = Problem(Logistic(), RowsOfMatrix(one), one, 0.5, np.zeros(1))
        >>> value, gradient = problem.first(np.zeros((1, 1)), np.zeros((2, 1)))
        >>> value.round(6).tolist(), gradient.tolist()  # log 2, and half a label
        ([0.693147], [[-0.5]])
        """
        risk, slope = (self.weight * part for part in self.loss.value_and_slope(self.labels, V))
        if self.against is not None:
            more = self.loss.value_and_slope(-self.labels, V)
            risk, slope = (a + b for a, b in zip((risk, slope), map(self._against, more), strict=True))
        xp, penalised = array_namespace(V), self.penalty[:, None] * U
        value = xp.sum(risk, axis=0) + xp.sum(U * penalised, axis=0) / 2  # Equation 7
        return value, self.rows.combine(slope) + penalised

    def curvature(self, V: AnyArray) -> AnyArray:
        """The second derivative of the risk in each score."""
        bend = self.weight * self.loss.curvature(self.labels, V)
        if self.against is not None:
            bend = bend + self._against(self.loss.curvature(-self.labels, V))
        return bend

    def hessians(self, V: AnyArray) -> AnyArray:
        """The matrices of second derivatives at scores V, (K, r, r)."""
        eye = array_namespace(V).eye(self.rows.shape[1], dtype=V.dtype, device=device(V))
        return self.rows.grams(self.curvature(V)) + self.penalty * eye

    def _against(self, values: AnyArray) -> AnyArray:
        # An impossible label costs nothing, even where its loss is infinite.
        against: AnyArray = self.against
        return array_namespace(values).where(against > 0, against * values, 0.0)
