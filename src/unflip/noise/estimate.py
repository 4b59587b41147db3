"""The noise rate with an interval, from honest scores and noisy labels alone.

Honest scores never saw the label of their own row: leave-one-out or held-out ones. Without an assumption
the rate is only known to be at most the noisy error of any rule. The inner interval assumes that flips do
not depend on the row, and that along the score some rows are certain; how many is not assumed but averaged
over (`curve`), and the lower end also admits every rate that some shape of the curve explains nearly as
well as the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import beta

from unflip.border.arrays import Array
from unflip.noise.caveats import Caveat
from unflip.noise.curve import LEAST_CHANCE, TEMPER, Curve, fit_curve, normal_scores
from unflip.noise.models import Noise, SymmetricNoise, UniformNoise
from unflip.noise.words import in_words

NEARLY_BEST_FIT = 0.7  # nats below the best fit, at the temperature of the curve
CONFIDENCE = 0.9
FEW_SCORES = 30  # different scores
EDGE = 0.01  # a rate so near to where labels carry nothing is there; the step of the grid
NO_SIGNAL = Caveat(
    "columns say nothing",
    "the columns predict the labels hardly better than guessing, so how many are wrong cannot be told",
)
OVERLAP = Caveat("wide", "classes that overlap heavily look like noise, so the interval was widened")
COARSE = Caveat(
    "coarse scores",
    f"rows have fewer than {FEW_SCORES} different scores, so noise and overlap can hardly be told apart",
)


@dataclass(frozen=True, eq=False)
class NoiseEstimate:
    """A noise rate and how well it is known; `print` says it in words.

    rate: the share of labels that are wrong. low, high: an interval of the `level`, if mistakes do not depend
    on the row. outer: at most so many labels are wrong, as long as no kind of row is labelled wrong more
    often than right (95 % confidence). noise: the rate, or the rates by class, as a model; table: the same as
    P(given | clean), (K, K). warnings: what the reader should know; as `caveats` these have names.
    by_class: of each class, where it can be told, the share of its labels that are wrong, (rate, low, high).
    outer_by_class: of each class at most so much is labelled otherwise, if mistakes depend on the class alone
    (95 % confidence), whatever the overlap.
    by_annotator: an estimate for each annotator, where annotators were given. rates, masses: the posterior
    behind the interval. rarest: the share of labels that name the rarest class. half_wrong: classes about
    half of which seem to have another label, and perhaps more, which nobody could tell.

    >>> found = NoiseEstimate(0.2, 0.15, 0.26, 0.31, SymmetricNoise(0.2))
    >>> found
    NoiseEstimate(rate=0.2, low=0.15, high=0.26, outer=0.31)
    """

    rate: float
    low: float
    high: float
    outer: float
    noise: Noise
    warnings: tuple[str, ...] = ()
    rates: Array = field(default_factory=lambda: np.zeros(0))
    masses: Array = field(default_factory=lambda: np.zeros(0))
    by_class: dict[Any, tuple[float, float, float]] = field(default_factory=dict)
    by_annotator: dict[Any, NoiseEstimate] = field(default_factory=dict)
    rarest: float = 1.0
    half_wrong: tuple[Any, ...] = ()
    level: float = CONFIDENCE
    outer_by_class: dict[Any, float] = field(default_factory=dict)

    @property
    def table(self) -> Array:
        """P(given | clean), one row for each clean class: (K, K)."""
        return self.noise.transition.astype(np.float64)

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        """What the reader should know, with `name` and `words`."""
        return tuple(
            warning if isinstance(warning, Caveat) else Caveat("note", warning) for warning in self.warnings
        )

    def quantile(self, share: Any) -> Array:
        """The rate that is exceeded with probability 1 - share.

        The posterior (a normal one, if none is kept) is stretched on either side of `rate`, so that its 5 %
        and 95 % quantiles are `low` and `high`, which may be wider than the curve alone says.

        >>> found = NoiseEstimate(0.2, 0.15, 0.26, 0.31, SymmetricNoise(0.2))
        >>> found.quantile([0.05, 0.5, 0.95]).round(3).tolist()
        [0.15, 0.2, 0.26]
        """
        tail = (1 - self.level) / 2
        plain = ndtri
        if len(self.rates):
            grown = np.concatenate([[0.0], np.cumsum(self.masses)])
            plain = partial(np.interp, xp=grown, fp=_edges(self.rates, self.limit))
        first, middle, last = plain(np.array([tail, 0.5, 1 - tail]))
        away = plain(np.asarray(share, dtype=np.float64)) - middle
        below, above = (self.rate - self.low) / (middle - first), (self.high - self.rate) / (last - middle)
        return np.clip(self.rate + away * np.where(away < 0, below, above), 0, np.nextafter(self.limit, 0))

    @property
    def limit(self) -> float:
        """The rate at which labels carry nothing."""
        return (self.noise.n_classes - 1) / self.noise.n_classes

    @property
    def identified(self) -> bool:
        """Whether the labels could tell the rate from the one at which they carry nothing."""
        return NO_SIGNAL not in self.warnings and self.high <= self.limit - EDGE

    def __str__(self) -> str:
        cautions = [f"Caution: {warning}." for warning in self.warnings if warning != NO_SIGNAL]
        return " ".join([in_words(self), *cautions])

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name}={getattr(self, name):.3g}" for name in ("rate", "low", "high", "outer"))
        said = f", warnings={list(self.warnings)}" if self.warnings else ""
        return f"NoiseEstimate({numbers}{said})"


def signed(scores: Array) -> Array:
    """Scores with zero between two classes; probabilities become places above and below 1/2.

    >>> signed(np.array([0.2, 0.5, 1e-20])).tolist()  # a difference would make all tiny probabilities equal
    [-1.0, 0.0, -2.0]
    """
    if scores.min() < 0 or scores.max() > 1:
        return scores
    distinct, place = np.unique(scores, return_inverse=True)
    return np.asarray(place + 1.0 - np.searchsorted(distinct, 0.5, side="right"))


def identified_noise(noise: NoiseEstimate | Noise | Any) -> Noise | Any:
    """The model of an estimate, if the labels could tell the rate; a model or a rate as it is.

    >>> identified_noise(NoiseEstimate(0.2, 0.15, 0.26, 0.31, SymmetricNoise(0.2)))
    SymmetricNoise(rate=0.2)
    """
    if not isinstance(noise, NoiseEstimate):
        return noise
    if not noise.identified:
        raise ValueError(
            f"the noise rate is not identified, so no score can be corrected for it: {noise!r} does not rule "
            f"out the rate {noise.limit:.3g}, at which labels carry nothing"
        )
    return noise.noise


def estimate_rate(
    scores: Array, member: Array, trusted: Array | None = None, level: float = CONFIDENCE
) -> tuple[NoiseEstimate, Curve]:
    """The estimate and the curve behind it; member: (n, K), the weight of each row in each class.

    trusted: (n,), a mask of rows whose labels are right; the rate is that of the others. level: of the
    interval.

    >>> scores, y = np.linspace(-1, 1, 100), np.repeat([0, 1], 50)
    >>> estimate_rate(scores, np.eye(2)[y])[0].low
    0.0
    """
    weight, n_classes = member.sum(axis=1), member.shape[1]
    rates = _grid(n_classes)
    floors: tuple[float, ...] = (0.0,)
    along, agree = along_and_agree(scores, member)
    against = weight - agree
    if n_classes == 2:
        low, high = rates, 1 - rates
        right_mass = np.where(scores > 0, member[:, 1], member[:, 0])
    else:
        low, high = np.full(len(rates), 1 / n_classes), 1 - rates
        # Where the two best classes tie, the best is right by a coin between two, or among all.
        floors = (0.0, (1 / 2 - 1 / n_classes) / (1 - 1 / n_classes))
        right_mass = agree
    edges = _edges(rates, (n_classes - 1) / n_classes)
    z = normal_scores(along, weight)
    curve = fit_curve(z, agree, against, low, high, np.diff(edges), floors, trusted)
    doubtful = np.ones(len(weight)) if trusted is None else 1.0 - trusted
    total, right = float(weight @ doubtful), float(right_mass @ doubtful)
    warnings = []
    if len(np.unique(along)) < FEW_SCORES:
        warnings.append(COARSE)
    return summary(curve, rates, n_classes, right, total, warnings, level), curve


def summary(
    curve: Curve,
    rates: Array,
    n_classes: int,
    right: float,
    total: float,
    warnings: Sequence[str],
    level: float = CONFIDENCE,
) -> NoiseEstimate:
    """The rate and its interval, from a curve; right and total: the weight of labels that agree, and of all.

    >>> estimate, curve = estimate_rate(np.linspace(-1, 1, 100), np.eye(2)[np.repeat([0, 1], 50)])
    >>> summary(curve, estimate.rates, 2, 100.0, 100.0, []).outer < 0.05
    True
    """
    outer = float(beta.ppf(0.95, total - right + 1, right)) if right > 0 else 1.0
    tail = (1 - level) / 2
    grown = np.concatenate([[0.0], np.cumsum(curve.marginal)])
    edges = _edges(rates, (n_classes - 1) / n_classes)
    inner, rate, top = np.interp([tail, 0.5, 1 - tail], grown, edges).tolist()
    widest = float(rates[curve.best >= -NEARLY_BEST_FIT].min())
    if widest < inner - 0.02:
        warnings = [*warnings, OVERLAP]
    top = min(top, outer)
    rate = min(rate, top)
    noise = one_rate(rate, n_classes)
    low = min(inner, widest)
    low = 0.0 if low < 0.01 else min(low, rate)  # a rate below 1 % is a few odd rows
    return NoiseEstimate(rate, low, top, outer, noise, tuple(warnings), rates, curve.marginal, level=level)


def one_rate(rate: float, n_classes: int) -> Noise:
    """One rate for all classes as a model, less than the one at which labels carry nothing.

    >>> one_rate(0.2, 2), one_rate(0.9, 3).rate < 2 / 3
    (SymmetricNoise(rate=0.2), True)
    """
    rate = min(rate, float(np.nextafter((n_classes - 1) / n_classes, 0)))
    return SymmetricNoise(rate) if n_classes == 2 else UniformNoise(rate, n_classes)


def along_and_agree(scores: Array, member: Array) -> tuple[Array, Array]:
    """What the curve runs along, (n,), and the weight of each row's label for it, (n,).

    Two classes: the score, and the weight as the second class. More: how much the best class is ahead, and
    the weight of the label in it.

    >>> along_and_agree(np.array([[0.1, 0.7, 0.2]]), np.array([[0.0, 1.0, 0.0]]))
    (array([0.5]), array([1.]))
    """
    if member.shape[1] == 2:
        return scores, member[:, 1]
    ordered = np.sort(scores, axis=1)
    best = scores.argmax(axis=1)
    return ordered[:, -1] - ordered[:, -2], np.take_along_axis(member, best[:, None], axis=1)[:, 0]


def annotator_curve(curve: Curve, rates: Array, z: Array, agree: Array, against: Array) -> Curve:
    """The curve of some of the rows, one annotator's, with shapes as likely as all rows together make them.

    z, agree, against: (n,), of these rows, z as it is among all rows.

    >>> scores, y = np.linspace(-1, 1, 200), np.repeat([0, 1], 100)
    >>> estimate, curve = estimate_rate(scores, np.eye(2)[y])
    >>> z = normal_scores(scores, np.ones(200))
    >>> wrong = annotator_curve(curve, estimate.rates, z[:100], np.ones(100), np.zeros(100))
    >>> bool(wrong.marginal @ estimate.rates > 0.4)  # one who always says the wrong thing
    True
    """
    bins = np.abs(z[:, None] - curve.z).argmin(axis=1)
    ones, zeros = (np.bincount(bins, mass, len(curve.z)) for mass in (agree, against))
    limit = rates[-1] + 0.005
    shapes = curve.mass.sum(axis=0)
    shapes = np.where(shapes > 1e-3 * shapes.max(), shapes, 0.0)  # a few rows do not overrule all of them
    prior = np.diff(_edges(rates, limit))[:, None] * shapes
    fit = np.empty_like(curve.mass)
    for r in range(len(rates)):
        p = np.clip(
            curve.low[r] + (curve.high[r] - curve.low[r]) * curve.shape, LEAST_CHANCE, 1 - LEAST_CHANCE
        )
        fit[r] = (np.log(p) @ ones + np.log1p(-p) @ zeros) / TEMPER
    fit = np.where(shapes > 0, fit, -np.inf)
    fit -= fit.max()
    mass = np.exp(fit) * prior
    return replace(curve, mass=mass / mass.sum(), best=fit.max(axis=1))


def wrong_probability(curve: Curve, rates: Array, z: Array, member: Array, n_classes: int = 2) -> Array:
    """P(the label is wrong) for each row, from the curve of `estimate_rate` at normal scores z.

    member: (n, 2), the weight of each row in the two classes; for more classes, its weight in all classes
    but the likely one, and in the likely one. A row of no weight has no label, and gets NaN.

    >>> scores, y = np.linspace(-1, 1, 200), np.repeat([0, 1], 100)
    >>> y[[10, 190]] = 1, 0
    >>> estimate, curve = estimate_rate(scores, np.eye(2)[y])
    >>> wrong = wrong_probability(curve, estimate.rates, normal_scores(scores, np.ones(200)), np.eye(2)[y])
    >>> sorted(np.argsort(-wrong)[:2].tolist())
    [10, 190]
    """
    # The likely class is right with 1 - (1 - 1/K) (1 - g); if not, a wrong label names it with 1 / (K - 1).
    named = 1 if n_classes == 2 else 1 / n_classes
    as_one = curve.average(lambda r, g, p: rates[r] * (1 - g) * named / p)
    as_zero = curve.average(lambda r, g, p: rates[r] * (1 - (1 - g) * named) / (1 - p))
    weight = member.sum(axis=1)
    ones = np.interp(z, curve.z, as_one)
    zeros = np.interp(z, curve.z, as_zero)
    wrong = member[:, 1] * ones + member[:, 0] * zeros
    return np.asarray(np.divide(wrong, weight, out=np.full(len(wrong), np.nan), where=weight > 0))


def _grid(n_classes: int) -> Array:
    """Rates to consider, finer near zero, up to where labels carry nothing."""
    fine = [0.0, 0.0025, 0.005, 0.0075]
    limit = (n_classes - 1) / n_classes
    return np.array([*fine, *np.arange(0.01, limit - 0.006, 0.01), limit - 0.005])


def _edges(rates: Array, limit: float) -> Array:
    """Where the cells of the grid end; within a cell every rate is as likely as another."""
    return np.concatenate([[0.0], (rates[1:] + rates[:-1]) / 2, [limit]])
