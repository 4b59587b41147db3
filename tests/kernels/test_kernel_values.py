"""One battery for every kernel; adding a member to KERNELS is all it takes."""

import math
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from unflip.kernels import (
    EuclideanLaplace,
    Gaussian,
    Laplace,
    Linear,
    Polynomial,
    Product,
    RankLaplace,
    Scaled,
    Sum,
)
from unflip.kernels.rows import as_table

D = 6
REFERENCE = np.random.default_rng(5).normal(size=(40, D)).round(1)


def midrank(value, column):
    return ((column < value).sum() + (column <= value).sum()) / (2 * len(column))


def rank_laplace(x, z):
    apart = sum(abs(midrank(x[j], REFERENCE[:, j]) - midrank(z[j], REFERENCE[:, j])) for j in range(D))
    return math.exp(-apart / 1.5)


def gaussian(x, z):
    return math.exp(-sum((a - b) ** 2 for a, b in zip(x, z, strict=True)) / (2 * 1.3**2))


def laplace(x, z):
    return math.exp(-sum(abs(a - b) for a, b in zip(x, z, strict=True)) / 2.5)


def euclidean_laplace(x, z):
    return math.exp(-math.dist(x, z) / 0.7)


def linear(x, z):
    return math.fsum(a * b for a, b in zip(x, z, strict=True))


KERNELS = [
    (Gaussian(1.3), gaussian),
    (Laplace(2.5), laplace),
    (EuclideanLaplace(0.7), euclidean_laplace),
    (RankLaplace(REFERENCE, 1.5), rank_laplace),
    (Linear(), linear),
    (Polynomial(3, 0.5), lambda x, z: (linear(x, z) + 0.5) ** 3),
    (Polynomial(1, 0), linear),
    (Gaussian(1.3) + Linear(), lambda x, z: gaussian(x, z) + linear(x, z)),
    (Laplace(2.5) * Polynomial(2), lambda x, z: laplace(x, z) * (linear(x, z) + 1) ** 2),
    (0.25 * EuclideanLaplace(0.7), lambda x, z: 0.25 * euclidean_laplace(x, z)),
    (
        (0.5 * EuclideanLaplace(0.7) + 0.5 * RankLaplace(REFERENCE, 1.5)) * Gaussian(1.3),
        lambda x, z: (euclidean_laplace(x, z) + rank_laplace(x, z)) / 2 * gaussian(x, z),
    ),
]
every = pytest.mark.parametrize(("kernel", "formula"), KERNELS, ids=[repr(k)[:60] for k, _ in KERNELS])


def rows(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, D))


@every
def test_values_are_those_of_the_formula(kernel, formula):
    X, Z = rows(9), rows(13, seed=1)
    Z[4] = X[2]  # a pair at distance zero
    Z[5] = X[3] + 1e-9  # and nearly so
    assert_allclose(kernel(X, Z), [[formula(x, z) for z in Z] for x in X], rtol=1e-12, atol=1e-12)


@every
def test_scores_are_weighted_sums_of_values(kernel, formula):
    X, Z, w = rows(5), rows(7, seed=1), np.random.default_rng(2).normal(size=(7, 3))
    expected = [[math.fsum(v * formula(x, z) for v, z in zip(c, Z, strict=True)) for c in w.T] for x in X]
    assert_allclose(kernel.score(X, Z, w), expected, atol=1e-10)
    assert_allclose(kernel.score(X, Z, w[:, 0]), np.array(expected)[:, 0], atol=1e-10)


@every
def test_the_table_is_symmetric_and_positive_semidefinite(kernel, formula):
    X = rows(60)
    X[1] = X[0]
    K = kernel(X, X)
    assert_allclose(K, K.T, rtol=1e-12, atol=1e-12)
    assert np.linalg.eigvalsh(K).min() > -1e-11 * np.abs(K).max()


@every
def test_the_diagonal_is_that_of_the_table_and_below_the_bound(kernel, formula):
    X = rows(20)
    assert_allclose(kernel.diagonal(X), np.diag(kernel(X, X)), rtol=1e-12)
    assert kernel.diagonal(X).max() <= kernel.bound


@every
def test_a_shift_of_both_sides_is_seen_unless_the_kernel_is_stationary(kernel, formula):
    X, Z = rows(5), rows(5, seed=1)
    unchanged = np.allclose(kernel(X, Z), kernel(X + 0.5, Z + 0.5), rtol=1e-9)
    assert unchanged == kernel.stationary


@every
def test_a_kernel_is_a_value(kernel, formula):
    again = pickle.loads(pickle.dumps(kernel))
    assert again == kernel
    assert hash(again) == hash(kernel)
    assert len({k for k, _ in KERNELS} | {again}) == len(KERNELS)
    with pytest.raises(AttributeError):
        kernel.bandwidth = 2.0


@every
def test_any_numbers_give_float64(kernel, formula):
    X, Z = rows(5).astype(np.float32), np.asfortranarray(rows(6, seed=1).astype(np.float32))
    values = kernel(X, Z)
    assert values.dtype == np.float64
    assert_allclose(values, kernel(X.astype(np.float64), Z.astype(np.float64)), rtol=1e-12)
    assert kernel.score(X, Z, np.ones(6, dtype=int)).dtype == np.float64
    assert_allclose(kernel(X > 0, Z > 0), kernel((X > 0) * 1.0, (Z > 0) * 1.0), rtol=1e-12)


@pytest.mark.parametrize(
    "kernel",
    [Gaussian(1.3), EuclideanLaplace(0.7), Linear(), Polynomial(2), Gaussian(1.0) * Linear()],
    ids=repr,
)
def test_sparse_rows_give_the_values_of_dense_ones(kernel):
    X, Z = (np.where(rows(20, s) > 0.5, rows(20, s), 0.0) for s in (0, 1))
    Z[3] = X[7]
    w = rows(20, 2)[:, 0]
    expected = kernel(X, Z)
    for left, right in [
        (sparse.csr_array(X), Z),
        (X, sparse.coo_matrix(Z)),
        (sparse.csr_matrix(X), sparse.csc_array(Z)),
    ]:
        values = kernel(left, right)
        assert type(values) is np.ndarray
        assert_allclose(values, expected, atol=1e-12)
        assert_allclose(kernel.score(left, right, w), expected @ w, atol=1e-12)
    assert_allclose(kernel.diagonal(sparse.csr_array(X)), kernel.diagonal(X))


@pytest.mark.parametrize(
    "kernel", [Laplace(1.0), RankLaplace(REFERENCE, 1.0), Gaussian(1.0) + Laplace(1.0)], ids=repr
)
def test_sums_of_absolute_differences_refuse_sparse_rows(kernel):
    with pytest.raises(ValueError, match="takes dense rows only; call"):
        kernel(sparse.csr_array(rows(3)), rows(3))


def test_combinations_say_what_they_are():
    a, b = Gaussian(1.0), Linear()
    assert a + b == Sum(a, b)
    assert a * b == Product(a, b)
    assert 2 * a == a * 2 == np.float64(2) * a == np.int64(2) * a == Scaled(2.0, a)
    assert repr(0.5 * (a + b)) == "0.5 * (Gaussian(bandwidth=1.0) + Linear())"
    assert (
        repr((a + b) * b + a) == "(Gaussian(bandwidth=1.0) + Linear()) * Linear() + Gaussian(bandwidth=1.0)"
    )
    assert (a + 0.5 * a).bound == 1.5
    assert (a * b).bound == math.inf
    assert (0 * b).bound == ((0 * b) * b).bound == 0.0
    assert_array_equal((0 * b)(rows(2), rows(2)), np.zeros((2, 2)))


def test_what_cannot_be_combined_is_refused():
    with pytest.raises(ValueError, match="finite number >= 0, got -1"):
        -1 * Linear()
    with pytest.raises(ValueError, match="finite number >= 0, got nan"):
        Linear() * math.nan
    for other in (1.0, "rbf", None):
        with pytest.raises(TypeError):
            Linear() + other
    with pytest.raises(TypeError):
        Linear() * "rbf"


@pytest.mark.parametrize("degree", [0, -1, 1.5, "2", 1001, 10**30])
def test_a_polynomial_has_a_whole_positive_degree_that_is_not_absurd(degree):
    with pytest.raises(ValueError, match="a degree is a whole number from 1 to 1000, got"):
        Polynomial(degree)


def test_a_power_of_the_highest_degree_is_right():
    assert_allclose(Polynomial(1000, 0)([[1.01]], [[1.0]]), [[1.01**1000]], rtol=1e-12)


@pytest.mark.parametrize("constant", [-1.0, math.nan, math.inf])
def test_a_polynomial_has_a_constant_that_is_not_negative(constant):
    with pytest.raises(ValueError, match="a constant is a finite number >= 0, got"):
        Polynomial(2, constant)


@pytest.mark.parametrize(
    "kernel",
    [Linear(), Polynomial(2), Linear() * Linear(), Linear() + Gaussian(1e150), 1e300 * Linear()],
    ids=repr,
)
@pytest.mark.parametrize("dress", [np.asarray, sparse.csr_array])
def test_values_that_overflow_are_refused(kernel, dress):
    X = dress(rows(5) * 1e155)
    for compute in (
        lambda: kernel(X, X),
        lambda: kernel.score(X, X, np.ones(5)),
        lambda: kernel.score(X, X, np.ones((5, 2))),
    ):
        with pytest.raises(ValueError, match=r"overflow: rescale the columns|squared distances overflow"):
            compute()


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2)], ids=repr)
def test_a_diagonal_that_overflows_is_refused(kernel):
    with pytest.raises(ValueError, match=r"the values of .* overflow: rescale the columns"):
        kernel.diagonal(rows(5) * 1e155)


def test_scores_that_overflow_by_their_weights_are_refused():
    with pytest.raises(ValueError, match=r"the scores of Gaussian.* overflow: rescale .* or the weights"):
        Gaussian(1.0).score(np.zeros((1, 2)), np.zeros((2, 2)), [1e308, 1e308])


def test_bad_rows_are_refused():
    kernel = Gaussian(1.0)
    with pytest.raises(ValueError, match="X has 6 columns, Z has 5"):
        kernel(rows(3), rows(3)[:, :5])
    with pytest.raises(ValueError, match="Input Z contains NaN"):
        kernel(rows(3), np.full((2, D), np.nan))
    with pytest.raises(ValueError, match="2D array"):
        kernel(np.zeros(3), rows(3))
    with pytest.raises(ValueError, match="0 sample"):
        kernel(np.zeros((0, D)), rows(3))
    with pytest.raises(ValueError, match="rows reach beyond 1e150; rescale"):
        kernel(rows(3) * 1e200, rows(3))


def test_giant_rows_are_finite_and_warn_of_nothing():
    """Their sum, by which scikit-learn looks for infinities, overflows; here, warnings are errors."""
    X = np.full((2, 2), 1.5e308)
    assert as_table(X, "X") is X
