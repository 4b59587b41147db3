"""Nystroem features against scikit-learn's, and random pivots against the dense algebra."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem as Peer

from unflip import kernels
from unflip.features import Nystroem
from unflip.features import nystroem as nystroem_module
from unflip.features.lowrank import LowRank
from unflip.features.pivots import random_pivots

DIGITS = load_digits().data[:600] / 16
BANDWIDTH = 3.0


def relative_error(phi, exact):
    return np.linalg.norm(phi @ phi.T - exact) / np.linalg.norm(exact)


def clusters(seed, n=600):
    """Most rows in one place, a few in many others: uniform landmarks miss these."""
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(0, 0.1, (n - 60, 3)), rng.normal(0, 8, (60, 3))])


@pytest.mark.parametrize("rows", [DIGITS, clusters(0)], ids=["digits", "clusters"])
@pytest.mark.parametrize("m", [40, 120])
@pytest.mark.slow
def test_at_equal_width_it_is_no_worse_than_scikit_learn_and_pivots_are_better(rows, m):
    kernel = kernels.Gaussian(BANDWIDTH)
    exact = kernel(rows, rows)
    peer, uniform, pivoted = [], [], []
    for seed in range(10):
        theirs = Peer(gamma=0.5 / BANDWIDTH**2, n_components=m, random_state=seed)
        peer.append(relative_error(theirs.fit_transform(rows), exact))
        ours = Nystroem(m, bandwidth=BANDWIDTH, random_state=seed)
        uniform.append(relative_error(ours.fit_transform(rows), exact))
        ours.set_params(landmarks="pivoted")
        pivoted.append(relative_error(ours.fit_transform(rows), exact))
    noise = np.sqrt((np.var(peer) + np.var(uniform)) / len(peer))
    assert abs(np.mean(uniform) - np.mean(peer)) < 3 * noise
    assert np.mean(pivoted) < np.mean(uniform)


@pytest.mark.parametrize("kernel", ["rbf", "laplace", "euclidean_laplace"])
@pytest.mark.parametrize("landmarks", ["uniform", "pivoted"])
def test_inner_products_are_those_of_the_formula(kernel, landmarks):
    fitted = Nystroem(30, kernel, 2.0, landmarks).fit(DIGITS[:100])
    k = fitted.kernel_
    phi = fitted.transform(DIGITS[100:200])
    cross, table = k(DIGITS[100:200], fitted.landmarks_), k(fitted.landmarks_, fitted.landmarks_)
    assert_allclose(phi @ phi.T, cross @ np.linalg.solve(table, cross.T), atol=1e-6)
    assert_allclose(fitted.landmarks_, DIGITS[fitted.indices_])


def test_with_the_landmarks_of_scikit_learn_it_is_as_near_to_the_kernel():
    exact = kernels.Gaussian(BANDWIDTH)(DIGITS, DIGITS)
    peer = Peer(gamma=0.5 / BANDWIDTH**2, n_components=60, random_state=0).fit(DIGITS)
    ours = LowRank(kernels.Gaussian(BANDWIDTH), DIGITS[peer.component_indices_]).transform(DIGITS)
    theirs = relative_error(peer.transform(DIGITS), exact)
    assert relative_error(ours, exact) <= theirs * (1 + 1e-6)


def test_landmarks_are_different_rows_and_exact_for_each_other():
    fitted = Nystroem(50, bandwidth=BANDWIDTH).fit(DIGITS)
    assert len(set(fitted.indices_)) == fitted.width == 50
    phi = fitted.transform(fitted.landmarks_)
    assert_allclose(phi @ phi.T, fitted.kernel_(fitted.landmarks_, fitted.landmarks_), atol=1e-6)


def test_fewer_rows_than_components_are_all_landmarks():
    assert Nystroem(400).fit(DIGITS[:7]).width == 7


def test_equal_rows_are_no_obstacle():
    rows = np.repeat(DIGITS[:10], 5, axis=0)
    exact = kernels.Gaussian(BANDWIDTH)(rows, rows)
    for landmarks, width in (("uniform", 50), ("pivoted", 10)):
        fitted = Nystroem(50, bandwidth=BANDWIDTH, landmarks=landmarks).fit(rows)
        assert fitted.width == width
        assert_allclose(fitted.transform(rows) @ fitted.transform(rows).T, exact, atol=1e-6)
        assert np.linalg.norm(fitted.transform(rows), axis=1).max() <= 1 + 1e-12


# Randomly pivoted Cholesky


def residual_trace(table, pivots):
    """The trace of the Schur complement, by the dense formula."""
    chosen = table[:, pivots]
    return np.trace(table - chosen @ np.linalg.pinv(table[np.ix_(pivots, pivots)], hermitian=True) @ chosen.T)


def by_the_book(table, count, rng):
    """Algorithm 2.1 on the matrix itself: draw from the diagonal, eliminate, repeat."""
    rest, pivots = table.copy(), []
    for _ in range(count):
        diagonal = np.maximum(np.diag(rest), 0)
        pivots.append(rng.choice(len(table), p=diagonal / diagonal.sum()))
        rest -= np.outer(rest[:, pivots[-1]], rest[pivots[-1]]) / rest[pivots[-1], pivots[-1]]
    return pivots, np.trace(rest)


@pytest.mark.parametrize("rows", [DIGITS[:150], clusters(1, 150), sparse.csr_array(DIGITS[:150])])
def test_random_pivots_are_those_of_the_algorithm_on_the_full_matrix(rows):
    kernel = kernels.Gaussian(BANDWIDTH)
    table = kernel(rows, rows)
    for seed in range(5):
        pivots = random_pivots(rows, kernel, 25, np.random.default_rng(seed))
        expected, trace = by_the_book(table, 25, np.random.default_rng(seed))
        assert pivots.tolist() == expected
        assert residual_trace(table, pivots) == pytest.approx(trace, rel=1e-6, abs=1e-9)


def test_the_residual_trace_is_near_the_best_possible():
    """Three pivots for each of 20 directions leave less than the best 20 directions would."""
    kernel = kernels.Gaussian(BANDWIDTH)
    table = kernel(DIGITS[:300], DIGITS[:300])
    tail = np.linalg.eigvalsh(table)[:-20].sum()
    traces = [
        residual_trace(table, random_pivots(DIGITS[:300], kernel, 60, np.random.default_rng(seed)))
        for seed in range(5)
    ]
    assert np.mean(traces) < tail


def test_pivots_stop_when_all_is_explained():
    rows = np.repeat([[0.0], [3.0], [9.0]], 4, axis=0)
    pivots = random_pivots(rows, kernels.Gaussian(1.0), 12, np.random.default_rng(0))
    assert sorted(rows[pivots].ravel()) == [0.0, 3.0, 9.0]


def test_pivots_of_many_rows_are_chosen_among_some_of_them(monkeypatch):
    monkeypatch.setattr(nystroem_module, "CANDIDATES", 1000)
    seen = []
    monkeypatch.setattr(
        nystroem_module,
        "random_pivots",
        lambda X, kernel, m, rng: seen.append(X.shape) or random_pivots(X, kernel, m, rng),
    )
    fitted = Nystroem(10, bandwidth=BANDWIDTH, landmarks="pivoted").fit(DIGITS)
    assert seen == [(100, 64)]
    assert_allclose(fitted.landmarks_, DIGITS[fitted.indices_])
