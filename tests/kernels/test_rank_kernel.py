import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import rankdata

from unflip.kernels import RankLaplace, midranks


def test_ranks_of_the_reference_itself_are_average_ranks():
    X = np.random.default_rng(0).integers(0, 5, size=(30, 3)).astype(float)
    assert_allclose(midranks(X, X), (rankdata(X, axis=0) - 0.5) / 30)


def test_increasing_functions_of_a_column_change_nothing():
    rng = np.random.default_rng(0)
    reference, X = rng.normal(size=(50, 2)), rng.normal(size=(20, 2))
    plain, stretched = RankLaplace(reference, 0.5), RankLaplace(np.exp(reference), 0.5)
    assert_array_equal(plain(X, X), stretched(np.exp(X), np.exp(X)))


def test_random_partitions_agree_as_often_as_the_kernel_says():
    rng = np.random.default_rng(0)
    kernel = RankLaplace(rng.normal(size=(50, 2)), bandwidth=0.8)
    x, z = rng.normal(size=(2, 2))
    (r, s), count = kernel.ranks([x, z]), 20_000
    together = np.ones(count, dtype=bool)
    for j in range(2):  # cuts fall on [0, 1] as a Poisson process of rate 1 / bandwidth
        together &= rng.poisson(abs(r[j] - s[j]) / 0.8, size=count) == 0
    value = kernel([x], [z])[0, 0]
    assert abs(together.mean() - value) < 4 * np.sqrt(value * (1 - value) / count)


def test_the_reference_is_a_frozen_sorted_copy():
    given = np.array([[3.0], [1.0], [2.0]])
    kernel = RankLaplace(given, 1.0)
    given[:] = 0
    assert kernel.reference.ravel().tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="read-only"):
        kernel.reference[0] = 9.0
    assert kernel == RankLaplace([[2.0], [3.0], [1.0]], 1.0)
    assert kernel != RankLaplace([[2.0], [3.0], [1.0]], 2.0)
    assert repr(kernel) == "RankLaplace(3 x 1 reference, bandwidth=1.0)"


def test_bad_input_is_refused():
    kernel = RankLaplace(np.eye(3), 1.0)
    with pytest.raises(ValueError, match="X has 2 columns, the reference has 3"):
        kernel(np.eye(2), np.eye(2))
    with pytest.raises(ValueError, match="dense rows only"):
        RankLaplace(sparse.csr_array(np.eye(3)), 1.0)
    with pytest.raises(ValueError, match="Input reference contains NaN"):
        RankLaplace([[np.nan]], 1.0)
