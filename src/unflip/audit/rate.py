"""The noise rate from a table and its labels, or from scores of any model.

Symmetric noise (uniform, for several classes) by default, with an alarm where the two classes of a binary
problem seem to be flipped at different rates; class-conditional noise when asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from unflip.audit.honest import Array, Honest, annotator_curves, honest_scores, trusted_rows
from unflip.noise import ClassConditionalNoise, NoiseEstimate
from unflip.noise.curve import Curve, fit_curve, normal_scores
from unflip.noise.estimate import CONFIDENCE, along_and_agree, estimate_rate, summary

STEPS = np.array([0.0, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, *np.arange(0.1, 0.49, 0.025)])
NEARLY = 5.0  # nats below the best curve
CERTAIN = 0.5  # of the rows of each likely class, the most certain ones, stand for that class


@dataclass(frozen=True, eq=False, repr=False)
class AuditEstimate(NoiseEstimate):
    """A `NoiseEstimate` with what an audit adds.

    by_class: for each class its flip rate with an interval, (rate, low, high), where it was asked for or
    two classes allow; by_annotator: an estimate for each annotator.
    """

    by_class: dict[Any, tuple[float, float, float]] = field(default_factory=dict)
    by_annotator: dict[Any, NoiseEstimate] = field(default_factory=dict)


def estimate_noise(
    X: Any,
    y: Any,
    *,
    scores: Any = None,
    groups: Any = None,
    trusted: Any = None,
    annotator: Any = None,
    class_conditional: bool = False,
    sample_weight: Any = None,
    random_state: Any = 0,
) -> AuditEstimate:
    """How many labels are wrong, with a 90 % interval, from labels that are all suspect.

    scores: (n,) or (n, K), of your own model, which must not have seen the label of the row it scores; in
    place of our own leave-one-out scores, and X may then be None. groups: rows that belong together and
    leave together.
    trusted: rows known to be right, as a mask or as numbers: they show how classes overlap, so that overlap
    is not taken for noise; the rate is that of the other rows. annotator: who gave each label; every one
    gets an estimate.
    class_conditional: let every class have a rate of its own; `noise` is then a `ClassConditionalNoise`.

    The interval assumes that flips do not depend on the row and that some rows are certain. `outer` does not.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unflip.noise import flip_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = estimate_noise(X, flip_labels(y, 0.2, rng=0))
    >>> found.low < 0.2 < found.high, found.high < found.outer + 1e-9
    (True, True)
    """
    honest = honest_scores(X, y, scores, groups, sample_weight, random_state)
    sure = np.isin(honest.rows, trusted_rows(trusted, honest.given_rows))
    known = sure if trusted is not None else None
    estimate, curve = estimate_rate(honest.scores, honest.member, known)
    plain = {name: getattr(estimate, name) for name in NoiseEstimate.__dataclass_fields__}
    found = AuditEstimate(**plain)
    if len(honest.classes) == 2:
        found = _with_two_rates(found, honest, known, class_conditional)
    elif class_conditional:
        found = _with_table(found, honest, sure)
    if annotator is not None:
        found = replace(found, by_annotator=_by_annotator(honest, curve, estimate.rates, sure, annotator))
    return found


def _with_two_rates(
    found: AuditEstimate, honest: Honest, trusted: Array | None, wanted: bool
) -> AuditEstimate:
    """A rate for each class: plateaus r0 and 1 - r1. An alarm if their intervals do not meet."""
    r0, r1 = (grid.ravel() for grid in np.meshgrid(STEPS, STEPS, indexing="ij"))
    member = honest.member
    z = normal_scores(honest.scores, member.sum(axis=1))
    width = np.gradient(STEPS)
    prior = np.outer(width, width).ravel()
    curve = fit_curve(z, member[:, 1], member[:, 0], r0, 1 - r1, prior, trusted=trusted, skewed=True)
    mass, best = (grid.reshape(len(STEPS), -1) for grid in (curve.marginal, curve.best))
    rates = [_interval(STEPS, mass.sum(axis=1 - axis), best.max(axis=1 - axis)) for axis in (0, 1)]
    by_class = dict(zip(honest.classes.tolist(), rates, strict=True))
    (a, a_low, a_high), (b, b_low, b_high) = rates
    found = replace(found, by_class=by_class)
    if a_low > b_high or b_low > a_high:
        words = (
            f"the classes seem to be flipped at different rates ({a:.2f} and {b:.2f}), so that one rate "
            "misleads; use class_conditional=True"
        )
        found = replace(found, warnings=(*found.warnings, words))
    if wanted:
        share = member.sum(axis=0) / member.sum()
        noise = ClassConditionalNoise([min(a, 0.499), min(b, 0.499)])
        clean = np.clip(noise.unmix(share[:, None])[:, 0], 0.0, 1.0)
        found = _with_rates(found, noise, np.array(rates), clean)
    return found


def _with_table(found: AuditEstimate, honest: Honest, trusted: Array) -> AuditEstimate:
    """P(noisy class | clean class), read off the rows that are most certainly of each class."""
    scores, member = honest.scores, honest.member
    ordered = np.sort(scores, axis=1)
    margin, likely = ordered[:, -1] - ordered[:, -2], scores.argmax(axis=1)
    table = np.eye(len(honest.classes))
    by_class = {}
    for k, label in enumerate(honest.classes.tolist()):
        here = (likely == k) & ~trusted
        if here.sum() < 5:
            raise ValueError(
                f"only {here.sum()} rows look like class {label!r}: too few to tell how it is flipped"
            )
        certain = here & (margin >= np.quantile(margin[here], 1 - CERTAIN))
        counts = member[certain].sum(axis=0)
        table[k] = counts / counts.sum()
        wrong, total = counts.sum() - counts[k], counts.sum()
        draws = np.random.default_rng(0).beta(wrong + 0.5, counts[k] + 0.5, 4000) if total else np.zeros(1)
        low, high = np.quantile(draws, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
        by_class[label] = (float(wrong / total), float(low), float(high))
    words = (
        "the table takes the most certain rows of each class for right: overlap of classes counts as noise"
    )
    found = replace(found, by_class=by_class, warnings=(*found.warnings, words))
    noise = ClassConditionalNoise(table)
    return _with_rates(found, noise, np.array(list(by_class.values())), member.sum(axis=0))


def _with_rates(
    found: AuditEstimate, noise: ClassConditionalNoise, rates: Array, shares: Array
) -> AuditEstimate:
    """The share of wrong labels and its interval, from those of the classes, (K, 3), and their sizes."""
    rate, low, high = (shares / shares.sum() @ rates).tolist()
    nothing = np.zeros(0)  # the posterior was that of one rate for all
    return replace(found, noise=noise, rate=rate, low=low, high=high, rates=nothing, masses=nothing)


def _by_annotator(
    honest: Honest, curve: Curve, rates: Array, trusted: Array, annotator: Any
) -> dict[Any, NoiseEstimate]:
    found = {}
    _, agree = along_and_agree(honest.scores, honest.member)
    weight = honest.member.sum(axis=1)
    right = agree if honest.scores.ndim > 1 else np.where(honest.scores > 0, agree, weight - agree)
    for name, (mine, theirs) in annotator_curves(honest, curve, rates, trusted, annotator).items():
        total = float(weight[mine].sum())
        found[name] = summary(theirs, rates, len(honest.classes), float(right[mine].sum()), total, [])
    return found


def _interval(values: Array, mass: Array, best: Array) -> tuple[float, float, float]:
    """Median and 90 % interval of masses on a grid, as a class's rate.

    best: the log likelihood of the best curve at each value. The low end admits what some curve explains
    nearly as well: rows of a rare class that are badly ordered look like noise in that class.
    """
    edges = np.concatenate([[0.0], (values[1:] + values[:-1]) / 2, [0.5]])
    grown = np.concatenate([[0.0], np.cumsum(mass / mass.sum())])
    tail = (1 - CONFIDENCE) / 2
    low, middle, high = np.interp([tail, 0.5, 1 - tail], grown, edges).tolist()
    low = min(low, float(values[best >= -NEARLY].min()))
    return middle, (0.0 if low < 0.01 else low), high
