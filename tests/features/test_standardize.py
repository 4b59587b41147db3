"""Standardize against scikit-learn's scaler and exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from unflip import UnhingedClassifier
from unflip.features import Quantile, Standardize
from unflip.moments import accumulate
from unflip.moments.moments import Moments

RNG = np.random.default_rng(0)
X = RNG.normal(size=(500, 4)) * [1.0, 1e-3, 50.0, 1.0] + [0.0, 5.0, -2.0, 1e3]
Y = RNG.integers(0, 2, 500)


def test_it_is_the_scaler_of_scikit_learn():
    scaler = StandardScaler().fit(X)
    ours = Standardize().fit(X)
    assert_allclose(ours.mean_, scaler.mean_, rtol=1e-13)
    assert_allclose(ours.scale_, scaler.scale_, rtol=1e-12)
    assert_allclose(ours.transform(X), scaler.transform(X), atol=1e-9)


def test_a_constant_column_is_zero_whatever_comes_later():
    ours = Standardize().fit(np.column_stack([X[:, 0], np.full(500, 0.1)]))
    assert ours.scale_[1] == 0
    assert_array_equal(ours.transform([[0.0, 0.1], [0.0, 7.0]])[:, 1], 0)


@pytest.mark.parametrize("factor", [1e-300, 1e-150, 1.0, 1e150, 1e300])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_variances_are_right_at_any_scale_and_offset(factor, offset):
    column = (RNG.normal(size=301) + offset) * factor
    exact = [Fraction(float(x)) for x in column]
    mean = sum(exact) / len(exact)
    variance = sum((x - mean) ** 2 for x in exact) / len(exact) / Fraction(factor) ** 2
    ours = Standardize().fit(column[:, None])
    assert_allclose(ours.mean_[0] / factor, float(mean / Fraction(factor)), rtol=1e-14, atol=1e-15)
    assert_allclose(ours.scale_[0] / factor, np.sqrt(float(variance)), rtol=1e-12)


def test_a_column_too_wide_for_float64_is_named():
    with pytest.raises(ValueError, match=r"column 1 of X spans -1e\+308 to 1e\+308"):
        Standardize().fit([[0.0, -1e308], [1.0, 1e308]])


def test_sparse_rows_are_scaled_and_not_centred():
    thin = sparse.csr_array(np.where(RNG.random((80, 5)) < 0.2, RNG.random((80, 5)), 0.0))
    ours = Standardize(center=False).fit(thin)
    assert sparse.issparse(ours.transform(thin))
    assert_allclose(ours.transform(thin).toarray(), thin.toarray() / thin.toarray().std(axis=0), atol=1e-12)
    assert ours.transform(thin).nnz == thin.nnz


def test_entries_stored_twice_count_as_their_sum():
    twice = sparse.csr_array(([1.0, 2.0, 5.0], [0, 0, 0], [0, 2, 3]), shape=(2, 1))
    ours = Standardize(center=False).fit(twice)
    assert_allclose([ours.mean_[0], ours.scale_[0]], [4.0, 1.0])
    assert twice.nnz == 3


def test_moments_of_shards_make_the_same_map():
    shards = [(X[:100], Y[:100]), (X[100:], Y[100:])]
    merged = sum(accumulate(shard, degree=2) for shard in shards)
    ours, direct = Standardize.from_moments(merged), Standardize().fit(X)
    assert_allclose(ours.mean_, direct.mean_, rtol=1e-12)
    assert_allclose(ours.scale_, direct.scale_, rtol=1e-8)
    again = sum(accumulate(shard, features=ours) for shard in shards)
    model = UnhingedClassifier(features=ours).fit_moments(again)
    expected = UnhingedClassifier(features=Standardize()).fit(X, Y)
    assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("factor", [1e-140, 1.0, 1e140])
def test_moments_far_from_zero_or_in_other_units_make_the_same_map(factor):
    there = (X + 1e9) * factor
    there[:, 3] = 0.1 * factor
    ours, direct = Standardize.from_moments(accumulate((there, Y), degree=2)), Standardize().fit(there)
    assert_allclose(ours.scale_ / factor, direct.scale_ / factor, rtol=1e-6)
    assert ours.scale_[3] == 0


def test_names_come_along_with_the_moments():
    import pandas as pd

    frame = pd.DataFrame(X, columns=list("abcd"))
    ours = Standardize.from_moments(accumulate((frame, Y), degree=2))
    assert ours.get_feature_names_out().tolist() == list("abcd")
    assert_allclose(accumulate((frame, Y), features=ours).mean, 0, atol=1e-9)


def test_moments_that_cannot_serve_are_refused():
    with pytest.raises(ValueError, match="of degree 2, these are of degree 1"):
        Standardize.from_moments(accumulate((X, Y)))
    with pytest.raises(ValueError, match="moments of columns, these are of the map 'Quantile:"):
        Standardize.from_moments(accumulate((X, Y), features=Quantile().fit(X), degree=2))
    with pytest.raises(ValueError, match="no rows"):
        Standardize.from_moments(Moments.zero(4, "columns:4", degree=2))
