"""Kernel means and logistic regressions of tables: what they compute, and what their files keep of it."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.models.test_table_model import frame

from unflip._files import load_arrays, save_arrays
from unflip.features import Standardize
from unflip.models import KernelModel, ScaledModel, TableModel, load_model
from unflip.models.learners import TABLE_LEARNERS, TableLearner

CLASSES = [("no", "yes"), ("a", "b", "c"), (0, 1), (False, True)]


@pytest.fixture(scope="module", params=CLASSES, ids=str)
def data(request):
    return frame(classes=request.param)


def test_logistic_is_the_regression_of_scikit_learn_on_standardised_numbers(data):
    model = ScaledModel.fit(data, "label", "logistic")
    numbers = model.numbers(data)
    plain = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
    plain.fit(numbers, data["label"].to_list())
    # Both start from numbers that differ in their last digits; the optimiser stops at a gradient of 1e-4.
    assert_allclose(model.scores(data), plain.decision_function(numbers), rtol=1e-3, atol=1e-3)
    assert model.predict(data).tolist() == plain.predict(numbers).tolist()


def test_kernel_scores_are_mean_similarities_to_the_rows_of_each_class(data):
    model = ScaledModel.fit(data, "label", "kernel")
    numbers, y = StandardScaler().fit_transform(model.numbers(data)), data["label"].to_numpy()
    apart = np.linalg.norm(numbers[:, None] - numbers, axis=2)
    bandwidth = np.median(apart[np.triu_indices(len(y), 1)])
    near = np.exp(-((apart / bandwidth) ** 2) / 2)
    classes = np.unique(y)
    expected = np.column_stack([near[:, y == label].sum(axis=1) / len(y) for label in classes])
    found = model.scores(data)
    if len(classes) == 2:
        expected = expected[:, 1] - expected[:, 0]
        found = found - (found[0] - expected[0])  # the threshold, which is chosen by leave-one-out
    assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("learner", ["kernel", "logistic"])
def test_a_file_keeps_scores_and_classes_to_the_last_bit(learner, data, tmp_path):
    model = ScaledModel.fit(data, "label", learner)
    model.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    for rows in (data, frame(seed=5).drop("label")):
        assert again.scores(rows).tobytes() == model.scores(rows).tobytes()
        assert again.predict(rows).tolist() == model.predict(rows).tolist()
    assert again.predict(data).dtype == model.predict(data).dtype
    for name in ("target", "learner", "labels", "counts", "history", "habits", "columns"):
        assert getattr(again, name) == getattr(model, name)
    again.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "model.npz").read_bytes()


@pytest.mark.parametrize("learner", ["kernel", "logistic"])
def test_each_kind_of_file_is_loaded_as_what_it_is(learner, tmp_path):
    ScaledModel.fit(frame(80), "label", learner).save(tmp_path / "scaled.npz")
    TableModel.fit(frame(80), "label").save(tmp_path / "sums.npz")
    assert isinstance(load_model(tmp_path / "scaled.npz"), ScaledModel)
    with pytest.raises(ValueError, match=f"is a {learner} model, which predicts but neither merges"):
        TableModel.load(tmp_path / "scaled.npz").forget(frame(80))
    with pytest.raises(ValueError, match="it holds scaled model, not kernel model"):
        KernelModel.load(tmp_path / "scaled.npz")
    with pytest.raises(ValueError, match="it holds model, not scaled model"):
        ScaledModel.load(tmp_path / "sums.npz")


def weighted(weights, n=200):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, n)
    named = [("a", "b", "c")[k] for k in y]
    columns = {"x": rng.normal(y, 1), "z": rng.normal(-y, 2), "w": weights(y), "label": named}
    return pl.DataFrame(columns)


@pytest.mark.parametrize("learner", ["kernel", "logistic"])
def test_rows_of_weight_zero_are_not_there_and_make_no_class(learner):
    rows = weighted(lambda y: np.where(y == 2, 0.0, np.arange(len(y)) % 3))
    model = ScaledModel.fit(rows, "label", learner, "w")
    there = ScaledModel.fit(rows.filter(pl.col("w") > 0), "label", learner, "w")
    assert model.labels == there.labels == ["a", "b"]
    assert_allclose(model.scores(rows), there.scores(rows), rtol=1e-12)
    assert model.counts == there.counts | {"c": 0.0}
    assert model.counts["a"] == rows.filter(label="a")["w"].sum()


def test_a_weight_of_two_is_a_row_that_is_there_twice():
    rows = weighted(lambda y: np.full(len(y), 2.0))
    once = ScaledModel.fit(rows, "label", "logistic", "w")
    twice = ScaledModel.fit(pl.concat([rows, rows]).drop("w"), "label", "logistic")
    assert_allclose(once.scores(rows), twice.scores(rows), rtol=1e-3, atol=1e-3)
    assert once.counts == twice.counts


@pytest.mark.parametrize("learner", ["kernel", "logistic"])
def test_weights_that_leave_one_class_are_refused(learner):
    rows = weighted(lambda y: (y == 1).astype(float))
    with pytest.raises(ValueError, match="rows of at least two classes are needed, got rows of one class"):
        ScaledModel.fit(rows, "label", learner, "w")


@pytest.mark.parametrize("learner", ["kernel", "logistic"])
def test_numbers_without_squares_are_fitted_all_the_same(learner):
    data = frame().drop_nulls()
    large = data.with_columns(pl.col("age") * 1e250)
    plain, scaled = (ScaledModel.fit(rows, "label", learner).scores(rows) for rows in (data, large))
    assert_allclose(scaled, plain, rtol=1e-6, atol=1e-6)


def test_a_regression_that_has_not_settled_says_so(monkeypatch):
    assert len(ScaledModel.fit(frame(), "label", "logistic").history) == 1
    hurried = TableLearner("", lambda: make_pipeline(Standardize(), LogisticRegression(max_iter=2)))
    monkeypatch.setitem(TABLE_LEARNERS, "logistic", hurried)
    history = ScaledModel.fit(frame(), "label", "logistic").history
    assert history[1:] == ("stopped after 2 steps, before the coefficients had settled",)


FORGERIES = {
    "coefficients of another shape": lambda arrays: arrays.update(coef=arrays["coef"].T),
    "coefficients that are not finite": lambda arrays: arrays.update(coef=arrays["coef"] * np.inf),
    "no coefficients": lambda arrays: arrays.pop("coef"),
    "rows": lambda arrays: arrays.update(rows=np.ones((3, 5))),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_files_are_refused(name, tmp_path):
    path = tmp_path / "model.npz"
    ScaledModel.fit(frame(), "label", "logistic").save(path)
    facts, arrays = load_arrays(path, "scaled model")
    FORGERIES[name](arrays)
    save_arrays(path, "scaled model", facts, arrays)
    with pytest.raises(ValueError, match=r"model.npz does not hold a model"):
        load_model(path)
