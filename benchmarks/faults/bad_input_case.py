"""What the cases of `bad_input` are made of: a name, data made anew, and what must come of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl

NAN, INF = np.nan, np.inf
SAME = object()
N, D = 40, 3
PLACE = r"row \d+, column"


class Given(NamedTuple):
    """Rows, labels and weights to fit, and rows to predict (the same if none are given)."""

    X: Any
    y: Any
    weight: Any = None
    query: Any = SAME


@dataclass(frozen=True)
class Case:
    """One bad input.

    refused: what the message must hold; None if it has to be fitted. may_fit: both are right, if refused so.
    unless: a tag of scikit-learn (allow_nan, string) that lets an estimator take it. of_rows: whether X alone
    matters, so that feature maps are tried too. truth: the same problem as it should be, for scale cases;
    standardized: columns are standardized first. deadly: it can end the process of those who do not look.
    """

    name: str
    given: Callable[[], Given]
    refused: str | None = None
    may_fit: bool = False
    unless: str = ""
    of_rows: bool = True
    truth: Callable[[], Given] | None = None
    standardized: bool = False
    deadly: bool = False


def rows(n: int = N, d: int = D, classes: int = 2, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    centers = 1.5 * np.random.default_rng(1).normal(size=(classes, d))
    return np.round((centers[y] + rng.normal(size=(n, d))) * 64) / 64, y


def X_of(make: Callable[[Any], Any]) -> Callable[[], Given]:
    """The rows changed, the labels as they are."""
    return lambda: Given(make(rows()[0]), rows()[1])


def y_of(make: Callable[[Any], Any]) -> Callable[[], Given]:
    return lambda: Given(rows()[0], make(rows()[1]))


def w_of(make: Callable[[int], Any]) -> Callable[[], Given]:
    return lambda: Given(*rows(), make(N))


def q_of(make: Callable[[Any], Any]) -> Callable[[], Given]:
    """Good rows to fit, others to predict."""
    return lambda: Given(*rows(), None, make(rows()[0]))


def put(row: int, column: int, value: Any, dtype: Any = float) -> Callable[[Any], Any]:
    def changed(X: Any) -> Any:
        X = X.astype(dtype)
        X[row, column] = value
        return X

    return changed


def frame(X: Any) -> Any:
    return pd.DataFrame(X, columns=list("abc"))


def polars(X: Any) -> Any:
    return pl.DataFrame(X, schema=list("abc"))


def column_of(values: Any) -> Callable[[Any], Any]:
    """A frame whose column 'b' holds these values, repeated."""
    return lambda X: frame(X).assign(b=pd.Series((list(values) * N)[:N]))
