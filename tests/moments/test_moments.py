"""Moments form a group under merging: what is added can be taken away, in any order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from unflip.moments import Moments, accumulate


def parts_of(n_parts, offset=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = np.round(4 * rng.normal(size=(60, 3))) / 4 + offset
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 60)]
    return X, y, np.array_split(np.arange(60), n_parts)


@settings(max_examples=60, deadline=None)
@given(n_parts=st.integers(1, 20), order=st.randoms(), offset=st.sampled_from([0.0, 37.0, 1e9, 1e15]))
def test_any_merge_tree_gives_the_moments_of_the_whole(n_parts, order, offset):
    X, y, parts = parts_of(n_parts, offset)
    pool = [accumulate((X[rows], y[rows]), degree=2) for rows in parts]
    while len(pool) > 1:
        order.shuffle(pool)
        pool.append(pool.pop() + pool.pop())
    whole = accumulate((X, y), degree=2)
    merged = pool[0].framed(whole.origin, whole.unit)
    scale = np.abs(whole.second).max()
    assert merged.classes == whole.classes
    assert_array_equal(merged.counts, whole.counts)
    assert_allclose(merged.sums, whole.sums, atol=1e-12 * scale)
    assert_allclose(merged.second, whole.second, atol=1e-12 * scale)
    assert merged.squares == pytest.approx(whole.squares, rel=1e-12)


def test_addition_commutes_to_the_last_bit():
    X, y, parts = parts_of(2, offset=1e15)
    a, b = (accumulate((X[rows], y[rows]), degree=2) for rows in parts)
    one, other = a + b, b + a
    assert_array_equal(one.sums, other.sums)
    assert_array_equal(one.origin, other.origin)


def test_what_is_taken_away_leaves_what_would_have_been():
    X, y, parts = parts_of(3)
    whole = accumulate((X, y), degree=2)
    gone = accumulate((X[parts[1]], y[parts[1]]), degree=2)
    kept = np.concatenate([parts[0], parts[2]])
    rest = accumulate((X[kept], y[kept]), degree=2)
    assert_allclose((whole - gone).sums, rest.sums, atol=1e-12)
    assert_allclose((whole - gone).second, rest.second, atol=1e-12)
    nothing = whole - whole
    assert nothing.total == 0
    assert (nothing.sums == 0).all()


def test_classes_are_united_and_labels_sorted():
    a = accumulate(([[1.0]], ["b"]))
    b = accumulate(([[2.0], [4.0]], ["c", "a"]))
    assert (a + b).classes == ("a", "b", "c")
    assert (a + b).sums.ravel().tolist() == [4.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="of different types"):
        a + accumulate(([[1.0]], [3]))


def test_strangers_decline_to_merge():
    a = accumulate(([[1.0]], ["b"]))
    with pytest.raises(ValueError, match="'columns:1', the other 'columns:2'"):
        a + accumulate(([[1.0, 2.0]], ["b"]))
    with pytest.raises(ValueError, match="degree 1 and 2"):
        a + accumulate(([[1.0]], ["b"]), degree=2)
    with pytest.raises(ValueError, match="'z' was never added"):
        a - accumulate(([[1.0]], ["z"]))
    with pytest.raises(ValueError, match="class 'b' has weight 1; 2 cannot be taken away"):
        a - accumulate(([[1.0], [2.0]], ["b", "b"]))
    with pytest.raises(TypeError):
        a + 1
    with pytest.raises(ValueError, match="different sizes"):
        Moments(("a",), np.ones(2), np.ones((2, 1)))


def test_moments_are_frozen():
    moments = accumulate(([[1.0], [2.0]], ["a", "b"]))
    with pytest.raises(AttributeError):
        moments.key = "mine"
    with pytest.raises(ValueError, match="read-only"):
        moments.sums[0, 0] = 5


def test_the_label_mean_is_equation_8():
    X, y = np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 5.0]]), [-1, 1, 1]
    expected = (np.array(y)[:, None] * X).mean(axis=0)
    assert_allclose(accumulate((X, y)).label_mean, expected, rtol=1e-15)
    assert_allclose(accumulate((X + 1e6, y)).label_mean, expected + 1e6 / 3, rtol=1e-15)
    with pytest.raises(ValueError, match="two classes"):
        _ = accumulate((X, [0, 1, 2])).label_mean
