"""What labels are clean, with probabilities; and any learner, trained on these."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context, clone
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from unflip.audit.honest import judged_labels
from unflip.border.arrays import Array
from unflip.border.classes import as_scores, contrasted, refuse_single_class
from unflip.border.finite import name_the_culprit
from unflip.border.labels import encode_classes
from unflip.border.weights import as_weight
from unflip.estimators.classifier import Classifier
from unflip.robust.blend import default_learner, fit_denoised


def denoise(
    X: Any,
    y: Any,
    *,
    scores: Any = None,
    groups: Any = None,
    trusted: Any = None,
    noise: str = "auto",
    sample_weight: Any = None,
    random_state: Any = 0,
) -> Array:
    """The probability of each class to be the clean one, from labels that are all suspect.

    It weighs what the columns say of a row, by a fit that never saw its label, against that label.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or data frame
        The rows; may be None where `scores` are given.
    y : array-like of shape (n_samples,)
        Their labels, of any type; or (n_samples, n_classes), probabilities.
    scores, groups, trusted, noise, sample_weight, random_state
        As for `find_suspects`.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Rows sum to one. Where the columns predict the labels no better than guessing, and for rows of weight
        zero, labels are taken as they are.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]] * 9, [0, 0, 0, 1, 1, 1] * 9
    >>> y[-1] = 0
    >>> bool(denoise(X, y)[-1, 1] > 0.5)
    True
    """
    honest, judgement, sure = judged_labels(X, y, scores, groups, trusted, noise, sample_weight, random_state)
    found = encode_classes(y).membership.astype(np.float64)
    posterior = judgement.posterior()
    posterior[sure] = found[honest.rows[sure]]
    found[honest.rows] = posterior
    return found


class DenoisedClassifier(Classifier):
    """Any classifier, trained on the probabilities of clean labels in place of the labels.

    Every row is learned once for each class, weighted by `denoise`.

    Parameters
    ----------
    estimator : classifier, optional
        One of scikit-learn's that takes `sample_weight`; by default a random forest of five rows a leaf.
    noise : {"auto", "symmetric", "class_conditional"}, default="auto"
        What the labels went through.
    random_state : int, default=0
        Seeds the fit that judges the labels, and the default forest.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    estimator_ : classifier
        The fitted one.
    posterior_ : ndarray of shape (n_samples, n_classes)
        The probabilities it was trained on.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from unflip.noise import flip_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = DenoisedClassifier(LogisticRegression(max_iter=5000)).fit(X, flip_labels(y, 0.3, rng=0))
    >>> bool(model.score(X, y) > 0.93)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict_proba"]), None],
        "noise": [StrOptions({"auto", "symmetric", "class_conditional"})],
        "random_state": ["random_state"],
    }

    def __init__(self, estimator: Any = None, noise: str = "auto", random_state: Any = 0) -> None:
        self.estimator = estimator
        self.noise = noise
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Judge the labels, then train.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows of numbers.
        y : array-like of shape (n_samples,)
            Labels, of any type.
        sample_weight : array-like of shape (n_samples,), optional
            How many rows each row stands for.
        groups : array-like of shape (n_samples,), optional
            Rows that belong together.

        Returns
        -------
        DenoisedClassifier
            This one.
        """
        learner = default_learner(self.random_state) if self.estimator is None else clone(self.estimator)
        if not has_fit_parameter(learner, "sample_weight"):
            raise ValueError(
                f"{type(learner).__name__} takes no sample_weight, and rows are weighted by their "
                "probabilities"
            )
        rows, labels = self._rows(X, reset=True), encode_classes(y)
        weight = as_weight(sample_weight, len(labels))
        refuse_single_class(labels.classes.tolist(), weight @ labels.membership)
        self.classes_ = labels.classes
        self.posterior_ = denoise(
            rows,
            y,
            groups=groups,
            noise=self.noise,
            sample_weight=sample_weight,
            random_state=self.random_state,
        )
        self.estimator_ = fit_denoised(learner, rows, self.posterior_ * weight[:, None], self.classes_)
        return self

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """Rows of finite numbers."""
        rows = super()._rows(X, reset=reset)
        name_the_culprit(rows, self._names)
        return rows

    def predict(self, X: Any) -> Array:
        """The class of each row."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict(self._rows(X, reset=False)))

    def predict_proba(self, X: Any) -> Array:
        """P(clean class) for each row, as the estimator has it."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict_proba(self._rows(X, reset=False)))

    def _relative_scores(self, X: Any) -> Array:
        return as_scores(contrasted(self.predict_proba(X)))
