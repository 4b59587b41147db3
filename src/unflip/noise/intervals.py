"""Corrected scores with an interval that carries both of their doubts.

A corrected score is doubtful twice: the noisy score comes from finitely many rows, and the rate it is
corrected for is itself an estimate. Both are drawn many times, each noisy score is corrected for its rate,
and the interval is read off the corrected scores. The two are drawn independently. Where the same rows gave
both, their errors partly cancel (labels that were unlucky in both look noisier and score worse), so the
interval is then rather too wide than too narrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from unflip.border.arrays import Array
from unflip.border.weights import as_weight
from unflip.noise.estimate import CONFIDENCE, NoiseEstimate, identified_noise
from unflip.noise.metrics import clean_accuracy, clean_auc
from unflip.noise.models import ClassConditionalNoise, Noise, SymmetricNoise, UniformNoise, as_noise
from unflip.noise.scorers import METRICS, balanced_accuracy_from_table

DRAWS = 2000
LARGEST_RATES = 0.95  # of what rates by class can be: beyond it labels carry next to nothing


@dataclass(frozen=True)
class ScoreEstimate:
    """A score on clean labels and how well it is known.

    estimate: the noisy score, corrected for the likeliest noise. low, high: the interval. noisy: the score
    on the labels as they are.

    >>> ScoreEstimate(0.9, 0.85, 0.96, 0.74)
    ScoreEstimate(estimate=0.9, low=0.85, high=0.96, noisy=0.74)
    """

    estimate: float
    low: float
    high: float
    noisy: float


def clean_score_interval(
    metric: str,
    y: Any,
    predicted: Any,
    noise: NoiseEstimate | Noise | float,
    *,
    confidence: float = CONFIDENCE,
    sample_weight: Any = None,
    classes: Any = None,
    rng: Generator | int | None = 0,
) -> ScoreEstimate:
    """The score that a fixed classifier has on clean labels, from fresh noisy ones, with an interval.

    metric: "accuracy", "balanced_accuracy", or "roc_auc" (two classes). y: noisy labels that the classifier
    did not learn from. predicted: its answers for the same rows; for "roc_auc" its scores, larger for the
    second class. noise: an estimate, whose doubt goes into the interval, or a model or a rate that is known.
    sample_weight: how many rows each row stands for. classes: all classes, where the labels may lack one.

    Doubt of the noisy score: the accuracy is drawn from Jeffreys' Beta; for balanced accuracy the recall of
    each noisy class is (from a Dirichlet over the answers, with more classes), and the class sizes too; for
    AUC, a Beta with DeLong's variance. Doubt of the rate: its posterior, stretched so that its 5 % and 95 %
    quantiles are the estimate's `low` and `high`. Draws with a rate that cannot have given labels so uneven
    are left out. A clean score lies in [0, 1], so everything but `noisy` is clipped to that.

    >>> y, predicted = np.repeat([0, 1], 500), np.repeat([0, 1, 0, 1], [370, 130, 130, 370])
    >>> found = clean_score_interval("accuracy", y, predicted, 0.2)
    >>> round(found.estimate, 3), round(found.low, 2), round(found.high, 2), found.noisy
    (0.9, 0.86, 0.94, 0.74)
    """
    if metric not in METRICS:
        raise ValueError(f"metric is one of {', '.join(METRICS)}, got {metric!r}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence lies strictly between 0 and 1, got {confidence!r}")
    labels, answers = np.asarray(y), np.asarray(predicted)
    known = _known_classes(metric, labels, answers, classes)
    model = as_noise(identified_noise(noise), len(known))
    weight = as_weight(sample_weight, len(labels))
    generator = np.random.default_rng(rng)
    by_class = metric == "accuracy" and isinstance(model, ClassConditionalNoise)
    seen = (_see_table if by_class else _SEEN[metric])(labels, answers, weight, known, generator)

    estimate = seen.correct(model, seen.score)
    tail = (1 - confidence) / 2
    ends, draws = [estimate], list(seen.draws)
    if isinstance(noise, NoiseEstimate):
        spread = noise.quantile((generator.permutation(DRAWS) + 0.5) / DRAWS)
        # Either end of the rate's interval may be the truth, and the noisy score is as doubtful there.
        edges = [np.full(DRAWS, rate) for rate in noise.quantile([tail, 1 - tail])]
        spreads = [_at_rates(seen, model, rates, noise.rate, draws) for rates in (spread, *edges)]
    else:
        spreads = [_corrected(seen.correct, [model] * DRAWS, draws)]
    for values in spreads:
        if len(values):
            ends += np.quantile(values, [tail, 1 - tail]).tolist()
    best, low, high = np.clip([estimate, min(ends), max(ends)], 0, 1).tolist()
    return ScoreEstimate(best, low, high, seen.noisy)


class _Seen(NamedTuple):
    """A noisy score, what its correction needs, draws of the latter, and the correction.

    at_rates: corrects all draws at once, each for its rate of uniform noise among so many classes.
    """

    noisy: float
    score: Any
    draws: Iterable[Any]
    correct: Callable[[Noise, Any], float]
    at_rates: Callable[[Array, int, Array], Array] | None = None


def _see_accuracy(labels: Array, answers: Array, weight: Array, known: Array, rng: Generator) -> _Seen:
    right, wrong = (float(weight[held].sum()) for held in (labels == answers, labels != answers))
    noisy = right / (right + wrong)
    draws = rng.beta(right + 0.5, wrong + 0.5, DRAWS)
    return _Seen(noisy, noisy, draws, _accuracy, _accuracies)


def _accuracy(noise: Noise, score: float) -> float:
    return float(clean_accuracy(score, noise))


def _accuracies(rates: Array, n_classes: int, scores: Array) -> Array:
    """What `clean_accuracy` says, without the scores at rates at which labels carry nothing."""
    stay, confuse = 1 - rates, rates / (n_classes - 1)
    known = stay > confuse
    return np.asarray((scores - confuse)[known] / (stay - confuse)[known])


def _see_table(labels: Array, answers: Array, weight: Array, known: Array, rng: Generator) -> _Seen:
    """Accuracy where classes have rates of their own: it depends on which labels meet which answers."""
    table = _table(labels, answers, weight, known)
    draws = rng.dirichlet(table.ravel() + 1 / table.size, DRAWS).reshape(-1, *table.shape)
    noisy = float(np.trace(table) / table.sum())
    return _Seen(noisy, table / table.sum(), draws, _accuracy_from_table)


def _accuracy_from_table(noise: Noise, table: Array) -> float:
    try:
        return float(np.trace(np.linalg.solve(noise.transition.T, table)))
    except np.linalg.LinAlgError:
        raise ValueError(f"under {noise!r} some classes look alike") from None


def _table(labels: Array, answers: Array, weight: Array, known: Array) -> Array:
    """The weight of the rows with each label, a row, and each answer, a column."""
    k = len(known)
    cell = np.searchsorted(known, labels) * k + np.searchsorted(known, answers)
    return np.bincount(cell, weight, k * k).reshape(k, k)


def _see_balanced(labels: Array, answers: Array, weight: Array, known: Array, rng: Generator) -> _Seen:
    k, table = len(known), _table(labels, answers, weight, known)
    sizes = table.sum(axis=1)
    held = sizes > 0
    # Half a row right and half a row wrong, which is Jeffreys' Beta for every recall.
    prior = table + np.where(np.eye(k, dtype=bool), 0.5, 0.5 / (k - 1))
    shares = rng.dirichlet(sizes + 0.5, DRAWS)
    rows = (rng.standard_gamma(prior) for _ in range(DRAWS))  # a Dirichlet for each, once they sum to one
    draws = (row * (share / row.sum(axis=1))[:, None] for row, share in zip(rows, shares, strict=True))
    return _Seen(
        float(np.mean(np.diag(table)[held] / sizes[held])),
        table / table.sum(),
        draws,
        lambda noise, drawn: balanced_accuracy_from_table(drawn, noise, known),
    )


def _see_auc(labels: Array, scores: Array, weight: Array, known: Array, rng: Generator) -> _Seen:
    """The AUC is a mean of placements: of each row, the share of the other class that it is ahead of."""
    place = np.unique(scores, return_inverse=True)[1]
    zeros, ones = (np.bincount(place, weight * (labels == name), place.max() + 1) for name in known)
    n0, n1 = zeros.sum(), ones.sum()
    if not min(n0, n1) > 0:
        raise ValueError("the AUC needs rows of both classes, with weight")
    ahead = (np.cumsum(zeros) - zeros / 2) / n0  # of a one, among zeros; a tie counts one half
    behind = 1 - (np.cumsum(ones) - ones / 2) / n1
    noisy = float(ones @ ahead / n1)
    # DeLong's variance, and in each class one row more that knows nothing: where all placements agree the
    # plain variance is zero. The Beta with this mean and variance is then Jeffreys' for the smaller class.
    unsure = (noisy - 0.5) ** 2
    variance = (ones @ (ahead - noisy) ** 2 + unsure) / n1**2 + (
        zeros @ (behind - noisy) ** 2 + unsure
    ) / n0**2
    middle = noisy + (0.5 - noisy) / (min(n0, n1) + 1)
    worth = max(middle * (1 - middle) / max(variance, 1e-300) - 1, 1.0)  # so many tosses of a coin
    draws = rng.beta(worth * middle, worth * (1 - middle), DRAWS)
    shares = rng.beta(n1 + 0.5, n0 + 0.5, DRAWS)
    return _Seen(
        noisy,
        (noisy, n1 / (n0 + n1)),
        zip(draws, shares, strict=True),
        lambda noise, drawn: float(clean_auc(drawn[0], noise, drawn[1])),
    )


_SEEN = {"accuracy": _see_accuracy, "balanced_accuracy": _see_balanced, "roc_auc": _see_auc}


def _at_rates(seen: _Seen, model: Noise, rates: Array, wrong: float, draws: list[Any]) -> Array | list[float]:
    """The draws, each corrected for the model at its rate, of which `wrong` is the estimate."""
    if seen.at_rates is not None and isinstance(model, SymmetricNoise | UniformNoise):
        return seen.at_rates(rates, model.n_classes, np.asarray(draws))
    models = {rate: _at(model, rate, wrong) for rate in set(rates.tolist())}
    return _corrected(seen.correct, [models[rate] for rate in rates.tolist()], draws)


def _corrected(
    correct: Callable[[Noise, Any], float], models: list[Noise], scores: Iterable[Any]
) -> list[float]:
    """The scores, each corrected for its noise; without those whose labels that noise cannot have given."""
    values = []
    for noise, score in zip(models, scores, strict=True):
        with suppress(ValueError):
            values.append(correct(noise, score))
    return values


def _at(model: Noise, rate: float, wrong: float) -> Noise:
    """The model of an estimate at another rate; rates by class, which make `wrong`, grow all alike."""
    if isinstance(model, SymmetricNoise | UniformNoise):
        return replace(model, rate=float(rate))
    if not isinstance(model, ClassConditionalNoise):
        raise ValueError(
            f"how well a rate is known says little about {model!r}; pass the model as known noise"
        )
    same, table = np.eye(model.n_classes), model.transition
    flipped = 1 - np.diag(table)
    # Rates are at most one, and those of two classes sum to less.
    most = 1 / max(float(flipped.sum() if model.n_classes == 2 else flipped.max()), 1e-300)
    grown = same + min(rate / max(wrong, 1e-300), LARGEST_RATES * most) * (table - same)
    return ClassConditionalNoise(grown)


def _known_classes(metric: str, labels: Array, answers: Array, classes: Any) -> Array:
    """The classes, sorted; refuses rows that do not speak of them."""
    name = "scores" if metric == "roc_auc" else "answers"
    for what, given in (("labels", labels), (name, answers)):
        if given.ndim != 1:
            raise ValueError(f"{what} form one column, got an array of shape {given.shape}")
    if len(labels) != len(answers):
        raise ValueError(f"there are {len(answers)} {name} for {len(labels)} labels")
    known = np.unique(labels if classes is None else np.asarray(classes))
    if len(known) < 2:
        raise ValueError(f"labels of at least two classes are needed, got {known.tolist()}")
    for what, given in (("label", labels), *([("answer", answers)] if name == "answers" else [])):
        strange = given[~np.isin(given, known)]
        if len(strange):
            raise ValueError(f"the {what} {strange.tolist()[0]!r} is not among the classes {known.tolist()}")
    if name == "scores":
        if len(known) > 2:
            raise ValueError(f"the AUC is corrected for two classes, got {known.tolist()}")
        bad = np.flatnonzero(~np.isfinite(answers.astype(np.float64)))
        if len(bad):
            raise ValueError(f"the score of row {bad[0]} is {answers[bad[0]]}; scores are finite")
    return known
