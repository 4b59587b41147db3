"""Kernel ridge regression against closed forms, refits, peers and its limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.kernel_ridge import KernelRidge

from unflip import KernelSquareClassifier, KernelUnhingedClassifier, SquareClassifier, UnhingedClassifier
from unflip.kernels import EuclideanLaplace, Gaussian, Laplace, Linear, Polynomial
from unflip.noise import flip_labels


def problem(n=30, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, rng.integers(0, classes, n), rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "kernel", [Gaussian(0.9), Laplace(2.0), EuclideanLaplace(1.0), Polynomial(2)], ids=repr
)
def test_it_solves_the_normal_equations(kernel, classes):
    # With f = K a + b the gradient of sum w (t - f)^2 + W lam a'Ka vanishes.
    X, y, w = problem(classes=classes)
    lam = 0.03
    model = KernelSquareClassifier(kernel, regularization=lam).fit(X, y, w)
    t = 2.0 * y - 1 if classes == 2 else np.eye(classes)[y]
    K, n = kernel(X, X), len(y)
    system = np.block([[np.diag(w) @ K + w.sum() * lam * np.eye(n), w[:, None]], [(w @ K)[None, :], w.sum()]])
    solution = np.linalg.solve(
        system,
        np.concatenate([w * t.T, np.atleast_2d(w @ t).T], axis=-1).T
        if classes > 2
        else np.append(w * t, w @ t),
    )
    new = np.random.default_rng(1).normal(size=(9, 3))
    assert_allclose(model.decision_function(new), kernel(new, X) @ solution[:-1] + solution[-1], rtol=1e-7)


def test_it_is_kernel_ridge_of_scikit_learn_when_the_constant_is_dealt_with():
    X, y, _ = problem()
    target = 2.0 * y - 1
    # A centred kernel and centred labels take the free constant out of the problem.
    kernel, lam, n = Gaussian(1.0), 0.05, len(y)
    H = np.eye(n) - 1 / n
    peer = KernelRidge(alpha=n * lam, kernel="precomputed").fit(H @ kernel(X, X) @ H, target - target.mean())
    fit = peer.predict(H @ kernel(X, X) @ H) + target.mean()
    ours = KernelSquareClassifier(kernel, regularization=lam).fit(X, y)
    assert_allclose(ours.decision_function(X), fit, rtol=1e-8)


@pytest.mark.parametrize("landmarks", [None, 12])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("lam", [1e-4, 0.1, 10.0])
@pytest.mark.slow
def test_leave_one_out_scores_are_those_of_refits(landmarks, classes, lam):
    X, y, weight = problem(classes=classes)
    kernel = Gaussian(1.2)
    model = KernelSquareClassifier(kernel, regularization=lam, n_landmarks=landmarks).fit(X, y, weight)
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        if landmarks is None:
            refit = clone(model).fit(X[rest], y[rest], weight[rest])
            alone = refit.decision_function(X[[i]])
        else:  # with the same landmarks: a linear model on the features that they span
            phi = lambda rows, Z=model.support_vectors_: spanned(kernel, Z, rows)  # noqa: E731
            refit = SquareClassifier(regularization=lam).fit(phi(X[rest]), y[rest], weight[rest])
            alone = refit.decision_function(phi(X[[i]]))
        assert_allclose(np.ravel(model.loo_scores_[i]), np.ravel(alone), rtol=1e-8, atol=1e-10)


def spanned(kernel, Z, rows):
    values, vectors = np.linalg.eigh(kernel(Z, Z))
    return kernel(rows, Z) @ vectors / np.sqrt(values)


@pytest.mark.parametrize("thin", [False, True])
def test_a_linear_kernel_is_the_linear_classifier(thin):
    X, y, weight = problem(n=50, classes=3)
    rows = sparse.csr_array(X) if thin else X
    for landmarks in (None, 10):
        kernel = KernelSquareClassifier("linear", regularization=0.2, n_landmarks=landmarks)
        linear = SquareClassifier(regularization=0.2).fit(X, y, weight)
        got = kernel.fit(rows, y, weight).decision_function(rows)
        assert_allclose(got, linear.decision_function(X), atol=1e-6 if landmarks else 1e-10)


@pytest.mark.parametrize("landmarks", [None, 40])
@pytest.mark.parametrize("classes", [2, 3])
def test_for_a_strong_ridge_its_centred_scores_are_those_of_the_unhinged_classifier(landmarks, classes):
    # lam times the centred fit tends to the centred mean map, and the constant to the mean label.
    X, y, weight = problem(n=60, classes=classes)
    kernel, lam = Gaussian(1.0), 1e9
    unhinged = KernelUnhingedClassifier(kernel, center=True, threshold="mean").fit(X, y, weight)
    square = KernelSquareClassifier(kernel, regularization=lam, n_landmarks=landmarks).fit(X, y, weight)
    scores = square.decision_function(X)
    centred = lam * (scores - np.average(scores, weights=weight, axis=0))
    if landmarks is None:
        expected = unhinged.decision_function(X)
    else:  # seen through landmarks, that is, through their features
        phi = spanned(kernel, square.support_vectors_, X)
        expected = UnhingedClassifier().fit(phi, y, weight).decision_function(phi)
    assert_allclose(centred, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


def test_the_path_is_the_fit_for_every_ridge():
    X, y, weight = problem(n=40, classes=3)
    model = KernelSquareClassifier().fit(X, y, weight)
    new = np.random.default_rng(1).normal(size=(5, 3))
    paths = model.decision_path(new)
    path = model.path_
    assert paths.shape == (13, 5, 3)
    assert np.all(np.diff(path.freedom) < 0)
    for ridge, scores, error in zip(path.regularization, paths, path.loo_errors, strict=True):
        alone = KernelSquareClassifier(model.kernel_, regularization=ridge).fit(X, y, weight)
        assert_allclose(scores, alone.decision_function(new), rtol=1e-9, atol=1e-10)
        missed = np.sum((np.eye(3)[y] - alone.loo_scores_) ** 2, axis=1)
        assert error == pytest.approx(np.average(missed, weights=weight), rel=1e-9)
    best = np.argmin(path.loo_errors)
    assert model.regularization_ == path.regularization[best]
    assert_allclose(model.decision_function(new), paths[best], rtol=1e-12)


def test_the_bandwidth_of_least_leave_one_out_error_is_taken():
    X, y, _ = problem(n=60)
    model = KernelSquareClassifier(bandwidth="loo").fit(X, y)
    for size in (0.5, 2.0):
        other = KernelSquareClassifier(bandwidth=model.kernel_.bandwidth * size).fit(X, y)
        assert model.path_.loo_errors.min() <= other.path_.loo_errors.min()


@pytest.mark.slow
def test_many_rows_are_seen_through_landmarks_and_little_is_lost():
    X, y = load_digits(return_X_y=True)
    noisy = flip_labels(y, 0.3, rng=0)
    exact = KernelSquareClassifier().fit(X[:1200], noisy[:1200])
    few = KernelSquareClassifier(n_landmarks=300).fit(X[:1200], noisy[:1200])
    assert few.support_vectors_.shape == (300, 64)
    assert exact.score(X[1200:], y[1200:]) > 0.9
    assert few.score(X[1200:], y[1200:]) > exact.score(X[1200:], y[1200:]) - 0.02


@pytest.mark.slow
def test_beyond_three_thousand_rows_landmarks_are_drawn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3001, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = KernelSquareClassifier().fit(X, flip_labels(y, 0.2, rng=0))
    assert model.support_vectors_.shape == (1000, 2)
    assert model.score(X, y) > 0.93


def test_bad_input_is_named():
    X, y, _ = problem()
    for parameters, words in (
        ({"bandwidth": 0.0}, "bandwidth"),
        ({"regularization": 0.0}, "regularization"),
        ({"kernel": "cosmic"}, "cosmic"),
        ({"kernel": Linear(), "bandwidth": 2.0}, "goes with a name"),
        ({"kernel": "linear", "bandwidth": "loo"}, "goes with a name"),
    ):
        with pytest.raises(ValueError, match=words):
            KernelSquareClassifier(**parameters).fit(X, y)
    for parameters in ({}, {"bandwidth": 1.0}, {"kernel": "linear"}, {"n_landmarks": 2, "bandwidth": 1.0}):
        with pytest.raises(ValueError, match="all rows are equal"):
            KernelSquareClassifier(**parameters).fit(np.full((6, 2), 0.1), [0, 1] * 3)
    with pytest.raises(ValueError, match="all rows look equal"):
        KernelSquareClassifier(bandwidth=1e9).fit(X, y)
    with pytest.raises(ValueError, match="a larger regularization"):
        KernelSquareClassifier(bandwidth=0.01, regularization=1e-14).fit(X, y)
    with pytest.raises(ValueError, match=r"values of Polynomial.* overflow"):
        KernelSquareClassifier(Polynomial(3)).fit(X * 1e80, y)


def test_one_long_row_or_rows_of_zeros_do_not_spoil_landmarks():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] > 0).astype(int)
    X[0, 2] = 1e7
    for seed in range(3):
        model = KernelSquareClassifier("linear", regularization=1e-3, n_landmarks=150, random_state=seed)
        assert model.fit(X, y).score(X, y) > 0.95
        zeros = KernelSquareClassifier("linear", n_landmarks=3, random_state=seed)
        X_thin = [[0.0], [0.0], [0.0], [1.0], [1.0], [2.0]]
        assert np.isfinite(zeros.fit(X_thin, [0, 1, 0, 1, 1, 0]).decision_function(X_thin)).all()
    with pytest.raises(ValueError, match="more landmarks"):
        KernelSquareClassifier("linear", n_landmarks=1, random_state=1).fit([[0.0]] * 9 + [[1.0]], [0, 1] * 5)


@pytest.mark.parametrize("size", [1e-200, 1e160])
def test_the_scale_of_weights_is_of_no_account(size):
    X, y, weight = problem()
    plain = KernelSquareClassifier().fit(X, y, weight)
    scaled = KernelSquareClassifier().fit(X, y, weight * size)
    assert_allclose(scaled.loo_scores_, plain.loo_scores_, rtol=1e-9)


def test_without_its_only_row_a_class_is_not_chosen():
    X, y, _ = problem(n=12)
    y[3] = 2
    model = KernelSquareClassifier(bandwidth=1.0, regularization=0.1).fit(X, y)
    assert np.isneginf(model.loo_scores_[3, 2])
    assert np.isfinite(np.delete(model.loo_scores_, 3, axis=0)).all()
