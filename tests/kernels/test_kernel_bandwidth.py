import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.spatial.distance import pdist

from unflip.kernels import EuclideanLaplace, Gaussian, Laplace, RankLaplace, median_bandwidth

X = np.random.default_rng(0).normal(size=(40, 5))


@pytest.mark.parametrize(("metric", "peer"), [("euclidean", "euclidean"), ("manhattan", "cityblock")])
def test_it_is_the_median_over_all_pairs_of_a_small_sample(metric, peer):
    assert_allclose(median_bandwidth(X, metric=metric), np.median(pdist(X, peer)), rtol=1e-12)


def test_sparse_rows_will_do():
    assert_allclose(median_bandwidth(sparse.csr_array(X)), median_bandwidth(X), rtol=1e-12)


def test_pairs_of_equal_rows_do_not_count():
    assert median_bandwidth(np.vstack([np.zeros((30, 2)), [[3.0, 4.0]]])) == 5.0


def test_an_offset_and_tiny_distances_are_seen():
    steps = np.array([[0.0], [1.0], [3.0]]) * 2.0**-20
    assert median_bandwidth(steps + 2.0**27) == 2.0**-19
    assert median_bandwidth(np.hstack([steps + 2.0**27] * 9)) == pytest.approx(3 * 2.0**-19, rel=1e-12)


def test_a_sample_is_drawn_by_the_generator():
    rows = np.random.default_rng(1).normal(size=(500, 2))
    assert median_bandwidth(rows, rng=1, sample=50) == median_bandwidth(rows, np.random.default_rng(1), 50)
    assert median_bandwidth(rows, rng=1, sample=50) != median_bandwidth(rows, rng=2, sample=50)
    assert median_bandwidth(rows, sample=50) == pytest.approx(median_bandwidth(rows), rel=0.3)


def test_kernels_name_the_metric_of_their_bandwidth():
    metrics = [kind.metric for kind in (Gaussian, EuclideanLaplace, Laplace, RankLaplace)]
    assert metrics == ["euclidean", "euclidean", "manhattan", "manhattan"]


def test_what_has_no_median_distance_is_refused():
    with pytest.raises(ValueError, match="all rows are equal: the median distance is zero; give a bandwidth"):
        median_bandwidth(np.full((5, 2), 1e8 / 3))
    with pytest.raises(ValueError, match="all 10 sampled rows are equal"):
        median_bandwidth(np.ones((20, 2)), sample=10)
    with pytest.raises(ValueError, match="a median distance needs two rows, got 1; give a bandwidth"):
        median_bandwidth([[1.0]])
    with pytest.raises(ValueError, match="metric is 'euclidean' or 'manhattan', got 'cosine'"):
        median_bandwidth(X, metric="cosine")


@pytest.mark.parametrize("bandwidth", [0, -1.0, math.nan, math.inf, 1e-200, "median", None])
@pytest.mark.parametrize("kind", [Gaussian, Laplace, EuclideanLaplace, lambda b: RankLaplace([[1.0]], b)])
def test_bad_bandwidths_are_named(kind, bandwidth):
    with pytest.raises(ValueError, match=f"a bandwidth is positive .*, got {bandwidth!r}"):
        kind(bandwidth)
