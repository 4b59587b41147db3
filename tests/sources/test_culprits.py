"""Errors name the column, and fit in a sentence."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning

from unflip import UnhingedClassifier
from unflip.moments import accumulate
from unflip.sources import arrays, encode

DAY = datetime.datetime(2020, 1, 1)


def refused(X):
    with pytest.raises(ValueError, match=r"X|Complex") as caught:
        accumulate((X, [0, 1]))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"age": [1.0, 2.0], "eyes": ["x", "y"]}),
        pd.DataFrame({"age": [1.0, 2.0], "eyes": pd.Categorical(["x", "y"])}),
        pd.DataFrame({"age": [1.0, 2.0], "eyes": pd.array(["x", None], dtype="string")}),
        pl.DataFrame({"age": [1.0, 2.0], "eyes": ["x", "y"]}),
        pl.DataFrame(
            {"age": [1.0, 2.0], "eyes": ["x", "y"]}, schema={"age": pl.Float64, "eyes": pl.Categorical}
        ),
    ],
    ids=["pandas", "pandas categorical", "pandas string", "polars", "polars categorical"],
)
def test_text_in_a_frame_is_named(frame):
    said = refused(frame)
    assert "column 'eyes' of X holds 'x' in row 0" in said
    assert "before this estimator, for example with unflip.features.OneHot in a pipeline" in said


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"born": pd.to_datetime(["2020-01-01", None])}),
        pd.DataFrame({"born": pd.to_datetime(["2020-01-01", None]), "age": [1.0, 2.0]}),
        pd.DataFrame({"born": pd.to_datetime(["2020-01-01", None]).tz_localize("UTC"), "age": [1.0, 2.0]}),
        pd.DataFrame({"born": pd.to_timedelta([1, None], unit="D"), "age": [1.0, 2.0]}),
        pd.DataFrame({"born": pd.Series([DAY, pd.NaT], dtype=object), "age": [1.0, 2.0]}),
        pl.DataFrame({"born": [DAY, None]}),
        pl.DataFrame({"born": [DAY.date(), None], "age": [1.0, 2.0]}),
    ],
)
def test_dates_in_a_frame_are_named(frame):
    assert "column 'born' of X holds dates or times" in refused(frame)


def test_dates_in_an_array_are_refused():
    assert "X holds dates or times" in refused(np.array([["2020"], ["NaT"]], dtype="M8[s]"))
    assert "column 1 of X holds dates or times" in refused(np.array([[1, DAY], [2, DAY]], dtype=object))


def test_numbers_in_odd_columns_are_numbers_still():
    frame = pd.DataFrame(
        {"a": pd.Series([1, 2], dtype=object), "b": pd.array([True, False], dtype="boolean")}
    )
    assert accumulate((frame, [0, 1])).sums.tolist() == [[1.0, 1.0], [2.0, 0.0]]


@pytest.mark.parametrize("kind", [kind for kind in ("Int128", "UInt128") if hasattr(pl, kind)])
def test_integers_of_128_bits_are_numbers_as_rows_labels_and_weights(kind):
    long = pl.Series("a", [1, 2, 3, 2**100], dtype=getattr(pl, kind))
    X, y = long.to_frame(), [0, 1, 0, 1]
    plain = UnhingedClassifier().fit(np.array([[1.0], [2.0], [3.0], [2.0**100]]), y)
    model = UnhingedClassifier().fit(X, y)
    assert model.coef_.tolist() == plain.coef_.tolist()
    assert model.feature_names_in_.tolist() == ["a"]
    assert model.predict(X).tolist() == plain.predict([[1.0], [2.0], [3.0], [2.0**100]]).tolist()
    assert accumulate((X, y)).sums.tolist() == [[4.0], [2.0**100 + 2.0]]
    assert arrays(X, y, weight=long).weight.tolist() == [1.0, 2.0, 3.0, 2.0**100]
    near = pl.Series("y", [2**100, 2**100 + 1], dtype=getattr(pl, kind))  # which are one, as floats
    assert encode(near).classes.tolist() == [2**100, 2**100 + 1]
    short = pl.Series(y, dtype=getattr(pl, kind))
    with pytest.warns(DataConversionWarning):
        assert encode(short.to_frame()).classes.tolist() == [0, 1]
    assert model.score(X, short, sample_weight=long) == model.score(X, y, sample_weight=[1, 2, 3, 2.0**100])


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"b": [1.0, 2.0], "a": [[1.0, 2.0]] * 2}),
        pl.DataFrame(
            {"b": [1.0, 2.0], "a": [[1.0, 2.0]] * 2}, schema_overrides={"a": pl.Array(pl.Float64, 2)}
        ),
        pd.DataFrame({"b": [1.0, 2.0], "a": [[1.0, 2.0]] * 2}),
    ],
    ids=["lists", "arrays", "pandas"],
)
def test_lists_in_a_column_are_named(frame):
    for fit in (lambda: UnhingedClassifier().fit(frame, [0, 1]), lambda: accumulate((frame, [0, 1]))):
        with pytest.raises(
            ValueError, match=r"column 'a' of X holds a .* in row 0, which is not a number; give"
        ):
            fit()
    lists = frame["a"].to_list()
    with pytest.raises(ValueError, match=r"got a Series that holds a .* in row 0; give each of its values"):
        UnhingedClassifier().fit(pd.Series(lists), [0, 1])


def test_complex_numbers_are_refused_without_showing_them():
    assert refused(np.ones((2, 2)) * 1j).startswith("Complex data not supported: ")


def test_lists_in_the_place_of_numbers_are_named():
    assert refused([[[1, 2], [3]], [[4], [5]]]) == "row 0, column 0 of X holds a list, not a number"
    assert refused([[1, 2], [3, (4, 5)]]) == "row 1, column 1 of X holds a tuple, not a number"


@pytest.mark.parametrize(
    "labels", [["a", 1], ("a", 1), [1, "a"], ["a", 2.5], ["a", True], [b"a", "b"], [["a"], [1]]]
)
@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_lists_of_mixed_labels_are_refused_as_arrays_of_them_are(labels):
    with pytest.raises(ValueError, match="labels are of mixed types"):
        encode(labels)


@pytest.mark.parametrize(
    "labels",
    [
        ["a", np.nan],
        ["a", None],
        np.array(["2020", "NaT"], dtype="M8[s]"),
        np.array([1, "NaT"], dtype="m8[s]"),
    ],
)
def test_missing_labels_are_missing_in_every_type(labels):
    with pytest.raises(ValueError, match="the label of row 1 is"):
        encode(labels)


def test_masked_values_are_missing_values():
    X, y, w = np.eye(4), np.array([0, 1, 0, 1]), np.ones(4)
    third = np.array([False, False, True, False])
    model = UnhingedClassifier().fit(X, y)
    with pytest.raises(ValueError, match="X is masked in row 2, column 0"):
        model.fit(np.ma.array(X, mask=np.outer(third, np.ones(4))), y)
    with pytest.raises(ValueError, match="X is masked in row 2, column 0"):
        model.predict(np.ma.array(X, mask=np.outer(third, np.ones(4))))
    with pytest.raises(ValueError, match="y is masked in row 2"):
        model.fit(X, np.ma.array(y, mask=third))
    with pytest.raises(ValueError, match="sample_weight is masked in row 2"):
        model.fit(X, y, sample_weight=np.ma.array(w, mask=third))
    assert (model.fit(np.ma.array(X), np.ma.array(y)).predict(X) == y).all()


def test_sparse_tensors_are_refused_in_words():
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match=r"X is a tensor of torch.sparse_coo; use a sparse array of SciPy"):
        arrays(torch.eye(4).to_sparse(), torch.tensor([0, 1, 0, 1]))
