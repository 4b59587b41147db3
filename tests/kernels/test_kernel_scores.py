"""Scores in tiles: right at every border, in any number of threads, in little memory."""

import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from unflip.kernels import EuclideanLaplace, Gaussian, Laplace, Linear, RankLaplace, blocks


def problem(n, m, d, columns=(), seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(m, d)), rng.normal(size=(m, *columns))


def brute_force(X, Z, w, bandwidth):
    return np.array([w.T @ np.exp(-((x - Z) ** 2).sum(axis=1) / (2 * bandwidth**2)) for x in X])


SIZES = [1, 2, blocks.WIDTH - 1, blocks.WIDTH, blocks.WIDTH + 1, 2 * blocks.WIDTH + 3]


@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize("n", [1, 17, 40 * blocks.SHORTEST_BLOCK + 1])
def test_tiles_have_no_gaps_and_no_overlaps(n, m):
    X, Z, w = problem(n, m, 4)
    assert_allclose(Gaussian(1.5).score(X, Z, w), brute_force(X, Z, w, 1.5), atol=1e-10)


@pytest.mark.parametrize("columns", [(), (1,), (3,)])
@pytest.mark.parametrize("d", [1, 3, 50])
@pytest.mark.parametrize("bandwidth", [1e-3, 0.3, 2.0, 1e4])
def test_scores_agree_with_a_loop(d, columns, bandwidth):
    X, Z, w = problem(60, 700, d, columns)
    X[::7] = Z[: len(X[::7])]
    scores = Gaussian(bandwidth).score(X, Z, w)
    assert scores.shape == (60, *columns)
    assert_allclose(scores, brute_force(X, Z, w, bandwidth), atol=1e-10)


def test_panels_add_up(monkeypatch):
    X, Z, w = problem(100, 1500, 5)
    whole = Gaussian(1.0).score(X, Z, w)
    monkeypatch.setattr(blocks, "PREPARED", 600 * 5)
    assert_allclose(Gaussian(1.0).score(X, Z, w), whole, atol=1e-12)


def test_long_rows_come_in_small_blocks(monkeypatch):
    X, Z, w = problem(100, 90, 40)
    monkeypatch.setattr(blocks, "PREPARED", 40 * 20)
    heights = set()
    blocks.sweep(X, Z, lambda rows, origin: rows, lambda a, b: a @ b.T, lambda r, c, t: heights.add(t.shape))
    assert max(height for height, _ in heights) <= 20
    assert max(width for _, width in heights) <= 20
    assert_allclose(Gaussian(5.0).score(X, Z, w), brute_force(X, Z, w, 5.0), atol=1e-10)


@pytest.mark.parametrize(
    "kernel",
    [Gaussian(5.0), Gaussian(0.05), EuclideanLaplace(5.0), Laplace(20.0), RankLaplace(np.eye(20), 2.0)],
    ids=repr,
)
@pytest.mark.usefixtures("two_threads")
def test_the_number_of_threads_does_not_change_a_bit(kernel):
    X, Z, w = problem(700, 600, 20, (2,))
    one = kernel.score(X, Z, w, threads=1)
    for threads in (2, 3, 8):
        assert_array_equal(kernel.score(X, Z, w, threads=threads), one)
    with threadpool_limits(1):
        assert_array_equal(kernel.score(X, Z, w), one)


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_blas_has_its_threads_back_afterwards_even_when_scores_overlap_or_fail():
    X, Z, w = problem(300, 300, 5)
    before = blas_threads()
    with ThreadPoolExecutor(4) as pool:
        for scores in pool.map(lambda _: Gaussian(1.0).score(X, Z, w), range(20)):
            assert_array_equal(scores, Gaussian(1.0).score(X, Z, w))
    with pytest.raises(ValueError, match="dense rows only"):
        Laplace(1.0).score(sparse.csr_array(X), Z, w)
    assert blas_threads() == before


def test_a_kernel_may_call_another_kernel_while_it_works():
    X, Z, w = problem(300, 300, 5)
    inner = Gaussian(1.0)
    seen = np.zeros(300)

    def use(rows, columns, tile):
        seen[rows] += tile @ w[columns]

    for threads in (1, 2):
        seen[:] = 0
        blocks.sweep(X, Z, lambda rows, origin: rows, inner, use, threads)
        assert_allclose(seen, inner.score(X, Z, w), atol=1e-12)


def test_an_error_in_a_thread_reaches_the_caller():
    def fail(rows, columns, tile):
        raise RuntimeError(threading.current_thread().name)

    X = np.ones((600, 1))
    with pytest.raises(RuntimeError, match="ThreadPool"):
        blocks.sweep(X, X, lambda x, o: x, lambda a, b: a @ b.T, fail, threads=2)


def test_memory_does_not_grow_with_the_table():
    X, Z, w = problem(6000, 6000, 10)
    tracemalloc.start()
    Gaussian(1.0).score(X, Z, w, threads=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6  # the table has 288 MB


def test_many_duplicates_are_no_trouble():
    X = np.repeat(np.eye(8), 40, axis=0) * 1e3
    w = np.ones(len(X))
    assert_allclose(EuclideanLaplace(1.0).score(X, X, w), np.full(len(X), 40.0), atol=1e-10)
    assert_allclose(EuclideanLaplace(1.0).score(sparse.csr_array(X), X, w), np.full(len(X), 40.0), atol=1e-10)


def test_bad_weights_and_threads_are_refused():
    X, Z, w = problem(3, 4, 2)
    kernel = Gaussian(1.0)
    with pytest.raises(ValueError, match=r"Z has 4 rows, so weights are \(4,\) or \(4, k\); got \(3,\)"):
        kernel.score(X, Z, w[:3])
    with pytest.raises(ValueError, match=r"got \(\)"):
        kernel.score(X, Z, 1.0)
    with pytest.raises(ValueError, match="weights are finite, got nan"):
        kernel.score(X, Z, [1.0, np.nan, 0.0, 0.0])
    with pytest.raises(ValueError, match="threads is at least 1, got 0"):
        kernel.score(X, Z, w, threads=0)


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplace(1.0), EuclideanLaplace(1.0)], ids=repr)
@pytest.mark.parametrize("columns", [(), (2,)])
def test_a_grid_of_bandwidths_scores_as_each_of_them_does(kernel, columns):
    X, Z, w = problem(70, 600, 5, columns)
    X[:5] = Z[:5]
    widths = [0.01, 0.7, 30.0]
    for width, scores in zip(widths, kernel.score_grid(X, Z, w, widths), strict=True):
        assert_allclose(scores, type(kernel)(width).score(X, Z, w), rtol=1e-10, atol=1e-13)


def test_a_grid_of_rank_kernels_keeps_its_reference():
    X, Z, w = problem(30, 40, 3)
    kernel = RankLaplace(Z, 1.0)
    assert_allclose(kernel.score_grid(X, Z, w, [0.4])[0], RankLaplace(Z, 0.4).score(X, Z, w), rtol=1e-12)


def test_a_linear_kernel_scores_through_one_vector():
    X, Z, w = problem(30, 40, 3, (2,))
    expected = (X @ Z.T) @ w
    for rows in (Z, sparse.csr_array(Z)):
        assert_allclose(Linear().score(X, rows, w), expected, rtol=1e-10, atol=1e-12)
        assert_allclose(Linear().score(sparse.csr_array(X), rows, w), expected, rtol=1e-10, atol=1e-12)
