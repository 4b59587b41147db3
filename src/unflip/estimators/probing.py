"""Probabilities from classifiers: at which cost ratios would this row be called positive?

The weighted unhinged loss charges c for a false positive and 1 - c for a false negative. A classifier that
is right at every cost ratio calls x positive exactly for c < P(y = 1 | x); so the share of cost ratios at
which it does is that probability (the probing reduction, Langford and Zadrozny 2005). One set of class
means serves all of them: the minimiser at cost c is (1 - c) E[1{y=1} phi] - c E[1{y=0} phi], and about the
weighted mean its direction is that of E[phi | 1] - E[phi | 0], whatever c. What is left of the cost is a
threshold on one score, and the thresholds of least weighted leave-one-out error, for all costs at once, are
an isotonic regression of labels on leave-one-out scores.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, _fit_context, clone
from sklearn.isotonic import IsotonicRegression
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import check_is_fitted

from unflip._state import all_or_nothing
from unflip.border.arrays import Array
from unflip.border.parameters import refuse_giant
from unflip.border.weights import as_weight
from unflip.estimators.centroid import UnhingedClassifier
from unflip.estimators.kernelized import KernelClassifier
from unflip.moments import Moments
from unflip.noise import Noise, as_noise
from unflip.sources import encode


def weighted_means(moments: Moments, costs: Any) -> Array:
    """The minimiser of the weighted unhinged loss at each cost, (len(costs), d), not centred. Two classes.

    >>> from unflip.moments import accumulate
    >>> weighted_means(accumulate(([[1.0], [3.0]], [0, 1])), [0.0, 0.5, 1.0]).ravel().tolist()
    [1.5, 0.5, -0.5]
    """
    if len(moments.classes) != 2:
        raise ValueError(f"a cost ratio is for two classes, the moments have {len(moments.classes)}")
    c = np.asarray(costs, dtype=np.float64)[:, None]
    outside = c[(c < 0) | (c > 1)]
    if outside.size:
        raise ValueError(f"a cost ratio lies between 0 and 1, got {outside[0]}")
    negative, positive = moments.feature_means
    return (1 - c) * positive - c * negative  # Appendix E.3


class ProbingClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Class probabilities by probing every cost ratio, corrected for label noise if its rate is given.

    Parameters
    ----------
    estimator: a classifier with exact leave-one-out scores: `UnhingedClassifier` (the default), for which one
        direction is right for every cost ratio, or another of unflip: `SquareClassifier`,
        `KernelUnhingedClassifier` (not compressed), `KernelSquareClassifier`.
    noise: a noise model of `unflip.noise`, or a rate. Probabilities are then those of the clean labels, and
        `predict` minimises the error on clean labels.

    With several classes each is told from the rest, and the probabilities are scaled to sum to one.

    Attributes: `classes_`, `estimator_`, and `noise_`, the noise model that was given.

    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> ProbingClassifier().fit(X, y).predict_proba([[-9.0], [2.5], [9.0]]).round(2).tolist()
    [[0.83, 0.17], [0.5, 0.5], [0.17, 0.83]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [None, HasMethods(["fit", "decision_function"])],
        "noise": [None, Real, Noise],
    }

    def __init__(self, estimator: Any = None, noise: Noise | float | None = None) -> None:
        self.estimator = estimator
        self.noise = noise

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier, then the thresholds of all cost ratios to its leave-one-out scores."""
        with all_or_nothing(self):
            model = UnhingedClassifier() if self.estimator is None else clone(self.estimator)
            if not (hasattr(model, "loo_scores") or _will_keep_loo_scores(model)):
                raise ValueError(
                    f"{type(model).__name__} has no exact leave-one-out scores to probe; use a classifier of "
                    "unflip that keeps its rows or moments, not a compressed one"
                )
            self.estimator_ = model.fit(X, y, sample_weight=sample_weight)
            self.classes_ = model.classes_
            refuse_giant("noise", self.noise)
            self.noise_ = None if self.noise is None else as_noise(self.noise, len(self.classes_))
            self.n_features_in_ = model.n_features_in_
            if hasattr(model, "feature_names_in_"):
                self.feature_names_in_ = model.feature_names_in_
            member = encode(y).membership
            weight = as_weight(sample_weight, len(member))
            member, weight = member[weight > 0], weight[weight > 0]
            left = _loo_scores(model, X, y, sample_weight)
            self._unit = float(np.abs(left, where=np.isfinite(left), out=np.zeros_like(left)).max()) or 1.0
            columns = [1] if len(self.classes_) == 2 else range(len(self.classes_))
            scores = np.clip(left / self._unit, -1.0, 1.0).reshape(len(left), -1)
            self._levels = [
                _isotonic(score, member[:, k], weight) for score, k in zip(scores.T, columns, strict=True)
            ]
        return self

    def predict_proba(self, X: Any) -> Array:
        """P(class) for each row; of the clean class, if the noise is known."""
        check_is_fitted(self, "estimator_")
        scores = self.estimator_.decision_function(X) / self._unit
        scores = np.clip(scores, -1.0, 1.0).reshape(len(scores), -1)
        p = np.column_stack([level.predict(s) for level, s in zip(self._levels, scores.T, strict=True)])
        p = np.column_stack([1 - p, p]) if len(self.classes_) == 2 else p / p.sum(axis=1, keepdims=True)
        if self.noise_ is None:
            return p
        if len(self.classes_) == 2:
            clean = np.clip(self.noise_.restore(p[:, 1]), 0.0, 1.0)
            return np.column_stack([1 - clean, clean])
        clean = np.clip(self.noise_.restore(p), 0.0, None)
        return clean / clean.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Array:
        """The likeliest class of each row.

        >>> ProbingClassifier().fit([[0.0], [1.0], [5.0], [6.0]], list("aabb")).predict([[4.0]]).tolist()
        ['b']
        """
        likeliest = self.predict_proba(X).argmax(axis=1)
        return self.classes_[likeliest]


def _loo_scores(model: Any, X: Any, y: Any, sample_weight: Any) -> Array:
    """Leave-one-out scores of the rows that count: kept by models that keep rows, computed by the others."""
    if hasattr(model, "loo_scores_"):
        return np.asarray(model.loo_scores_)
    scores = np.asarray(model.loo_scores(X, y, sample_weight))
    return scores if sample_weight is None else scores[as_weight(sample_weight, len(scores)) > 0]


def _will_keep_loo_scores(model: Any) -> bool:
    return isinstance(model, KernelClassifier) and getattr(model, "compress", None) is None


def _isotonic(scores: Array, labels: Array, weight: Array) -> IsotonicRegression:
    """The increasing function of the score of least squared error.

    One row of the average label beyond either end keeps probabilities of zero and one away.
    """
    average = weight @ labels / weight.sum()
    return IsotonicRegression(out_of_bounds="clip").fit(
        np.concatenate([[-1.0], scores, [1.0]]),
        np.concatenate([[average], labels, [average]]),
        np.concatenate([[weight.mean()], weight, [weight.mean()]]),
    )
