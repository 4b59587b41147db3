"""What every classifier shares: rows, labels and weights come in over the border, classes go out."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

from array_api_compat import array_namespace
from sklearn.base import BaseEstimator, ClassifierMixin

from unflip.border.arrays import Array, beside, here, is_foreign, to_numpy
from unflip.border.classes import chosen
from unflip.border.long_integers import with_plain_integers, without_long_integers
from unflip.border.rows import numeric_rows
from unflip.sources import Batch, encode
from unflip.sources.batch import batch_of


class Classifier(ClassifierMixin, BaseEstimator):
    """A classifier with a score for each row: (n,) for two classes, (n, K) for more."""

    _dtype: ClassVar[Any] = "numeric"  # what rows are converted to
    _on_device: ClassVar[bool] = False  # whether arrays of torch and CuPy stay where they are

    classes_: Array

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.array_api_support = self._on_device
        return tags

    @abstractmethod
    def _relative_scores(self, X: Any) -> Any:
        """Scores that are right in sign and order."""

    def predict(self, X: Any) -> Any:
        """The class of each row; beside X if that is an array of torch or CuPy and classes are numbers.

        >>> from unflip import UnhingedClassifier
        >>> UnhingedClassifier().fit([[-1.0], [3.0]], ["no", "yes"]).predict([[2.0]]).tolist()
        ['yes']
        """
        scores = self._relative_scores(X)
        if is_foreign(scores):
            return self._chosen_beside(scores)
        return self.classes_[chosen(scores)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted.

        >>> from unflip import UnhingedClassifier
        >>> UnhingedClassifier().fit([[-1.0], [3.0]], ["no", "yes"]).score([[2.0], [3.0]], ["yes", "no"])
        0.5
        """
        if not any(map(is_foreign, (X, y, sample_weight))):
            return float(super().score(X, with_plain_integers(y), without_long_integers(sample_weight)))
        from sklearn.metrics import accuracy_score  # which takes as long to import as all of this package

        weight = None if sample_weight is None else to_numpy(sample_weight)
        return float(accuracy_score(to_numpy(y), to_numpy(self.predict(X)), sample_weight=weight))

    def with_noise(self, noise: Any) -> Self:
        """The classifier of clean labels from one that was fitted to noisy ones; a new one, where it can be.

        noise: a model, an estimate, or one rate. Scores that are linear in the labels can be corrected for it
        after the fit, without the rows: those of `UnhingedClassifier`, `SquareClassifier`,
        `KernelSquareClassifier` and `RobustClassifierCV`. Others raise.
        """
        raise ValueError(
            f"the scores of a {type(self).__name__} are not linear in the labels, so they cannot be "
            "corrected after the fit; fit NoiseCorrectedClassifier(noise=...), or RobustClassifierCV"
        )

    def _chosen_beside(self, scores: Any) -> Any:
        xp = array_namespace(scores)
        chosen = xp.astype(scores > 0, xp.int64) if scores.ndim == 1 else xp.argmax(scores, axis=1)
        if self.classes_.dtype.kind not in "iufb":
            return self.classes_[to_numpy(chosen)]
        return xp.take(beside(self.classes_, scores), chosen)

    def _batch(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Batch:
        labels = encode(y)
        return batch_of(self._rows(X, reset=reset), labels, sample_weight, self._names)

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """X as a numeric array or CSR matrix; whether it is finite, the sums will tell."""
        if not self._on_device and is_foreign(X):
            X = here(X, type(self).__name__)
        return numeric_rows(X, self, reset=reset, dtype=self._dtype)

    def _known_labels(self, batch: Batch, classes: Array) -> Batch:
        try:
            labels = batch.labels.recoded(classes)
        except ValueError as error:
            raise ValueError(f"{error}; all classes are named in fit or the first partial_fit") from None
        return replace(batch, labels=labels)

    @property
    def _names(self) -> tuple[str, ...] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(names)
