"""Herding against least squares in feature space, brute force, and what it promises of scores."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits

from unflip import KernelUnhingedClassifier
from unflip.compress import herd
from unflip.kernels import Gaussian, Linear, median_bandwidth


def problem(n=60, classes=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, rng.normal(size=(n, classes)) / n


def squared_error(kernel, X, c, found):
    """|mu - mu_m|^2 from the whole kernel matrix."""
    a = c.copy()
    a[found.rows] -= found.weights
    return float(np.sum(a * (kernel(X, X) @ a)))


@pytest.mark.parametrize("classes", [1, 3])
def test_errors_are_exact_and_weights_are_the_best_for_their_points(classes):  # Section 6.2
    X, c = problem(classes=classes)
    kernel = Gaussian(1.0)
    found = herd(X, c, kernel, 15)
    assert_allclose(found.errors[-1] ** 2, squared_error(kernel, X, c, found), rtol=1e-6)
    best = np.linalg.solve(kernel(X[found.rows], X[found.rows]), kernel(X[found.rows], X) @ c)
    assert_allclose(found.weights, best, rtol=1e-6, atol=1e-10)
    assert (np.diff(found.errors) < 0).all()


def test_each_point_is_the_one_that_helps_most():
    X, c = problem(n=25)
    kernel = Gaussian(1.0)
    chosen = herd(X, c, kernel, 4).rows.tolist()
    K = kernel(X, X)
    for step in range(4):
        left = {}
        for row in set(range(25)) - set(chosen[:step]):
            rows = [*chosen[:step], row]
            a = c.copy()
            a[rows] -= np.linalg.solve(K[np.ix_(rows, rows)], K[rows] @ c)
            left[row] = float((a.T @ K @ a).item())
        assert chosen[step] == min(left, key=left.get)


def test_no_score_changes_by_more_than_the_error():
    X, c = problem(n=200)
    kernel, new = Gaussian(1.0), np.random.default_rng(1).normal(size=(50, 3))
    found = herd(X, c, kernel, 20)
    change = kernel.score(new, X, c) - kernel.score(new, X[found.rows], found.weights)
    assert np.abs(change).max() <= found.errors[-1]  # k(x, x) = 1


def test_candidates_limit_the_choice_and_not_the_target():
    X, c = problem(n=80)
    kernel = Gaussian(1.0)
    found = herd(X, c, kernel, 10, candidates=np.arange(0, 80, 4))
    assert set(found.rows) <= set(range(0, 80, 4))
    assert_allclose(found.errors[-1] ** 2, squared_error(kernel, X, c, found), rtol=1e-6)


def test_it_ends_when_nothing_is_left():
    X, c = problem(n=40)
    found = herd(X, c, Linear(), 40)
    assert len(found.rows) <= 3  # as many directions as columns
    assert found.errors[-1] <= 1e-7 * found.errors[0]
    none = herd(X, np.zeros(40), Gaussian(1.0), 5)  # any point with no weight will do
    assert (none.weights.tolist(), none.errors.tolist()) == ([[0.0]], [0.0, 0.0])


@pytest.mark.parametrize("factor", [1e-150, 1e-140, 1e140, 1e150])
def test_the_unit_of_the_rows_does_not_matter(factor):
    X, c = problem(n=40)
    found, scaled = herd(X, c, Linear(), 2), herd(X * factor, c, Linear(), 2)
    assert scaled.rows.tolist() == found.rows.tolist()
    assert_allclose(scaled.weights, found.weights, rtol=1e-6)


def test_one_long_row_does_not_hide_the_others():
    rng = np.random.default_rng(0)
    X = np.vstack(
        [[1e6, 0.0], np.column_stack([np.zeros(20), np.repeat([1, -1], 10) * rng.uniform(0.5, 1, 20)])]
    )
    y = np.concatenate([[0], np.repeat([1, 0], 10)])
    model = KernelUnhingedClassifier("linear", threshold=0.0, compress="herding", n_support=10).fit(X, y)
    assert model.score(X, y) == 1.0
    assert len(model.herd_.rows) == 2  # two directions


def test_two_hundred_digits_stand_for_all():
    X, y = load_digits(return_X_y=True)
    c = np.where(y >= 5, 1.0, -1.0) / len(y)
    kernel = Gaussian(median_bandwidth(X))
    found = herd(X, c, kernel, 200)
    rng = np.random.default_rng(0)
    sample = rng.choice(len(y), 200, replace=False)
    a = c.copy()
    a[sample] -= c[sample] * len(y) / 200
    assert found.errors[-1] <= 0.2 * np.sqrt(kernel.score(X, X, a) @ a)
    full, few = kernel.score(X, X, c), kernel.score(X, X[found.rows], found.weights)[:, 0]
    assert np.mean((full > 0) == (few > 0)) >= 0.97
