"""Two classes that may be flipped at different rates: plateaus r0 and 1 - r1 along the score.

The curve is that of `curve`, with a grid of two rates in place of one. What the grid says of the difference
of the rates is the alarm: one rate for both classes misleads where they are clearly apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unflip.border.arrays import Array
from unflip.noise.by_class import APART, ClassRates
from unflip.noise.curve import Curve, fit_curve, normal_scores

RATE_STEPS = np.array([0.0, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, *np.arange(0.1, 0.49, 0.025)])
NEARLY_BEST_CURVE = 5.0  # nats below the best curve, for the rate of a class
NEARLY_WRONG = 1.7  # the same for the share of wrong labels, which is known better
RATES_DIFFER, RATES_MAY_DIFFER = 0.9, 0.5  # P(the rates differ) from which on they do, and may


@dataclass(frozen=True, eq=False)
class TwoRates:
    """The posterior of both rates.

    curve: its noises are pairs of rates; zero, one: (R,), the rates of both classes in each pair;
    share: of the labels that name the second class.
    """

    curve: Curve
    zero: Array
    one: Array
    share: float

    @property
    def differ(self) -> float:
        """P(the two rates differ by more than 0.1)."""
        return float(self.curve.marginal[np.abs(self.zero - self.one) > APART].sum())

    @property
    def clearly(self) -> bool:
        """Whether the rates differ beyond doubt."""
        return self.differ > RATES_DIFFER

    @property
    def perhaps(self) -> bool:
        """Whether they may differ."""
        return self.differ > RATES_MAY_DIFFER

    def rates(self, level: float) -> ClassRates:
        """The rate of each class, and the share of labels that are wrong, with intervals of this level."""
        ends = [(1 - level) / 2, 0.5, (1 + level) / 2]
        mass, best = (grid.reshape(len(RATE_STEPS), -1) for grid in (self.curve.marginal, self.curve.best))
        zero, one = (
            _interval(RATE_STEPS, mass.sum(axis=1 - axis), best.max(axis=1 - axis), ends) for axis in (0, 1)
        )
        table = np.array([[1 - zero[0], zero[0]], [one[0], 1 - one[0]]])
        clean = np.clip((self.share - self.zero) / (1 - self.zero - self.one), 0.0, 1.0)
        wrong = (1 - clean) * self.zero + clean * self.one
        order = np.argsort(wrong, kind="stable")
        grown = np.cumsum(self.curve.marginal[order])
        low, middle, high = np.interp(ends, grown, wrong[order]).tolist()
        low = min(low, float(wrong[self.curve.best >= -NEARLY_WRONG].min()))
        return ClassRates(table, np.array([zero, one]), middle, low, high)

    def separated(self, level: float) -> None:
        """Of two classes the curve tells overlap from noise."""

    def clean(self, scores: Array, member: Array) -> Array:
        """P(clean class) of each row, by its score alone, (n, 2)."""
        z = normal_scores(scores, member.sum(axis=1))
        one = np.interp(z, self.curve.z, self.curve.average(lambda r, g, p: g))
        return np.column_stack([1 - one, one])

    def judged(self, scores: Array, member: Array) -> tuple[Array, Array]:
        """P(the label is wrong) of each row, and its likely class.

        scores: (n,), those of the fit; member: (n, 2), the weight of each row in each class.
        """
        weight = member.sum(axis=1)
        z = normal_scores(scores, weight)
        as_one = self.curve.average(lambda r, g, p: self.zero[r] * (1 - g) / p)
        as_zero = self.curve.average(lambda r, g, p: self.one[r] * g / (1 - p))
        clean = self.clean(scores, member)[:, 1]
        ones, zeros = (np.interp(z, self.curve.z, wrong) for wrong in (as_one, as_zero))
        wrong = (member[:, 1] * ones + member[:, 0] * zeros) / weight
        given = member.argmax(axis=1)
        return wrong, np.where(wrong > 0.5, 1 - given, (clean > 0.5).astype(np.intp))


def fit_two_rates(scores: Array, member: Array, trusted: Array | None = None) -> TwoRates:
    """Fit both rates to honest scores, (n,); member: (n, 2), the weight of each row in each class.

    trusted: (n,), rows whose labels are right.

    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=2000)
    >>> given = (scores > 0) & (rng.uniform(size=2000) < 0.6)  # two in five of the ones are called zeros
    >>> found = fit_two_rates(scores, np.eye(2)[given.astype(int)])
    >>> found.differ > 0.9, bool(abs(found.rates(0.9).table[1, 0] - 0.4) < 0.1)
    (True, True)
    """
    zero, one = (grid.ravel() for grid in np.meshgrid(RATE_STEPS, RATE_STEPS, indexing="ij"))
    z = normal_scores(scores, member.sum(axis=1))
    width = np.gradient(RATE_STEPS)
    prior = np.outer(width, width).ravel()
    curve = fit_curve(z, member[:, 1], member[:, 0], zero, 1 - one, prior, trusted=trusted, skewed=True)
    doubtful = member if trusted is None else member[~trusted]
    return TwoRates(curve, zero, one, float(doubtful[:, 1].sum() / doubtful.sum()))


def _interval(values: Array, mass: Array, best: Array, ends: list[float]) -> tuple[float, float, float]:
    """Median and interval of masses on a grid, as a class's rate; ends: the three shares.

    best: the log likelihood of the best curve at each value. The low end admits what some curve explains
    nearly as well: rows of a rare class that are badly ordered look like noise in that class.
    """
    edges = np.concatenate([[0.0], (values[1:] + values[:-1]) / 2, [0.5]])
    grown = np.concatenate([[0.0], np.cumsum(mass / mass.sum())])
    low, middle, high = np.interp(ends, grown, edges).tolist()
    low = min(low, float(values[best >= -NEARLY_BEST_CURVE].min()))
    return middle, (0.0 if low < 0.01 else low), high
