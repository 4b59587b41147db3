"""The noise rate with an interval, from honest scores and noisy labels alone.

Honest scores never saw the label of their own row: leave-one-out or held-out ones. Without an assumption
the rate is only known to be at most the noisy error of any rule. The inner interval assumes that flips do
not depend on the row, and that along the score some rows are certain; how many is not assumed but averaged
over (`curve`), and the lower end also admits every rate that some shape of the curve explains nearly as
well as the best.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import beta

from unflip.noise.curve import Array, Curve, fit_curve, normal_scores
from unflip.noise.models import Noise, SymmetricNoise, UniformNoise

NEARLY = 1.35  # nats below the best fit: 90 % for one parameter
CONFIDENCE = 0.9
FEW = 30  # distinct scores
NO_SIGNAL = "labels show no dependence on features; only the outer bound means something"
OVERLAP = "heavy overlap: classes that overlap look like noise here, so the interval was widened"
COARSE = f"fewer than {FEW} distinct rows: noise and overlap can hardly be told apart"


@dataclass(frozen=True, eq=False)
class NoiseEstimate:
    """A noise rate and how well it is known.

    rate: the share of labels that are wrong. low, high: a 90 % interval. outer: at most so many labels are
    wrong whatever the noise is like (95 % confidence). warnings: what the reader should know. noise: the
    rate as a model. rates, masses: the posterior behind the interval.

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

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name}={getattr(self, name):.3g}" for name in ("rate", "low", "high", "outer"))
        said = f", warnings={list(self.warnings)}" if self.warnings else ""
        return f"NoiseEstimate({numbers}{said})"


def rate_from_scores(scores: Any, y: Any, sample_weight: Any = None) -> NoiseEstimate:
    """The share of wrong labels, from scores that never saw the label of their own row.

    scores: (n,), positive for the second class, or its probability; or (n, K), the largest for the likely
    class. y: the labels as they are, classes in sorted order. Two classes are understood under symmetric
    noise, more under uniform noise.

    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=2000)
    >>> noisy = (scores > 0) ^ (rng.uniform(size=2000) < 0.2)
    >>> found = rate_from_scores(scores, noisy)
    >>> found.low < 0.2 < found.high, abs(found.rate - 0.2) < 0.02
    (True, True)
    """
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    s = np.asarray(scores, dtype=np.float64)
    _refuse(s, codes, classes)
    weight = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    member = np.eye(len(classes))[codes] * weight[:, None]
    if s.ndim == 1 and s.min() >= 0 and s.max() <= 1:
        s = s - 0.5
    return estimate_rate(s, member)[0]


def estimate_rate(scores: Array, member: Array) -> tuple[NoiseEstimate, Curve]:
    """The estimate and the curve behind it; member: (n, K), the weight of each row in each class.

    >>> scores, y = np.linspace(-1, 1, 100), np.repeat([0, 1], 50)
    >>> estimate_rate(scores, np.eye(2)[y])[0].low
    0.0
    """
    weight, n_classes = member.sum(axis=1), member.shape[1]
    rates = _grid(n_classes)
    if n_classes == 2:
        along, agree, against = scores, member[:, 1], member[:, 0]
        low, high, slope = rates, 1 - rates, 5.0
        right = np.where(scores > 0, member[:, 1], member[:, 0]).sum()
    else:
        # How much the best class is ahead, and whether the label names it.
        best = scores.argmax(axis=1)
        ordered = np.sort(scores, axis=1)
        along = ordered[:, -1] - ordered[:, -2]
        agree = np.take_along_axis(member, best[:, None], axis=1)[:, 0]
        against = weight - agree
        low, high, slope = np.full(len(rates), 1 / n_classes), 1 - rates, 3.0
        right = agree.sum()
    edges = np.concatenate([[0.0], (rates[1:] + rates[:-1]) / 2, [(n_classes - 1) / n_classes]])
    z = normal_scores(along, weight)
    curve = fit_curve(z, agree, against, low, high, np.diff(edges), slope)
    total = weight.sum()
    outer = float(beta.ppf(0.95, total - right + 1, right)) if right > 0 else 1.0
    tail = (1 - CONFIDENCE) / 2
    grown = np.concatenate([[0.0], np.cumsum(curve.marginal)])
    inner, rate, top = np.interp([tail, 0.5, 1 - tail], grown, edges)
    widest = float(rates[curve.best >= -NEARLY].min())
    top = min(float(top), outer)
    low_end = min(float(inner), widest)
    warnings = []
    if n_classes == 2 and _shows_nothing(z, agree, against):
        warnings.append(NO_SIGNAL)
    if len(np.unique(along)) < FEW:
        warnings.append(COARSE)
    if widest < inner - 0.02:
        warnings.append(OVERLAP)
    rate = min(float(rate), top)
    limit = np.nextafter((n_classes - 1) / n_classes, 0)
    noise = SymmetricNoise(min(rate, limit)) if n_classes == 2 else UniformNoise(min(rate, limit), n_classes)
    low_end = 0.0 if low_end < 0.01 else min(low_end, rate)  # a rate below 1 % is a few odd rows
    return NoiseEstimate(rate, low_end, top, outer, noise, tuple(warnings), rates, curve.marginal), curve


def wrong_probability(curve: Curve, rates: Array, z: Array, member: Array) -> Array:
    """P(the label is wrong) for each row, from the curve of `estimate_rate` at normal scores z.

    member: (n, K), for K > 2 with the likely class in the first column and the rest in the second.

    >>> scores, y = np.linspace(-1, 1, 200), np.repeat([0, 1], 100)
    >>> y[[10, 190]] = 1, 0
    >>> estimate, curve = estimate_rate(scores, np.eye(2)[y])
    >>> wrong = wrong_probability(curve, estimate.rates, normal_scores(scores, np.ones(200)), np.eye(2)[y])
    >>> sorted(np.argsort(-wrong)[:2].tolist())
    [10, 190]
    """
    as_one = curve.average(lambda r, g, p: rates[r] * (1 - g) / p)
    as_zero = curve.average(lambda r, g, p: rates[r] * g / (1 - p))
    weight = member.sum(axis=1)
    ones = np.interp(z, curve.z, as_one)
    zeros = np.interp(z, curve.z, as_zero)
    return np.asarray((member[:, 1] * ones + member[:, 0] * zeros) / weight)


def _grid(n_classes: int) -> Array:
    """Rates to consider, finer near zero, up to where labels carry nothing."""
    fine = [0.0, 0.0025, 0.005, 0.0075]
    limit = (n_classes - 1) / n_classes
    return np.array([*fine, *np.arange(0.01, limit - 0.006, 0.01), limit - 0.005])


def _shows_nothing(z: Array, positive: Array, negative: Array) -> bool:
    """Whether the labels could be coins: no better an AUC than chance, and classes of about one size."""
    n1, n0 = positive.sum(), negative.sum()
    order = np.argsort(z, kind="stable")
    below = np.cumsum(negative[order]) - negative[order] / 2
    auc = positive[order] @ below / max(n1 * n0, 1e-300)
    chance = 0.5 + 1.645 * np.sqrt((n1 + n0 + 1) / (12 * max(n1 * n0, 1e-300)))
    return bool(auc < chance and min(n1, n0) > 0.45 * (n1 + n0))


def _refuse(scores: Array, codes: Array, classes: Array) -> None:
    if len(classes) < 2:
        raise ValueError(f"labels of at least two classes are needed, got {classes.tolist()}")
    if len(scores) != len(codes):
        raise ValueError(f"there are {len(scores)} scores for {len(codes)} labels")
    wanted = (len(codes),) if len(classes) == 2 else (len(codes), len(classes))
    if scores.shape != wanted:
        raise ValueError(f"for {len(classes)} classes scores have the shape {wanted}, got {scores.shape}")
    bad = np.argwhere(~np.isfinite(scores))
    if len(bad):
        raise ValueError(f"the score of row {bad[0][0]} is {scores[tuple(bad[0])]}; scores are finite")
