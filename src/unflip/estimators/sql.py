"""Linear models as SQL: scores and classes by expressions that any database evaluates beside the data.

Numbers are written with an exponent, which most databases read as a float64 and not as a decimal, and
with as many digits as tell it from its neighbours. A NULL among the columns makes score and class NULL;
NaN is no NULL, and what databases make of it differs: replace it first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sklearn.utils.validation import check_is_fitted

from unflip._extras import extra
from unflip.estimators.affine import affine
from unflip.estimators.base import LinearClassifier

DEEP = 200  # terms in a row, each nested in the next one: databases limit how deep they read


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
        [
            written_sum(constant, map(written_product, row, named, formula.places))
            for constant, row in zip(formula.intercepts, formula.weights, strict=True)
        ]
        for formula in (affine(model, model.scorer_.doublings), affine(model, -model.scorer_.exponent))
    )
    return SqlModel(tuple(absolute), written_choice(relative, model.classes_.tolist(), dialect))


def written_choice(scores: Sequence[str], classes: Sequence[Any], dialect: str) -> str:
    """The class that scores choose: one score for two classes, or one a class.

    >>> written_choice(["a", "b", "c"], ["x", "y", "z"], "duckdb")
    "CASE GREATEST(a, b, c) WHEN a THEN 'x' WHEN b THEN 'y' WHEN c THEN 'z' END"
    """
    labels = [extra("sqlglot", "sql").exp.convert(label).sql(dialect) for label in classes]
    if len(labels) == 2:
        [score] = scores
        return f"CASE WHEN {score} > 0 THEN {labels[1]} WHEN {score} <= 0 THEN {labels[0]} END"
    cases = " ".join(f"WHEN {score} THEN {label}" for score, label in zip(scores, labels, strict=True))
    return f"CASE GREATEST({', '.join(scores)}) {cases} END"  # the first of equals, as argmax takes


def written_sum(constant: float, terms: Iterable[str]) -> str:
    """A number and terms, added up.

    >>> written_sum(1.5, ["a", "2.0e0 * b"])
    '1.5e0 + a + 2.0e0 * b'
    """
    parts = [written_number(constant), *terms]
    while len(parts) > DEEP:
        parts = [f"({' + '.join(parts[i : i + DEEP])})" for i in range(0, len(parts), DEEP)]
    return " + ".join(parts)


def written_product(weight: float, column: str, place: float) -> str:
    """A weight times what a column is beyond a place.

    >>> written_product(-0.5, "a", 0.0), written_product(2.0, "a", 7.0)
    ('(-0.5e0) * a', '2.0e0 * (a - 7.0e0)')
    """
    shifted = f"({column} - {written_number(place)})" if place else column
    return f"{written_number(weight)} * {shifted}"


def written_number(value: float) -> str:
    """A float64, with an exponent.

    >>> written_number(-0.1), written_number(1e-7)
    ('(-0.1e0)', '1e-07')
    """
    text = repr(float(value))
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if text.startswith("-") else text


def _names(model: Any, columns: Sequence[str] | None) -> Sequence[str]:
    known = getattr(model, "feature_names_in_", None)
    names = columns if columns is not None else known
    if names is None:
        raise ValueError("the model was fitted without names of columns; give them as columns=[...]")
    if len(names) != model.n_features_in_:
        raise ValueError(f"there are {len(names)} names for {model.n_features_in_} columns")
    return names
