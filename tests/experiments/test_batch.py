"""Lockstep solvers and metrics against one fit, one sort, one score at a time."""

import array_api_strict as strict
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq, linprog
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

from unflip import LossClassifier
from unflip.experiments.batch import Whitened, auc, best_cuts, error_rates, fit, grid_cuts, hinge, smooth
from unflip.experiments.batch.fit import fit_closed, margin_alone
from unflip.losses import get
from unflip.moments import accumulate
from unflip.solvers import rows
from unflip.solvers.lbfgs import lbfgs
from unflip.solvers.newton import _newton_step

SMOOTH = ("logistic", "t_logistic", "tangent_boost")


def problem(n=150, d=4, trials=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.5
    clean = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.normal(size=n) > 0.7, 1, -1)
    flips = rng.random((n, trials)) < np.linspace(0.1, 0.45, trials)
    return X, np.where(flips, -clean[:, None], clean[:, None]).astype(float)


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
    W, squares = (fit_closed(get(name), X, Whitened.of(X), Y) for name in ("unhinged", "square"))
    for k in range(Y.shape[1]):
        assert_allclose(W[:, k], accumulate((X, Y[:, k])).label_mean, rtol=1e-12)
        assert_allclose(squares[:, k], np.linalg.lstsq(X, Y[:, k], rcond=None)[0], rtol=1e-9)


@pytest.mark.parametrize("name", SMOOTH)
def test_a_row_alone_ends_where_loss_and_penalty_balance(name):
    for penalty in (1e-13, 1e-12):
        margin = float(margin_alone(get(name), np.array([penalty]))[0])
        left = -get(name).derivative(1, margin)
        assert left == pytest.approx(penalty * margin, rel=1e-3, abs=1e-12)


@pytest.mark.parametrize("name", SMOOTH)
def test_lockstep_fits_equal_one_fit_at_a_time(name):
    X, Y = problem()
    loss, white = get(name), Whitened.of(X)
    fits = smooth.fit_smooth(white, white.problem(loss, Y))
    assert fits.certificate.max() <= smooth.FINE
    W, _ = fit(name, X, white, Y)
    for k in range(Y.shape[1]):
        one = LossClassifier(loss, regularization=1e-16, fit_intercept=False).fit(X, Y[:, k])
        risk = np.mean(loss.value(Y[:, k], X @ one.coef_))
        assert np.mean(loss.value(Y[:, k], fits.scores[:, k])) == pytest.approx(risk, rel=1e-9)
        assert_allclose(W[:, k], one.coef_, rtol=1e-5, atol=1e-6)


def test_the_gap_of_logistic_regression_bounds_what_is_left():
    X, Y = problem()
    white = Whitened.of(X)
    task = white.problem(get("logistic"), Y)
    best = smooth.fit_smooth(white, task)
    rough, _ = lbfgs(task, 1e-2, 5)  # stopped far too early
    V = white.Q @ rough
    gap = smooth.logistic_gap(task, rough, V, _newton_step(task, V, task.gradient(rough)))
    value = get("logistic").value(Y, V).mean(axis=0)
    least = get("logistic").value(Y, best.scores).mean(axis=0)
    assert (gap * value >= value - least - 1e-12).all()
    assert gap.max() > 1e-6


def test_the_curvature_is_the_smallest_eigenvalue_of_the_hessian():
    X, Y = problem()
    white = Whitened.of(X)
    fits = smooth.fit_smooth(white, white.problem(get("t_logistic"), Y))
    for k in range(3):
        bend = get("t_logistic").second_derivative(Y[:, k], fits.scores[:, k])
        hessian = white.Q.T @ (bend[:, None] * white.Q) / len(X)
        assert fits.curvature[k] == pytest.approx(np.linalg.eigvalsh(hessian)[0], rel=1e-6)


def test_a_saddle_is_left_again():
    # Few rows far out and many near with the other label: the risk has two minima and a maximum between.
    X = np.array([[1.0]] * 100 + [[100.0]] * 10)
    y = np.array([1.0] * 100 + [-1.0] * 10)
    white, loss = Whitened.of(X), get("t_logistic")
    task = white.problem(loss, y[:, None])

    def slope(w):
        return np.mean(X[:, 0] * loss.derivative(y, w * X[:, 0]))

    scan = np.linspace(0.001, 20, 4000)
    risks = np.array([loss.value(y, w * X[:, 0]).mean() for w in scan])
    k = next(i for i in range(1, 3999) if risks[i] > max(risks[i - 1], risks[i + 1]))
    top = brentq(slope, scan[k - 1], scan[k + 1], xtol=1e-15)
    start = np.array([[top / white.T[0, 0]]])
    stay = smooth.certified(task, start, escapes=0)
    assert stay.certificate[0] < 1e-8
    assert stay.curvature[0] < smooth.SADDLE
    fits = smooth.certified(task, start)
    assert fits.certificate[0] <= smooth.FINE
    assert fits.curvature[0] > 0
    assert loss.value(y, fits.scores[:, 0]).mean() < risks[k]


def hinge_programme(X, y):
    """The least mean hinge loss, as a linear programme."""
    n, d = X.shape
    margins = np.hstack([y[:, None] * X, np.eye(n)])
    cost = np.concatenate([np.zeros(d), np.full(n, 1 / n)])
    bounds = [(None, None)] * d + [(0, None)] * n
    return linprog(cost, A_ub=-margins, b_ub=-np.ones(n), bounds=bounds, method="highs").fun


@pytest.mark.parametrize("room", [0, 10**9])
def test_hinge_fits_in_lockstep_reach_the_linear_programme(room, monkeypatch):
    monkeypatch.setattr(rows, "ROOM", room)  # Gram matrices one by one, or all at once
    X, Y = problem()
    white = Whitened.of(X)
    fits = hinge.fit_hinge(white, white.problem(get("hinge"), Y))
    assert fits.certificate.max() <= hinge.ENOUGH_LEFT
    for k in range(Y.shape[1]):
        least = hinge_programme(X, Y[:, k])
        loss = np.maximum(1 - Y[:, k] * fits.scores[:, k], 0).mean()
        assert least - 1e-9 <= loss <= least + 1e-7


def test_the_hinge_certificate_holds_without_the_ridge():
    # Weights that have to be long, so that a ridge of 1e-9 costs more than a millionth of the loss.
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=120), 1e-2 * rng.normal(size=120), np.ones(120)])
    y = np.where(X[:, 0] / 5 + 1e2 * X[:, 1] + 0.2 * rng.normal(size=120) > 0, 1.0, -1.0)
    W, fits = fit("hinge", X, Whitened.of(X), y[:, None])
    loss, least = np.maximum(1 - y * (X @ W[:, 0]), 0).mean(), hinge_programme(X, y)
    assert fits.certificate[0] <= 1e-6
    assert loss - least <= 1e-6 * loss + 1e-12


def test_separable_labels_get_the_widest_margin():
    X, _ = problem()
    X = np.column_stack([X, np.ones(len(X))])
    y = np.where(X[:, 0] > 0.5, 1.0, -1.0)
    W, fits = fit("hinge", X, Whitened.of(X), y[:, None])
    w = W[:, 0]
    svm = SVC(kernel="linear", C=1e8, tol=1e-8).fit(X[:, :-1], y)  # its intercept is not penalised
    assert fits.separable[0]
    margin, widest = (y * (X @ w)).min() / np.linalg.norm(w), (y * svm.decision_function(X[:, :-1])).min()
    assert margin > 0
    # Penalising the intercept too costs margin, but never makes the weights longer than the peer's.
    assert np.linalg.norm(w) <= 1.001 * np.hypot(np.linalg.norm(svm.coef_), svm.intercept_[0]) / widest


@pytest.mark.parametrize("name", ["hinge", *SMOOTH])
def test_each_column_is_a_problem_of_its_own(name):
    X, Y = problem()
    white = Whitened.of(X)
    together, _ = fit(name, X, white, Y)
    alone, _ = fit(name, X, white, Y[:, [5]])
    assert_allclose(together[:, 5], alone[:, 0], rtol=1e-5)


@pytest.mark.parametrize("name", ["hinge", *SMOOTH])
def test_separable_labels_are_recognised_and_the_direction_is_found(name):
    X, _ = problem()
    X = np.column_stack([X, np.ones(len(X))])
    y = np.where(X[:, [0]] > 0.5, 1.0, -1.0)
    W, fits = fit(name, X, Whitened.of(X), y)
    if name == "tangent_boost":  # which has its minimum at a finite margin, and punishes larger ones
        assert fits.certificate[0] <= smooth.FINE
    else:
        assert fits.separable[0]
        assert (y * (X @ W) > 0).all()


@pytest.mark.parametrize("name", ["hinge", "square", *SMOOTH])
def test_rows_of_leverage_one_are_fitted_apart_and_change_nothing_else(name):
    X, Y = problem()
    own = np.zeros((len(X), 2))
    own[3, 0] = own[7, 1] = 1.0  # two rows with a feature of their own
    wide = np.column_stack([X, own])
    white = Whitened.of(wide)
    assert np.flatnonzero(white.alone).tolist() == [3, 7]
    W, _ = fit(name, wide, white, Y)
    others = np.delete(np.arange(len(X)), [3, 7])
    without, _ = fit(name, X[others], Whitened.of(X[others]), Y[others])
    assert_allclose(wide[others] @ W, X[others] @ without, atol=1e-6)
    margins = (Y * (wide @ W))[[3, 7]]
    expected = {"hinge": 1.0, "square": 1.0, "tangent_boost": np.tan(0.5)}
    if name in expected:
        assert_allclose(margins, expected[name], rtol=1e-6)
    else:  # the further the better
        assert margins.min() > 20


def test_the_solvers_speak_the_array_api():
    X, Y = problem(n=60, trials=6)
    own = np.zeros((60, 1))
    own[3] = 1.0
    X = np.column_stack([X, own])
    y = Y[:, 0]
    strict_X, strict_Y, strict_y = (strict.asarray(values) for values in (X, Y, y))
    for name in ("hinge", "square", "unhinged", *SMOOTH):
        W, _ = fit(name, X, Whitened.of(X), Y)
        strict_W, fits = fit(name, strict_X, Whitened.of(strict_X), strict_Y)
        assert_allclose(np.from_dlpack(strict_W), W, rtol=1e-4, atol=1e-6)
        assert fits.certificate.shape == (6,)
        scores, strict_scores = X @ W, strict.asarray(X @ W)
        for mine, theirs in (
            (best_cuts(scores, Y), best_cuts(strict_scores, strict_Y)),
            (auc(scores, y), auc(strict_scores, strict_y)),
            (error_rates(scores, y, scores[0]), error_rates(strict_scores, strict_y, strict_scores[0, :])),
        ):
            assert_allclose(np.from_dlpack(theirs), mine)


def test_cuts_have_the_least_error_of_all_cuts_and_never_split_ties():
    rng = np.random.default_rng(0)
    scores = np.round(rng.normal(size=(60, 20)), 1)  # many ties
    Y = np.where(rng.random((60, 20)) < 0.5 + 0.2 * np.sign(scores), 1.0, -1.0)
    cuts = best_cuts(scores, Y)
    errors = error_rates(scores, Y, cuts)
    for k in range(20):
        tried = np.concatenate([scores[:, k] + 1e-6, scores[:, k] - 1e-6])
        brute = min(np.mean(np.where(scores[:, k] > c, 1, -1) != Y[:, k]) for c in tried)
        assert errors[k] == pytest.approx(brute)
        assert cuts[k] not in scores[:, k]


def test_cuts_of_a_grid_have_the_least_error_of_the_grid():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(60, 5)) ** 3
    Y = np.where(rng.random((60, 5)) < 0.5 + 0.3 * np.sign(scores), 1.0, -1.0)
    cuts = grid_cuts(scores, Y, points=7)
    for k in range(5):
        grid = np.linspace(scores[:, k].min(), scores[:, k].max(), 7)
        errors = [np.mean((scores[:, k] > cut) != (Y[:, k] > 0)) for cut in grid]
        assert cuts[k] == pytest.approx(grid[int(np.argmin(errors))])


def test_one_class_alone_is_cut_off_whole():
    scores = np.array([[1.0], [2.0], [3.0]])
    assert error_rates(scores, np.ones(3), best_cuts(scores, np.ones((3, 1)))) == 0
    assert error_rates(scores, -np.ones(3), best_cuts(scores, -np.ones((3, 1)))) == 0


def test_a_score_on_the_cut_counts_half():
    assert error_rates(np.array([[0.0], [1.0]]), np.array([1.0, -1.0]), np.array([0.0])) == 0.75


def test_auc_equals_the_peers_with_ties():
    rng = np.random.default_rng(1)
    scores = np.round(rng.normal(size=(80, 10)), 1)
    y = np.where(rng.random(80) < 0.3, 1.0, -1.0)
    expected = [roc_auc_score(y, scores[:, k]) for k in range(10)]
    assert_allclose(auc(scores, y), expected, rtol=1e-12)
    assert np.isnan(auc(scores, np.ones(80))).all()
