"""RobustClassifierCV: what it learns from which table, how noise moves it, what it says about itself."""

import datetime
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import cross_val_score, train_test_split

from unflip import RobustClassifierCV
from unflip.audit import estimate_noise, find_suspects
from unflip.features.landmarks import LANDMARK_JITTER, Landmarks
from unflip.kernels import EuclideanLaplace
from unflip.noise import ClassConditionalNoise, flip_labels
from unflip.noise.estimate import NO_SIGNAL
from unflip.robust import fit as fit_module
from unflip.robust.landmarks import RIDGES, LandmarkPath
from unflip.robust.numbers import EnsembleClassifier
from unflip.robust.rows import Rows
from unflip.sources import encode


def two_columns(p):
    return np.column_stack([1 - p, p])


def xor(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.mark.parametrize(
    ("load", "least"), [(load_breast_cancer, 0.9), (load_digits, 0.93), (load_wine, 0.9)]
)
@pytest.mark.slow
def test_it_is_accurate_on_clean_labels_after_learning_from_noisy_ones(load, least):
    X, y = load(return_X_y=True)
    X, new, y, truth = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    model = RobustClassifierCV().fit(X, flip_labels(y, 0.2, rng=0))
    assert model.score(new, truth) >= least
    clean = 1 - model.score(new, truth)
    assert model.clean_error_.low - 0.05 <= clean <= model.clean_error_.high + 0.05
    assert model.noise_.low <= 0.2 <= model.noise_.high


def test_weights_of_columns_help_where_few_columns_matter():
    X, y = xor()
    new, truth = xor(seed=1)
    noisy = flip_labels(y, 0.1, rng=0)
    with_weights = RobustClassifierCV().fit(X, noisy)
    without = RobustClassifierCV(feature_weights=False).fit(X, noisy)
    assert with_weights.score(new, truth) > without.score(new, truth) + 0.03
    assert min(with_weights.feature_weights_[:2]) > max(with_weights.feature_weights_[2:])
    assert without.feature_weights_ is None
    assert without.guarantee_.label_free
    assert "Not label-free" in str(with_weights.guarantee_)


@pytest.mark.slow
def test_where_labels_are_coins_columns_weigh_the_same():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 10)), rng.integers(0, 2, 400)
    model = RobustClassifierCV().fit(X, y)
    assert model.feature_weights_ is None
    assert NO_SIGNAL in model.noise_.warnings
    assert model.clean_error_ is None


def test_leave_one_out_scores_never_see_their_own_label():
    # Flip the label of one row: with label-free features its own score must not follow it.
    X, y = xor(n=300)
    model = RobustClassifierCV(feature_weights=False).fit(X, y)
    honest = model.loo_scores_
    moved = []
    for i in range(0, 300, 60):
        other = y.copy()
        other[i] = 1 - y[i]
        again = clone(model).fit(X, other).loo_scores_
        moved.append((again[i] - honest[i]) * (2 * other[i] - 1))
    assert np.mean(moved) < 0.02


def test_frames_with_text_and_gaps():
    rng = np.random.default_rng(0)
    n = 400
    color = rng.choice(["red", "green", "blue"], n)
    size = rng.normal(size=n)
    y = np.where((color == "red") ^ (size > 0), "yes", "no")
    size[::7] = np.nan
    for frame in (
        pd.DataFrame({"color": color, "size": size, "same": 1}),
        pl.DataFrame({"color": color, "size": size, "same": np.ones(n)}).with_columns(
            pl.col("size").fill_nan(None)
        ),
        pd.DataFrame({"color": pd.Categorical(color), "size": pd.array(size, dtype="Float64"), "same": True}),
    ):
        model = RobustClassifierCV().fit(frame, y)
        assert model.score(frame, y) > 0.85
        assert model.table_.get_feature_names_out().tolist() == [
            "color = blue",
            "color = green",
            "color = red",
            "size",
            "size is missing",
        ]
        assert model.predict(frame[:5]).tolist() == model.predict(frame)[:5].tolist()


def test_missing_values_of_any_kind_are_gaps():
    X = pd.DataFrame({"a": [1.0, 2.0, pd.NA, 4.0] * 10, "b": ["x", None, "y", "x"] * 10}, dtype=object)
    model = RobustClassifierCV().fit(X, [0, 0, 1, 1] * 10)
    assert "a is missing" in model.table_.get_feature_names_out()


def test_containers_agree():
    X, y = load_wine(return_X_y=True)
    scores = RobustClassifierCV().fit(X, y).decision_function(X)
    for container in (pd.DataFrame(X), sparse.csr_array(X), X.tolist(), np.asfortranarray(X)):
        assert_allclose(
            RobustClassifierCV().fit(container, y).decision_function(container), scores, atol=1e-9
        )


@pytest.mark.parametrize("factor", [1e-150, 1e-9, 1e9, 1e150])
def test_units_do_not_matter(factor):
    X, y = load_wine(return_X_y=True)
    expected = RobustClassifierCV().fit(X, y).predict(X)
    assert_array_equal(RobustClassifierCV().fit(X * factor, y).predict(X * factor), expected)


def test_weights_and_soft_labels():
    X, y = load_breast_cancer(return_X_y=True)
    weight = np.where(np.arange(len(y)) % 3 == 0, 0.0, 2.0)
    with_zeros = RobustClassifierCV(feature_weights=False).fit(X, y, weight)
    assert len(with_zeros.loo_scores_) == np.count_nonzero(weight)
    assert_array_equal(with_zeros.loo_rows_, np.flatnonzero(weight))
    assert with_zeros.score(X, y) > 0.95
    soft = RobustClassifierCV(feature_weights=False).fit(X, two_columns(np.where(y == 1, 0.9, 0.1)))
    assert soft.score(X, y) > 0.95


@pytest.mark.parametrize("learn", [RobustClassifierCV().fit, estimate_noise, find_suspects])
def test_a_target_between_zero_and_one_is_not_taken_for_probabilities(learn):
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.linspace(0, 1, 40)
    for column in (y, y[:, None], y.tolist(), pd.Series(y), pd.DataFrame({"y": y}), pl.Series(y)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn asks for a plain vector
            with pytest.raises(ValueError, match=r"row 1 is 0\.0256.* two columns, np\.column_stack"):
                learn(X, column)
    learn(X, two_columns(np.where(X[:, 0] > 0, 0.9, 0.2)))


def test_one_heavy_row_does_not_drown_the_others():
    X, y = load_breast_cancer(return_X_y=True)
    noisy = flip_labels(y, 0.2, rng=0)
    weight = np.ones(len(y))
    weight[0] = 50.0
    model = RobustClassifierCV(feature_weights=False).fit(X, noisy, weight)
    plain = RobustClassifierCV(feature_weights=False).fit(X, noisy)
    assert model.noise_.high - model.noise_.low < 1.5 * (plain.noise_.high - plain.noise_.low)


def test_the_error_of_soft_labels_is_that_of_their_weighted_parts():
    X, y = load_breast_cancer(return_X_y=True)
    noisy = flip_labels(y, 0.1, rng=0)
    model = RobustClassifierCV(feature_weights=False).fit(X, two_columns(np.where(noisy == 1, 0.9, 0.1)))
    assert model.clean_error_.noisy == pytest.approx(model.noisy_error_)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
def test_probabilities_agree_with_predictions(seed):
    rng = np.random.default_rng(seed)
    for classes in (2, 3):
        y = rng.integers(0, classes, 300)
        X = rng.normal(size=(300, 3)) + 1.5 * np.eye(3)[y]
        model = RobustClassifierCV().fit(X, flip_labels(y, 0.3, rng=seed))
        new = rng.normal(size=(500, 3))
        p = model.predict_proba(new)
        assert_allclose(p.sum(axis=1), 1.0)
        assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(new))


@pytest.mark.slow
def test_probabilities_are_of_clean_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    eta = 1 / (1 + np.exp(-4 * X[:, 0]))
    y = (rng.uniform(size=3000) < eta).astype(int)
    model = RobustClassifierCV().fit(X, flip_labels(y, 0.3, rng=0))
    p = model.predict_proba(X)
    assert_allclose(p.sum(axis=1), 1.0)
    assert np.sqrt(np.mean((p[:, 1] - eta) ** 2)) < 0.1
    digits, digit = load_digits(return_X_y=True)
    several = RobustClassifierCV(feature_weights=False).fit(digits, flip_labels(digit, 0.3, rng=0))
    p = several.predict_proba(digits)
    assert_allclose(p.sum(axis=1), 1.0)
    assert_array_equal(several.classes_[p.argmax(axis=1)], several.predict(digits))


def test_many_rows_are_learned_in_blocks(monkeypatch):
    X, y = xor(n=900)
    whole = RobustClassifierCV(feature_weights=False).fit(X, y)
    monkeypatch.setattr(fit_module, "VIEWS_KEPT", 100)
    blocks = RobustClassifierCV(feature_weights=False).fit(X, y)
    assert_allclose(blocks.decision_function(X), whole.decision_function(X), atol=1e-9)
    monkeypatch.setattr(EnsembleClassifier, "_most_judged", 500)
    some = RobustClassifierCV(feature_weights=False).fit(X, y)
    assert len(some.loo_scores_) == 500
    assert some.score(X, y) > 0.9


def test_what_it_says_about_itself():
    X, y = load_wine(return_X_y=True)
    model = RobustClassifierCV().fit(X, flip_labels(y, 0.1, rng=0))
    results = pd.DataFrame(model.cv_results_)
    assert results.loc[model.best_candidate_, "kept"]
    assert results.loc[model.best_candidate_, "loo_squared_error"] == results["loo_squared_error"].min()
    assert results["weight"].gt(0).equals(results["kept"])
    wrong = np.mean(model.classes_[model.loo_scores_.argmax(axis=1)] != flip_labels(y, 0.1, rng=0))
    assert model.noisy_error_ == pytest.approx(wrong)
    assert "Limits" in str(model.guarantee_)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_it_works_inside_scikit_learn():
    X, y = load_wine(return_X_y=True)
    assert cross_val_score(RobustClassifierCV(feature_weights=False), X, y, cv=3).mean() > 0.93


def test_bad_input_is_named_and_leaves_the_fitted_state_alone():
    X, y = load_wine(return_X_y=True)
    model = RobustClassifierCV(feature_weights=False).fit(X, y)
    before = model.predict(X)
    infinite = X.copy()
    infinite[3, 2] = np.inf
    for rows, labels, words in (
        (infinite, y, "infinity: row 3, column 2"),
        (X, y[:-1], "178 rows, y has 177"),
        (np.ones((178, 2)), y, "no column of X varies"),
        (X, np.ones(178), "one class"),
        (np.full((178, 1), np.nan), y, "no values at all"),
        (pd.DataFrame({"at": [datetime.time(12)] * 178}), y, "column 'at' of X holds times of day"),
    ):
        with pytest.raises(ValueError, match=words):
            model.fit(rows, labels)
    assert_array_equal(model.predict(X), before)


def test_a_class_with_one_row_brings_a_sentence():
    X, y = np.arange(40.0)[:, None], np.repeat(["a", "b"], 20)
    y[-1] = "c"
    with pytest.warns(UserWarning, match="class 'c' has one row: leaving it out says nothing of it"):
        RobustClassifierCV().fit(X, y)


def test_scores_without_folds_are_those_of_fits_without_them():
    """Closed form against fits to the other folds, at one ridge, with weights."""
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(60, 3)), rng.integers(0, 2, 60), rng.integers(1, 3, 60) * 1.0
    t = 2.0 * y[:, None] - 1
    landmarks, folds = X[:20], np.arange(60) % 4
    kernel = EuclideanLaplace(2.0)
    path = LandmarkPath(Landmarks(kernel, landmarks), Rows(lambda p: X[p], encode(y), w), np.arange(60))
    weights = np.zeros(len(RIDGES))
    weights[4] = 1.0
    found = path.without_folds(folds, weights)
    table = kernel(landmarks, landmarks) * (1 + LANDMARK_JITTER * np.eye(20))
    ridge = path.path.ridges[4]
    for fold in range(4):
        out, rest = folds == fold, folds != fold
        phi = kernel(X, landmarks)
        mean = np.average(t[rest], weights=w[rest], axis=0)
        middle = np.average(phi[rest], weights=w[rest], axis=0)
        A, b = (phi - middle)[rest], (t - mean)[rest]
        dual = np.linalg.solve(A.T @ (w[rest, None] * A) + ridge * table, A.T @ (w[rest, None] * b))
        expected = (phi - middle)[out] @ dual
        assert_allclose(found[out], expected, atol=2e-3)  # directions that a fit hardly uses are not left out


def test_the_guarantee_promises_no_more_than_the_noise_allows():
    X, y = load_breast_cancer(return_X_y=True)
    one_rate = str(RobustClassifierCV().fit(X, flip_labels(y, 0.2, rng=0)).guarantee_)
    by_class = str(
        RobustClassifierCV().fit(X, flip_labels(y, ClassConditionalNoise([0, 0.4]), rng=0)).guarantee_
    )
    for promise in ("the same classifier", "error of a fixed classifier", "tends to the clean one"):
        assert promise in one_rate
        assert promise not in by_class
    assert "in one order" in by_class
    assert "depends on the class" in one_rate
    assert "depends on the class or" not in by_class
