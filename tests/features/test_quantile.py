"""Quantile against mid-ranks counted one by one, and scikit-learn's transformer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.preprocessing import QuantileTransformer

from unflip.features import Quantile

RNG = np.random.default_rng(0)


def by_counting(column, clip):
    ranks = [(np.sum(column < x) + np.sum(column <= x)) / 2 / len(column) for x in column]
    return np.clip(norm.ppf(ranks), -clip, clip)


@given(hnp.arrays(float, st.integers(1, 40), elements=st.integers(-5, 5).map(float)))
def test_fitted_values_have_the_quantile_of_their_midrank(column):
    features = Quantile(clip=1.5).fit_transform(column[:, None])[:, 0]
    assert_allclose(features, by_counting(column, 1.5), atol=1e-12)


def test_a_few_quantiles_are_nearly_all_of_them():
    column = RNG.exponential(size=20_000)
    column[:6000] = 1.0  # a third of ties
    few = Quantile(n_quantiles=200, clip=2.0).fit(column[:, None])
    assert len(few.values_[0]) <= 200
    some = np.sort(column)
    gaps = np.abs(
        few.transform(some[:, None])[:, 0] - Quantile(20_000, clip=2.0).fit_transform(some[:, None])[:, 0]
    )
    assert np.quantile(gaps, 0.99) < 0.03  # just beside the ties the steep step is smoothed
    assert_allclose(
        few.transform([[1.0]]), Quantile(clip=2.0).fit(column[:, None]).transform([[1.0]]), atol=1e-12
    )


def test_it_agrees_with_scikit_learn_where_there_is_much_data():
    X = RNG.gamma(2.0, size=(20_000, 2))
    theirs = QuantileTransformer(output_distribution="normal", subsample=None).fit_transform(X)
    assert_allclose(Quantile().fit_transform(X), np.clip(theirs, -3, 3), atol=0.05)


def test_new_values_are_interpolated_and_clipped_beyond_the_range():
    fitted = Quantile().fit([[0.0], [1.0], [2.0]])
    high = norm.ppf(5 / 6)
    assert_allclose(fitted.transform([[-1e300], [1.5], [99.0]])[:, 0], [-high, high / 2, high], atol=1e-12)


def test_an_increasing_function_of_a_column_changes_nothing_at_fitted_values():
    X = RNG.normal(size=(300, 2))
    assert_allclose(Quantile().fit_transform(np.exp(X)), Quantile().fit_transform(X), atol=1e-12)


def test_features_of_many_values_reach_the_clip_and_not_beyond():
    X = RNG.normal(size=(5000, 3))
    features = Quantile(clip=1.0).fit_transform(X)
    assert features.min() == -1
    assert features.max() == 1
    assert Quantile(clip=1.0).fit(X).radius == pytest.approx(np.sqrt(3))


def test_a_constant_column_is_zero():
    assert_array_equal(Quantile().fit_transform(np.full((5, 1), 7.0)), 0)


def test_a_column_too_wide_for_float64_is_named():
    with pytest.raises(ValueError, match=r"column 0 of X spans -1e\+308 to 1e\+308"):
        Quantile().fit([[-1e308], [1e308]])
