"""The border that every classifier shares: rows, labels and weights in, classes out."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import validate_data

from unflip._culprits import naming_what_is_no_number
from unflip._weights import as_weight
from unflip.sources import Batch, encode

Array = np.ndarray[Any, Any]


class Classifier(ClassifierMixin, BaseEstimator):
    """A classifier with a score for each row: (n,) for two classes, (n, K) for more."""

    _dtype: ClassVar[Any] = "numeric"  # what rows are converted to

    classes_: Array

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @abstractmethod
    def _relative_scores(self, X: Any) -> Array:
        """Scores that are right in sign and order."""

    def predict(self, X: Any) -> Array:
        """The class of each row.

        >>> from unflip import UnhingedClassifier
        >>> UnhingedClassifier().fit([[-1.0], [3.0]], ["no", "yes"]).predict([[2.0]]).tolist()
        ['yes']
        """
        scores = self._relative_scores(X)
        chosen = scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[chosen.astype(np.intp)]

    def _batch(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Batch:
        labels = encode(y)
        rows = self._rows(X, reset=reset)
        if rows.shape[0] != len(labels):
            raise ValueError(f"X has {rows.shape[0]} rows, y has {len(labels)} labels: inconsistent lengths")
        return Batch(rows, labels, as_weight(sample_weight, len(labels)), self._names)

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """X as a numeric array or CSR matrix; whether it is finite, the sums will tell."""
        with naming_what_is_no_number(X):
            return validate_data(
                self, X, reset=reset, accept_sparse="csr", dtype=self._dtype, ensure_all_finite=False
            )

    def _known_labels(self, batch: Batch, classes: Array) -> Batch:
        try:
            labels = batch.labels.recoded(classes)
        except ValueError as error:
            raise ValueError(f"{error}; all classes are named in fit or the first partial_fit") from None
        return Batch(batch.X, labels, batch.weight, batch.names)

    @property
    def _names(self) -> tuple[str, ...] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(names)


def refuse_single_class(classes: Any, counts: Array, present_at_least: int = 2) -> None:
    """Raise unless there are two classes to tell apart, and rows of as many as asked for.

    >>> refuse_single_class(["a", "b"], np.array([3.0, 0.0]))
    Traceback (most recent call last):
    ValueError: rows of at least two classes are needed, got rows of one class, 'a'
    """
    present = [label for label, weight in zip(classes, counts, strict=True) if weight]
    if len(counts) < 2 or len(present) < present_at_least:
        seen = f"one class, {present[0]!r}" if present else "no class"
        raise ValueError(f"rows of at least two classes are needed, got rows of {seen}")


def contrast(n_classes: int) -> Array:
    """What turns one row a class into scores: the difference of two classes, or each of several.

    >>> contrast(2).tolist()
    [[-1.0, 1.0]]
    """
    return np.array([[-1.0, 1.0]]) if n_classes == 2 else np.eye(n_classes)


def never(counts: Array) -> Array:
    """What to add to scores so that a class without rows is not chosen: minus infinity, as a contrast.

    >>> never(np.array([3.0, 0.0, 2.0])).tolist()
    [-0.0, -inf, -0.0]
    """
    missing = np.where(counts > 0, 0.0, np.inf)
    return missing[[0]] - missing[[1]] if len(counts) == 2 else -missing


def lonely(masses: Array, counts: Array) -> Array:
    """The same for leave-one-out scores, (n, C): rows without which their class has none.

    masses: (n, K), the weight of each row in each class; counts: (K,), that of all rows.

    >>> masses = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> lonely(masses, masses.sum(axis=0)).ravel().tolist()
    [0.0, 0.0, -inf]
    """
    missing = np.where((masses > 0) & (counts - masses <= 1e-12 * counts), np.inf, 0.0)
    return missing[:, [0]] - missing[:, [1]] if len(counts) == 2 else -missing
