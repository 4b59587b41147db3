"""Choose a classifier by exact leave-one-out on noisy labels, and average what cannot be told from the best.

Label-free views of the table, a kernel made of both, the square loss along a ridge path from least squares
to the mean map: noise moves none of these, on average. For a fixed classifier the error on noisy labels is
an increasing function of the error on clean ones, so that a choice by leave-one-out is sound too.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions

from unflip.border.arrays import Array
from unflip.features import Tabular
from unflip.noise import Noise, NoiseEstimate
from unflip.robust.numbers import EnsembleClassifier


class RobustClassifierCV(EnsembleClassifier):
    """The classifier to start from when labels are wrong at an unknown rate. Nothing to tune.

    Parameters
    ----------
    feature_weights : "auto" or bool, default="auto"
        "auto" weighs columns by the gradient of a robust fit, learned by each half of the rows for the other,
        if that lowers the error there; False keeps all of the features label-free, at a third of the time.
    random_state : int, RandomState or None, default=0
        Seeds the landmarks, the halves and the rows that scales are taken from.
    noise : {"auto", "symmetric", "class_conditional"}, Noise, float or None, default="auto"
        What the labels went through. Noise that treats all classes alike moves no threshold; where classes
        are flipped at different rates, scores are corrected for them after the fit. "auto" does so where the
        labels leave no doubt of it; a model of noise, or an estimate, is used as it is; None corrects
        nothing.
    target : {"accuracy", "balanced"} or array-like of shape (n_classes, n_classes), default="accuracy"
        What `predict` is for, on clean labels: the fewest mistakes, the fewest as a mean over classes, or the
        least cost, with one row for each class that is the truth and one column for each answer.
    estimators : list of classifiers, optional
        Learners of scikit-learn that take `sample_weight` and tell probabilities. They are trained on
        denoised labels, beside the kernels, and all are averaged, weighted by how well they tell labels that
        they did not see. `loo_scores_` and `noisy_error_` are of the kernels alone.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    cv_results_ : dict of ndarrays
        A column for each property of the candidates.
    best_candidate_ : int
        The place of the best of them.
    loo_scores_ : ndarray
        What `decision_function` would say of each of the rows `loo_rows_` (all of them up to 100,000) had it
        not been fitted.
    noisy_error_ : float
        Their error on the given labels.
    noise_ : NoiseEstimate
        How many labels are wrong.
    clean_error_ : ScoreEstimate or None
        What the error on clean labels would then be.
    guarantee_ : Guarantee
        What holds and what does not.
    ensemble_ : RidgeEnsemble
        What was learned, as a value; with `feature_weights=False` its sums merge and forget.

    Notes
    -----
    Tables of numbers, sparse matrices, or frames with text columns (one column a level) and gaps (filled with
    the median, and marked). Labels of any kind, or a row of K probabilities each; weights count rows.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from unflip.noise import flip_labels
    >>> X, y = load_wine(return_X_y=True)
    >>> model = RobustClassifierCV().fit(X, flip_labels(y, 0.2, rng=0))
    >>> bool(model.score(X, y) > 0.9)  # on clean labels that it never saw
    True
    >>> model = RobustClassifierCV().fit([[0.0], [1.0], [8.0], [9.0]] * 10, ["a", "a", "b", "b"] * 10)
    >>> model.predict([[0.5], [8.5]]).tolist(), bool(model.predict_proba([[0.0]])[0, 0] > 0.8)
    (['a', 'b'], True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "feature_weights": [StrOptions({"auto"}), "boolean"],
        "random_state": ["random_state"],
        "noise": [StrOptions({"auto", "symmetric", "class_conditional"}), Noise, NoiseEstimate, Real, None],
        "target": [StrOptions({"accuracy", "balanced"}), "array-like"],
        "estimators": [list, tuple, None],
    }

    fit = _fit_context(prefer_skip_nested_validation=True)(EnsembleClassifier.fit)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _rows(self, X: Any, *, reset: bool) -> Array:
        """The table as numbers."""
        if reset:
            self.table_ = Tabular().fit(X)
            self.n_features_in_ = self.table_.n_features_in_
            if hasattr(self.table_, "feature_names_in_"):
                self.feature_names_in_ = self.table_.feature_names_in_
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        return self.table_.transform(X)

    def _numbers(self, rows: Any) -> Array:
        return np.asarray(self.table_.block(rows.toarray() if sparse.issparse(rows) else rows))

    def _name_columns(self, names: Array) -> None:
        self.feature_names_in_ = self.table_.feature_names_in_ = names
