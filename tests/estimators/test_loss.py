"""Any loss: against peers, brute force, and the certificates against the truth."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import linprog, minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from unflip import LossClassifier, SquareClassifier, UnhingedClassifier
from unflip.losses import Hinge, Logistic, Square, ZeroOne, get, noise_corrected
from unflip.solvers.problem import Problem


def make_data(n_classes=2, n=120, d=3, seed=0, gap=1.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    return gap * rng.normal(size=(n_classes, d))[y] + rng.normal(size=(n, d)), y


def objective(model, X, y, weight=None):
    """Equation 7 with the penalty of the class's docstring, computed from scratch."""
    loss, signs = get(model.loss), np.where(y == 1, 1, -1)
    weight = np.ones(len(y)) if weight is None else weight
    w, lam = model.coef_, model.regularization
    if model.fit_intercept:
        mean = np.average(X, axis=0, weights=weight)
        lam = lam * np.average((X - mean) ** 2, axis=0, weights=weight).mean()
    risk = np.average(loss.value(signs, X @ w + model.intercept_), weights=weight)
    return risk + lam / 2 * w @ w


def problem(loss, X, y, ridge, intercept):
    """One column of labels over rows of equal weight, as the solvers take it."""
    positive = (y == 1)[:, None] / len(y)
    return Problem.of_shares(loss, X, positive, 1 / len(y) - positive, ridge, intercept)


@pytest.mark.parametrize("lam", [1e-6, 1e-3, 1.0])
def test_logistic_without_intercept_is_the_peers_logistic_regression(lam):
    X, y = make_data()
    peer = LogisticRegression(C=1 / (lam * len(y)), fit_intercept=False, tol=1e-12, max_iter=10_000).fit(X, y)
    model = LossClassifier(regularization=lam, fit_intercept=False).fit(X, y)
    assert_allclose(model.coef_, peer.coef_[0], rtol=1e-5)
    assert model.certificate_.met


def test_logistic_with_intercept_is_the_peers_in_units_of_spread():
    X, y = make_data()
    X = X * 10 + 4
    spread = X.var(axis=0).mean()
    peer = LogisticRegression(C=1 / (1e-2 * spread * len(y)), tol=1e-13, max_iter=10_000).fit(X, y)
    model = LossClassifier(regularization=1e-2).fit(X, y)
    assert_allclose(model.coef_, peer.coef_[0], rtol=1e-4)
    assert_allclose(model.intercept_, peer.intercept_[0], rtol=1e-4)


@pytest.mark.parametrize("lam", [1e-3, 1e-1, 10.0])
def test_hinge_is_the_peers_support_vector_machine(lam):
    X, y = make_data()
    spread = X.var(axis=0).mean()
    peer = SVC(kernel="linear", C=1 / (lam * spread * len(y)), tol=1e-10).fit(X, y)
    model = LossClassifier("hinge", regularization=lam).fit(X, y)
    assert_allclose(model.coef_, peer.coef_[0], rtol=1e-4, atol=1e-7)
    assert model.certificate_.kind == "optimality"
    assert model.certificate_.met


@pytest.mark.parametrize("seed", range(3))
def test_hinge_with_a_vanishing_penalty_is_a_linear_programme(seed):
    # At lambda = 1e-16 the penalty is invisible and the risk must be that of the exact LP.
    X, y = make_data(seed=seed, gap=0.5)
    signs = 2.0 * y - 1
    n, d = X.shape
    # variables (w+, w-, xi): min mean xi, xi >= 1 - y <w, x>
    c = np.concatenate([np.zeros(2 * d), np.full(n, 1 / n)])
    Z = signs[:, None] * X
    lp = linprog(c, A_ub=np.hstack([-Z, Z, -np.eye(n)]), b_ub=-np.ones(n), method="highs")
    model = LossClassifier("hinge", regularization=1e-16, fit_intercept=False).fit(X, y)
    assert Hinge().value(signs.astype(int), X @ model.coef_).mean() == pytest.approx(lp.fun, abs=1e-7)


def test_proposition_7_a_strong_penalty_makes_the_hinge_unhinged():  # Proposition 7
    X, y = make_data()
    radius = np.linalg.norm(X, axis=1).max()
    for lam in (radius**2, 3 * radius**2):
        svm = LossClassifier("hinge", regularization=lam, fit_intercept=False).fit(X, y)
        mean = UnhingedClassifier(center=False, threshold=0.0, regularization=lam).fit(X, y)
        assert_allclose(svm.coef_, mean.coef_, rtol=1e-4)


def test_linear_and_square_losses_are_the_closed_forms():
    X, y = make_data()
    unhinged = LossClassifier("unhinged", regularization=0.7, fit_intercept=False).fit(X, y)
    mean = UnhingedClassifier(center=False, threshold=0.0, regularization=0.7).fit(X, y)
    assert_allclose(unhinged.coef_, mean.coef_, rtol=1e-12)
    # E(1 - y v)^2 + lambda / 2 |w|^2 has the ridge lambda / 2 of Equation 11, here in units of spread.
    square = LossClassifier("square", regularization=0.4).fit(X, y)
    ridge = SquareClassifier(regularization=0.2 * X.var(axis=0).mean()).fit(X, y)
    assert_allclose(square.coef_, ridge.coef_, rtol=1e-9)
    assert_allclose(square.intercept_, ridge.intercept_, rtol=1e-9)


CONVEX = ["logistic", "hinge", "squared_hinge", "exponential", "square", noise_corrected(Logistic(), 0.2)]
CONVEX += [noise_corrected(Square(), 0.3)]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", CONVEX, ids=str)
def test_no_search_finds_a_lower_convex_objective(loss, intercept):  # Equation 7
    X, y = make_data(gap=0.5)
    model = LossClassifier(loss, regularization=1e-2, fit_intercept=intercept).fit(X, y)
    reached = objective(model, X, y)

    def at(parameters):
        model.coef_, model.intercept_ = parameters[:3], parameters[3] if intercept else 0.0
        return objective(model, X, y)

    start = np.append(model.coef_, model.intercept_)[: 3 + intercept]
    best = min(
        minimize(
            at, start + step, method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-9, "fatol": 1e-12}
        ).fun
        for step in (0.0, 0.5)
    )
    assert reached <= best + 1e-7
    # The certificate promises that nothing lies below it.
    if model.certificate_.kind == "optimality":
        assert reached - best <= model.certificate_.gap + 1e-12


def test_an_unfinished_fit_is_reported_by_its_certificate():
    # The bound must hold for any parameters, not only good ones: stop Newton early and compare.
    from unflip.solvers import smooth

    X, y = make_data(gap=0.5)
    for intercept in (True, False):
        task = problem(Logistic(), X, y, 1e-2, intercept)
        best = task.value(smooth.minimize_smooth(task, 1e-8)[0])
        for steps in range(4):
            early, *_ = smooth.newton(task, task.zero, most=steps)
            (bound,) = smooth._certificates(task, early, 1e-8, "newton", [steps])
            assert task.value(early) - best <= bound.gap + 1e-15
            assert bound.met == (bound.gap <= 1e-8)


NONCONVEX = ["t_logistic", "tangent_boost", "sigmoid", "ramp", noise_corrected(Hinge(), 0.2)]


@pytest.mark.parametrize("loss", NONCONVEX, ids=str)
def test_non_convex_fits_end_where_no_small_step_helps(loss):
    X, y = make_data()
    model = LossClassifier(loss, regularization=0.05).fit(X, y)
    assert model.certificate_.kind == "stationarity"
    assert model.certificate_.met
    reached, w, b = objective(model, X, y), model.coef_.copy(), model.intercept_
    rng = np.random.default_rng(0)
    for _ in range(200):
        model.coef_, model.intercept_ = w + 1e-4 * rng.normal(size=3), b + 1e-4 * rng.normal()
        assert objective(model, X, y) >= reached - 1e-8


def test_many_columns_take_the_other_road_to_the_same_place():
    X, y = make_data(d=400, n=150, gap=0.2)
    model = LossClassifier(regularization=0.1, fit_intercept=False).fit(X, y)
    assert model.certificate_.method == "l-bfgs"
    assert model.certificate_.met
    peer = LogisticRegression(C=1 / (0.1 * len(y)), fit_intercept=False, tol=1e-10, max_iter=10_000).fit(X, y)
    assert_allclose(model.coef_, peer.coef_[0], atol=1e-5)


@pytest.mark.parametrize("shape", [(300, 500), (100, 1000)])
def test_many_columns_with_an_intercept_are_certified_too(shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape)
    y = (X[:, 0] + rng.normal(size=shape[0]) > 0).astype(int)
    model = LossClassifier().fit(X, y)
    assert model.certificate_.kind == "optimality"
    assert model.certificate_.met


def test_sparse_rows_stay_sparse_and_agree(monkeypatch):
    X, y = make_data(d=30, gap=0.4)
    X[np.abs(X) < 1] = 0
    thin = sparse.csr_array(X)
    expected = LossClassifier(regularization=1e-2).fit(X, y)
    hinge = LossClassifier("hinge", regularization=1e-2).fit(X, y)
    # Turning rows into dense ones would call toarray on something of the size of X.
    whole = sparse.csr_array.toarray

    def guarded(self, *args, **kwargs):
        assert self.shape != thin.shape
        return whole(self, *args, **kwargs)

    monkeypatch.setattr(sparse.csr_array, "toarray", guarded)
    assert_allclose(LossClassifier(regularization=1e-2).fit(thin, y).coef_, expected.coef_, atol=1e-6)
    assert_allclose(LossClassifier("hinge", regularization=1e-2).fit(thin, y).coef_, hinge.coef_, atol=1e-5)


def test_several_classes_are_learned_one_against_the_rest():
    X, y = make_data(3)
    model = LossClassifier("squared_hinge", regularization=1e-2).fit(X, y)
    for k in range(3):
        one = LossClassifier("squared_hinge", regularization=1e-2).fit(X, y == k)
        assert_allclose(model.decision_function(X)[:, k], one.decision_function(X), atol=1e-8)
    assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))


def test_separable_rows_and_no_penalty_to_speak_of():
    X, y = make_data(gap=8.0)
    best = LogisticRegression(C=1e10, fit_intercept=False, max_iter=9999).fit(X, y).score(X, y)
    for loss in ("hinge", "logistic", "t_logistic", "squared_hinge"):
        model = LossClassifier(loss, regularization=1e-12, fit_intercept=False).fit(X, y)
        assert model.score(X, y) == best


def test_what_cannot_be_minimised_is_refused():
    X, y = make_data()
    for loss in ("zero_one", noise_corrected(ZeroOne(), 0.2)):
        with pytest.raises(ValueError, match="no slope"):
            LossClassifier(loss).fit(X, y)
    with pytest.raises(ValueError, match=r"matrix of 0\.3 GB in every step; .*squared_hinge"):
        LossClassifier("hinge").fit(sparse.eye_array(30, 6000, format="csr"), np.arange(30) % 2)
    with pytest.raises(ValueError, match="fit_intercept=False or UnhingedClassifier"):
        LossClassifier("unhinged").fit(X, y)


def test_a_fit_that_falls_short_warns(monkeypatch):
    from unflip.solvers import smooth

    X, y = make_data()
    original = smooth.newton
    monkeypatch.setattr(smooth, "newton", lambda task, start: original(task, start, most=1))
    with pytest.warns(ConvergenceWarning, match=r"gap of .* \(optimality\)"):
        model = LossClassifier(regularization=1e-6).fit(X, y)
    assert not model.certificate_.met


def test_a_loss_that_is_flat_at_zero_is_left_downhill():
    # The sigmoid has no curvature at zero, so the first Newton step has only the gradient to go by.
    from unflip.losses import Sigmoid
    from unflip.solvers.smooth import minimize_smooth

    X, y = make_data(gap=0.3)
    task = problem(Sigmoid(), X, y, 0.0, False)
    found, (certificate,) = minimize_smooth(task, 1e-8)
    assert certificate.met
    assert task.value(found) < task.value(task.zero) - 0.01


def test_an_infinite_hessian_is_refused_rather_than_searched_for_ever():
    # Without a look at it, LAPACK's search for singular values did not end on such matrices.
    X = [[1e-200, 1e-201], [-2e-200, 3e-200]]
    with pytest.raises(ValueError, match="more than float64 can hold"):
        LossClassifier("square", fit_intercept=False).fit(X, [1, 0])


def test_a_spread_less_than_float64_can_hold_is_none():
    X = [[-1e200, 1e308, 1e308], [1e-160, -1.0, 1e308]]
    model = LossClassifier("square").fit(X, [1, 0], sample_weight=[1e-300, 0.5])
    assert model.decision_function(X).tolist() == [-1.0, -1.0]
