"""Fourier features against the kernels they stand for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.utils import estimator_checks

from unflip import UnhingedClassifier, kernels
from unflip.features import Fourier, OrthogonalFourier
from unflip.features.cosine import CHUNK, cosines

X = np.random.default_rng(0).normal(size=(60, 5))
PAIRS = [
    *((Fourier, kernel) for kernel in ("rbf", "gaussian", "laplace", "euclidean_laplace")),
    *((OrthogonalFourier, kernel) for kernel in ("rbf", "gaussian", "euclidean_laplace")),
]


def error(feature_map, seeds, exact):
    """The root mean square error of inner products, over pairs of rows and seeds."""
    squares = []
    for seed in range(seeds):
        phi = feature_map.set_params(random_state=seed).fit_transform(X)
        squares.append(np.mean((phi @ phi.T - exact) ** 2))
    return np.sqrt(np.mean(squares))


@pytest.mark.parametrize(("kind", "kernel"), PAIRS)
@pytest.mark.slow
def test_the_error_falls_as_one_over_the_root_of_the_number_of_features(kind, kernel):
    exact = kernels.get(kernel, 3.0)(X, X)
    sizes = np.array([64, 256, 1024, 4096])
    errors = [error(kind(n, kernel, 3.0), 6, exact) for n in sizes]
    # 2 cos(a) cos(b) has a variance of at most one, and the error is that of a mean of D of them.
    assert np.all(np.array(errors) * np.sqrt(sizes) < 1.1)
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert -0.65 < slope < -0.35


@pytest.mark.parametrize("bandwidth", [1.0, 3.0, 10.0])
@pytest.mark.parametrize("n_features", [16, 61, 200])
def test_orthogonal_frequencies_are_no_worse(bandwidth, n_features):
    exact = kernels.Gaussian(bandwidth)(X, X)
    plain = error(Fourier(n_features, bandwidth=bandwidth), 20, exact)
    assert error(OrthogonalFourier(n_features, bandwidth=bandwidth), 20, exact) < plain


def test_orthogonality_itself_lowers_the_error():
    """Beside cosines and sines of independent frequencies, which are the fair comparison."""

    class Paired(OrthogonalFourier):
        def _waves(self, kernel, d, rng):
            _, phases = super()._waves(kernel, d, rng)
            independent = kernel.spectral_sample(d, (self.n_features + 1) // 2, rng)
            return np.repeat(independent, 2, axis=0)[: self.n_features], phases

    exact = kernels.Gaussian(3.0)(X, X)
    assert error(OrthogonalFourier(10, bandwidth=3.0), 40, exact) < error(
        Paired(10, bandwidth=3.0), 40, exact
    )


def test_the_features_are_the_formula():  # Section 6.2
    fitted = Fourier(n_features=30, bandwidth=2.0).fit(X)
    angles = (X - fitted.center_) @ fitted.frequencies_.T + fitted.phases_
    assert_allclose(fitted.transform(X), np.sqrt(2 / 30) * np.cos(angles), atol=1e-14)
    assert fitted.kernel_ == kernels.Gaussian(2.0)


def test_orthogonal_frequencies_come_in_orthogonal_blocks():
    fitted = OrthogonalFourier(n_features=24, bandwidth=1.0).fit(X)
    frequencies = fitted.frequencies_[::2]
    assert_array_equal(fitted.frequencies_[1::2], frequencies)
    for block in (frequencies[:5], frequencies[5:10], frequencies[10:]):
        gram = block @ block.T
        assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-12)


def test_the_median_bandwidth_is_that_of_the_kernels_own_distance():
    assert Fourier().fit(X).kernel_ == kernels.Gaussian(kernels.median_bandwidth(X))
    manhattan = kernels.median_bandwidth(X, metric="manhattan")
    assert Fourier(kernel="laplace").fit(X).kernel_ == kernels.Laplace(manhattan)


@pytest.mark.parametrize("kind", [Fourier, OrthogonalFourier])
@pytest.mark.parametrize("offset", [1e9, 1e15])
def test_an_offset_does_not_matter_beyond_the_rounding_of_the_data(kind, offset):
    there = 4 * X + offset
    back = there - offset
    phi, other = (kind(3000, bandwidth=4.0).fit_transform(rows) for rows in (there, back))
    assert_allclose(phi @ phi.T, other @ other.T, atol=0.1)
    assert_allclose(phi @ phi.T, kernels.Gaussian(4.0)(back, back), atol=0.1)


def test_cosines_are_as_exact_as_their_angles():
    turns = np.concatenate([np.linspace(-3, 3, 3 * CHUNK + 7), np.random.default_rng(0).normal(0, 100, 1000)])
    expected = np.cos(2 * np.pi * (turns - np.rint(turns)))  # which is exact to the last digit
    assert_allclose(cosines(turns.copy()), expected, atol=2e-15)
    assert_allclose(cosines(turns.copy(), 0.25), 0.25 * expected, atol=1e-15)
    table = turns[: 4 * 3000].reshape(4, 3000).copy()
    assert cosines(table) is table
    assert cosines(np.empty((0, 3))).shape == (0, 3)


def test_cosines_pass_on_what_is_not_finite():
    with np.errstate(invalid="ignore"):
        assert np.isnan(cosines(np.array([np.nan, np.inf, -np.inf]))).all()


def test_a_classifier_learns_what_no_line_can():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(600, 2))
    inside = np.linalg.norm(rows, axis=1) < 1.1
    noisy = inside ^ (rng.uniform(size=600) < 0.2)
    model = UnhingedClassifier(features=Fourier(bandwidth=0.7), threshold="loo").fit(rows, noisy)
    assert model.score(rows, inside) > 0.93


def test_bad_parameters_and_rows_are_named():
    with pytest.raises(ValueError, match=r"'kernel' parameter of OrthogonalFourier must be .* Got 'laplace'"):
        OrthogonalFourier(kernel="laplace").fit(X)
    with pytest.raises(ValueError, match="'bandwidth' parameter of Fourier"):
        Fourier(bandwidth=0.0).fit(X)
    with pytest.raises(ValueError, match="all rows are equal: the median distance is zero; give a bandwidth"):
        Fourier().fit(np.ones((5, 2)))
    with pytest.raises(ValueError, match=r"1 sample.*minimum of 2 is required by Fourier"):
        Fourier().fit(X[:1])
    assert Fourier(bandwidth=1.0).fit(X[:1]).width == 1000
    estimator_checks.check_fit2d_1sample("Fourier", Fourier())


def test_a_bandwidth_that_leaves_nothing_of_the_angles_is_named():
    X = np.random.default_rng(0).normal(size=(20, 3))
    for rows in (X, sparse.csr_array(X)):
        with pytest.raises(ValueError, match=r"Gaussian\(bandwidth=1e-20\).*wider bandwidth"):
            Fourier(bandwidth=1e-20).fit(rows)
