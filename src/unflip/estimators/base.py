"""What the linear classifiers share.

`LinearClassifier` scores and predicts; `MomentClassifier` adds all that follows from being a function
of moments: one pass, `partial_fit`, `forget`, and fits from moments alone.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from copy import copy
from typing import Any, Self

import numpy as np
from array_api_compat import array_namespace
from sklearn import get_config
from sklearn.base import _fit_context, clone
from sklearn.utils.validation import check_is_fitted

from unflip._state import all_or_nothing
from unflip.border.arrays import Array, all_finite, beside, is_foreign, refuse_other_places
from unflip.border.classes import refuse_single_class
from unflip.border.finite import name_the_culprit
from unflip.border.words import column_label
from unflip.estimators.classifier import Classifier
from unflip.estimators.scorer import LinearScorer
from unflip.features import Transformed, as_feature_map
from unflip.moments import Moments
from unflip.noise.correct import clean_scores
from unflip.noise.estimate import identified_noise
from unflip.noise.models import Noise, as_noise
from unflip.passes.one_batch import batch_moments
from unflip.sources import Batch


class LinearClassifier(Classifier):
    """A classifier with linear scores in features that were made without labels."""

    features: Any
    scorer_: LinearScorer
    noise_: Noise | None

    def decision_function(self, X: Any) -> Any:
        """Scores: (n,) for two classes, positive for the second one; (n, K) for more.

        They are an array of NumPy, or one of torch or CuPy beside X, if X is such an array.

        >>> from unflip import UnhingedClassifier
        >>> model = UnhingedClassifier(center=False, threshold=0.0).fit([[-1.0], [3.0]], [0, 1])
        >>> model.decision_function([[1.0]]).tolist()
        [2.0]
        """
        relative = self._relative_scores(X, "decision_function")
        return self.scorer_.absolute(relative)

    def _relative_scores(self, X: Any, method: str = "predict") -> Any:
        check_is_fitted(self, "scorer_")
        if self._on_device:
            refuse_other_places(X, self, "coef_", method)
        rows = self._rows(X, reset=False)
        try:
            scores = self.scorer_.relative(rows, self._features.transform)
        except ValueError:
            name_the_culprit(rows, self._names)
            raise
        if not all_finite(scores):
            name_the_culprit(rows, self._names)
        return scores

    @property
    def _features(self) -> Any:
        return as_feature_map(self.features_, self.n_features_in_, self._names)

    def _fitted_features(self, batch: Batch) -> Any:
        """A copy of the feature map, fitted to the rows that count and never to their labels."""
        if self.features is None:
            return None
        try:
            return Transformed(clone(self.features).fit(_counted(batch)))
        except ValueError:
            name_the_culprit(batch.X, batch.names)
            raise

    def _given_features(self) -> Any:
        """The feature map as it is, which must be fitted: every batch has to see the same one."""
        return None if self.features is None else Transformed(self.features)

    def _of_my_kind(self, batch: Batch) -> Batch:
        """The batch, if it has the columns that were fitted."""
        if batch.X.shape[1] != self.n_features_in_:
            raise ValueError(f"the rows have {batch.X.shape[1]} columns, {self.n_features_in_} were fitted")
        if batch.names is not None and self._names is not None and batch.names != self._names:
            raise ValueError(f"the rows have columns {list(batch.names)}, fitted were {list(self._names)}")
        return batch

    def _finish(self, scorer: LinearScorer, X: Any = None) -> None:
        """Take the scorer. Weights are arrays of NumPy, or beside X if scikit-learn dispatches on that."""
        self.scorer_ = scorer
        self.coef_, self.intercept_ = scorer.coef, scorer.intercept
        self._refuse_beyond_floats(scorer)
        if get_config()["array_api_dispatch"] and is_foreign(X):
            self.coef_ = beside(self.coef_, X)
            if np.ndim(self.intercept_):
                self.intercept_ = beside(self.intercept_, X)

    def _refuse_beyond_floats(self, scorer: LinearScorer) -> None:
        """Raise if weights, or a constant other than that of a class without rows, are not finite."""
        also = getattr(self, "threshold_", 0.0), getattr(self, "regularization_", 0.0)
        held = np.isfinite(self.intercept_) | np.isinf(scorer.base)
        if np.all(held) and np.isfinite(self.coef_).all() and np.isfinite(also).all():
            return
        origin, unit = scorer.frame
        with np.errstate(over="ignore"):
            at = unit * np.abs(scorer.direction).reshape(-1, len(origin)).max(axis=0)
        column = int(np.argmax(np.maximum(np.abs(origin), at)))
        raise ValueError(
            f"column {column_label(column, self._names if self.features is None else None)} is on a scale "
            f"(about {max(unit, abs(origin[column])):.0e}) at which the weights are more than "
            "float64 can hold; rescale it, for example with unflip.features.Standardize, or take another "
            "regularization"
        )


class MomentClassifier(LinearClassifier):
    """A classifier that is a function of moments."""

    _degree = 1
    _saw_rows = False  # whether the feature map was fitted to the same rows

    @abstractmethod
    def _solve(self, moments: Moments, batch: Batch | None = None) -> LinearScorer:
        """The scorer that these moments determine; batch: their rows, where these are at hand."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit in one pass over the rows.

        X: (n, d) array, sparse matrix or data frame, or an array of torch or CuPy, which stays on its
        device; y: classes of any type, or soft labels (the probability of class 1, or rows of K
        probabilities); sample_weight: counts of rows. A feature map
        is fitted to every row that counts at all, once each.
        """
        with all_or_nothing(self):
            batch = self._batch(X, y, sample_weight, reset=True)
            self.features_, self.noise_ = self._fitted_features(batch), None
            self._saw_rows = self.features is not None
            self._use(self._moments_to_fit(batch), batch.labels.classes, X=batch.X, batch=batch)
            self._tune(batch)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to what was learned. The first call may name all classes that will come.

        A feature map must be fitted beforehand: every batch has to see the same one.
        """
        self._refuse_rows_needed()
        with all_or_nothing(self):
            first = not hasattr(self, "moments_")
            batch = self._batch(X, y, sample_weight, reset=first)
            if first:
                self.features_, self._saw_rows, self.noise_ = self._given_features(), False, None
                known = batch.labels.classes if classes is None else np.unique(np.asarray(classes))
            else:
                known = self.classes_
            moments = self._moments(self._known_labels(batch, known))
            self._use(moments if first else self.moments_ + moments, known, 1, batch.X)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows away that were fitted before, as if they had never been there.

        A feature map that `fit` has fitted to these rows stays as it is, and a warning says so; one that was
        fitted beforehand, for `partial_fit`, has nothing to forget.

        >>> from unflip import UnhingedClassifier
        >>> model = UnhingedClassifier().fit([[0.0], [2.0], [9.0]], [0, 1, 1])
        >>> model.forget([[9.0]], [1]).moments_.sums.tolist()
        [[0.0], [2.0]]
        """
        check_is_fitted(self, "moments_")
        self._refuse_rows_needed()
        with all_or_nothing(self):
            batch = self._known_labels(self._batch(X, y, sample_weight, reset=False), self.classes_)
            # `partial_fit` may have begun with one class.
            present = min(2, int(np.count_nonzero(self.moments_.counts)))
            self._use(self.moments_ - self._moments(batch), self.classes_, present, batch.X)
        if self._saw_rows:
            warnings.warn(
                f"{type(self.features).__name__} was fitted to these rows too, and stays as it was; to "
                "forget them there, fit again without them, or fit the map to other rows and use partial_fit",
                UserWarning,
                stacklevel=4,  # where it was called, beyond scikit-learn's wrapper
            )
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_moments(self, moments: Moments) -> Self:
        """Fit from moments alone, when the rows are elsewhere or long gone.

        >>> from unflip import UnhingedClassifier
        >>> from unflip.moments import accumulate
        >>> shards = [([[0.0], [4.0]], ["a", "b"]), ([[1.0], [3.0]], ["a", "b"])]
        >>> model = UnhingedClassifier().fit_moments(sum(accumulate(shard) for shard in shards))
        >>> model.predict([[1.5], [2.5]]).tolist()
        ['a', 'b']
        """
        self._refuse_rows_needed()
        with all_or_nothing(self):
            width = moments.sums.shape[1]
            self.features_, self._saw_rows, self.noise_ = self._given_features(), False, None
            if self.features is None:
                if moments.key.split(":")[0] not in ("columns", ""):
                    raise ValueError(
                        f"the moments belong to the feature map {moments.key!r}, this estimator has none"
                    )
                self.n_features_in_ = width
                self._take_names(moments.names)
            else:
                key = self.features_.key
                if key != moments.key:
                    raise ValueError(f"the moments belong to the feature map {moments.key!r}, not to {key!r}")
                self.n_features_in_ = getattr(self.features, "n_features_in_", width)
                self._take_names(getattr(self.features, "feature_names_in_", None))
            if moments.degree < self._degree:
                raise ValueError(f"{type(self).__name__} needs moments of degree {self._degree}")
            self._use(moments, np.asarray(moments.classes))
        return self

    def with_noise(self, noise: Any) -> Self:
        """The classifier that clean labels would have made, from labels that went through this noise.

        Later calls of `partial_fit` and `forget` take noisy labels, and keep the correction.

        Parameters
        ----------
        noise : Noise, NoiseEstimate, float or None
            A model, an estimate, or one rate for all classes; None takes a correction back.

        Returns
        -------
        MomentClassifier
            A new classifier; this one stays as it is.

        Examples
        --------
        >>> from unflip import UnhingedClassifier
        >>> from unflip.noise import SymmetricNoise
        >>> model = UnhingedClassifier().fit([[-1.0], [0.0], [1.0], [2.0]], [0, 1, 0, 1])
        >>> model.coef_.tolist(), model.with_noise(SymmetricNoise(0.25)).coef_.tolist()
        ([0.5], [1.0])
        """
        check_is_fitted(self, "moments_")
        self._refuse_rows_needed()
        made = copy(self)
        made.noise_ = None if noise is None else as_noise(identified_noise(noise), len(self.classes_))
        made._finish(made._solve(made._clean(made.moments_)))
        return made

    def _clean(self, moments: Moments) -> Moments:
        """Moments of noisy labels, corrected if they are to be."""
        return moments if self.noise_ is None else moments.with_noise(self.noise_)

    def _members(self, batch: Batch) -> Array:
        """The class of each row as indicators, corrected if they are to be: (n, K)."""
        member = batch.labels.membership
        return member if self.noise_ is None else clean_scores(member, self.noise_)

    def _moments(self, batch: Batch) -> Moments:
        return batch_moments(batch, self.features_, self._degree, getattr(self, "summation", "fast"))

    def _take_names(self, names: Any) -> None:
        """Remember the names of the columns, or that they have none."""
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _moments_to_fit(self, batch: Batch) -> Moments:
        """The moments of all rows there are, which are still at hand."""
        return self._moments(batch)

    def _use(
        self,
        moments: Moments,
        classes: Array,
        present_at_least: int = 2,
        X: Any = None,
        batch: Batch | None = None,
    ) -> None:
        labels = tuple(classes.tolist())
        known = moments if moments.classes == labels else moments.with_classes(labels)
        refuse_single_class(known.classes, known.counts, present_at_least)
        self.moments_ = known
        self.classes_ = classes
        self._finish(self._solve(self._clean(self.moments_), batch), X)

    def _tune(self, batch: Batch) -> None:
        """What needs rows once more, after the moments."""

    def _refuse_rows_needed(self) -> None:
        """Raise if some parameter needs rows, not only moments."""


def _counted(batch: Batch) -> Any:
    """The rows that have a weight."""
    counted = batch.weight > 0
    if batch.foreign:
        xp = array_namespace(counted)
        return batch.X if bool(xp.all(counted)) else xp.take(batch.X, xp.nonzero(counted)[0], axis=0)
    return batch.X if counted.all() else batch.X[counted]
