"""Least squares against scikit-learn's ridge and brute force."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import Ridge

from unflip import SquareClassifier, UnhingedClassifier
from unflip.estimators import discriminant
from unflip.estimators.discriminant import RIDGE_PATH
from unflip.moments import accumulate


def make_data(n_classes=2, n=50, d=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    return rng.normal(size=(n_classes, d))[y] + rng.normal(size=(n, d)) + 3.0, y


@pytest.mark.parametrize("ridge", [0.0, 1e-3, 1.0, 100.0])
def test_two_classes_are_ridge_regression_of_plus_and_minus_one(ridge):  # Equation 11
    X, y = make_data()
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    peer = Ridge(alpha=ridge * weight.sum(), tol=1e-12).fit(X, 2.0 * y - 1, sample_weight=weight)
    model = SquareClassifier(regularization=ridge).fit(X, y, weight)
    assert_allclose(model.coef_, peer.coef_, rtol=1e-9, atol=1e-12)
    assert_allclose(model.intercept_, peer.intercept_, rtol=1e-9, atol=1e-12)


def test_several_classes_are_ridge_regression_of_indicators():
    X, y = make_data(3)
    peer = Ridge(alpha=0.3 * len(y), tol=1e-12).fit(X, np.eye(3)[y])
    model = SquareClassifier(regularization=0.3).fit(X, y)
    assert_allclose(model.coef_, peer.coef_, rtol=1e-9, atol=1e-12)
    assert_allclose(model.decision_function(X), peer.predict(X), rtol=1e-9)


def test_more_columns_than_rows_give_the_least_norm_fit():
    X, y = make_data(n=10, d=30)
    target = 2.0 * y - 1
    model = SquareClassifier(regularization=0.0).fit(X, y)
    centered = X - X.mean(axis=0)
    assert_allclose(model.coef_, np.linalg.pinv(centered) @ (target - target.mean()), atol=1e-9)
    assert_allclose(model.decision_function(X), target, atol=1e-8)


def test_a_growing_ridge_leads_to_the_unhinged_direction():
    X, y = make_data(3)
    far = SquareClassifier(regularization=1e9).fit(X, y).coef_
    limit = UnhingedClassifier(regularization=1e9).fit(X, y).coef_
    assert_allclose(far, limit, rtol=1e-6)


def test_on_whitened_rows_square_and_unhinged_have_the_same_direction():  # Section 6.4
    # Equation 11 with a unit covariance matrix: the inverse only rescales.
    X, y = make_data()
    centered = X - X.mean(axis=0)
    white = np.sqrt(len(X)) * np.linalg.svd(centered, full_matrices=False)[0]
    square = SquareClassifier(regularization=0.25).fit(white, y).coef_
    assert_allclose(square * 1.25, UnhingedClassifier().fit(white, y).coef_, rtol=1e-10)


@pytest.mark.parametrize("ridge", [0.0, 0.1, "gcv"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_leave_one_out_scores_equal_a_refit_without_the_row(n_classes, ridge):
    X, y = make_data(n_classes, n=30)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    model = SquareClassifier(regularization=ridge).fit(X, y, weight)
    scores = model.loo_scores(X, y, weight)
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        refit = SquareClassifier(regularization=model.regularization_).fit(X[rest], y[rest], weight[rest])
        assert_allclose(scores[i], refit.decision_function(X[[i]])[0], rtol=1e-8, atol=1e-10)


def test_leave_one_out_survives_scale_offset_and_sparsity():
    X, y = make_data()
    X = np.round(X * 4) / 4
    expected = SquareClassifier().fit(X, y).loo_scores(X, y)
    for moved in (X * 1e150, X * 1e-150, X + 1e15, sparse.csr_array(X)):
        assert_allclose(SquareClassifier().fit(moved, y).loo_scores(moved, y), expected, rtol=1e-7, atol=1e-9)


def gcv_by_hand(X, y, ridge):
    """n |residual|^2 / (n - trace of the hat matrix)^2, by building the hat matrix."""
    n = len(y)
    Z = X - X.mean(axis=0)
    hat = 1 / n + Z @ np.linalg.solve(Z.T @ Z + n * ridge * np.eye(Z.shape[1]), Z.T)
    target = 2.0 * y - 1
    return n * np.sum((target - hat @ target) ** 2) / (n - np.trace(hat)) ** 2


def test_the_chosen_ridge_has_the_least_generalised_cross_validation_error():
    for seed in range(5):
        X, y = make_data(seed=seed, d=8)
        top = np.linalg.eigvalsh(np.cov(X.T, bias=True)).max()
        errors = [gcv_by_hand(X, y, ridge) for ridge in RIDGE_PATH * top]
        chosen = SquareClassifier().fit(X, y).regularization_
        assert gcv_by_hand(X, y, chosen) == pytest.approx(min(errors), rel=1e-6)


def test_the_ridge_is_chosen_from_moments_alone():
    X, y = make_data(3, n=300)
    parts = [accumulate((X[i::4], y[i::4]), degree=2) for i in range(4)]
    merged = SquareClassifier().fit_moments(sum(parts))
    whole = SquareClassifier().fit(X, y)
    assert_allclose(merged.decision_function(X), whole.decision_function(X), rtol=1e-9)
    assert_array_equal(merged.predict(X), whole.predict(X))
    with pytest.raises(ValueError, match="degree 2"):
        SquareClassifier().fit_moments(accumulate((X, y)))


@pytest.mark.parametrize("offset", [0.0, 1e15])
def test_chunks_and_forgetting_agree_with_a_refit(offset):
    X, y = make_data(3, n=300)
    X = np.round(X * 4) / 4 + offset
    gone = np.random.default_rng(0).random(len(y)) < 0.4
    never = SquareClassifier(regularization=0.1).fit(X[~gone], y[~gone])
    scale = np.abs(never.decision_function(X)).max()
    forgot = SquareClassifier(regularization=0.1).fit(X, y).forget(X[gone], y[gone])
    assert_allclose(forgot.decision_function(X), never.decision_function(X), atol=1e-12 * scale)
    chunked = SquareClassifier(regularization=0.1)
    for rows in np.array_split(np.flatnonzero(~gone), 9):
        chunked.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert_allclose(chunked.decision_function(X), never.decision_function(X), atol=1e-12 * scale)


def test_constant_columns_carry_no_weight():
    X, y = make_data()
    model = SquareClassifier(regularization=0.0).fit(np.column_stack([X, np.full(len(y), 7.0)]), y)
    assert_allclose(model.coef_[:-1], SquareClassifier(regularization=0.0).fit(X, y).coef_, rtol=1e-9)
    assert abs(model.coef_[-1]) < 1e-12
    flat = SquareClassifier().fit(np.ones((4, 2)), [0, 1, 1, 1])
    assert flat.predict(np.ones((1, 2))).tolist() == [1]


def test_a_second_moment_that_would_not_fit_is_refused_with_a_way_out():
    thin = sparse.csr_array((4, 50_000))
    with pytest.raises(ValueError, match="20 GB; use a narrower feature map"):
        SquareClassifier().partial_fit(thin, [0, 1, 0, 1])


@pytest.mark.parametrize("case", ["one-hot owner", "more columns than rows", "as many as rows less one"])
def test_leaving_out_a_row_that_owns_a_direction_equals_a_refit(case):
    if case == "one-hot owner":
        X, y = make_data(n=20)
        X = np.column_stack([X, np.arange(20) == 7])
    else:
        X, y = make_data(n=10, d=30 if case == "more columns than rows" else 9)
    scores = SquareClassifier(regularization=0.0).fit(X, y).loo_scores(X, y)
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        refit = SquareClassifier(regularization=0.0).fit(X[rest], y[rest])
        assert_allclose(scores[i], refit.decision_function(X[[i]])[0], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("regularization", ["gcv", 0.3])
def test_wide_rows_are_fitted_by_their_products(kind, classes, regularization, monkeypatch):
    """The dual of the same problem: coefficients, ridge and leave-one-out are those of the primal."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 45)) * (rng.random((30, 45)) < 0.4)
    y, weight = rng.integers(0, classes, 30), rng.integers(0, 3, 30).astype(float)
    primal = SquareClassifier(regularization=regularization).fit(kind(X), y, weight)
    assert primal.moments_.degree == 2
    monkeypatch.setattr(discriminant, "NARROW_COLUMNS", 40)
    dual = SquareClassifier(regularization=regularization).fit(kind(X), y, weight)
    assert dual.moments_.degree == 1
    assert_allclose(dual.regularization_, primal.regularization_, rtol=1e-9)
    assert_allclose(dual.coef_, primal.coef_, rtol=1e-7, atol=1e-10)
    assert_allclose(dual.intercept_, primal.intercept_, rtol=1e-7, atol=1e-10)
    if regularization == 0.3:
        left = primal.loo_scores(kind(X), y, weight)
        assert_allclose(dual.loo_scores(kind(X), y, weight), left, rtol=1e-7, atol=1e-9)
    with pytest.raises(ValueError, match="fitted to more columns than rows"):
        dual.forget(kind(X[:1]), y[:1])


def test_wide_sparse_rows_end_in_seconds_and_megabytes():
    """Their second moment would have 15,548 x 15,548 numbers: 1.9 GB, and days of an eigensolver."""
    X = sparse.random_array((200, 15_548), density=0.002, rng=np.random.default_rng(0), format="csr")
    y = np.arange(200) % 2
    model = SquareClassifier().fit(X, y)
    assert model.coef_.shape == (15_548,)
    assert model.score(X, y) > 0.9
