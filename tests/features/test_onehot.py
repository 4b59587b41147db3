"""OneHot against scikit-learn's encoder, and what it makes of tables in the wild."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from unflip import UnhingedClassifier
from unflip.features import OneHot

RNG = np.random.default_rng(0)
COLORS = np.array(["red", "green", "blue"])[RNG.integers(0, 3, 50)]
SIZES = RNG.integers(0, 4, 50)


def test_it_is_the_encoder_of_scikit_learn():
    tables = [
        np.column_stack([COLORS, COLORS[::-1]]),
        np.column_stack([COLORS, SIZES]).astype(object),
        SIZES[:, None],
        SIZES[:, None] / 2,
        pd.DataFrame({"color": COLORS, "size": SIZES}),
        pd.DataFrame({"color": pd.Categorical(COLORS), "size": SIZES}),
        pl.DataFrame({"color": COLORS, "size": SIZES}),
        pl.DataFrame({"color": pl.Series(COLORS, dtype=pl.Categorical), "size": SIZES}),
    ]
    for table in tables:
        theirs = OneHotEncoder(sparse_output=False).fit(table)
        ours = OneHot(sparse=False).fit(table)
        assert_array_equal(ours.transform(table), theirs.transform(table))
        assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


def test_unknown_levels_are_all_zeros():
    fitted = OneHot(sparse=False).fit([["a"], ["b"]])
    assert fitted.transform([["c"], [1], [None], ["b"]]).tolist() == [[0, 0], [0, 0], [0, 0], [0, 1]]


@pytest.mark.parametrize(
    "column",
    [
        [["a"], [None], ["b"], [np.nan]],
        pd.DataFrame({"c": pd.array(["a", None, "b", None], dtype="string")}),
        pd.DataFrame({"c": pd.Categorical(["a", None, "b", np.nan])}),
        pd.DataFrame({"c": pd.Series(["a", pd.NA, "b", pd.NaT], dtype=object)}),
        pl.DataFrame({"c": ["a", None, "b", None]}),
        pl.DataFrame({"c": pl.Series(["a", None, "b", None], dtype=pl.Categorical)}),
        [[1.0], [np.nan], [2.0], [np.nan]],
        pd.DataFrame({"c": pd.array([1, None, 2, None], dtype="Int64")}),
    ],
)
def test_a_missing_value_is_a_level_of_its_own(column):
    expected = [[1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 1]]
    fitted = OneHot(sparse=False).fit(column)
    assert fitted.transform(column).tolist() == expected
    assert fitted.get_feature_names_out()[-1].endswith("_missing")


def test_numbers_are_equal_as_numbers_are():
    fitted = OneHot(sparse=False).fit(np.array([[1], [2]]))
    assert fitted.transform([[1.0], [2.5], [True]]).tolist() == [[1, 0], [0, 0], [1, 0]]
    assert fitted.key == OneHot().fit(np.array([[1.0], [2.0]])).key
    assert fitted.key != OneHot().fit([["1"], ["2"]]).key


def test_the_most_frequent_levels_are_kept():
    column = [[c] for c in "aabbbcdd"]
    fitted = OneHot(max_levels=2, sparse=False).fit(column)
    assert fitted.get_feature_names_out().tolist() == ["x0_a", "x0_b"]  # a comes before d, as frequent
    assert fitted.transform([["b"], ["d"]]).tolist() == [[0, 1], [0, 0]]
    assert OneHot(max_levels=None).fit(np.arange(2000)[:, None]).width == 2000


@pytest.mark.parametrize("columns", [["color"], [1], pd.Index(["color"])])
def test_other_columns_stay_in_their_place(columns):
    frame = pd.DataFrame({"age": [1.5, 2.5], "color": ["r", "g"], "size": [3, 4]})
    fitted = OneHot(columns=columns).fit(frame)
    assert fitted.get_feature_names_out().tolist() == ["age", "color_g", "color_r", "size"]
    assert fitted.transform(frame).tolist() == [[1.5, 0, 1, 3], [2.5, 1, 0, 4]]
    assert np.isinf(fitted.radius)


def test_many_levels_come_as_a_sparse_array():
    wide, narrow = np.arange(40)[:, None], (np.arange(40) % 3)[:, None]
    assert sparse.issparse(OneHot().fit_transform(wide))
    assert not sparse.issparse(OneHot().fit_transform(narrow))
    assert not sparse.issparse(OneHot(sparse=False).fit_transform(wide))
    assert sparse.issparse(OneHot(sparse=True).fit_transform(narrow))
    assert OneHot().set_output(transform="pandas").fit_transform(wide).shape == (40, 40)
    assert_array_equal(OneHot().fit_transform(wide).toarray(), np.eye(40))


def test_text_is_encoded_before_a_classifier():
    frame = pd.DataFrame({"color": COLORS})
    model = make_pipeline(OneHot(), UnhingedClassifier()).fit(frame, COLORS == "red")
    assert model.score(frame, COLORS == "red") == 1.0


def test_coded_categories_are_encoded_inside_one():
    model = UnhingedClassifier(features=OneHot()).fit(SIZES[:, None], SIZES == 2)
    assert model.score(SIZES[:, None], SIZES == 2) == 1.0
    assert len(model.coef_) == 4


def test_dates_are_categories_too():
    days = [[datetime.date(2020, 1, 2)], [datetime.date(2020, 1, 1)]]
    assert OneHot(sparse=False).fit_transform(days).tolist() == [[0, 1], [1, 0]]


def test_bad_input_is_named():
    with pytest.raises(
        ValueError, match=r"columns names 'hue', which is not a column of X; these are \['a'\]"
    ):
        OneHot(columns=["hue"]).fit(pd.DataFrame({"a": [1]}))
    with pytest.raises(ValueError, match=r"columns names 2, .* these are 0 to 1"):
        OneHot(columns=[2]).fit([[1, 2]])
    with pytest.raises(TypeError, match="column 'a' of X holds a list in row 1"):
        OneHot().fit(pd.DataFrame({"a": ["x", [1]]}))
    with pytest.raises(ValueError, match="column 'b' of X is not among the columns to encode"):
        OneHot(columns=["a"]).fit_transform(pd.DataFrame({"a": [1], "b": ["tall"]}))
    with pytest.raises(TypeError, match="OneHot takes dense rows only"):
        OneHot().fit(sparse.csr_array([[1]]))
    with pytest.raises(ValueError, match="0 sample"):
        OneHot().fit(pd.DataFrame({"a": []}))


def test_what_is_no_number_in_a_column_that_stays_is_named():
    with pytest.raises(ValueError, match="row 1, column 1 is nan"):
        OneHot(columns=[0]).fit_transform([[1.0, 2.0], [2.0, np.nan]])
    with pytest.raises(ValueError, match="columns names True"):
        OneHot(columns=[True, False]).fit([[1.0, 2.0]])
