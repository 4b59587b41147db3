"""The learners that an audit compares and `unflip fit` fits: one list, so that both mean the same.

All of them take numbers as `Tabular` makes them, and standardise these themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from unflip.estimators import SquareClassifier, UnhingedClassifier
from unflip.estimators.kernel import KernelUnhingedClassifier
from unflip.features import Standardize
from unflip.robust.numbers import EnsembleClassifier


class TableLearner(NamedTuple):
    """words: what it is, in a few words; make: a new one, not fitted.

    >>> TABLE_LEARNERS["logistic"].make().fit([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1]).predict([[3.0]])
    array([0])
    """

    words: str
    make: Callable[[], Any]


TABLE_LEARNERS = {
    "unhinged": TableLearner(
        "class means; one pass, merges, forgets", lambda: UnhingedClassifier(features=Standardize())
    ),
    "square": TableLearner(
        "least squares; one pass, merges, forgets", lambda: SquareClassifier(features=Standardize())
    ),
    "kernel": TableLearner(
        "kernel means; every row is kept", lambda: make_pipeline(Standardize(), KernelUnhingedClassifier())
    ),
    "robust": TableLearner("kernels chosen by leave-one-out", EnsembleClassifier),
    "logistic": TableLearner(
        "the usual choice", lambda: make_pipeline(Standardize(), LogisticRegression(max_iter=300))
    ),
}
