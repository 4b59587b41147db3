"""Fourier features and Gaussian scores of foreign arrays, against those of NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from unflip.features import Fourier, OrthogonalFourier, Standardize
from unflip.kernels import Gaussian, median_bandwidth


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(1500, 5)) + 10


@pytest.mark.parametrize("kind", [Fourier, OrthogonalFourier])
@pytest.mark.parametrize("bandwidth", ["median", 2.0])
def test_the_same_map_is_fitted_and_its_features_stay(xp, rows, kind, bandwidth):
    expected, found = (
        kind(50, bandwidth=bandwidth).fit(rows),
        kind(50, bandwidth=bandwidth).fit(xp.move(rows)),
    )
    assert found.key == expected.key
    features = found.transform(xp.move(rows))
    assert xp.owns(features)
    assert features.device == xp.move(rows).device
    assert_allclose(xp.back(features), expected.transform(rows), atol=1e-11)


def test_single_precision_rows_have_double_precision_features(xp, rows):
    single = rows.astype(np.float32)
    fourier = Fourier(50).fit(single)
    assert_allclose(xp.back(fourier.transform(xp.move(single))), fourier.transform(single), atol=1e-11)


def test_the_median_rule_sees_the_same_sample(xp, rows):
    for metric in ("euclidean", "manhattan"):
        assert median_bandwidth(xp.move(rows), 3, metric=metric) == median_bandwidth(rows, 3, metric=metric)


def test_maps_for_the_host_take_arrays_of_the_host(xp, rows):
    if not xp.on_host:
        with pytest.raises((TypeError, RuntimeError)):
            Standardize().fit(xp.move(rows))
        return
    assert_array_equal(Standardize().fit_transform(xp.move(rows)), Standardize().fit_transform(rows))


@pytest.mark.parametrize("bandwidth", [3.0, 0.05])  # of the second, products would lose the digits
@pytest.mark.parametrize("columns", [None, 1, 3])
def test_gaussian_scores_are_those_of_numpy(xp, rows, bandwidth, columns):
    rng = np.random.default_rng(1)
    weights = rng.normal(size=1500 if columns is None else (1500, columns))
    X = np.concatenate([rows[:200] + 1e-3, rng.normal(size=(50, 5)) + 10])
    expected = Gaussian(bandwidth).score(X, rows, weights)
    for given in (weights, xp.move(weights)):
        found = Gaussian(bandwidth).score(xp.move(X), xp.move(rows), given)
        assert xp.owns(found)
        assert found.device == xp.move(X).device
        assert_allclose(xp.back(found), expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
    # A support that is still on the host follows the rows.
    found = Gaussian(bandwidth).score(xp.move(X), rows, weights)
    assert_allclose(xp.back(found), expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


def test_single_precision_scores_keep_what_they_promise(xp, rows):
    # On a GPU the fused kernel promises 1e-5 and 1e-3 of all scores together; elsewhere all is float64.
    X, weights = rows.astype(np.float32), np.random.default_rng(1).normal(size=1500)
    expected = Gaussian(3.0).score(X, X, weights)
    for precision, error in (("accurate", 1e-5), ("fast", 1e-3)):
        found = xp.back(Gaussian(3.0).score(xp.move(X), xp.move(X), weights, precision=precision))
        assert np.linalg.norm(found - expected) <= error * np.linalg.norm(expected)


def test_bad_input_is_refused_in_words(xp, rows):
    kernel, X = Gaussian(1.0), xp.move(rows)
    with pytest.raises(ValueError, match="X has 4 columns, Z has 5"):
        kernel.score(xp.move(rows[:, 1:]), X, np.ones(1500))
    with pytest.raises(ValueError, match="Z has 1500 rows"):
        kernel.score(X, X, np.ones(3))
    with pytest.raises(ValueError, match="weights are finite"):
        kernel.score(X, X, np.full(1500, np.nan))
    with pytest.raises(ValueError, match="Input Z contains NaN"):
        kernel.score(X, xp.move(np.full((1500, 5), np.nan)), np.ones(1500))
    with pytest.raises(ValueError, match="'accurate' or 'fast'"):
        kernel.score(X, X, np.ones(1500), precision="quick")
