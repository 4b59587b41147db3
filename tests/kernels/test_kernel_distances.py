"""Distances that keep their digits, and grids of bandwidths that share them."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from unflip.kernels import (
    EuclideanLaplace,
    Gaussian,
    Laplace,
    RankLaplace,
    manhattan_distances,
    squared_distances,
)


def exact(X, Z):
    """Squared distances of the very numbers given, rounded once at the end."""
    return np.array(
        [
            [
                float(sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x, z, strict=True)))
                for z in Z.tolist()
            ]
            for x in X.tolist()
        ]
    )


def clustered(seed=0):
    rng = np.random.default_rng(seed)
    centers = 100.0 * rng.normal(size=(4, 5))
    X = centers[rng.integers(4, size=25)] + rng.normal(size=(25, 5))
    Z = np.vstack([X[:10] + 1e-7 * rng.normal(size=(10, 5)), X[10:15], rng.normal(size=(10, 5))])
    return X, Z


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
@pytest.mark.parametrize("factor", [1e-140, 1.0, 1e140])
def test_near_duplicates_and_offsets_keep_their_digits(offset, factor):
    X, Z = (factor * (table + offset) for table in clustered())
    assert_allclose(squared_distances(X, Z), exact(X, Z), rtol=1e-11)


def test_sparse_rows_keep_their_digits():
    X, Z = (table + 1e8 for table in clustered())
    for left, right in [
        (sparse.csr_array(X), Z),
        (X, sparse.csr_array(Z)),
        (sparse.csr_array(X), sparse.csr_array(Z)),
    ]:
        assert_allclose(squared_distances(left, right), exact(X, Z), rtol=1e-11)


def test_no_squared_distance_is_negative_and_that_to_itself_is_zero():
    X = np.random.default_rng(0).normal(size=(300, 40)) + 1e6
    apart = squared_distances(X, X)
    assert apart.min() == 0
    assert_array_equal(np.diag(apart), np.zeros(300))


@pytest.mark.parametrize(
    "kernel", [Gaussian(1.0), Gaussian(1e-6), EuclideanLaplace(1.0), Laplace(1.0)], ids=repr
)
def test_an_offset_does_not_spoil_the_values(kernel):
    X, Z = clustered()
    X, Z = (np.round(table * 2.0**20) / 2.0**20 for table in (X, Z))  # so that the offset loses no digit
    assert_allclose(kernel(X + 2.0**27, Z + 2.0**27), kernel(X, Z), atol=1e-11)


def test_manhattan_distances_are_sums_of_absolute_differences():
    X, Z = clustered()
    assert_allclose(manhattan_distances(X, Z), np.abs(X[:, None] - Z).sum(axis=2), rtol=1e-12)
    with pytest.raises(ValueError, match="takes dense rows only"):
        manhattan_distances(sparse.csr_array(X), Z)


@pytest.mark.parametrize(
    "kind", [Gaussian, Laplace, EuclideanLaplace, lambda b: RankLaplace(clustered()[0], b)]
)
def test_a_grid_of_bandwidths_shares_its_distances(kind):
    X, Z = clustered()
    apart = kind(1.0).distance(X, Z)
    kept = apart.copy()
    buffer = np.empty_like(apart)
    for bandwidth in (0.1, 1.0, 10.0):
        kernel = kind(bandwidth)
        assert_allclose(kernel.profile(apart), kernel(X, Z), atol=1e-12)
        assert kernel.profile(apart, out=buffer) is buffer
        assert_allclose(buffer, kernel(X, Z), atol=1e-12)
        assert_array_equal(apart, kept)
    assert kernel.profile(apart, out=apart) is apart
