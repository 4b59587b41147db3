"""Lockstep solvers and metrics against one fit, one sort, one score at a time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

from unflip import LossClassifier
from unflip.experiments.batch import (
    Whitened,
    auc,
    best_cuts,
    error_rates,
    fit_hinge,
    fit_smooth,
    fit_square,
    fit_unhinged,
    hinge,
)
from unflip.losses import Logistic, TangentBoost, TLogistic
from unflip.moments import accumulate


def problem(n=150, d=4, trials=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.5
    clean = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.normal(size=n) > 0.7, 1, -1)
    flips = rng.random((n, trials)) < np.linspace(0.1, 0.45, trials)
    return X, np.where(flips, -clean[:, None], clean[:, None])


def test_whitened_rows_span_the_same_space_and_weights_map_back():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)) @ rng.normal(size=(3, 5))  # five columns of rank three
    white = Whitened.of(X)
    assert white.Q.shape == (30, 3)
    assert_allclose(white.Q.T @ white.Q, 30 * np.eye(3), atol=1e-12)
    u = rng.normal(size=3)
    assert_allclose(X @ (white.T @ u), white.Q @ u, atol=1e-10)
    # Of all weights with these scores T u is the shortest: it lies in the row space of X.
    assert_allclose(np.linalg.pinv(X) @ (white.Q @ u), white.T @ u, atol=1e-10)


def test_closed_forms_equal_one_fit_at_a_time():
    X, Y = problem()
    W = fit_unhinged(X, Y)
    squares = fit_square(Whitened.of(X), Y)
    for k in range(Y.shape[1]):
        assert_allclose(W[:, k], accumulate((X, Y[:, k])).label_mean, rtol=1e-12)
        assert_allclose(squares[:, k], np.linalg.lstsq(X, Y[:, k], rcond=None)[0], rtol=1e-9)


@pytest.mark.parametrize("loss", [Logistic(), TLogistic(), TangentBoost()], ids=repr)
def test_lockstep_fits_equal_one_fit_at_a_time(loss):
    X, Y = problem()
    white = Whitened.of(X)
    fit = fit_smooth(loss, white.Q, Y)
    assert fit.gradient_norm.max() <= 1e-9
    for k in range(Y.shape[1]):
        one = LossClassifier(loss, regularization=1e-16, fit_intercept=False).fit(X, Y[:, k])
        risk = np.mean(loss.value(Y[:, k], X @ one.coef_))
        assert fit.objective[k] == pytest.approx(risk, rel=1e-9)
        assert_allclose(white.T @ fit.weights[:, k], one.coef_, rtol=1e-5, atol=1e-7)


def hinge_programme(X, y):
    """The least mean hinge loss, as a linear programme."""
    n, d = X.shape
    margins = np.hstack([y[:, None] * X, np.eye(n)])
    cost = np.concatenate([np.zeros(d), np.full(n, 1 / n)])
    bounds = [(None, None)] * d + [(0, None)] * n
    return linprog(cost, A_ub=-margins, b_ub=-np.ones(n), bounds=bounds, method="highs").fun


@pytest.mark.parametrize("room", [0, 10**9])
def test_hinge_fits_in_lockstep_reach_the_linear_programme(room, monkeypatch):
    monkeypatch.setattr(hinge, "ROOM", room)  # Gram matrices one by one, or all at once
    X, Y = problem()
    fit = fit_hinge(Whitened.of(X), Y)
    assert fit.gap.max() <= 1e-9
    for k in range(Y.shape[1]):
        least = hinge_programme(X, Y[:, k])
        assert least - 1e-9 <= fit.objective[k] <= least + 1e-7


def test_separable_labels_get_the_widest_margin():
    X, _ = problem()
    X = np.column_stack([X, np.ones(len(X))])
    y = np.where(X[:, 0] > 0.5, 1, -1)
    white = Whitened.of(X)
    fit = fit_hinge(white, y[:, None])
    w = white.T @ fit.weights[:, 0]
    svm = SVC(kernel="linear", C=1e8, tol=1e-8).fit(X[:, :-1], y)  # its intercept is not penalised
    assert fit.objective[0] < 1e-5
    margin, widest = (y * (X @ w)).min() / np.linalg.norm(w), (y * svm.decision_function(X[:, :-1])).min()
    assert margin > 0
    # Penalising the intercept too costs margin, but never makes the weights longer than the peer's.
    assert np.linalg.norm(w) <= 1.001 * np.hypot(np.linalg.norm(svm.coef_), svm.intercept_[0]) / widest


def test_each_column_is_a_problem_of_its_own():
    X, Y = problem()
    Q = Whitened.of(X).Q
    together = fit_smooth(Logistic(), Q, Y)
    alone = fit_smooth(Logistic(), Q, Y[:, [5]])
    assert_allclose(together.weights[:, 5], alone.weights[:, 0], rtol=1e-7)


def test_separable_labels_end_at_a_vanishing_objective():
    X, _ = problem()
    y = np.where(X[:, [0]] > 0.5, 1, -1)
    fit = fit_smooth(Logistic(), Whitened.of(np.column_stack([X, np.ones(len(X))])).Q, y)
    assert fit.objective[0] < 1e-3
    assert fit.gradient_norm[0] < 1e-3


def test_cuts_have_the_least_error_of_all_cuts_and_never_split_ties():
    rng = np.random.default_rng(0)
    scores = np.round(rng.normal(size=(60, 20)), 1)  # many ties
    Y = np.where(rng.random((60, 20)) < 0.5 + 0.2 * np.sign(scores), 1, -1)
    cuts = best_cuts(scores, Y)
    errors = error_rates(scores, Y, cuts)
    for k in range(20):
        tried = np.concatenate([scores[:, k] + 1e-6, scores[:, k] - 1e-6])
        brute = min(np.mean(np.where(scores[:, k] > c, 1, -1) != Y[:, k]) for c in tried)
        assert errors[k] == pytest.approx(brute)
        assert cuts[k] not in scores[:, k]


def test_one_class_alone_is_cut_off_whole():
    scores = np.array([[1.0], [2.0], [3.0]])
    assert error_rates(scores, np.ones(3), best_cuts(scores, np.ones((3, 1)))) == 0
    assert error_rates(scores, -np.ones(3), best_cuts(scores, -np.ones((3, 1)))) == 0


def test_a_score_on_the_cut_counts_half():
    assert error_rates(np.array([[0.0], [1.0]]), np.array([1, -1]), np.array([0.0])) == 0.75


def test_auc_equals_the_peers_with_ties():
    rng = np.random.default_rng(1)
    scores = np.round(rng.normal(size=(80, 10)), 1)
    y = np.where(rng.random(80) < 0.3, 1, -1)
    expected = [roc_auc_score(y, scores[:, k]) for k in range(10)]
    assert_allclose(auc(scores, y), expected, rtol=1e-12)
    assert np.isnan(auc(scores, np.ones(80))).all()
