"""The flagship from any source: the model of the same rows in memory, however they come."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from unflip import RobustClassifierCV
from unflip.noise import flip_labels
from unflip.robust.numbers import EnsembleClassifier
from unflip.robust.sample import draw
from unflip.sources import arrays, arrow, csv, dask, frame, parquet

pytestmark = pytest.mark.usefixtures("two_threads")
NEW = np.random.default_rng(9).normal(size=(50, 4))


def rows(n=700, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.searchsorted([0.0, 0.7][: classes - 1], X[:, 0] * X[:, 1] + X[:, 2])
    return X, flip_labels(y, 0.15, rng=rng), rng.integers(1, 4, n).astype(float)


@pytest.fixture(params=["all rows are judged", "a sample is judged"])
def most(request, monkeypatch):
    """How many rows are sampled: all, or fewer than there are."""
    most = 1000 if request.param.startswith("all") else 300
    monkeypatch.setattr(EnsembleClassifier, "_most_judged", most)
    return most


def table(X, y, weight):
    return pl.DataFrame({**{f"x{j}": X[:, j] for j in range(4)}, "label": y, "w": weight})


def sources(X, y, weight, folder):
    data = table(X, y, weight)
    data.write_parquet(folder / "rows.parquet", row_group_size=90)
    data.write_csv(folder / "rows.csv", float_precision=17)
    import dask.array as da

    parts = [slice(0, 250), slice(250, 251), slice(251, 700)]
    options = {"target": "label", "weight": "w"}
    yield "parquet", parquet(folder / "rows.parquet", **options)
    yield "csv", csv(folder / "rows.csv", **options)
    yield "arrow", arrow(data.to_arrow(), **options)
    yield "lazy frame", frame(data.lazy(), **options)
    yield "batches", [arrays(X[part], y[part], weight[part]) for part in parts]
    chunks = (200, 4)
    yield "dask", dask(da.from_array(X, chunks=chunks), y, weight)


def scores(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # names of columns, which an array has not
        return model.decision_function(X)


@pytest.mark.parametrize("weigh", ["auto", False])
def test_every_source_makes_the_model_of_the_rows_in_memory(most, weigh, tmp_path):
    X, y, weight = rows()
    model = RobustClassifierCV(feature_weights=weigh).fit(X, y, weight)
    for kind, source in sources(X, y, weight, tmp_path):
        found = RobustClassifierCV(feature_weights=weigh).fit(source)
        assert_allclose(scores(found, NEW), model.decision_function(NEW), atol=1e-8, err_msg=kind)
        assert_array_equal(found.loo_rows_, model.loo_rows_, err_msg=kind)
        assert_allclose(found.loo_scores_, model.loo_scores_, atol=1e-8, err_msg=kind)
        assert_allclose(found.noise_.rate, model.noise_.rate, atol=1e-6, err_msg=kind)
        assert found.noisy_error_ == pytest.approx(model.noisy_error_)


def test_a_source_of_three_classes_knows_those_that_a_sample_misses(monkeypatch):
    monkeypatch.setattr(EnsembleClassifier, "_most_judged", 200)
    X, y, _ = rows(classes=3)
    y[:] = np.where(y == 2, 1, y)
    sampled = draw(arrays(X, y), 200, int(np.random.default_rng(0).integers(2**62))).places
    y[np.setdiff1d(np.arange(700), sampled)[:3]] = 2  # wherever the sample is, some row is outside of it
    model = RobustClassifierCV(feature_weights=False).fit(arrays(X, y))
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.decision_function(NEW).shape == (50, 3)


def test_the_sample_is_the_same_however_rows_are_cut_and_looks_at_no_label():
    X, y, weight = rows()
    weight[5:50] = 0.0
    whole = draw(arrays(X, y, weight), 100, 7)
    cut = draw([arrays(X[p], y[p], weight[p]) for p in (slice(0, 3), slice(3, 600), slice(600, 700))], 100, 7)
    other = draw(arrays(X, 1 - y, weight), 100, 7)
    for found in (cut, other):
        assert_array_equal(found.places, whole.places)
        assert_array_equal(found.X, X[whole.places])
    assert whole.rows == 655
    assert not set(range(5, 50)) & set(whole.places.tolist())
    share = np.bincount(draw(arrays(np.zeros((20_000, 1)), np.zeros(20_000)), 2000, 0).places // 2000) / 200
    assert np.abs(share - 1).max() < 0.25  # rows are drawn evenly: a standard deviation is .067


def test_copies_outside_of_the_sample_leave_with_their_row(monkeypatch):
    """Every row comes three times. Scores of a row are those of a fit without all three, sampled or not."""
    X, y, _ = rows(n=200)
    X, y = np.vstack([X] * 3), np.concatenate([y] * 3)
    whole = RobustClassifierCV(feature_weights=False).fit(X, y)
    monkeypatch.setattr(EnsembleClassifier, "_most_judged", 400)
    model = RobustClassifierCV(feature_weights=False).fit(X, y)
    ensemble, judged = model.ensemble_, model.loo_rows_
    for place in (0, 17, 113):
        same = (X[judged[place]] == X).all(axis=1)
        assert same.sum() == 3
        rest = ensemble.with_sums(ensemble.sums - ensemble.summed(X[same], y[same]))
        # The ridge is a share of the spread, which three rows hardly change.
        assert_allclose(
            model.loo_scores_[place] - ensemble.intercept[0],
            rest.away(X[judged[[place]]])[0, 0],
            atol=0.02 * np.std(model.loo_scores_),
        )
    agree = np.mean((model.loo_scores_ > 0) == y[judged])
    assert abs(agree - np.mean((whole.loo_scores_ > 0) == y)) < 0.1  # a witness would bring it near one


def test_what_cannot_be_fitted_is_named(monkeypatch):
    X, y, _ = rows()
    with pytest.raises(ValueError, match="a source brings its own labels and weights"):
        RobustClassifierCV().fit(arrays(X, y), y)
    with pytest.raises(ValueError, match="zero in every row"):
        RobustClassifierCV().fit(arrays(X, y, np.zeros(700)))
    assert RobustClassifierCV().fit(iter([arrays(X, y)])).score(X, y) > 0.7  # one pass is enough for few rows
    monkeypatch.setattr(EnsembleClassifier, "_most_judged", 300)
    with pytest.raises(ValueError, match="an iterator can be read only once"):
        RobustClassifierCV().fit(iter([arrays(X, y)]))


def test_a_database_is_refused_by_name():
    ibis = pytest.importorskip("ibis")
    from unflip.sources import sql

    X, y, weight = rows()
    people = ibis.memtable(table(X, y, weight).to_arrow())
    with pytest.raises(ValueError, match="a database returns sums of columns"):
        RobustClassifierCV().fit(sql(people, target="label", weight="w"))
    again = arrow(people.to_pyarrow(), target="label", weight="w")  # DuckDB, through Arrow
    model = RobustClassifierCV().fit(again)
    assert_allclose(
        scores(model, NEW), RobustClassifierCV().fit(X, y, weight).decision_function(NEW), atol=1e-8
    )


def test_frames_with_text_and_gaps_are_summed_in_slices_too(monkeypatch):
    X, y, _ = rows()
    data = pd.DataFrame(X, columns=list("abcd"))
    data["colour"] = np.where(X[:, 0] > 0, "red", "blue")
    data.loc[::7, "b"] = np.nan
    whole = RobustClassifierCV().fit(data, y)
    monkeypatch.setattr(EnsembleClassifier, "_most_judged", 400)
    monkeypatch.setattr("unflip.robust.sample.ROWS_IN_BLOCK", 150)
    some = RobustClassifierCV().fit(data, y)
    assert some.feature_names_in_.tolist() == list(data.columns)
    assert np.mean(some.predict(data) == whole.predict(data)) > 0.9
    assert some.report_.rows == 700
