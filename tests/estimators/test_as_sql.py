"""Linear models as SQL: the database must say what the model says."""

import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from unflip import (
    KernelUnhingedClassifier,
    LossClassifier,
    NoiseCorrectedClassifier,
    SquareClassifier,
    UnhingedClassifier,
)
from unflip.estimators.sql import as_sql
from unflip.features import Quantile, Standardize
from unflip.moments import accumulate
from unflip.sources import sql

ibis = pytest.importorskip("ibis")

NUMBERS = itertools.count()
NAMES = ["plain", "two words", "UPPER", "Größe", 'x"; DROP TABLE t; --', "it's", "select"]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, len(NAMES))) * 10.0 ** np.arange(-3, 4)
X[:, 3] += 1e9
FRAME = pd.DataFrame(X, columns=NAMES)
LABELS = {
    "strings": np.array(["no", "it's"]),
    "integers": np.array([-1, 7]),
    "truth values": np.array([False, True]),
    "floats": np.array([0.0, 2.0]),
    "three classes": np.array(["a", 'b"', "c; --"]),
}
MODELS = {
    "unhinged": UnhingedClassifier(),
    "paper's": UnhingedClassifier(center=False, threshold=0.0),
    "standardised": UnhingedClassifier(features=Standardize()),
    "scaled": UnhingedClassifier(features=Standardize(center=False)),
    "balanced": UnhingedClassifier(class_weight="balanced", features=Standardize()),
    "square": SquareClassifier(features=Standardize()),
    "logistic": LossClassifier("logistic", features=Standardize(), regularization=1e-2),
}


def told(database, model, table, **options):
    """Scores and classes that the database computes, in the order of the rows."""
    said = as_sql(model, "postgres" if database.name == "postgres" else "duckdb", **options)
    wanted = ", ".join([*said.scores, said.predicted])
    found = database.raw_sql(f'SELECT {wanted} FROM "{table}" ORDER BY "row"').fetchall()
    return np.array([row[:-1] for row in found], dtype=float).squeeze(), [row[-1] for row in found]


def put(database, columns):
    name = f"s{next(NUMBERS)}"
    rows = len(next(iter(columns.values())))
    database.create_table(name, ibis.memtable(pa.table({**columns, "row": np.arange(rows)})))
    return name


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("name", MODELS)
def test_the_database_says_what_the_model_says(database, name, labels):
    classes = LABELS[labels]
    y = classes[(np.arange(400) + (X[:, 0] > 0) + (RNG.random(400) < 0.3)) % len(classes)]
    # So far out, features that are not centred have lost the digits that are compared.
    frame = FRAME.assign(Größe=FRAME["Größe"] - 1e9) if name == "scaled" else FRAME
    model = MODELS[name].fit(frame, y)
    scores, predicted = told(database, model, put(database, dict(frame)))
    expected = model.decision_function(frame)
    assert_allclose(scores, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    clear = np.abs(expected) if expected.ndim == 1 else -np.diff(np.sort(expected)[:, :-3:-1], axis=1)[:, 0]
    clear = clear > 1e-9 * np.abs(expected).max()
    assert clear.sum() > 350
    assert np.array_equal(np.array(predicted)[clear], model.predict(frame)[clear])


def test_a_model_fitted_in_the_database_scores_in_it(database):
    noise = np.random.default_rng(0).normal(size=400)  # of its own, whichever tests were run before
    y = np.where(X[:, 0] + noise * 1e-3 > 0, "yes", "no")
    table = put(database, {**FRAME, "label": y})
    source = sql(database.table(table), "label", NAMES)
    scaler = Standardize.from_moments(accumulate(source, degree=2))
    model = SquareClassifier(features=scaler).fit_moments(accumulate(source, scaler, degree=2))
    scores, predicted = told(database, model, table)
    assert_allclose(scores, model.decision_function(FRAME), rtol=1e-9, atol=1e-10)
    assert np.mean(np.array(predicted) == y) > 0.7


def test_columns_of_other_types_are_cast(database):
    model = UnhingedClassifier(center=False, threshold=0.0).fit([[0.0, 0.0], [0.7, 3.0]], [0, 1])
    table = put(database, {"a": np.array([0.1, 2.5], dtype=np.float32), "b": np.array([2**31 - 1, 3], "i4")})
    scores, _ = told(database, model, table, columns=["a", "b"])
    rows = np.column_stack([np.array([0.1, 2.5], dtype=np.float32), [2.0**31 - 1, 3.0]])
    assert_allclose(scores, model.decision_function(rows), rtol=1e-14)


def test_a_gap_has_neither_score_nor_class(database):
    for y in ([0, 1], [0, 1, 2]):
        model = UnhingedClassifier().fit(np.eye(3)[: len(y)], y)
        table = put(database, {"a": [1.0, None], "b": [2.0, 3.0], "c": [0.0, 1.0]})
        scores, predicted = told(database, model, table, columns=["a", "b", "c"])
        assert np.isnan(scores[1]).all()
        assert predicted[0] is not None
        assert predicted[1] is None


@pytest.mark.parametrize("factor", [1e-100, 1e100])
def test_huge_and_tiny_columns_keep_their_classes(database, factor):
    y = np.where(X[:, 6] > 0, 1, 0)
    model = UnhingedClassifier().fit(X[:, 4:] * factor, y)
    table = put(database, dict(zip("abc", (X[:, 4:] * factor).T, strict=True)))
    scores, predicted = told(database, model, table, columns=["a", "b", "c"])
    assert_allclose(scores, model.decision_function(X[:, 4:] * factor), rtol=1e-9)
    assert predicted == model.predict(X[:, 4:] * factor).tolist()


@pytest.mark.parametrize(
    ("dialect", "column"),
    [
        ("duckdb", 'CAST("a""b" AS DOUBLE)'),
        ("postgres", 'CAST("a""b" AS DOUBLE PRECISION)'),
        ("spark", 'CAST(`a"b` AS DOUBLE)'),
        ("trino", 'CAST("a""b" AS DOUBLE)'),
        ("bigquery", 'CAST(`a"b` AS FLOAT64)'),
        ("snowflake", 'CAST("a""b" AS DOUBLE)'),
    ],
)
def test_dialects_have_their_own_quotes_and_types(dialect, column):
    model = UnhingedClassifier(center=False, threshold=0.0).fit([[-1.0], [3.0]], [0, 1])
    [score], predicted = as_sql(model, dialect, columns=['a"b'])
    assert score == f"0.0e0 + 2.0e0 * {column}"
    assert predicted.endswith("THEN 0 END")


def test_what_cannot_be_written_is_said():
    y = np.arange(400) % 2
    with pytest.raises(ValueError, match="without names of columns"):
        as_sql(UnhingedClassifier().fit(X, y))
    with pytest.raises(ValueError, match="1 names for 7 columns"):
        as_sql(UnhingedClassifier().fit(X, y), columns=["a"])
    with pytest.raises(ValueError, match="features made by Quantile have no SQL here"):
        as_sql(UnhingedClassifier(features=Quantile()).fit(FRAME, y))
    with pytest.raises(TypeError, match=r"only linear models .* KernelUnhingedClassifier"):
        as_sql(KernelUnhingedClassifier().fit(X, y))
    with pytest.raises(ValueError, match="not fitted"):
        as_sql(UnhingedClassifier())
    empty = UnhingedClassifier().partial_fit(FRAME, np.zeros(400, int), classes=[0, 1])
    with pytest.raises(ValueError, match="a class has no rows"):
        as_sql(empty)


def test_corrected_models_are_linear_too(database):
    y = np.where(X[:, 0] > 0, 1, 0)
    model = NoiseCorrectedClassifier(features=Standardize(), noise=0.1).fit(FRAME, y)
    scores, _ = told(database, model, put(database, dict(FRAME)))
    assert_allclose(scores, model.decision_function(FRAME), rtol=1e-9, atol=1e-10)
