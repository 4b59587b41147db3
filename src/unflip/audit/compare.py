"""Learners side by side on rows that they did not see, as their training labels get worse.

For a fixed classifier the accuracy on noisy labels rises with that on clean ones, so the labels at hand can
say who is better, though not how good. Where classes are flipped at different rates that is not so, and
accuracies are corrected for the rates first.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from unflip._words import share
from unflip.audit.robustness import RobustnessCurve, robustness_curve
from unflip.border.arrays import Array
from unflip.models.learners import TABLE_LEARNERS
from unflip.noise import NoiseEstimate, clean_accuracy, clean_scorer
from unflip.noise.words import is_by_class, is_told
from unflip.robust.copies import copies

COMPARED_RATES = (
    0.0,
    0.2,
    0.4,
)  # for two classes; for more, these shares of the way to pure noise over a half
REPEATS, ENOUGH_TEST_ROWS = 3, 2000  # of the comparison; one, where a split has so many rows to judge by
TAUGHT, JUDGED = 700, 2000  # rows to learn from and to be judged by, so few that the page comes at once
MANY_ROWS, TIMES_THE_ROWS = 20_000, 3  # larger tables have so many times the rows
FEWEST_ROWS_OF_CLASS = 5  # rows of a class
PREFERRED = {  # among equals, the first of these, and why
    "unhinged": "is simpler",
    "square": "is simpler",
    "robust": "gives probabilities of clean labels",
}


@dataclass(frozen=True, eq=False)
class Learner:
    """One learner: its accuracy on held-out noisy labels, what that is on clean ones, and its curve.

    judged: how many rows the accuracy is of; stretch: by how much a correction of the curve makes it less
    sure, 1 where accuracies are those on labels as they are.
    """

    name: str
    words: str
    curve: RobustnessCurve
    clean: float | None
    judged: int
    stretch: float = 1.0

    @property
    def accuracy(self) -> float:
        """On held-out labels as they are, or corrected for the rates by class."""
        return float(self.curve.mean[0])

    @property
    def error(self) -> float:
        """The standard error of the accuracy, from the number of rows that were judged."""
        noisy = float(np.clip(self.accuracy, 0.0, 1.0))
        return float(np.sqrt(max(noisy * (1 - noisy), 1e-12) / self.judged)) * self.stretch

    @property
    def corrected(self) -> bool:
        """Whether accuracies are corrected for the rates by class."""
        return self.stretch > 1

    @property
    def kept(self) -> float:
        """Accuracy at the highest rate over that without added noise."""
        return float(self.curve.mean[-1] / self.curve.mean[0])


@dataclass(frozen=True)
class Recommended:
    """Which learner to use, and why."""

    name: str
    why: str


def taught_and_judged(n: int) -> tuple[int, int]:
    """How many rows of n learners are fitted to, and compared on.

    >>> taught_and_judged(400), taught_and_judged(5000), taught_and_judged(100_000)
    ((280, 120), (700, 2000), (2100, 6000))
    """
    taught, judged = (TIMES_THE_ROWS * rows if n > MANY_ROWS else rows for rows in (TAUGHT, JUDGED))
    taught = min(taught, 7 * n // 10)
    return taught, min(judged, n - taught)


def compare(X: Array, y: Array, noise: NoiseEstimate, seed: int, against: Any = None) -> tuple[Learner, ...]:
    """The learners on a sample of the rows, all with the same splits and the same flipped labels."""
    rng, same = np.random.default_rng(seed), copies(X)
    # Copies on both sides of a split would be recognised, wrong labels and all.
    rows = np.arange(len(y)) if same is None else np.unique(same, return_index=True)[1]
    taught, judged = taught_and_judged(len(rows))
    some = np.sort(rng.permutation(rows)[: taught + judged])
    codes = np.unique(y[some], return_inverse=True)[1]
    common = np.bincount(codes) >= FEWEST_ROWS_OF_CLASS
    if np.count_nonzero(common) < 2:
        raise ValueError(
            f"there are too few rows to compare learners: two classes need {FEWEST_ROWS_OF_CLASS} rows each"
        )
    some = some[common[codes]]  # others could not be on both sides of a split
    test_size, repeats = judged / len(some), 1 if judged >= ENOUGH_TEST_ROWS else REPEATS
    n_classes = np.count_nonzero(common)
    rates = [2 * rate * (n_classes - 1) / n_classes for rate in COMPARED_RATES]
    scoring, stretch = None, 1.0
    by_class = is_by_class(noise) and is_told(noise)
    if by_class and n_classes == noise.noise.n_classes:
        scoring = clean_scorer("accuracy", noise)
        undone = np.linalg.inv(noise.noise.transition)
        stretch = float(np.ptp(undone, axis=0).max())  # by how much one label can change the sum
    found = []
    for name, words, estimator in _rivals(against):
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", "class .* has one row", UserWarning
            )  # of a split, not of the table
            curve = robustness_curve(
                estimator,
                X[some],
                y[some],
                rates,
                test_size=test_size,
                repeats=repeats,
                random_state=seed,
                scoring=scoring,
            )
        clean = None
        if scoring is not None:
            clean = float(np.clip(curve.mean[0], 0.0, 1.0))
        elif is_told(noise) and not is_by_class(noise):
            clean = float(np.clip(clean_accuracy(float(curve.mean[0]), noise.noise), 0.0, 1.0))
        found.append(Learner(name, words, curve, clean, judged * repeats, stretch))
    return tuple(found)


def recommend(learners: tuple[Learner, ...]) -> Recommended:
    """The most accurate learner that `unflip fit` fits, or one that is preferred within a standard error."""
    ours = [learner for learner in learners if learner.name in TABLE_LEARNERS]
    best, first = (max(some, key=lambda learner: learner.accuracy) for some in (ours, learners))
    near = {learner.name: learner for learner in ours if learner.accuracy >= best.accuracy - best.error}
    chosen = next((near[name] for name in PREFERRED if name in near), best)
    matched = f"matches {_percent(chosen)} of held-out labels"
    if chosen.corrected:
        matched = f"would match {_percent(chosen)} of clean labels, at the rates by class"
    if chosen is not best:
        better = f"{best.name} ({_percent(best)})"
        why = f"it {matched}, within a standard error of {better}, and {PREFERRED[chosen.name]}"
    elif first is best:
        why = f"it {matched}, the highest of the {len(learners)}"
    else:
        why = f"it {matched}, the highest of those that unflip fits"
    if first is not best and first.accuracy > chosen.accuracy + first.error:
        why += f"; {first.name}, which you compare with, is ahead with {_percent(first)}"
    return Recommended(chosen.name, why)


def _percent(learner: Learner) -> str:
    return share(learner.accuracy)


def _rivals(against: Any) -> list[tuple[str, str, Any]]:
    rivals = [(name, learner.words, learner.make()) for name, learner in TABLE_LEARNERS.items()]
    if against is not None:
        rivals.append((type(against).__name__, "your choice", against))
    return rivals
