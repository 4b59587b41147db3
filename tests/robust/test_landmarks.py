"""The ridge path over landmarks against refits, and its choice against loops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from unflip.features.landmarks import LANDMARK_JITTER, Landmarks
from unflip.kernels import EuclideanLaplace
from unflip.robust import landmarks as landmarks_module
from unflip.robust.choose import choose
from unflip.robust.landmarks import RIDGES, LandmarkPath
from unflip.robust.rows import Rows
from unflip.robust.two_part import TwoPart
from unflip.robust.views import Views
from unflip.sources import encode


def problem(n=40, d=3, k=3, seed=0):
    """Rows, probabilities of classes, which are targets of three columns, and weights."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.dirichlet(np.ones(k), n), rng.integers(1, 4, n).astype(float)


def spanned(kernel, landmarks):
    """The features that landmarks span, with the little that is added to k(z, z)."""
    table = kernel(landmarks, landmarks)
    values, vectors = np.linalg.eigh(table + LANDMARK_JITTER * np.diag(table.diagonal()))
    return lambda rows: kernel(rows, landmarks) @ vectors / np.sqrt(values)


def refit(kernel, landmarks, X, labels, weight, ridge):
    """Weighted ridge regression with a free constant on the features of landmarks, by normal equations."""
    phi = spanned(kernel, landmarks)
    F = phi(X)
    m = weight @ F / weight.sum()
    G = (weight[:, None] * (F - m)).T @ (F - m) + ridge * np.eye(F.shape[1])
    mean = weight @ labels / weight.sum()
    w = np.linalg.solve(G, (weight[:, None] * (F - m)).T @ (labels - mean))
    return lambda rows: (phi(rows) - m) @ w, mean


@pytest.mark.parametrize("cached", [True, False])
def test_leave_one_out_scores_and_fits_are_those_of_refits(monkeypatch, cached):
    if not cached:
        monkeypatch.setattr(landmarks_module, "CACHE", 0)
        monkeypatch.setattr(landmarks_module, "FEATURES_AT_ONCE", 12 * 7)
    X, labels, weight = problem()
    kernel, landmarks = EuclideanLaplace(2.0), X[:12]
    judged = np.array([3, 0, 17, 39])
    path = LandmarkPath(Landmarks(kernel, landmarks), Rows(lambda at: X[at], encode(labels), weight), judged)
    F = spanned(kernel, landmarks)(X)
    m = weight @ F / weight.sum()
    ridges = RIDGES * (weight @ np.sum((F - m) ** 2, axis=1))
    for place, ridge in ((2, ridges[2]), (12, ridges[12])):
        for at, i in enumerate(judged):
            rest = np.arange(len(X)) != i
            alone, _ = refit(kernel, landmarks, X[rest], labels[rest], weight[rest], ridge)
            assert_allclose(path.scores[place, at], alone(X[[i]])[0], rtol=1e-8, atol=1e-11)
        whole, _ = refit(kernel, landmarks, X, labels, weight, ridge)
        dual, offset = path.dual(np.eye(len(RIDGES))[place])
        assert_allclose(kernel(X, landmarks) @ dual - offset, whole(X), rtol=1e-8, atol=1e-11)


def test_the_choice_is_what_a_loop_finds():
    rng = np.random.default_rng(0)
    labels = rng.normal(size=(60, 2))
    scores = np.stack(
        [s * labels + e * rng.normal(size=(60, 2)) for s, e in ((1, 0.5), (0.3, 0.1), (1, 0.6), (0, 1))]
    )
    weight, freedom, group = rng.uniform(1, 2, 60), np.array([9.0, 3.0, 8.0, 1.0]), np.array([0, 0, 0, 1])
    found = choose(scores, labels, weight, freedom, group)
    errors, rows = [], []
    for g in scores:
        a = max(
            1.0,
            sum(weight[i] * g[i] @ labels[i] for i in range(60))
            / sum(weight[i] * g[i] @ g[i] for i in range(60)),
        )
        e = np.array([np.sum((labels[i] - a * g[i]) ** 2) for i in range(60)])
        rows.append(e)
        errors.append(np.average(e, weights=weight))
    assert_allclose(found.errors, errors, rtol=1e-12)
    assert found.best == int(np.argmin(errors))
    for c in range(4):
        d = rows[c] - rows[found.best]
        se = np.sqrt(np.sum((weight / weight.sum()) ** 2 * (d - np.average(d, weights=weight)) ** 2))
        near = errors[c] - errors[found.best] <= se
        simple = freedom[c] <= freedom[found.best] and group[c] <= group[found.best]
        assert found.kept[c] == (c == found.best or (near and simple))


def test_the_two_part_kernel_is_its_formula():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=50), rng.integers(0, 2, 50), rng.exponential(size=50)])
    views = Views().fit(X, rng)
    assert views.two_valued.tolist() == [False, True, False]
    V, w = views.transform(X), np.array([0.5, 2.0, 1.3])
    landmarks = V[:20]
    kernel = TwoPart(landmarks, w, views.two_valued)
    z, r = V[:, :3], V[:, 3:]
    E = lambda i, j: np.sqrt(np.sum((w * (z[i] - z[j])) ** 2))  # noqa: E731
    R = lambda i, j: np.sum(w * np.abs(r[i] - r[j]))  # noqa: E731
    pairs = [(i, j) for i in range(20) for j in range(i)]
    med2, med1 = (np.median([d(*p) for p in pairs if d(*p) > 0]) for d in (E, R))
    expected = [
        [(np.exp(-E(i, j) / med2) + np.exp(-2 * R(i, j) / med1)) / 2 for j in range(20)] for i in range(50)
    ]
    assert_allclose(kernel(V, landmarks), expected, rtol=1e-9)


@pytest.mark.parametrize("size", [3, 20])
def test_rows_of_a_group_leave_together(size):
    # Groups of 3 are solved by rows, of 20 (more than the 12 landmarks) by features.
    X, labels, weight = problem()
    kernel, landmarks = EuclideanLaplace(2.0), X[:12]
    groups = np.arange(40) // size
    rows = Rows(lambda at: X[at], encode(labels), weight, groups)
    path = LandmarkPath(Landmarks(kernel, landmarks), rows, np.arange(40))
    F = spanned(kernel, landmarks)(X)
    ridge = RIDGES[4] * (weight @ np.sum((F - weight @ F / weight.sum()) ** 2, axis=1))
    for g in (0, 1):
        mine = groups == g
        alone, _ = refit(kernel, landmarks, X[~mine], labels[~mine], weight[~mine], ridge)
        assert_allclose(path.scores[4, mine], alone(X[mine]), rtol=1e-7, atol=1e-10)
