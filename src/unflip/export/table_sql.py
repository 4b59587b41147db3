"""A model of a table as SQL over its columns as they are: gaps, levels, dates and truth values included.

A NULL is a gap. NaN is no NULL: replace it first. Text is compared as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unflip._extras import extra
from unflip.estimators.sql import SqlModel, written_choice, written_number, written_product, written_sum
from unflip.export.linear import ColumnWeights, Linear, linear
from unflip.models import TableModel
from unflip.tables.column_kinds import Categories, Numbers

DATES_AS_EPOCHS = ("duckdb", "postgres")  # where EXTRACT(EPOCH FROM ...) takes dates, times and durations
ZERO = written_number(0.0)


def as_sql(model: TableModel, dialect: str = "duckdb") -> SqlModel:
    """The scores and the class as SQL expressions over the columns of the table.

    dialect: as sqlglot calls it, such as "duckdb", "postgres", "spark"; dates have SQL in the first two.

    >>> import duckdb, polars as pl
    >>> frame = pl.DataFrame({"age": [20, 30, None, 60, 70], "old": ["no", "no", "no", "yes", "yes"]})
    >>> told = as_sql(TableModel.fit(frame, "old"))
    >>> told.scores[0]
    '(-...e0) + ...e0 * (COALESCE(CAST("age" AS DOUBLE), 45.0e0) - 45.0e0) + CASE WHEN "age" IS NULL ... END'
    >>> duckdb.sql(f"SELECT {told.predicted} FROM (VALUES (25), (68), (NULL)) AS people(age)").fetchall()
    [('no',), ('yes',), ('no',)]
    """
    extra("sqlglot", "sql")
    _refuse_twins(model.columns)
    scorer = model.classifier.scorer_
    absolute, relative = (
        _sums(linear(model, doublings), dialect) for doublings in (scorer.doublings, -scorer.exponent)
    )
    return SqlModel(tuple(absolute), written_choice(relative, model.classifier.classes_.tolist(), dialect))


def select_list(model: TableModel, dialect: str = "duckdb") -> str:
    """What to SELECT from a table, with names: "score", or "score of ..." each class, and "prediction".

    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [20, 30, 60, 70], "old": [0, 0, 1, 1]})
    >>> print(select_list(TableModel.fit(frame, "old", learner="unhinged")))
    0.0e0 + 0.047...e0 * (COALESCE(CAST("age" AS DOUBLE), 45.0e0) - 45.0e0) AS "score",
    CASE WHEN ... THEN 1 WHEN ... THEN 0 END AS "prediction"
    """
    exp = extra("sqlglot", "sql").exp
    told, classes = as_sql(model, dialect), model.classifier.classes_.tolist()
    names = ["score"] if len(classes) == 2 else [f"score of {label}" for label in classes]
    named = zip([*told.scores, told.predicted], [*names, "prediction"], strict=True)
    return ",\n".join(
        f"{said} AS {exp.to_identifier(name, quoted=True).sql(dialect)}" for said, name in named
    )


def _refuse_twins(columns: list[str]) -> None:
    """Most databases read "Age" and "age" as one name."""
    seen: dict[str, str] = {}
    for name in columns:
        twin = seen.setdefault(name.lower(), name)
        if twin != name:
            raise ValueError(
                f"the columns {twin!r} and {name!r} are one name in SQL; rename one and fit again"
            )


def _sums(plain: Linear, dialect: str) -> list[str]:
    return [
        written_sum(intercept, (term for column in plain.columns for term in _terms(column, place, dialect)))
        for place, intercept in enumerate(plain.intercepts)
    ]


def _terms(column: ColumnWeights, place: int, dialect: str) -> Iterator[str]:
    """What a column adds to the score at this place."""
    exp = extra("sqlglot", "sql").exp
    name = exp.column(column.name, quoted=True)
    weights, quoted = column.weights[place], name.sql(dialect)
    if isinstance(column.read, Numbers):
        value = f"COALESCE({_as_double(column.read, name, dialect)}, {written_number(column.read.fill)})"
        yield written_product(weights[0], value, column.centers[0])
        if column.read.marks:
            yield f"CASE WHEN {quoted} IS NULL THEN {written_number(weights[1])} ELSE {ZERO} END"
        return
    cases = [
        f"WHEN {quoted} IS NULL THEN {written_number(weight)}"
        if level is None
        else f"WHEN {quoted} = {exp.convert(level).sql(dialect)} THEN {written_number(weight)}"
        for level, weight in zip(_levels(column.name, column.read), weights, strict=True)
    ]
    yield f"CASE {' '.join(cases)} ELSE {ZERO} END"


def _as_double(read: Numbers, name: Any, dialect: str) -> str:
    """A column of numbers, truth values, dates or durations as a float64."""
    exp = extra("sqlglot", "sql").exp
    if read.dates:
        if dialect not in DATES_AS_EPOCHS:
            raise ValueError(
                f"column {name.name!r} holds dates, which have SQL here in "
                f"{' and '.join(DATES_AS_EPOCHS)} only; turn "
                "them into days before fitting"
            )
        seconds = exp.cast(exp.Extract(this=exp.var("EPOCH"), expression=name), "double")
        return f"{seconds.sql(dialect)} / 86400"
    if dialect == "postgres" and read.fill in (0.0, 0.5, 1.0):
        # The median of truth values is one of these, and PostgreSQL casts them to text but not to floats.
        name = exp.cast(name, "text")
        for said, number in (("true", "1"), ("false", "0")):
            name = exp.func("REPLACE", name, exp.convert(said), exp.convert(number))
    return str(exp.cast(name, "double").sql(dialect))


def _levels(name: str, read: Categories) -> tuple[Any, ...]:
    if read.buckets:
        raise ValueError(
            f"column {name!r} has more than {len(read.levels)} levels, and the rare ones share columns by a "
            "hash that SQL does not have; group them, or leave the column out, before fitting"
        )
    kinds = {isinstance(level, str) for level in read.levels.values if level is not None}
    if len(kinds) > 1:
        raise ValueError(
            f"column {name!r} has levels that are numbers beside levels that are text, and a column of a "
            "database has one type; make them all text before fitting"
        )
    return read.levels.values
