"""How much accuracy a classifier loses as more of its training labels are wrong.

Flip training labels on purpose, fit, and score on test labels that stay as they are. All randomness
comes from the seed and none from the estimator: two estimators under one seed meet the same splits and
the same wrong labels, so the difference of their curves is a paired one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.utils.parallel import Parallel, delayed

from unflip.border.arrays import Array
from unflip.noise import as_noise, flip_labels
from unflip.sources import encode

CURVE_RATES = (0.0, 0.1, 0.2, 0.3, 0.4)


@dataclass(frozen=True, eq=False, repr=False)
class RobustnessCurve:
    """Accuracies of one classifier, a row for each noise rate and a column for each repeat.

    >>> RobustnessCurve("mine", [0.0, 0.25], [[1.0, 0.9], [0.8, 0.7]])
    RobustnessCurve('mine', repeats=2, accuracy={0: 0.950±0.050, 0.25: 0.750±0.050})
    """

    name: str
    rates: Array  # (R,)
    scores: Array  # (R, repeats)

    def __post_init__(self) -> None:
        rates, scores = np.array(self.rates, dtype=np.float64), np.array(self.scores, dtype=np.float64)
        if rates.ndim != 1 or scores.ndim != 2 or len(rates) != len(scores) or not scores.size:
            raise ValueError(
                "a curve has a row of scores for each rate, one column a repeat; "
                f"got rates of shape {rates.shape} and scores of shape {scores.shape}"
            )
        for field, values in (("rates", rates), ("scores", scores)):
            values.flags.writeable = False
            object.__setattr__(self, field, values)

    @property
    def mean(self) -> Array:
        """The mean accuracy at each rate.

        >>> RobustnessCurve("mine", [0.0], [[1.0, 0.5]]).mean.tolist()
        [0.75]
        """
        return self.scores.mean(axis=1)

    @property
    def std(self) -> Array:
        """The standard deviation over the repeats at each rate, divided by n as scikit-learn's displays do.

        >>> RobustnessCurve("mine", [0.0], [[1.0, 0.5]]).std.tolist()
        [0.25]
        """
        return self.scores.std(axis=1)

    def __repr__(self) -> str:
        points = zip(self.rates, self.mean, self.std, strict=True)
        listed = ", ".join(f"{rate:g}: {mean:.3f}±{std:.3f}" for rate, mean, std in points)
        return f"RobustnessCurve({self.name!r}, repeats={self.scores.shape[1]}, accuracy={{{listed}}})"


def robustness_curve(
    estimator: Any,
    X: Any,
    y: Any,
    rates: Iterable[Any] = CURVE_RATES,
    *,
    test_size: float | int = 0.3,
    repeats: int = 5,
    random_state: int | np.random.Generator | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
    scoring: Callable[[Any, Any, Any], float] | None = None,
) -> RobustnessCurve:
    """The accuracy of any scikit-learn classifier when a share of its training labels is wrong.

    Each repeat draws one stratified split and one coin for each training label. At each rate the labels
    whose coin falls below it are flipped, to any other class alike; so a higher rate flips the same
    labels and more (with three classes or more, not always to the same wrong class). A clone is fitted
    on them and scored on the untouched test labels.

    Noise that is already in `y` is not undone: it composes with the noise added (two classes: a, then b,
    make a + b - 2ab), and the test labels have it too. Where that rate is known,
    `unflip.noise.clean_accuracy` turns the mean into the accuracy on clean labels.

    A rate lies in [0, 1/2) for two classes and in [0, (K - 1) / K) for K. `test_size` is a share or a
    number of rows. `random_state` decides splits and coins; `None` draws anew at each call. Randomness
    inside the estimator is the estimator's own: give it a `random_state` to have a curve again. `scoring`
    takes a fitted estimator, X and y, and stands in place of the accuracy; `clean_scorer` makes such.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from unflip import UnhingedClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> unhinged = make_pipeline(StandardScaler(), UnhingedClassifier())
    >>> robustness_curve(unhinged, X, y, rates=(0.0, 0.4)).mean.round(1).tolist()
    [0.9, 0.9]
    >>> robustness_curve(KNeighborsClassifier(1), X, y, rates=(0.0, 0.4)).mean.round(1).tolist()
    [0.9, 0.6]
    """
    if not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        raise TypeError(
            f"a classifier with fit and predict is needed, got a {type(estimator).__name__}; "
            "RobustnessCurveDisplay.from_estimator takes a dictionary of several"
        )
    labels = _hard_labels(y)
    classes = np.unique(labels)
    rates = tuple(rates)
    if not rates:
        raise ValueError("at least one noise rate is needed, got none")
    for rate in rates:
        as_noise(rate, len(classes))  # refuses a bad rate before the first fit
    draws = _draws(random_state, repeats)
    scores = Parallel(n_jobs=n_jobs)(
        delayed(_score)(estimator, X, labels, classes, rate, test_size, split, coins, scoring)
        for rate in rates
        for split, coins in draws
    )
    table = np.reshape(scores, (len(rates), repeats))
    return RobustnessCurve(type(estimator).__name__, np.array([float(rate) for rate in rates]), table)


def _score(
    estimator: Any,
    X: Any,
    labels: Array,
    classes: Array,
    rate: Any,
    test_size: float | int,
    split: int,
    coins: np.random.SeedSequence,
    scoring: Callable[[Any, Any, Any], float] | None,
) -> float:
    X_train, X_test, y_train, y_test = train_test_split(
        X, labels, test_size=test_size, stratify=labels, random_state=split
    )
    # A generator made anew from the same seed: every rate sees the same coins. All classes are named,
    # for a rare one may have no training row.
    noisy = flip_labels(y_train, rate, np.random.default_rng(coins), classes=classes)
    model = clone(estimator).fit(X_train, noisy)
    if scoring is not None:
        return float(scoring(model, X_test, y_test))
    return float(accuracy_score(y_test, model.predict(X_test)))  # Equation 3


def _hard_labels(y: Any) -> Array:
    """One class for each row, as a plain array.

    >>> _hard_labels(["no", "yes"]).tolist()
    ['no', 'yes']
    """
    encoded = encode(y)
    if not encoded.hard:
        raise ValueError("labels to flip are classes, one a row; got probabilities")
    return encoded.classes[encoded.table.indices]


def _draws(random_state: Any, repeats: int) -> list[tuple[int, np.random.SeedSequence]]:
    """For each repeat the seed of its split and the seed of its coins."""
    if not isinstance(repeats, Integral) or repeats < 1:
        raise ValueError(f"repeats is a whole number from 1 on, got {repeats!r}")
    pairs = (child.spawn(2) for child in np.random.SeedSequence(seed_of(random_state)).spawn(int(repeats)))
    return [(int(split.generate_state(1)[0]), coins) for split, coins in pairs]


def seed_of(random_state: Any) -> Any:
    """A number that stands for `random_state`; drawn from it where it is a generator."""
    if random_state is None:
        return np.random.SeedSequence().entropy
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return random_state
