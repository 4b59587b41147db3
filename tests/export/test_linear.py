"""Weights in the units of the columns, against the scores that they must make."""

import datetime

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from tests.export.tables import CITY, CLASSES, fitted, mixed_table

from unflip.export import linear
from unflip.models import TableModel


@pytest.mark.parametrize("learner", ["square", "unhinged"])
@pytest.mark.parametrize("classes", CLASSES)
def test_weights_make_the_scores(classes, learner):
    model, frame = fitted(classes, learner), mixed_table(classes)
    plain = linear(model)
    assert plain.names == tuple(model.table.get_feature_names_out())
    assert list(plain.classes) == sorted(CLASSES[classes])
    numbers, expected = model.numbers(frame), model.scores(frame).reshape(frame.height, -1)
    assert_allclose((numbers - plain.centers) @ plain.weights.T + plain.intercepts, expected, atol=1e-11)
    # The column at 1e9 costs digits where numbers are counted from zero.
    assert_allclose(numbers @ plain.weights.T + plain.at_zero, expected, atol=1e-5)


def test_a_weight_is_what_one_unit_more_adds():
    model = TableModel.fit(mixed_table(), "y")
    plain, frame = linear(model), mixed_table()
    weight = dict(zip(plain.names, plain.weights[0], strict=True))
    known = frame.filter(pl.col("age").is_not_null())
    more = known.with_columns(pl.col("age") + 1)
    assert_allclose(model.scores(more) - model.scores(known), weight["age"], atol=1e-11)
    missing = known.with_columns(pl.lit(None, pl.Float64).alias("age"))
    median = known.with_columns(pl.lit(model.table.columns_[0].fill).alias("age"))
    assert_allclose(model.scores(missing) - model.scores(median), weight["age is missing"], atol=1e-11)
    here, there = (known.with_columns(pl.lit(city).alias(CITY)) for city in ("Köln", "O'Hare"))
    difference = weight[f"{CITY} = Köln"] - weight[f"{CITY} = O'Hare"]
    assert_allclose(model.scores(here) - model.scores(there), difference, atol=1e-11)


def test_moments_of_a_second_keep_their_digits():
    rng = np.random.default_rng(0)
    start = datetime.datetime(2024, 1, 1)
    times = [start + datetime.timedelta(microseconds=int(k)) for k in rng.integers(0, 10**6, 300)]
    y = [time.microsecond > 500_000 for time in times]
    frame = pl.DataFrame({"at": times, "y": y})
    model = TableModel.fit(frame, "y")
    plain = linear(model)
    numbers = model.numbers(frame)
    assert_allclose(
        (numbers - plain.centers) @ plain.weights[0] + plain.intercepts[0], model.scores(frame), atol=1e-9
    )


def test_columns_without_a_number_that_varies_are_not_there():
    plain = linear(fitted())
    assert "one" not in [column.name for column in plain.columns]
    frame = pl.DataFrame({"a": [1.0, None, 1.0, None] * 3, "y": [0, 1, 0, 1] * 3})  # only its gaps vary
    [column] = linear(TableModel.fit(frame, "y")).columns
    assert column.weights[0, 0] == 0
    assert column.weights[0, 1] > 0
