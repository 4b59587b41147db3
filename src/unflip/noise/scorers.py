"""Scorers for model selection on noisy labels, reporting the score on clean ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unflip.noise.metrics import clean_accuracy, clean_auc, clean_balanced_accuracy
from unflip.noise.models import Noise, as_noise

METRICS = ("accuracy", "balanced_accuracy", "roc_auc")


def clean_scorer(metric: str, noise: Noise | float) -> Callable[[Any, Any, Any], float]:
    """A scorer for scikit-learn's `scoring=`: the metric on noisy labels, corrected for the noise.

    `metric` is "accuracy", "balanced_accuracy" or "roc_auc". The correction increases with the
    noisy score, so it changes no choice; it makes the number mean what it says. With few rows
    the corrected score can leave [0, 1]; it is not clipped, so that averages stay unbiased.

    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]},
    ...                       scoring=clean_scorer("accuracy", 0.2))
    """
    if metric not in METRICS:
        raise ValueError(f"metric is one of {', '.join(METRICS)}, got {metric!r}")
    return _CleanScorer(metric, noise)


class _CleanScorer:
    """A callable that pickles, so that searches may run in parallel."""

    def __init__(self, metric: str, noise: Noise | float) -> None:
        self.metric, self.noise = metric, noise

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        from sklearn.metrics import get_scorer

        noisy = get_scorer(self.metric)(estimator, X, y)
        classes = np.asarray(getattr(estimator, "classes_", np.unique(y)))
        noise = as_noise(self.noise, len(classes))
        if self.metric == "accuracy":
            return float(clean_accuracy(noisy, noise))
        share = float(np.mean(np.asarray(y) == classes[1])) if len(classes) == 2 else 0.5
        correct = clean_auc if self.metric == "roc_auc" else clean_balanced_accuracy
        return float(correct(noisy, noise, share))

    def __repr__(self) -> str:
        return f"clean_scorer({self.metric!r}, {self.noise!r})"
