"""What honest scores say of labels: how many are wrong, and which.

The simplest noise that the labels do not contradict is taken: one rate for all, unless it is clear that the
classes are flipped at different rates. Where the scores tell no more of the labels than guessing does,
nothing is said at all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from unflip.border.arrays import Array
from unflip.border.weights import as_weight
from unflip.noise import words
from unflip.noise.by_class import ClassRates, NoiseByClass
from unflip.noise.caveats import FEWEST_LABELLED, HIDDEN, ORDERED, TOO_FEW_ROWS, Caveat, looks_ordered
from unflip.noise.curve import Curve, normal_scores, weighted_quantile
from unflip.noise.estimate import (
    CONFIDENCE,
    NO_SIGNAL,
    OVERLAP,
    NoiseEstimate,
    estimate_rate,
    one_rate,
    signed,
    wrong_probability,
)
from unflip.noise.models import ClassConditionalNoise
from unflip.noise.regions import outer_by_class
from unflip.noise.table import MOST_CLASSES, counted_rates, fit_tables
from unflip.noise.two_rates import fit_two_rates

NoiseKind = Literal["auto", "symmetric", "class_conditional"]
KINDS = ("auto", "symmetric", "class_conditional")
TIE_BREAK = 1e-6  # keeps the order going where probabilities are equal
LARGEST, HALF = 0.499, 0.48  # of two rates, which sum to less than one; and what may be a half or more
ABOUT_HALF, ABOUT_EQUAL = 0.45, 0.9  # a rate that may hide a larger one; so many wrong labels to a right one
LEAST_SHIFT = -20.0  # of log odds: a rate of zero leaves every row next to no chance
OVERLAP_GAP = 0.06  # between the interval and the bound: more labels than that may be wrong unseen
NEGLIGIBLE, UNLIKELY = 0.1, 3.0  # of the way from guessing to certainty; and so many standard errors
ONE_RATE = (
    "the classes seem to be flipped at different rates ({}), so one rate for all of them misleads; "
    'leave noise="auto", or ask for noise="class_conditional"'
)
TOO_OFTEN = Caveat(
    "beyond the bound",
    "the rates by class exceed the bound, as where a class is more often wrong than right, so the rate "
    "cannot be told",
)
COUNTED = Caveat(
    "counted",
    "with so many classes, rows that look most certainly like a class are taken for right, so overlap counts",
)


@dataclass(frozen=True, eq=False)
class Judgement:
    """The estimate, and what P(wrong) of single rows follows from.

    scores, member: what was judged; curve, rates: one rate for all classes, and the rates it considers;
    by_class: the fit of a rate for each class, where that is what the estimate rests on; trusted: (n,), a
    mask of rows whose labels are right.
    """

    estimate: NoiseEstimate
    scores: Array
    member: Array
    curve: Curve
    rates: Array
    by_class: NoiseByClass | None
    trusted: Array | None = None

    def rows(self, curve: Curve | None = None) -> tuple[Array, Array]:
        """P(wrong) of each row, with a last digit that keeps the order, and its likely class.

        With one rate for all classes, the average over rows that are not trusted is at most the estimated
        rate: where classes overlap heavily, high rates that cannot be ruled out would otherwise count more
        wrong labels than the estimate. curve: another one than that of all rows, such as an annotator's, who
        has a rate of their own.
        """
        ahead = _ahead(self.scores, self.member)
        if self.by_class is not None and curve is None:
            wrong, likely = self.by_class.judged(self.scores, self.member)
        else:
            wrong, likely = self._by_one_rate(curve or self.curve, ahead)
            if curve is None:
                doubted = self.member.sum(axis=1) * (1.0 if self.trusted is None else ~self.trusted)
                wrong = averaging(wrong, doubted, self.estimate.rate)
        size = np.abs(ahead).max(initial=0.0) or 1.0
        return wrong + TIE_BREAK * np.tanh(ahead / size), likely

    def posterior(self) -> Array:
        """P(clean class) of each row, with its label, (n, K); where nothing can be told, the label itself."""
        weight = self.member.sum(axis=1, keepdims=True)
        given = self.member / weight
        if NO_SIGNAL in self.estimate.warnings:
            return given
        wrong = np.clip(self.rows()[0], 0.0, 1.0)[:, None]
        if self.by_class is not None:
            clean = self.by_class.clean(self.scores, self.member)
            others = clean * (given @ self.estimate.noise.transition.T)
        else:
            others = self.scores[:, None] * [[-1.0, 1.0]] if self.scores.ndim == 1 else self.scores
            others = np.maximum(others, 1e-6 * np.abs(others).max(axis=1, keepdims=True) + 1e-300)
        # The label has what is not wrong; the rest goes where the score points.
        others = others * (1 - given)
        share = others / np.maximum(others.sum(axis=1, keepdims=True), 1e-300)
        found = given * (1 - wrong) + share * wrong
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def _by_one_rate(self, curve: Curve, ahead: Array) -> tuple[Array, Array]:
        scores, member, rates = self.scores, self.member, self.rates
        weight, n_classes = member.sum(axis=1), member.shape[1]
        if n_classes == 2:
            z = normal_scores(scores, weight)
            wrong = wrong_probability(curve, rates, z, member)
            positive = np.interp(z, curve.z, curve.average(lambda r, g, p: g)) > 0.5
            return wrong, np.where(wrong > 0.5, 1 - member.argmax(axis=1), positive.astype(np.intp))
        # The curve runs along the lead over the second class. A label that is not even second is worse than
        # that: it is judged by the lead over itself.
        ordered = np.sort(scores, axis=1)
        lead = ordered[:, -1] - ordered[:, -2]
        order = np.argsort(lead, kind="stable")
        z = np.interp(np.abs(ahead), lead[order], normal_scores(lead, weight)[order])
        likely = scores.argmax(axis=1)
        named = np.take_along_axis(member, likely[:, None], axis=1)[:, 0]
        return wrong_probability(curve, rates, z, np.column_stack([weight - named, named]), n_classes), likely


def judge(
    scores: Array,
    member: Array,
    trusted: Array | None = None,
    noise: str = "auto",
    classes: Any = None,
    level: float = CONFIDENCE,
) -> Judgement:
    """Judge labels by honest scores, (n,) for two classes, (n, K) for more.

    member: (n, K), the weight of each row in each class; trusted: (n,), a mask of rows whose labels are
    right; noise: "auto", "symmetric" or "class_conditional"; classes: (K,), what the classes are called;
    level: of the intervals.

    >>> scores = np.linspace(-1, 1, 400)
    >>> given = (scores > 0) & (np.arange(400) % 3 > 0)  # a third of the ones are called zeros
    >>> found = judge(scores, np.eye(2)[given.astype(int)]).estimate
    >>> {label: round(rate, 1) for label, (rate, low, high) in found.by_class.items()}
    {0: 0.0, 1: 0.3}
    """
    if noise not in KINDS:
        raise ValueError(f"noise is {', '.join(map(repr, KINDS[:-1]))} or {KINDS[-1]!r}, got {noise!r}")
    if not (isinstance(level, Real) and 0 < level < 1):
        raise ValueError(f"level lies between 0 and 1, got {level!r}")
    n_classes = member.shape[1]
    names = list(range(n_classes)) if classes is None else np.asarray(classes).tolist()
    doubted = np.ones(len(member), dtype=bool) if trusted is None else ~trusted
    estimate, curve = estimate_rate(scores, member, trusted, level)
    estimate = replace(
        estimate,
        rarest=float(member.sum(axis=0).min() / member.sum()),
        outer_by_class=dict(
            zip(names, outer_by_class(scores[doubted], member[doubted]).tolist(), strict=True)
        ),
    )
    grid = estimate.rates
    if not beats_guessing(scores, member):
        most = min(estimate.outer, estimate.limit)
        warnings = (*_without_overlap(estimate.warnings), NO_SIGNAL)
        estimate = replace(estimate, low=0.0, high=most, outer=most, warnings=warnings)
        return Judgement(estimate, scores, member, curve, grid, None, trusted)
    if n_classes > MOST_CLASSES:
        if noise == "class_conditional":
            sure = np.zeros(len(member), dtype=bool) if trusted is None else trusted
            rates = counted_rates(scores, member, sure, names, level)
            estimate = _with_rates(estimate, rates, names, (*estimate.warnings, COUNTED))
        estimate = _with_caveats(estimate, scores, member, names)
        return Judgement(estimate, scores, member, curve, grid, None, trusted)
    fit: NoiseByClass = (fit_two_rates if n_classes == 2 else fit_tables)(scores, member, trusted)
    rates = fit.rates(level)
    if noise == "class_conditional" or (noise == "auto" and fit.clearly):
        estimate = _with_rates(estimate, rates, names, estimate.warnings)
        estimate = _with_caveats(estimate, scores, member, names)
        return Judgement(estimate, scores, member, curve, grid, fit, trusted)
    if n_classes == 2:
        estimate = replace(estimate, by_class=_named(rates, names))
    narrow = fit.separated(level) if noise == "auto" else None
    if narrow is not None:
        estimate = _of_interval(estimate, *narrow)
    elif noise == "auto" and fit.perhaps:
        estimate = _with_both(estimate, rates, fit.differ)
    if fit.clearly:
        said = ", ".join(f"{name}: {100 * rate:.0f} %" for name, (rate, *_) in _named(rates, names).items())
        caveat = Caveat("classes differ", ONE_RATE.format(said))
        estimate = replace(estimate, warnings=(*estimate.warnings, caveat))
    estimate = _with_caveats(estimate, scores, member, names)
    return Judgement(estimate, scores, member, curve, grid, None, trusted)


def rate_from_scores(
    scores: Any, y: Any, sample_weight: Any = None, noise: str = "auto", level: float = CONFIDENCE
) -> NoiseEstimate:
    """The share of wrong labels, from scores that never saw the label of their own row.

    scores: (n,), positive for the second class, or its probability; or (n, K), the largest for the likely
    class. y: the labels as they are, classes in sorted order. sample_weight: (n,), how many rows each row
    stands for. noise: "symmetric" for one rate, "class_conditional" for a rate for each class, "auto" for
    the simpler of the two that the labels do not contradict. level: of the interval. Two classes
    need only the order of the scores
    (and their sign, for the outer bound); more need their differences.

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
    return judge(s, np.eye(len(classes))[codes] * weight[:, None], None, noise, classes, level).estimate


def beats_guessing(scores: Array, member: Array) -> bool:
    """Whether rows that look most like a class have its label clearly more often than others.

    Each class takes the rows that look most like it, as many as have its label, so that a frequent class
    does not hide the others. Chance must be unlikely, and the share of rows that are found not negligible:
    columns that tell hardly anything of clean labels look like columns that tell much of very noisy ones.

    >>> member = np.eye(2)[np.arange(200) % 2]
    >>> beats_guessing(np.tile([-1.0, 1.0], 100), member), beats_guessing(np.ones(200), member)
    (True, False)
    """
    n_classes, weight, counts = member.shape[1], member.sum(axis=1), member.sum(axis=0)
    table = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    shares = counts / counts.sum()
    ends = [weighted_quantile(column, weight, 1 - part) for column, part in zip(table.T, shares, strict=True)]
    likely = (table - np.array(ends)).argmax(axis=1)
    recalls = np.array([member[likely == k, k].sum() for k in range(n_classes)]) / counts
    with np.errstate(over="ignore"):  # a class of next to no weight leaves everything to chance
        chance = np.sqrt(np.sum(recalls * (1 - recalls) / counts)) / n_classes
    clearly = max(UNLIKELY * chance, NEGLIGIBLE * (1 - 1 / n_classes))
    return bool(recalls.mean() > 1 / n_classes + clearly)


def averaging(chances: Array, weight: Array, most: float) -> Array:
    """The chances with their odds times one factor, so that their weighted average is at most as given.

    The order stays as it is.

    >>> averaging(np.array([0.2, 0.5, 0.8]), np.ones(3), 0.6).tolist()
    [0.2, 0.5, 0.8]
    >>> bool(np.isclose(averaging(np.array([0.2, 0.5, 0.8]), np.ones(3), 0.3).mean(), 0.3))
    True
    """
    odds = logit(np.clip(chances, 0.0, 1.0))  # beyond by rounding

    def excess(shift: float) -> float:
        return float(weight @ expit(odds + shift) / weight.sum()) - most

    if excess(0.0) <= 0:
        return chances
    shift = brentq(excess, LEAST_SHIFT, 0.0) if excess(LEAST_SHIFT) < 0 else LEAST_SHIFT
    return np.asarray(expit(odds + shift))


def _ahead(scores: Array, member: Array) -> Array:
    """How far the best other class is ahead of the given one, by the score."""
    given = member.argmax(axis=1)
    if scores.ndim == 1:
        return -np.where(given == 1, scores, -scores)
    others = scores.copy()
    others[np.arange(len(others)), given] = -np.inf
    return others.max(axis=1) - np.take_along_axis(scores, given[:, None], axis=1)[:, 0]


def _with_rates(
    estimate: NoiseEstimate, found: ClassRates, names: list[Any], warnings: tuple[str, ...]
) -> NoiseEstimate:
    """The estimate with a rate for each class in place of one for all."""
    warnings = _without_overlap(warnings)
    if found.low > estimate.outer:
        return replace(estimate, low=0.0, high=estimate.limit, warnings=(*warnings, TOO_OFTEN))
    table = found.table
    half_wrong = tuple(names[k] for k in np.flatnonzero(_about_half(found)))
    if len(names) == 2:
        zero, one = np.minimum(found.rates[:, 0], LARGEST)
        table = np.array([[1 - zero, zero], [one, 1 - one]])
    half = len(names) == 2 and found.rates[:, 2].max() > HALF  # the grid of rates ends there, not the noise
    high = estimate.outer if half or half_wrong else min(found.high, estimate.outer)
    rate = min(found.rate, high)
    low = 0.0 if found.low < 0.01 else min(found.low, rate)
    nothing = np.zeros(0)  # the posterior was that of one rate for all
    return replace(
        estimate,
        rate=rate,
        low=low,
        high=high,
        noise=ClassConditionalNoise(table),
        rates=nothing,
        masses=nothing,
        by_class=_named(found, names),
        warnings=warnings if not half_wrong else (*warnings, words.half(half_wrong)),
        half_wrong=half_wrong,
    )


def _without_overlap(warnings: tuple[str, ...]) -> tuple[str, ...]:
    """Without what was said of an interval that is not used."""
    return tuple(warning for warning in warnings if warning != OVERLAP)


def _about_half(found: ClassRates) -> Array:
    """For which classes a wrong label is about as frequent as the right one: where the rates end, (K,)."""
    if len(found.table) == 2:
        return np.asarray(found.rates[:, 0] > ABOUT_HALF)
    wrong = np.where(np.eye(len(found.table), dtype=bool), 0.0, found.table).max(axis=1)
    return np.asarray(wrong > ABOUT_EQUAL * np.diag(found.table))


def _with_caveats(estimate: NoiseEstimate, scores: Array, member: Array, names: list[Any]) -> NoiseEstimate:
    """The estimate with what the reader should know of these labels."""
    likely = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
    found = {
        TOO_FEW_ROWS: len(member) < FEWEST_LABELLED,
        ORDERED: looks_ordered(names, likely, member),
        HIDDEN: estimate.outer - estimate.high > OVERLAP_GAP,
    }
    more = (caveat for caveat, holds in found.items() if holds)
    return replace(estimate, warnings=(*estimate.warnings, *more))


def _of_interval(estimate: NoiseEstimate, rate: float, low: float, high: float) -> NoiseEstimate:
    """The estimate of one rate with another interval."""
    high = min(high, estimate.outer)
    rate = min(rate, high)
    nothing = np.zeros(0)
    warnings = _without_overlap(estimate.warnings)
    noise = one_rate(rate, estimate.noise.n_classes)
    return replace(
        estimate,
        rate=rate,
        low=min(low, rate),
        high=high,
        noise=noise,
        rates=nothing,
        masses=nothing,
        warnings=warnings,
    )


def _with_both(estimate: NoiseEstimate, found: ClassRates, differ: float) -> NoiseEstimate:
    """The estimate where classes may differ: the mean of both, and an interval that admits both."""
    rate = (1 - differ) * estimate.rate + differ * found.rate
    low, high = min(estimate.low, found.low), max(estimate.high, found.high)
    return replace(_of_interval(estimate, rate, low, high), warnings=estimate.warnings)


def _named(found: ClassRates, names: list[Any]) -> dict[Any, tuple[float, float, float]]:
    rows = (tuple(row) for row in found.rates.tolist())
    return dict(zip(names, rows, strict=True))


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
