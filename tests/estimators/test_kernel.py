"""The kernel classifier against loops, refits and peers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

from unflip import UnhingedClassifier
from unflip.estimators.kernel import KernelUnhingedClassifier
from unflip.kernels import Gaussian, Laplace, Linear, Polynomial
from unflip.noise import flip_labels


def problem(n=25, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, rng.integers(0, classes, n), rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("kernel", [Gaussian(0.9), Laplace(1.1), Linear(), Polynomial(2)], ids=repr)
def test_scores_are_a_double_loop(kernel):
    X, y, weight = problem()
    model = KernelUnhingedClassifier(kernel, threshold=0.0).fit(X, y, weight)
    new = np.random.default_rng(1).normal(size=(4, 3))
    for row, score in zip(new, model.decision_function(new), strict=True):
        parts = [w * (2 * t - 1) * kernel([row], [x])[0, 0] for x, t, w in zip(X, y, weight, strict=True)]
        assert score == pytest.approx(sum(parts) / weight.sum(), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("threshold", [0.0, "mean"])
@pytest.mark.parametrize("classes", [2, 3])
def test_leave_one_out_scores_are_those_of_refits(center, threshold, classes):
    X, y, weight = problem(classes=classes)
    model = KernelUnhingedClassifier(Gaussian(0.9), center=center, threshold=threshold).fit(X, y, weight)
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        alone = clone(model).fit(X[rest], y[rest], weight[rest]).decision_function(X[[i]])
        assert_allclose(np.ravel(model.loo_scores_[i]), np.ravel(alone), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("center", [False, True])
def test_a_linear_kernel_is_the_linear_classifier(center):
    X, y, weight = problem(n=60)
    threshold = "mean" if center else 0.0
    kernel = KernelUnhingedClassifier("linear", center=center, threshold=threshold).fit(X, y, weight)
    linear = UnhingedClassifier(center=center, threshold=threshold).fit(X, y, weight)
    assert_allclose(kernel.decision_function(X), linear.decision_function(X), rtol=1e-9, atol=1e-12)


def test_it_is_a_support_vector_machine_with_a_strong_penalty():
    # Proposition 7: for lambda >= R^2 the hinge never bends, and every row is a support vector at its bound.
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    n, kernel = len(y), Gaussian(5.0)
    keep = np.concatenate([np.flatnonzero(y == 1)[:200], np.flatnonzero(y == 0)[:200]])  # no effective bias
    X, y = X[keep], y[keep]
    n = len(y)
    machine = SVC(C=1 / (n * 1.0), kernel="precomputed").fit(kernel(X, X), y)
    ours = KernelUnhingedClassifier(kernel, threshold=0.0).fit(X, y)
    shifted = machine.decision_function(kernel(X, X)) - machine.intercept_
    assert_allclose(shifted, ours.decision_function(X), rtol=1e-6)


def test_a_grid_of_bandwidths_takes_the_one_with_the_least_leave_one_out_error():
    X, y = load_digits(return_X_y=True)
    X, y = X[:400], (y[:400] >= 5).astype(int)
    model = KernelUnhingedClassifier(bandwidth="loo").fit(X, y)
    errors = {}
    for size in (0.5, 1.0, 2.0):
        one = KernelUnhingedClassifier(bandwidth=model.kernel_.bandwidth * size).fit(X, y)
        errors[size] = np.mean((one.loo_scores_ > 0) != y)
    assert errors[1.0] == min(errors.values())


def test_noise_hardly_moves_it_on_digits_and_two_hundred_points_will_do():
    X, y = load_digits(return_X_y=True)
    clean = (y >= 5).astype(int)
    noisy = flip_labels(clean, 0.3, rng=0)
    assert (
        KernelUnhingedClassifier(bandwidth="loo").fit(X[:1200], noisy[:1200]).score(X[1200:], clean[1200:])
        > 0.8
    )
    model = KernelUnhingedClassifier().fit(X[:1200], noisy[:1200])  # a wide kernel, which few points span
    few = KernelUnhingedClassifier(compress="herding", n_support=200)
    few.fit(X[:1200], noisy[:1200])
    assert few.support_vectors_.shape == (200, 64)
    assert np.mean(few.predict(X[1200:]) == model.predict(X[1200:])) >= 0.97
    assert not hasattr(few, "predict_proba")


def test_probabilities_are_shares_by_similarity():
    X, y, weight = problem(classes=3)
    model = KernelUnhingedClassifier(Gaussian(1.0)).fit(X, y, weight)
    near = weight * Gaussian(1.0)([[0.1, 0.2, 0.3]], X)[0]
    expected = [near[y == k].sum() / near.sum() for k in range(3)]
    assert_allclose(model.predict_proba([[0.1, 0.2, 0.3]])[0], expected, rtol=1e-12)
    with pytest.raises(ValueError, match="negative values"):
        KernelUnhingedClassifier("linear").fit(X, y).predict_proba(X)


def test_sparse_rows_and_weights_of_zero():
    X, y, weight = problem(n=40)
    X[np.abs(X) < 0.7] = 0.0
    dense = KernelUnhingedClassifier(bandwidth=1.0).fit(X, y, weight)
    assert_allclose(
        KernelUnhingedClassifier(bandwidth=1.0).fit(sparse.csr_array(X), y, weight).decision_function(X),
        dense.decision_function(X),
        rtol=1e-9,
    )
    weight[5:] = np.where(np.arange(35) % 3 == 0, 0.0, weight[5:])
    without = KernelUnhingedClassifier(bandwidth=1.0).fit(X[weight > 0], y[weight > 0], weight[weight > 0])
    with_zeros = KernelUnhingedClassifier(bandwidth=1.0).fit(X, y, weight)
    assert_allclose(with_zeros.decision_function(X), without.decision_function(X))


def test_bad_input_is_named():
    X, y, _ = problem()
    for parameters, words in (
        ({"bandwidth": 0.0}, "bandwidth"),
        ({"compress": "herding"}, "go together"),
        ({"kernel": "cosmic"}, "cosmic"),
    ):
        with pytest.raises(ValueError, match=words):
            KernelUnhingedClassifier(**parameters).fit(X, y)
    with pytest.raises(ValueError, match="all rows are equal"):
        KernelUnhingedClassifier().fit(np.ones((6, 2)), [0, 1] * 3)
    with pytest.raises(ValueError, match="one class, 1"):
        KernelUnhingedClassifier().fit(X, np.ones(25, dtype=int))


def test_scikit_learn_accepts_it():
    # With a threshold, shares by similarity above one half need not be the class that is predicted. And a
    # share is a score divided by how near all rows are, so it does not rank rows as the score does.
    ratio = {"check_decision_proba_consistency": "shares are scores over densities"}
    model = KernelUnhingedClassifier(bandwidth=1.0, threshold=0.0)
    results = check_estimator(model, expected_failed_checks=ratio)
    assert {r["check_name"] for r in results if r["status"] != "passed"} == set(ratio)
