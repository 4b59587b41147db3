"""The database must say what the model says, of tables with everything in them."""

import datetime
import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from tests.export.tables import CITY, CLASSES, fitted, mixed_table, new_rows, with_buckets

from unflip.export import as_sql, check_sql, made_up_rows, select_list
from unflip.models import TableModel

pytest.importorskip("ibis")

NUMBERS = itertools.count()
TYPES = {
    pl.Float64: "FLOAT8",
    pl.Int64: "BIGINT",
    pl.UInt32: "BIGINT",
    pl.Boolean: "BOOLEAN",
    pl.Date: "DATE",
    pl.Datetime: "TIMESTAMP",
    pl.Duration: "INTERVAL",
    pl.String: "TEXT",
}


def put(database, frame):
    """A new table with the types that a database has for these columns."""
    name, rows = f"e{next(NUMBERS)}", frame.with_row_index("row number")
    quoted = ['"' + column.replace('"', '""') + '"' for column in rows.columns]
    types = [TYPES[dtype.base_type()] for dtype in rows.dtypes]
    cursor = database.con.cursor()
    cursor.execute(f"CREATE TABLE {name} ({', '.join(map(' '.join, zip(quoted, types, strict=True)))})")
    slots = ", ".join(["%s" if database.name == "postgres" else "?"] * len(quoted))
    cursor.executemany(f"INSERT INTO {name} VALUES ({slots})", rows.rows())
    return name


def told(database, model, frame):
    """Scores and classes that the database computes, in the order of the rows."""
    table = put(database, frame.drop("y", strict=False))
    cursor = database.con.cursor()
    cursor.execute(f'SELECT {select_list(model, database.name)} FROM {table} ORDER BY "row number"')
    found = cursor.fetchall()
    return np.array([row[:-1] for row in found], dtype=float), [row[-1] for row in found]


@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("learner", ["square", "unhinged"])
def test_the_database_says_what_the_model_says(database, classes, learner):
    model = fitted(classes, learner)
    for frame in (mixed_table(classes), new_rows(classes), made_up_rows(model)):
        scores, predicted = told(database, model, with_durations(frame))
        assert_allclose(scores, model.scores(frame).reshape(frame.height, -1), rtol=0, atol=1e-9)
        assert predicted == model.predict(frame).tolist()


def with_durations(frame):
    """Rows that are made up have dates for durations, since the model knows only how many days they are."""
    if frame["took"].dtype == pl.Duration:
        return frame
    return frame.with_columns(pl.col("took") - datetime.datetime(1970, 1, 1))


@pytest.mark.parametrize("classes", CLASSES)
def test_the_check_on_duckdb_finds_the_same(classes):
    found = check_sql(fitted(classes), new_rows(classes))
    assert found.rows == 61
    assert found.difference < 1e-9


def test_times_with_a_zone_are_those_of_the_world(database):
    zoned = pl.Series("at", [datetime.datetime(2020, 1, k, 3, tzinfo=datetime.UTC) for k in range(1, 9)])
    frame = pl.DataFrame({"at": zoned.dt.convert_time_zone("Asia/Tokyo"), "y": [0] * 4 + [1] * 4})
    model = TableModel.fit(frame, "y")
    cursor = database.con.cursor()
    cursor.execute('CREATE TABLE zoned ("at" TIMESTAMPTZ)')
    for k in range(1, 9):
        cursor.execute(f"INSERT INTO zoned VALUES ('2020-01-0{k} 03:00:00+00')")
    cursor.execute(f'SELECT {as_sql(model, database.name).scores[0]} FROM zoned ORDER BY "at"')
    assert_allclose([row[0] for row in cursor.fetchall()], model.scores(frame), atol=1e-9)


def test_levels_that_are_numbers_are_compared_as_numbers():
    import duckdb

    codes = [3, 3, 7, 7, 11, 11] * 4
    frame = pd.DataFrame({"code": pd.Categorical(codes), "y": [0, 0, 1, 1, 1, 0] * 4})
    model = TableModel.fit(frame, "y")
    [score] = as_sql(model).scores
    assert "= 7 THEN" in score
    plain = pd.DataFrame({"code": codes})  # noqa: F841  # DuckDB finds it by its name
    found = duckdb.sql(f"SELECT {score} FROM plain").fetchall()
    assert_allclose([row[0] for row in found], model.scores(frame), atol=1e-9)


@pytest.mark.slow
def test_more_columns_than_expressions_are_deep():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 1500))
    frame = pl.DataFrame(X, [f"c{j}" for j in range(1500)]).with_columns(y=pl.Series(np.arange(40) % 2))
    model = TableModel.fit(frame, "y", "unhinged")
    assert check_sql(model, frame).difference < 1e-9


def test_what_cannot_be_written_is_refused_by_name():
    with pytest.raises(ValueError, match=r"column 'name' has more than 30 levels, .* leave the column out"):
        as_sql(with_buckets()[0])
    mixed = pd.DataFrame({"x": ["a", 1, "a", 1], "y": [0, 1, 0, 1]})
    with pytest.raises(
        ValueError, match="column 'x' has levels that are numbers beside levels that are text"
    ):
        as_sql(TableModel.fit(mixed, "y"))
    with pytest.raises(
        ValueError, match="column 'day' holds dates, which have SQL here in duckdb and postgres"
    ):
        as_sql(fitted(), "spark")
    twins = pl.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "Age": [2.0, 1.0, 5.0, 7.0], "y": [0, 0, 1, 1]})
    with pytest.raises(ValueError, match="the columns 'age' and 'Age' are one name in SQL"):
        as_sql(TableModel.fit(twins, "y"))
    with pytest.raises(ValueError, match="dialect"):
        as_sql(fitted(), "no such dialect")


def test_other_dialects_have_their_own_quotes():
    model = TableModel.fit(mixed_table().select(CITY, "age", "y"), "y")
    [score], _ = as_sql(model, "spark")
    assert "WHEN `it's a city; --` = 'O\\'Hare' THEN" in score
    assert "COALESCE(CAST(`age` AS DOUBLE), " in score
