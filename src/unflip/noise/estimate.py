"""The noise rate with an interval, from honest scores and noisy labels alone.

Honest scores never saw the label of their own row: leave-one-out or held-out ones. Without an assumption
the rate is only known to be at most the noisy error of any rule. The inner interval assumes that flips do
not depend on the row, and that along the score some rows are certain; how many is not assumed but averaged
over (`curve`), and the lower end also admits every rate that some shape of the curve explains nearly as
well as the best.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import beta

from unflip._weights import as_weight
from unflip.noise.curve import LEAST, TEMPER, Array, Curve, fit_curve, normal_scores
from unflip.noise.models import Noise, SymmetricNoise, UniformNoise

NEARLY = 1.7  # nats below the best fit: 1.35 would be 90 % for one parameter, and the grid is coarse
CONFIDENCE = 0.9
END = 0.05  # of the rows, at each end of the score
FEW = 30  # distinct scores
EDGE = 0.01  # a rate so near to where labels carry nothing is there; the step of the grid
NO_SIGNAL = "labels show no dependence on features; only the outer bound means something"
OVERLAP = "heavy overlap: classes that overlap look like noise here, so the interval was widened"
LOPSIDED = (
    "labels disagree with the score at one end far more often than at the other, so that one rate for both "
    "classes misleads; see estimate_noise(..., class_conditional=True)"
)
COARSE = f"fewer than {FEW} distinct rows: noise and overlap can hardly be told apart"


@dataclass(frozen=True, eq=False)
class NoiseEstimate:
    """A noise rate and how well it is known.

    rate: the share of labels that are wrong. low, high: a 90 % interval. outer: at most so many labels are
    wrong, as long as none is more likely wrong than right (95 % confidence). warnings: what the reader
    should know. noise: the rate as a model. rates, masses: the posterior behind the interval.

    >>> NoiseEstimate(0.2, 0.15, 0.26, 0.31, SymmetricNoise(0.2))
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

    def quantile(self, share: Any) -> Array:
        """The rate that is exceeded with probability 1 - share.

        The posterior (a normal one, if none is kept) is stretched on either side of `rate`, so that its 5 %
        and 95 % quantiles are `low` and `high`, which may be wider than the curve alone says.

        >>> found = NoiseEstimate(0.2, 0.15, 0.26, 0.31, SymmetricNoise(0.2))
        >>> found.quantile([0.05, 0.5, 0.95]).round(3).tolist()
        [0.15, 0.2, 0.26]
        """
        limit = (self.noise.n_classes - 1) / self.noise.n_classes
        tail = (1 - CONFIDENCE) / 2
        plain = ndtri
        if len(self.rates):
            grown = np.concatenate([[0.0], np.cumsum(self.masses)])
            plain = partial(np.interp, xp=grown, fp=_edges(self.rates, limit))
        first, middle, last = plain(np.array([tail, 0.5, 1 - tail]))
        away = plain(np.asarray(share, dtype=np.float64)) - middle
        below, above = (self.rate - self.low) / (middle - first), (self.high - self.rate) / (last - middle)
        return np.clip(self.rate + away * np.where(away < 0, below, above), 0, np.nextafter(limit, 0))

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name}={getattr(self, name):.3g}" for name in ("rate", "low", "high", "outer"))
        said = f", warnings={list(self.warnings)}" if self.warnings else ""
        return f"NoiseEstimate({numbers}{said})"


def rate_from_scores(scores: Any, y: Any, sample_weight: Any = None) -> NoiseEstimate:
    """The share of wrong labels, from scores that never saw the label of their own row.

    scores: (n,), positive for the second class, or its probability; or (n, K), the largest for the likely
    class. y: the labels as they are, classes in sorted order. sample_weight: (n,), how many rows each row
    stands for. Two classes are understood under symmetric noise, more under uniform noise. Two classes need
    only the order of the scores (and their sign, for the outer bound); more need their differences.

    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=2000)
    >>> noisy = (scores > 0) ^ (rng.uniform(size=2000) < 0.2)
    >>> found = rate_from_scores(scores, noisy)
    >>> found.low < 0.2 < found.high, abs(found.rate - 0.2) < 0.02
    (True, True)
    """
    labels, s = np.asarray(y), np.asarray(scores, dtype=np.float64)
    if labels.ndim != 1:
        raise ValueError(f"labels form one column, got an array of shape {labels.shape}")
    if s.shape[:1] != labels.shape:
        raise ValueError(f"scores of the shape {s.shape} do not fit {len(labels)} labels")
    weight = as_weight(sample_weight, len(labels))
    classes, codes = np.unique(labels[weight > 0], return_inverse=True)
    _refuse(s, weight > 0, classes)
    s, weight = s[weight > 0], weight[weight > 0]
    s = signed(s) if s.ndim == 1 else s
    return estimate_rate(s, np.eye(len(classes))[codes] * weight[:, None])[0]


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
    limit = (noise.noise.n_classes - 1) / noise.noise.n_classes
    if not is_identified(noise):
        raise ValueError(
            f"the noise rate is not identified, so no score can be corrected for it: {noise!r} does not rule "
            f"out the rate {limit:.3g}, at which labels carry nothing"
        )
    return noise.noise


def is_identified(noise: NoiseEstimate) -> bool:
    """Whether the labels could tell the rate from the one at which they carry nothing.

    >>> is_identified(NoiseEstimate(0.3, 0.0, 0.5, 0.5, SymmetricNoise(0.3)))
    False
    """
    limit = (noise.noise.n_classes - 1) / noise.noise.n_classes
    return NO_SIGNAL not in noise.warnings and noise.high <= limit - EDGE


def estimate_rate(scores: Array, member: Array, trusted: Array | None = None) -> tuple[NoiseEstimate, Curve]:
    """The estimate and the curve behind it; member: (n, K), the weight of each row in each class.

    trusted: (n,), a mask of rows whose labels are right; the rate is that of the others.

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
    if n_classes == 2 and _shows_nothing(z, agree, against):
        warnings.append(NO_SIGNAL)
    if n_classes == 2 and doubtful.all() and _is_lopsided(z, agree, against):
        warnings.append(LOPSIDED)
    if len(np.unique(along)) < FEW:
        warnings.append(COARSE)
    return summary(curve, rates, n_classes, right, total, warnings), curve


def summary(
    curve: Curve, rates: Array, n_classes: int, right: float, total: float, warnings: list[str]
) -> NoiseEstimate:
    """The rate and its interval, from a curve; right and total: the weight of labels that agree, and of all.

    >>> estimate, curve = estimate_rate(np.linspace(-1, 1, 100), np.eye(2)[np.repeat([0, 1], 50)])
    >>> summary(curve, estimate.rates, 2, 100.0, 100.0, []).outer < 0.05
    True
    """
    outer = float(beta.ppf(0.95, total - right + 1, right)) if right > 0 else 1.0
    tail = (1 - CONFIDENCE) / 2
    grown = np.concatenate([[0.0], np.cumsum(curve.marginal)])
    edges = _edges(rates, (n_classes - 1) / n_classes)
    inner, rate, top = np.interp([tail, 0.5, 1 - tail], grown, edges).tolist()
    widest = float(rates[curve.best >= -NEARLY].min())
    if widest < inner - 0.02:
        warnings = [*warnings, OVERLAP]
    top = min(top, outer)
    rate = min(rate, top)
    limit = float(np.nextafter((n_classes - 1) / n_classes, 0))
    noise = SymmetricNoise(min(rate, limit)) if n_classes == 2 else UniformNoise(min(rate, limit), n_classes)
    low = min(inner, widest)
    low = 0.0 if low < 0.01 else min(low, rate)  # a rate below 1 % is a few odd rows
    return NoiseEstimate(rate, low, top, outer, noise, tuple(warnings), rates, curve.marginal)


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
        p = np.clip(curve.low[r] + (curve.high[r] - curve.low[r]) * curve.shape, LEAST, 1 - LEAST)
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


def _shows_nothing(z: Array, positive: Array, negative: Array) -> bool:
    """Whether the labels could be coins: no better an AUC than chance, and classes of about one size."""
    n1, n0 = positive.sum(), negative.sum()
    place = np.unique(z, return_inverse=True)[1]
    ones, zeros = np.bincount(place, positive), np.bincount(place, negative)
    auc = ones @ (np.cumsum(zeros) - zeros / 2) / max(n1 * n0, 1e-300)  # a tie counts one half
    chance = 0.5 + 1.645 * np.sqrt((n1 + n0 + 1) / (12 * max(n1 * n0, 1e-300)))
    return bool(auc < chance and min(n1, n0) > 0.45 * (n1 + n0))


def _is_lopsided(z: Array, positive: Array, negative: Array) -> bool:
    """Whether the labels at the two ends of the score disagree with it at clearly different rates.

    Not asked where a class is rare: its end holds rows of the other class, noise or not.
    """
    weight = positive + negative
    if min(positive.sum(), negative.sum()) < 0.2 * weight.sum():
        return False
    order = np.argsort(z, kind="stable")
    share = np.cumsum(weight[order]) / weight.sum()
    ends = (order[share <= END], positive), (order[share > 1 - END], negative)
    size = [weight[rows].sum() for rows, _ in ends]
    if min(size) == 0:
        return False
    wrong = [against[rows].sum() / count for (rows, against), count in zip(ends, size, strict=True)]
    chance = sum(p * (1 - p) / count for p, count in zip(wrong, size, strict=True)) ** 0.5
    return bool(abs(wrong[0] - wrong[1]) > 0.1 + 3 * chance)


def _refuse(scores: Array, held: Array, classes: Array) -> None:
    """Refuse what cannot be read, naming it; held: (n,), the rows that have weight."""
    if len(classes) < 2:
        raise ValueError(f"labels of at least two classes are needed, got {classes.tolist()}")
    wanted = (len(scores),) if len(classes) == 2 else (len(scores), len(classes))
    if scores.shape != wanted:
        raise ValueError(f"for {len(classes)} classes scores have the shape {wanted}, got {scores.shape}")
    bad = np.argwhere(~np.isfinite(scores) & held.reshape(-1, *[1] * (scores.ndim - 1)))
    if len(bad):
        raise ValueError(f"the score of row {bad[0][0]} is {scores[tuple(bad[0])]}; scores are finite")
