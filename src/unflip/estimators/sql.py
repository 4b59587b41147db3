"""Linear models as SQL: scores and classes by expressions that any database evaluates beside the data.

Numbers are written with an exponent, which most databases read as a float64 and not as a decimal, and
with as many digits as tell it from its neighbours. A NULL among the columns makes score and class NULL;
NaN is no NULL, and what databases make of it differs: replace it first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from unflip._extras import extra
from unflip.estimators.base import LinearClassifier
from unflip.features import Standardize

Array = np.ndarray[Any, Any]


class SqlModel(NamedTuple):
    """SQL expressions: `scores`, one for two classes or one a class, and `predicted`, the class."""

    scores: tuple[str, ...]
    predicted: str


def as_sql(model: Any, dialect: str = "duckdb", columns: Sequence[str] | None = None) -> SqlModel:
    """A fitted linear model of plain or standardised columns as SQL expressions.

    model: `UnhingedClassifier`, `SquareClassifier`, `LossClassifier` or another with linear scores. dialect:
    as sqlglot and ibis call it, such as "duckdb", "postgres", "spark", "trino", "bigquery". columns: the
    names of the columns, if the model was fitted without any. PostgreSQL makes no floats of truth values:
    there, score a query that casts them to integers.

    >>> from unflip import UnhingedClassifier
    >>> model = UnhingedClassifier(center=False, threshold=0.0).fit([[-1.0], [3.0]], ["no", "yes"])
    >>> told = as_sql(model, columns=["dose"])
    >>> told.scores
    ('0.0e0 + 2.0e0 * CAST("dose" AS DOUBLE)',)
    >>> import duckdb
    >>> query = f"SELECT {told.scores[0]} AS score, {told.predicted} AS class FROM (SELECT 1.5 AS dose)"
    >>> duckdb.sql(query).fetchall()
    [(3.0, 'yes')]
    """
    exp = extra("sqlglot", "sql").exp
    if not isinstance(model, LinearClassifier):
        raise TypeError(f"only linear models can be written as SQL; this is a {type(model).__name__}")
    check_is_fitted(model, "scorer_")
    named = [
        exp.cast(exp.column(str(name), quoted=True), "double").sql(dialect) for name in _names(model, columns)
    ]
    absolute, relative = (
        [_sum(row, base, places, named) for row, base in zip(rows, bases, strict=True)]
        for rows, bases, places in (
            _affine(model, model.scorer_.doublings),
            _affine(model, -model.scorer_.exponent),
        )
    )
    labels = [exp.convert(label).sql(dialect) for label in model.classes_.tolist()]
    if len(labels) == 2:
        [score] = relative
        chosen = f"CASE WHEN {score} > 0 THEN {labels[1]} WHEN {score} <= 0 THEN {labels[0]} END"
    else:
        cases = " ".join(f"WHEN {score} THEN {label}" for score, label in zip(relative, labels, strict=True))
        chosen = f"CASE GREATEST({', '.join(relative)}) {cases} END"  # the first of equals, as argmax takes
    return SqlModel(tuple(absolute), chosen)


def _names(model: Any, columns: Sequence[str] | None) -> Sequence[str]:
    known = getattr(model, "feature_names_in_", None)
    names = columns if columns is not None else known
    if names is None:
        raise ValueError("the model was fitted without names of columns; give them as columns=[...]")
    if len(names) != model.n_features_in_:
        raise ValueError(f"there are {len(names)} names for {model.n_features_in_} columns")
    return names


def _affine(model: Any, doublings: int) -> tuple[Array, Array, Array]:
    """Rows of coefficients, constants and the places that columns are counted from, times 2**doublings."""
    scorer = model.scorer_
    mean, scale = np.zeros(model.n_features_in_), np.ones(model.n_features_in_)
    if model.features_ is not None:
        fitted = model.features_.transformer
        if not isinstance(fitted, Standardize):
            raise ValueError(
                f"features made by {type(fitted).__name__} have no SQL here; plain columns and Standardize do"
            )
        mean, scale = fitted.mean_ if fitted.center else mean, fitted.scale_
    slope = np.divide(1.0, scale, out=np.zeros(len(scale)), where=scale > 0)
    # Far from zero mean + origin scale would be rounded; what the place leaves of it goes into the constants.
    places = np.where(mean == 0, scorer.origin * scale, mean)
    rest = scorer.origin - (places - mean) * slope
    with np.errstate(over="ignore", invalid="ignore"):
        direction = np.atleast_2d(scorer.direction) / scorer.unit
        rows = np.ldexp(direction * slope, doublings)
        bases = np.ldexp(np.atleast_1d(scorer.base) - direction @ rest, doublings)
    if not (np.isfinite(rows).all() and np.isfinite(bases).all()):
        raise ValueError(
            "a score is infinite, because a class has no rows or the columns are too large or small; "
            "SQL has no way to write this"
        )
    return rows, bases, places


def _sum(row: Array, base: float, places: Array, columns: list[str]) -> str:
    terms = [_number(base)]
    for coefficient, place, column in zip(row, places, columns, strict=True):
        shifted = f"({column} - {_number(place)})" if place else column
        terms.append(f"{_number(coefficient)} * {shifted}")
    return " + ".join(terms)


def _number(value: float) -> str:
    """
    >>> _number(-0.1), _number(1e-7)
    ('(-0.1e0)', '1e-07')
    """
    text = repr(float(value))
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if text.startswith("-") else text
