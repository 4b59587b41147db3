"""Learners side by side on rows that they did not see, as their training labels get worse.

For a fixed classifier the accuracy on noisy labels rises with that on clean ones, so the labels at hand can
say who is better, though not how good.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unflip.audit.robustness import RobustnessCurve, robustness_curve
from unflip.estimators import SquareClassifier, UnhingedClassifier
from unflip.estimators.kernel import KernelUnhingedClassifier
from unflip.features import Standardize
from unflip.noise import NoiseEstimate, clean_accuracy
from unflip.noise.estimate import is_identified
from unflip.selection import RobustClassifierCV

Array = np.ndarray[Any, Any]
RATES = (0.0, 0.2, 0.4)  # for two classes; for more, these shares of the way to pure noise over a half
REPEATS, ENOUGH = 3, 2000  # of the comparison; one, where a split has so many rows to judge by
TAUGHT, JUDGED = 700, 2000  # rows to learn from and to be judged by, so few that the page comes at once
MANY, TIMES = 20_000, 3  # larger tables have so many times the rows
FEWEST = 5  # rows of a class
SIMPLEST = ("unhinged", "square", "robust")  # who is preferred among equals: one pass, then closed form


@dataclass(frozen=True, eq=False)
class Learner:
    """One learner: its accuracy on held-out noisy labels, what that is on clean ones, and its curve."""

    name: str
    words: str
    curve: RobustnessCurve
    clean: float | None
    judged: int

    @property
    def accuracy(self) -> float:
        """On held-out labels as they are."""
        return float(self.curve.mean[0])

    @property
    def error(self) -> float:
        """The standard error of the accuracy, from the number of rows that were judged."""
        return float(np.sqrt(max(self.accuracy * (1 - self.accuracy), 1e-12) / self.judged))

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
    taught, judged = (TIMES * rows if n > MANY else rows for rows in (TAUGHT, JUDGED))
    taught = min(taught, 7 * n // 10)
    return taught, min(judged, n - taught)


def compare(X: Array, y: Array, noise: NoiseEstimate, seed: int, against: Any = None) -> tuple[Learner, ...]:
    """The learners on a sample of the rows, all with the same splits and the same flipped labels."""
    rng = np.random.default_rng(seed)
    taught, judged = taught_and_judged(len(y))
    some = np.sort(rng.permutation(len(y))[: taught + judged])
    codes = np.unique(y[some], return_inverse=True)[1]
    common = np.bincount(codes) >= FEWEST
    if np.count_nonzero(common) < 2:
        raise ValueError(f"there are too few rows to compare learners: two classes need {FEWEST} rows each")
    some = some[common[codes]]  # others could not be on both sides of a split
    test_size, repeats = judged / len(some), 1 if judged >= ENOUGH else REPEATS
    n_classes = np.count_nonzero(common)
    rates = [2 * rate * (n_classes - 1) / n_classes for rate in RATES]
    found = []
    for name, words, estimator in _rivals(against):
        curve = robustness_curve(
            estimator, X[some], y[some], rates, test_size=test_size, repeats=repeats, random_state=seed
        )
        clean = None
        if is_identified(noise):
            clean = float(np.clip(clean_accuracy(float(curve.mean[0]), noise.noise), 0.0, 1.0))
        found.append(Learner(name, words, curve, clean, judged * repeats))
    return tuple(found)


def recommend(learners: tuple[Learner, ...]) -> Recommended:
    """The most accurate learner, or the simplest of ours within a standard error of it."""
    best = max(learners, key=lambda learner: learner.accuracy)
    near = {learner.name: learner for learner in learners if learner.accuracy >= best.accuracy - best.error}
    chosen = next((near[name] for name in SIMPLEST if name in near), best)
    held_out = f"{100 * chosen.accuracy:.1f} % of held-out labels"
    if chosen is best:
        why = (
            f"it agrees with the most, {held_out}, and what is better on noisy labels is better on clean ones"
        )
    else:
        rival = f"{best.name} ({100 * best.accuracy:.1f} %)"
        why = f"it agrees with {held_out}, within a standard error of {rival}, and is simpler"
    return Recommended(chosen.name, why)


def _rivals(against: Any) -> list[tuple[str, str, Any]]:
    rivals = [
        ("unhinged", "class means; one pass, merges, forgets", UnhingedClassifier(features=Standardize())),
        ("square", "least squares; one pass, merges, forgets", SquareClassifier(features=Standardize())),
        (
            "kernel",
            "kernel means; every row is kept",
            make_pipeline(StandardScaler(), KernelUnhingedClassifier()),
        ),
        ("robust", "kernels chosen by leave-one-out", RobustClassifierCV(feature_weights=False)),
        ("logistic", "the usual choice", make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))),
    ]
    if against is not None:
        rivals.append((type(against).__name__, "your choice", against))
    return rivals
