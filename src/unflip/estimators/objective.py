"""The regularised risk of Equation 7, E[l(y, <w, x> + b)] + lambda / 2 |w|^2, with its derivatives.

Rows are dense or sparse; a soft label counts as the weighted pair of hard ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unflip.losses import Loss
from unflip.moments.frame import dense, scaled_rows

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Objective:
    """A function of the parameters (w, b), or of w alone without an intercept.

    positive, negative: for each row its share of the total weight as a positive and as a negative.
    """

    loss: Loss
    rows: Any
    positive: Array
    negative: Array
    ridge: float
    intercept: bool

    @property
    def size(self) -> int:
        """How many parameters there are."""
        return self.rows.shape[1] + self.intercept

    def scores(self, parameters: Array) -> Array:
        """<w, x> + b for each row."""
        if not self.intercept:
            return self.rows @ parameters
        return self.rows @ parameters[:-1] + parameters[-1]

    def combine(self, weight: Array) -> Array:
        """The sum of weight x, with the constant one appended to x if there is an intercept."""
        total = self.rows.T @ weight
        return np.append(total, weight.sum()) if self.intercept else total

    @property
    def penalty(self) -> Array:
        """The curvature of the penalty: lambda for each weight, none for the intercept."""
        penalty = np.full(self.size, self.ridge)
        if self.intercept:
            penalty[-1] = 0.0
        return penalty

    def value(self, parameters: Array) -> float:
        """The regularised risk."""
        w = parameters[: self.rows.shape[1]]
        risk = sum(weight @ self.loss.value(y, v) for y, weight, v, _ in self._halves(parameters))
        return float(risk + self.ridge / 2 * (w @ w))

    def gradient(self, parameters: Array) -> Array:
        """Its gradient."""
        slope = np.zeros(self.rows.shape[0])
        for y, weight, v, rows in self._halves(parameters):
            slope[rows] += weight * self.loss.derivative(y, v)
        return self.combine(slope) + self.penalty * parameters

    def hessian(self, parameters: Array) -> Array:
        """Its matrix of second derivatives."""
        return self.gram(self._curvature(parameters)) + np.diag(self.penalty)

    def curving(self, parameters: Array) -> Callable[[Array], Array]:
        """The same matrix as a function of what it is multiplied with, for when there is no room for it."""
        curvature, penalty = self._curvature(parameters), self.penalty
        return lambda move: self.combine(curvature * self.scores(move)) + penalty * move

    def _curvature(self, parameters: Array) -> Array:
        curvature = np.zeros(self.rows.shape[0])
        for y, weight, v, rows in self._halves(parameters):
            curvature[rows] += weight * self.loss.second_derivative(y, v)
        return curvature

    def gram(self, weight: Array) -> Array:
        """The sum of weight x x', with the constant one appended to x if there is an intercept."""
        d = self.rows.shape[1]
        result = np.empty((self.size, self.size))
        result[:d, :d] = dense(scaled_rows(self.rows, weight).T @ self.rows)
        if self.intercept:
            result[d, :d] = result[:d, d] = self.rows.T @ weight
            result[d, d] = weight.sum()
        return result

    def _halves(self, parameters: Array) -> Any:
        """Label, weights, scores and places of the rows that have weight under that label."""
        v = self.scores(parameters)
        for y, weight in ((1, self.positive), (-1, self.negative)):
            rows = np.flatnonzero(weight)
            yield y, weight[rows], v[rows], rows
