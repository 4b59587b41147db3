"""Sums inside DuckDB and PostgreSQL against the same rows in memory."""

import decimal
import itertools
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from unflip import SquareClassifier, UnhingedClassifier
from unflip.features import Quantile, Standardize
from unflip.moments import accumulate
from unflip.sources import sql

ibis = pytest.importorskip("ibis")

MODULE = sys.modules["unflip.sources.sql"]  # the name is that of the function

NUMBERS = itertools.count()
N = 500
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, -2.0]
NAMES = ["age", "Größe in cm", 'x"; DROP TABLE t; --']
Y = RNG.choice(["no", "perhaps", "yes"], N)
W = RNG.uniform(0, 2, N)


def put(database, **columns):
    """A table of these columns in the database, under a name of its own."""
    return database.create_table(f"t{next(NUMBERS)}", ibis.memtable(pa.table(columns)))


def put_sample(database, X=X, y=Y, **more):
    return put(database, **dict(zip(NAMES, X.T, strict=True)), label=y, **more)


def assert_same(moments, expected, rtol=1e-10):
    assert moments.classes == expected.classes
    assert moments.key == expected.key
    assert moments.names == expected.names
    moments = moments.framed(expected.origin, expected.unit)
    scale = np.sqrt(expected.squares * expected.total)  # what sums of either sign are compared with
    assert_allclose(moments.counts, expected.counts, rtol=rtol)
    assert_allclose(moments.sums, expected.sums, rtol=rtol, atol=rtol * scale)
    assert_allclose(moments.squares, expected.squares, rtol=rtol)
    if expected.second is not None:
        assert_allclose(moments.second, expected.second, rtol=rtol, atol=rtol * expected.squares)


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("weight", [None, "w"])
def test_sums_are_those_of_the_rows_in_memory(database, degree, weight):
    table = put_sample(database, w=W)
    columns = None if weight else NAMES
    moments = accumulate(sql(table, "label", columns, weight), degree=degree)
    frame = pd.DataFrame(X, columns=NAMES)
    assert_same(moments, accumulate((frame, Y, W if weight else None), degree=degree))


def test_models_are_those_of_the_rows_in_memory(database):
    source = sql(put_sample(database), "label")
    frame = pd.DataFrame(X, columns=NAMES)
    for model, degree in ((UnhingedClassifier(), 1), (SquareClassifier(), 2)):
        there = model.fit_moments(accumulate(source, degree=degree))
        scores = there.decision_function(frame)
        assert list(there.feature_names_in_) == NAMES
        assert_allclose(scores, model.fit(frame, Y).decision_function(frame), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (np.array([3, -1, 3]), (-1, 3)),
        (np.array([True, False, True]), (False, True)),
        (np.array([0.0, 1.0, 1.0]), (0.0, 1.0)),
        (["it's", "b", "it's"], ("b", "it's")),
        (pa.array([decimal.Decimal(1), decimal.Decimal(2), decimal.Decimal(1)]), (1.0, 2.0)),
    ],
    ids=["integers", "truth values", "floats", "strings", "decimals"],
)
def test_labels_of_every_type_are_classes(database, labels, classes):
    moments = accumulate(sql(put(database, x=[1.0, 2.0, 3.0], label=labels), "label"))
    assert moments.classes == classes
    assert [type(label) for label in moments.classes] == [type(label) for label in classes]
    assert moments.total == 3


def test_columns_of_every_numeric_type_are_summed_in_float64(database):
    largest = {"i2": np.int16, "i4": np.int32, "i8": np.int64}
    columns = {name: np.full(9, np.iinfo(kind).max, dtype=kind) for name, kind in largest.items()}
    columns["f4"] = np.full(9, 0.1, dtype=np.float32)
    columns["truth"] = np.array([True] * 4 + [False] * 5)
    columns["money"] = pa.array([decimal.Decimal("12345678.91")] * 9, pa.decimal128(12, 2))
    moments = accumulate(sql(put(database, **columns, label=[0, 1] * 4 + [1]), "label"), degree=2)
    expected = [np.asarray(column, dtype=np.float64).mean() for column in columns.values()]
    assert_allclose(moments.mean, expected, rtol=1e-14)


@pytest.mark.parametrize("offset", [1e9, -1e15])
@pytest.mark.parametrize("late", [0, 300])
def test_columns_far_from_zero_are_summed_about_their_own_place(database, offset, late):
    # With `late`, the first rows are not like the others, and they are what the frame is first chosen from.
    near = np.round(X * 4) / 4
    far = near.copy()
    far[late:, 0] += offset
    source = sql(put_sample(database, far), "label")
    moments = accumulate(source, degree=2)
    centered = moments.second / moments.total - np.outer(moments.center, moments.center)
    if not late:
        assert moments.origin[0] == pytest.approx(offset)
        assert_same(moments, accumulate((pd.DataFrame(far, columns=NAMES), Y), degree=2))
        assert_allclose(centered, np.cov(near.T, bias=True), rtol=1e-10, atol=1e-12)
    assert_allclose(moments.mean, far.mean(axis=0), rtol=1e-14)


def test_a_frame_that_the_first_rows_got_wrong_is_mended(database):
    near = np.round(X * 4) / 4
    far = near + np.array([1e12, 0.0, 0.0])
    far[:260] = 0.0  # of no weight: the database shows them first, and they count for nothing
    w = np.where(np.arange(N) < 260, 0.0, 1.0)
    moments = accumulate(sql(put_sample(database, far, w=w), "label", weight="w"), degree=2)
    centered = moments.second / moments.total - np.outer(moments.center, moments.center)
    assert_allclose(centered, np.cov(near[260:].T, bias=True), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("factor", [1e-160, 1e-200, 1e200])
def test_huge_and_tiny_numbers_do_not_leave_the_range(database, factor):
    moments = accumulate(sql(put_sample(database, X * factor), "label"), degree=2)
    assert_allclose(moments.mean / factor, X.mean(axis=0), rtol=1e-12)
    assert_same(moments, accumulate((pd.DataFrame(X * factor, columns=NAMES), Y), degree=2))


@pytest.mark.parametrize("odd", [1e200, 1e-200])
def test_a_single_giant_or_dwarf_is_no_reason_to_give_up(database, odd):
    rows = X.copy()
    rows[-1, 0] = odd  # not among the rows that the frame is first chosen from
    moments = accumulate(sql(put_sample(database, rows), "label"), degree=2)
    assert_allclose(moments.mean, rows.mean(axis=0), rtol=1e-12)
    assert np.isfinite(moments.second).all()


@pytest.mark.parametrize("center", [True, False])
def test_standardised_columns_are_summed_in_the_database(database, center):
    offset = 1e9 if center else 1e3  # so far out, what is not centred keeps few digits here or there
    frame = pd.DataFrame(X + np.array([0.0, offset, 0.0]), columns=NAMES).assign(constant=7.0)
    table = put(database, **{name: frame[name] for name in frame}, label=Y)
    raw = accumulate(sql(table, "label"), degree=2)
    scaler = Standardize.from_moments(raw, center=center)
    assert_allclose(scaler.scale_[:3], X.std(axis=0), rtol=1e-6)
    there = accumulate(sql(table, "label"), scaler, degree=2)
    here = accumulate((frame, Y), scaler, degree=2)
    assert_same(there, here, rtol=1e-9)
    model = UnhingedClassifier(features=scaler).fit_moments(there)
    assert_allclose(
        model.decision_function(frame),
        UnhingedClassifier(features=scaler).fit_moments(here).decision_function(frame),
        atol=1e-10,
    )
    with pytest.raises(ValueError, match="but Standardize was fitted to"):
        accumulate(sql(table, "label", ["age"]), scaler)


def test_gaps_are_named_with_their_number(database):
    columns = {
        "a": [1.0, None, 3.0, None],
        "b": [1, 2, 3, None],
        "label": ["n", "y", None, "y"],
        "w": [1.0, 1.0, 1.0, 1.0],
    }
    table = put(database, **columns)
    with pytest.raises(ValueError, match=r"NULLs in 'a' \(2 rows\), 'b' \(1 row\), 'label' \(1 row\); they"):
        accumulate(sql(table, "label", weight="w"))
    with pytest.raises(ValueError, match=r"NULLs in 'label' \(1 row\)"):
        accumulate(sql(table, "label", ["w"]))
    with pytest.raises(ValueError, match=r"NULLs in 'a' \(2 rows\);"):
        accumulate(sql(table.filter(table.label.notnull()), "label", ["w"], weight="a"))
    assert accumulate(sql(table.drop_null(), "label", weight="w")).counts.tolist() == [1.0]


@pytest.mark.parametrize(("value", "what"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_numbers_that_are_not_finite_are_named(database, value, what):
    for row in (3, 400):  # within and without the first rows
        rows = X.copy()
        rows[row, 1] = value
        with pytest.raises(ValueError, match=f"column 'Größe in cm' holds {what} in 1 row"):
            accumulate(sql(put_sample(database, rows), "label"))
    weights = W.copy()
    weights[7] = value
    said = "holds the weight -inf" if value < 0 else f"column 'w' holds {what} in 1 row"
    with pytest.raises(ValueError, match=said):
        accumulate(sql(put_sample(database, w=weights), "label", weight="w"))


def test_weights_are_refused_as_they_are_in_memory(database):
    table = put(database, x=[1.0, 2.0], none=[0.0, 0.0], minus=[1.0, -2.0], huge=[1e308, 1e308], label=[0, 1])
    for weight, said in (("none", "'none' is zero in every row"), ("minus", "'minus' holds the weight -2")):
        with pytest.raises(ValueError, match=said):
            accumulate(sql(table, "label", ["x"], weight))
    with pytest.raises(ValueError, match="overflow; divide the weights"):
        accumulate(sql(table.mutate(x=table.x * 1e3), "label", ["x"], "huge"))


def test_what_is_no_number_is_named_before_any_query(database):
    table = put(
        database,
        age=[1.0, 2.0],
        name=["a", "b"],
        born=pa.array([0, 1], pa.date32()),
        label=[0, 1],
    )
    with pytest.raises(ValueError, match="column 'name' is of type string, which is not a number; leave it"):
        sql(table, "label")
    with pytest.raises(ValueError, match="column 'born' is of type date"):
        sql(table, "label", ["age", "born"])
    with pytest.raises(ValueError, match="column 'name' is of type string"):
        sql(table, "label", ["age"], weight="name")
    with pytest.raises(ValueError, match="the labels in column 'born' are of type date; cast them"):
        sql(table, "born", ["age"])
    with pytest.raises(ValueError, match="no column 'aeg'; did you mean 'age'"):
        sql(table, "label", ["aeg"])
    with pytest.raises(ValueError, match=r"no column 'zzz'; there are 'age', 'name'"):
        sql(table, "zzz")
    with pytest.raises(ValueError, match="'label' is the target or the weight"):
        sql(table, "label", ["age", "label"])
    with pytest.raises(ValueError, match="'age' is named 2 times"):
        sql(table, "label", ["age", "age"])
    with pytest.raises(ValueError, match="no feature columns"):
        sql(table.select("label"), "label")
    with pytest.raises(TypeError, match="columns is a list of names"):
        sql(table, "label", "age")
    with pytest.raises(TypeError, match="an ibis table"):
        sql(X, "label")


def test_no_rows_and_one_class_say_so(database):
    table = put_sample(database)
    with pytest.raises(ValueError, match="the source has no rows"):
        accumulate(sql(table.filter(table.age > 1e9), "label"))
    moments = accumulate(sql(table.filter(table.label == "no"), "label"))
    with pytest.raises(ValueError, match="one class, 'no'"):
        UnhingedClassifier().fit_moments(moments)


def test_a_measurement_is_not_a_label(database, monkeypatch):
    source = sql(put_sample(database, y=W), "label")
    with pytest.raises(ValueError, match="is no class; soft labels are for rows"):
        accumulate(source)
    monkeypatch.setattr(MODULE, "CLASSES", 10)
    with pytest.raises(ValueError, match="has more than 10 values: is it the label"):
        accumulate(source)


def test_what_a_database_cannot_do_is_said(database, tmp_path):
    source = sql(put_sample(database), "label")
    with pytest.raises(ValueError, match="exact"):
        accumulate(source, summation="exact")
    with pytest.raises(ValueError, match="a checkpoint is for rows that are read here"):
        accumulate(source, checkpoint=tmp_path / "kept")
    with pytest.raises(ValueError, match="Quantile does not run inside a database"):
        accumulate(source, Quantile().fit(X))


def test_many_columns_take_several_queries_at_degree_two(database, monkeypatch):
    monkeypatch.setattr(MODULE, "SUMS_PER_QUERY", 4)
    expected = accumulate((pd.DataFrame(X, columns=NAMES), Y), degree=2)
    source = sql(put_sample(database), "label")
    assert_same(accumulate(source, degree=2), expected)
    monkeypatch.setattr(MODULE, "WIDEST_PRODUCTS", 2)
    with pytest.raises(ValueError, match="products of 3 columns are too many for a query, 2 columns are"):
        accumulate(source, degree=2)


def test_a_query_is_a_table_too(database):
    table = put_sample(database)
    made = table.filter(table.age > 0).mutate(square=table.age**2).select("age", "square", "label")
    rows = X[X[:, 0] > 0, 0]
    frame = pd.DataFrame({"age": rows, "square": rows**2})
    assert_same(accumulate(sql(made, "label")), accumulate((frame, Y[X[:, 0] > 0])))


def test_moments_from_a_database_add_to_moments_of_rows(database):
    there = accumulate(sql(put_sample(database, X[:200], Y[:200]), "label"))
    frame = pd.DataFrame(X, columns=NAMES)
    assert_same(there + accumulate((frame[200:], Y[200:])), accumulate((frame, Y)))
