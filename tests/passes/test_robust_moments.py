"""Median of means: the lemma's bound, the geometric median by other means, and blocks that rows keep."""

import struct

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize
from sklearn.preprocessing import StandardScaler

from unflip import UnhingedClassifier
from unflip.moments import Moments, accumulate, block_moments, median_of_means, robust_moments
from unflip.moments.median import geometric_median
from unflip.passes.robust import _block_of
from unflip.sources import dask


def constant(alpha):
    return (1 - alpha) / np.sqrt(1 - 2 * alpha)


def total_distance(points, place):
    return np.linalg.norm(points - place, axis=1).sum()


def two_classes(n=400, width=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, width)) + 4.0 * y[:, None], y


def blockwise(one, here, there):
    return tuple(one(a, b) for a, b in zip(here, there, strict=True))


def assert_same(one, other):
    assert (one.classes, one.key) == (other.classes, other.key)
    assert_array_equal(one.counts, other.counts)
    assert_allclose(one.feature_means, other.feature_means, rtol=1e-8, atol=1e-8)
    assert_allclose(one.variance * one.unit**2, other.variance * other.unit**2, rtol=1e-8)


@pytest.mark.parametrize("width", [1, 2, 3, 10])
@pytest.mark.parametrize("n_points", [3, 4, 5, 21, 80])
def test_no_optimiser_finds_a_smaller_sum_of_distances(width, n_points):
    for seed in range(5):
        points = np.random.default_rng([width, n_points, seed]).standard_t(2, size=(n_points, width))
        ours = total_distance(points, geometric_median(points))
        starts = [points.mean(axis=0), np.median(points, axis=0)]
        found = [minimize(lambda v, p=points: total_distance(p, v), at, method="Powell") for at in starts]
        # A kink of the convex sum can lie in a point, where optimisers stall: so look there too.
        least = min([result.fun for result in found] + [total_distance(points, point) for point in points])
        assert ours <= least * (1 + 1e-9)


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([[3.0, 4.0]], [3.0, 4.0]),
        ([[1.0, 1.0]] * 3 + [[1e9, 0.0]] * 2, [1.0, 1.0]),  # most points are one
        ([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], [0.0, 0.0]),  # the start is a point
        ([[0.0, 0.0], [9.0, 0.1], [9.0, -0.1], [9.0, 0.0]], [9.0, 0.0]),  # it ends in a point
        ([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [1e200, 1e200]], [1.0, 1.0]),  # squares would overflow
        ([[0.0, 0.0], [2e-200, 0.0], [0.0, 2e-200], [2e-200, 2e-200]], [1e-200, 1e-200]),  # and vanish
    ],
)
def test_the_geometric_median_where_it_is_known(points, expected):
    assert_allclose(geometric_median(np.array(points)), expected, rtol=1e-8, atol=0)


def test_an_iterate_that_meets_a_point_leaves_it_if_it_is_not_the_median():
    points = np.array(
        [[0.0, 0.0], [5.0, 1.0], [-5.0, 3.0], [1.0, 8.0], [-1.0, -1.0], [0.5, 6.0], [-0.5, 7.0]]
    )
    points -= np.median(points, axis=0)
    points = np.vstack([points, np.zeros((1, 2)), -1e-3 * np.ones((1, 2))])
    points -= np.median(points, axis=0)  # the start is one of them
    assert (points == 0).all(axis=1).any()
    found = minimize(
        lambda v: total_distance(points, v), np.array([0.1, 0.1]), method="Nelder-Mead", tol=1e-12
    )
    assert total_distance(points, geometric_median(points)) <= found.fun * (1 + 1e-9)


@pytest.mark.parametrize("share", [0.1, 0.24, 0.4, 0.49])
@pytest.mark.parametrize("place", ["one spot", "a ray", "everywhere", "just outside", "far and wide"])
def test_the_median_stays_within_the_bound_of_the_lemma(share, place):
    for seed in range(20):
        rng = np.random.default_rng([seed, round(100 * share)])
        n, width = int(rng.integers(5, 60)), int(rng.integers(1, 6))
        spoiled = int(share * n)
        good = rng.normal(size=(n - spoiled, width))
        good /= np.maximum(1.0, np.linalg.norm(good, axis=1, keepdims=True))  # all within one of the truth
        if seed % 2:  # the worst case has all of them at the edge, on one side
            good = np.tile(np.eye(width)[0], (n - spoiled, 1)) * rng.choice([1.0, 0.2])
        away = rng.normal(size=width)
        bad = {
            "one spot": np.tile(1e3 * away, (spoiled, 1)),
            "a ray": np.outer(rng.uniform(0, 1e4, spoiled), away),
            "everywhere": rng.normal(size=(spoiled, width)) * 1e6,
            "just outside": np.tile(2 * away / np.linalg.norm(away), (spoiled, 1)),
            "far and wide": np.outer(10.0 ** rng.uniform(0, 200, spoiled), away),
        }[place]
        found = geometric_median(np.vstack([good, bad]))
        r = np.linalg.norm(good, axis=1).max()
        assert np.linalg.norm(found) <= constant(spoiled / n) * r * (1 + 1e-9)


def test_order_chunks_and_merges_do_not_matter():
    X, y = two_classes()
    whole = robust_moments((X, y), outliers=5)
    rng = np.random.default_rng(1)
    for n_parts in (1, 3, 50):
        order = rng.permutation(len(X))
        parts = [(X[rows], y[rows]) for rows in np.array_split(order, n_parts)]
        assert_same(robust_moments(parts, outliers=5), whole)
        total = block_moments(parts[0], outliers=5)
        for part in parts[1:]:
            total = blockwise(Moments.__add__, total, block_moments(part, outliers=5))
        assert_same(median_of_means(total), whole)


def test_what_is_forgotten_leaves_its_own_block():
    X, y = two_classes()
    whole, gone = block_moments((X, y), outliers=5), block_moments((X[:150], y[:150]), outliers=5)
    rest = robust_moments((X[150:], y[150:]), outliers=5)
    assert_same(median_of_means(blockwise(Moments.__sub__, whole, gone)), rest)


def test_sparse_and_dense_rows_fall_into_the_same_blocks():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 7)) * (rng.random((500, 7)) < 0.4)
    X[3], X[4, 0] = 0.0, -0.0
    signs = X.copy()
    signs[X == 0] = -0.0
    explicit = sparse.csr_array(X)
    explicit.data[::9] = 0.0
    assert_array_equal(_block_of(sparse.csr_array(X), 21, 0), _block_of(X, 21, 0))
    assert_array_equal(_block_of(signs, 21, 0), _block_of(X, 21, 0))
    assert_array_equal(_block_of(explicit, 21, 0), _block_of(explicit.toarray(), 21, 0))
    assert_array_equal(_block_of(np.asfortranarray(X), 21, 0), _block_of(X, 21, 0))
    y = rng.integers(0, 2, 500)
    assert_same(robust_moments((sparse.csr_array(X), y), outliers=5), robust_moments((X, y), outliers=5))


@pytest.mark.parametrize("kind", ["normal", "whole", "binary", "one column"])
def test_blocks_are_of_even_size(kind):
    rng = np.random.default_rng(0)
    X = {
        "normal": rng.normal(size=(40_000, 3)),
        "whole": rng.integers(0, 100, (40_000, 5)),
        "binary": rng.integers(0, 2, (40_000, 40)),
        "one column": np.arange(40_000)[:, None],
    }[kind]
    for seed in range(3):
        sizes = np.bincount(_block_of(X, 401, seed), minlength=401)
        # The sum of squares of 401 multinomial counts, standardised: 400 on average, deviation 28.
        assert 290 < np.sum((sizes - sizes.mean()) ** 2) / sizes.mean() < 540


def test_another_seed_deals_otherwise_and_the_same_seed_alike():
    X, _ = two_classes()
    assert_array_equal(_block_of(X, 21, 7), _block_of(X, 21, 7))
    assert np.mean(_block_of(X, 21, 7) == _block_of(X, 21, 8)) < 0.15


def mixed(bits):
    """SplitMix64's finish, in whole numbers."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> shift)) * factor % 2**64
    return bits ^ (bits >> 31)


def test_blocks_are_those_of_the_formula_in_whole_numbers():
    # Moments of blocks are kept in files, so the formula must never change.
    X = np.random.default_rng(0).normal(size=(20, 3))
    X[0] = 0, 1, -2
    odd = [int(number) | 1 for number in np.random.PCG64(5).random_raw(3)]
    bits = [[struct.unpack("<Q", struct.pack("<d", value))[0] for value in row] for row in X.tolist()]
    sums = [sum(a * mixed(b) for a, b in zip(odd, row, strict=True)) % 2**64 for row in bits]
    assert _block_of(X, 41, 5).tolist() == [mixed(total) % 41 for total in sums]
    assert _block_of(np.arange(6.0).reshape(3, 2), 1 << 20, 0).tolist() == [290656, 115366, 27289]


@pytest.mark.parametrize("size", [1e3, 1e15, 1e150])
def test_one_outlier_turns_the_plain_mean_over_and_not_the_robust_one(size):
    X, y = two_classes()
    clean = robust_moments((X, y), outliers=1)
    X, y = np.vstack([X, np.full((1, 3), -size)]), np.append(y, 1)
    assert UnhingedClassifier().fit(X, y).score(X[:-1], y[:-1]) < 0.6
    moments = robust_moments((X, y), outliers=1)
    model = UnhingedClassifier().fit_moments(moments)
    assert model.score(X[:-1], y[:-1]) > 0.99
    assert np.abs(moments.mean - clean.mean).max() < 1.0
    assert moments.unit == 1.0
    weighted = UnhingedClassifier(class_weight="balanced").fit_moments(moments)
    assert weighted.score(X[:-1], y[:-1]) > 0.99  # which reads the squares as well


def test_without_outliers_to_withstand_it_is_the_plain_mean():
    X, y = two_classes()
    plain = accumulate((X, y))
    assert_same(robust_moments((X, y), outliers=0), plain)


def test_every_class_and_kind_of_label_weights_and_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2)) + 1e9  # far from zero: blocks have origins of their own
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 600)]
    weight = rng.integers(1, 4, 600).astype(float)
    found = robust_moments((X, y, weight), outliers=3)
    plain = accumulate((X, y, weight))
    assert_array_equal(found.counts, plain.counts)
    assert np.abs(found.mean - plain.mean).max() < 0.2
    assert 0.5 < found.variance / plain.variance < 1.5
    scaler = StandardScaler().fit(X)
    standard = robust_moments((X, y), scaler, outliers=3)
    assert standard.key == accumulate((X, y), scaler).key
    assert UnhingedClassifier(features=scaler).fit_moments(standard).predict(X).shape == (600,)
    soft = robust_moments((X - 1e9, rng.random(600)), outliers=3)
    assert soft.probabilities == 2
    assert_allclose(soft.total, 600)


def test_a_class_that_comes_late_is_counted():
    X, y = two_classes()
    parts = [(X[y == label], y[y == label]) for label in (1, 0)]
    assert_same(robust_moments(parts, outliers=5), robust_moments((X, y), outliers=5))


def test_what_cannot_be_is_refused_in_words():
    X, y = two_classes(60)
    with pytest.raises(
        ValueError, match="class 'b' has rows in 5 of 41 blocks, and it takes 21 to withstand 10"
    ):
        robust_moments((X, np.where(np.arange(60) < 5, "b", "a")), outliers=10)
    for wrong in (-1, 0.1, None):
        with pytest.raises(ValueError, match="outliers is a number of rows"):
            robust_moments((X, y), outliers=wrong)
    with pytest.raises(ValueError, match="the source has no rows"):
        robust_moments((X[:0], y[:0]), outliers=1)
    with pytest.raises(ValueError, match="at least one weight must be positive"):
        robust_moments((X, y, np.zeros(60)), outliers=1)
    blocks = block_moments((X, y), outliers=1)
    with pytest.raises(ValueError, match="the blocks have no rows"):
        median_of_means(blockwise(Moments.__sub__, blocks, blocks))
    with pytest.raises(ValueError, match=r"4 m \+ 1 of degree one"):
        median_of_means([accumulate((X, y))] * 4)
    with pytest.raises(ValueError, match="moments of different feature maps do not mix"):
        median_of_means([accumulate((X, y))] * 4 + [accumulate((X[:, :2], y))])
    elsewhere = dask(pytest.importorskip("dask.array").from_array(X), y)
    with pytest.raises(ValueError, match="not in a database or a cluster"):
        robust_moments(elsewhere, outliers=1)


def test_a_value_that_is_not_finite_is_named_by_its_own_row():
    X, y = two_classes(60)
    X[47, 1] = np.nan
    with pytest.raises(ValueError, match="row 47, column 1 is nan"):
        robust_moments((X, y), outliers=2)


def test_medians_neither_add_up_nor_lose_rows(tmp_path):
    X, y = two_classes(200)
    robust, plain = robust_moments((X, y), outliers=2), accumulate((X, y))
    robust.save(tmp_path / "m.npz")
    assert Moments.load(tmp_path / "m.npz").outliers == robust.outliers == 2
    for mixed in (lambda: robust + plain, lambda: plain + robust, lambda: robust - plain):
        with pytest.raises(ValueError, match="robust moments are medians"):
            mixed()
    with pytest.raises(ValueError, match="robust moments are medians"):
        UnhingedClassifier().fit_moments(robust).forget(X[:1], y[:1])


@pytest.mark.parametrize("scale", [1e-155, 1e-200, 1e150])
def test_no_scale_is_too_small_or_large(scale):
    X, y = two_classes(200)  # other numbers fall into other blocks, so only the order of size is the same
    found = robust_moments((X * scale, y), outliers=2).mean / scale
    assert_allclose(found, X.mean(axis=0), atol=0.2)


@pytest.mark.parametrize(
    ("ways", "said"),
    [
        ({"outliers": 10**9}, "outliers is a number of rows"),
        ({"outliers": 1, "seed": None}, "the seed is a whole number"),
        ({"outliers": 1, "seed": -1}, "the seed is a whole number"),
    ],
)
def test_blocks_that_cannot_be_kept_or_found_again_are_refused(ways, said):
    with pytest.raises(ValueError, match=said):
        robust_moments(two_classes(20), **ways)
