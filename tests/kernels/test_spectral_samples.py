"""Frequencies: the mean of cos <w, x - z> is the kernel, and so are random Fourier features."""

import numpy as np
import pytest

from unflip.kernels import EuclideanLaplace, Gaussian, Laplace

COUNT = 100_000


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("bandwidth", [0.5, 2.0])
@pytest.mark.parametrize("kind", [Gaussian, Laplace, EuclideanLaplace])
def test_cosines_average_to_the_kernel(kind, bandwidth, d):
    kernel, rng = kind(bandwidth), np.random.default_rng(7)
    w = kernel.spectral_sample(d, COUNT, rng)
    assert w.shape == (COUNT, d)
    for length in (0.1, 0.5, 1.0, 2.0, 4.0):
        apart = rng.normal(size=d)
        apart *= length * bandwidth / np.linalg.norm(apart)
        cosines = np.cos(w @ apart)
        error = cosines.std() / np.sqrt(COUNT)
        assert abs(cosines.mean() - kernel([apart], [np.zeros(d)])[0, 0]) < 4 * error


@pytest.mark.parametrize("kind", [Gaussian, Laplace, EuclideanLaplace])
def test_random_fourier_features_approximate_the_kernel(kind):
    rng = np.random.default_rng(3)
    X, kernel = rng.normal(size=(8, 4)), kind(3.0)
    w, u = kernel.spectral_sample(4, COUNT, rng), rng.uniform(0, 2 * np.pi, COUNT)
    features = np.sqrt(2 / COUNT) * np.cos(X @ w.T + u)
    assert np.abs(features @ features.T - kernel(X, X)).max() < 5 / np.sqrt(COUNT)


def test_a_seed_gives_the_same_frequencies():
    one, two = (Laplace(1.0).spectral_sample(2, 5, np.random.default_rng(1)) for _ in range(2))
    assert (one == two).all()
