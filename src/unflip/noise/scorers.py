"""Scorers for model selection on noisy labels, reporting the score on clean ones."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from unflip.border.arrays import Array
from unflip.noise.estimate import NoiseEstimate, identified_noise
from unflip.noise.metrics import clean_auc
from unflip.noise.models import Noise, as_noise

METRICS = ("accuracy", "balanced_accuracy", "roc_auc")


def clean_scorer(metric: str, noise: NoiseEstimate | Noise | float) -> CleanScorer:
    """A scorer for scikit-learn's `scoring=`: the metric on noisy labels, corrected for the noise.

    `metric` is "accuracy", "balanced_accuracy" or "roc_auc" (two classes). The first two are read off
    the table of labels against predictions, with the noise of the labels undone, so they also serve
    class-conditional noise and any class sizes. Under symmetric noise the corrected accuracy is an
    increasing function of the noisy one and changes no choice. The corrections of the others depend on the
    share of each class in the fold; a fold whose shares the noise cannot explain raises. With few rows
    a corrected score can leave [0, 1]; it is not clipped, so that averages stay honest. A `NoiseEstimate`
    stands for its likeliest rate, and is refused where the labels could not tell the rate;
    `clean_score_interval` also carries its doubt.

    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]},
    ...                       scoring=clean_scorer("accuracy", 0.2))
    """
    if metric not in METRICS:
        raise ValueError(f"metric is one of {', '.join(METRICS)}, got {metric!r}")
    model = identified_noise(noise)
    if not isinstance(model, Noise) and not (isinstance(model, Real) and 0 <= float(model) < 1):
        raise ValueError(f"noise is a model, an estimate, or a rate of at least 0 and below 1, got {noise!r}")
    return CleanScorer(metric, model if isinstance(model, Noise) else float(model))


@dataclass(frozen=True)
class CleanScorer:
    """What `clean_scorer` returns: a callable that pickles, so that searches may run in parallel."""

    metric: str
    noise: Noise | float
    # What `TunedThresholdClassifierCV` asks of a scorer, besides `_score_func`: larger is better, no options.
    _sign: ClassVar[int] = 1
    _kwargs: ClassVar[dict[str, Any]] = {}

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The corrected score of a fitted estimator on noisy labels."""
        classes = np.asarray(getattr(estimator, "classes_", np.unique(y)))
        noise = as_noise(self.noise, len(classes))
        if self.metric == "roc_auc":
            from sklearn.metrics import get_scorer

            noisy = get_scorer("roc_auc")(estimator, X, y, sample_weight=sample_weight)
            share = np.average(np.asarray(y) == classes[1], weights=sample_weight)
            return float(clean_auc(noisy, noise, share))
        return self._from_table(noise, classes, y, estimator.predict(X), sample_weight)

    def _score_func(self, y: Any, predicted: Any, sample_weight: Any = None) -> float:
        """The corrected score of answers, as a threshold gives them."""
        if self.metric == "roc_auc":
            raise ValueError("the AUC is the same at every threshold; tune by accuracy or balanced_accuracy")
        classes = np.unique(np.concatenate([np.asarray(y), np.asarray(predicted)]))
        return self._from_table(as_noise(self.noise, len(classes)), classes, y, predicted, sample_weight)

    def get_metadata_routing(self) -> Any:
        """No request: weights reach the scorer only where they are passed by hand."""
        from sklearn.utils.metadata_routing import MetadataRequest

        return MetadataRequest(owner="CleanScorer")

    _get_metadata_request = get_metadata_routing  # what scikit-learn 1.8 calls it

    def _from_table(self, noise: Noise, classes: Array, y: Any, predicted: Any, sample_weight: Any) -> float:
        from sklearn.metrics import confusion_matrix

        table = confusion_matrix(y, predicted, labels=classes, sample_weight=sample_weight)
        if self.metric == "accuracy":
            return float(np.trace(noise.unmix(table / table.sum())))
        return balanced_accuracy_from_table(table / table.sum(), noise, classes)


def balanced_accuracy_from_table(table: Array, noise: Noise, classes: Array) -> float:
    """The balanced accuracy on clean labels; table: (K, K), P(noisy label = row, answer = column).

    >>> table = np.array([[0.37, 0.13], [0.13, 0.37]])
    >>> round(balanced_accuracy_from_table(table, as_noise(0.2, 2), np.array([0, 1])), 12)
    0.9
    """
    # Noise mixes the rows of the table: noisy = transition' clean, on average.
    clean = noise.unmix(table)
    shares = clean.sum(axis=1)
    if np.any(shares <= 0):
        k = int(np.argmin(shares))
        raise ValueError(
            f"noise alone would give class {classes.tolist()[k]!r} more than its share of these labels, "
            f"{table.sum(axis=1)[k]:.3g}; balanced accuracy cannot be corrected here"
        )
    return float(np.mean(np.diag(clean) / shares))
