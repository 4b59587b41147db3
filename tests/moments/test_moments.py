"""Moments form a group under merging: what is added can be taken away, in any order."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.preprocessing import StandardScaler

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


def test_the_label_mean_keeps_its_digits_far_from_zero():
    X = np.array([[1.0], [3.0], [0.25], [0.5], [2.0], [1.25]])
    y = np.array([-1, 1, 1, -1, 1, -1])
    assert_allclose(accumulate((X + 1e15, y)).label_mean, (y @ X) / 6, rtol=1e-15)


def test_names_of_columns_are_kept():
    frame = pd.DataFrame({"age": [1.0, 2.0, 3.0], "height": [1.0, 0.0, 1e15]})
    named = accumulate((frame, ["a", "b", "b"]))
    more = accumulate((frame + 1e9, ["a", "b", "c"]))
    zero = Moments.zero(2, named.key)
    for moments in (
        named,
        named + more,
        more + named - named,
        zero + named,
        named + zero,
        named.framed(np.ones(2), 2.0),
        named.with_classes(("a", "b", "z")),
    ):
        assert moments.names == ("age", "height")
    assert accumulate((frame.to_numpy(), ["a", "b", "b"])).names is None
    assert accumulate((frame, ["a", "b", "b"]), features=StandardScaler().fit(frame)).names is None


def test_moments_leave_the_arrays_they_are_made_of_alone():
    counts, sums = np.ones(1), np.ones((1, 2))
    moments = Moments(("a",), counts, sums)
    counts[0], sums[0, 0] = 5.0, 5.0
    assert (moments.counts[0], moments.sums[0, 0]) == (1.0, 1.0)
    view = sums[:]
    view.flags.writeable = False
    moments = Moments(("a",), counts, view)
    sums[0, 0] = 7.0
    assert moments.sums[0, 0] == 5.0


def test_moments_can_be_made_of_lists():
    moments = Moments(["a", "b"], [1, 2], [[1, 2], [3, 4]], second=[[1, 0], [0, 1]], names=["x", "y"])
    assert moments.classes == ("a", "b")
    assert moments.sums.dtype == moments.counts.dtype == moments.second.dtype == np.float64
    assert (moments + moments).counts.tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("counts", [-1.0, 1.0], "not negative"),
        ("counts", [np.nan, 1.0], "counts of moments must be finite"),
        ("counts", ["a", "b"], "counts of moments must be numbers"),
        ("counts", [1e308, 1e308], "infinite sum"),
        ("sums", [[np.inf], [0.0]], "sums of moments must be finite"),
        ("sums", [[1j], [0.0]], "sums of moments must be numbers"),
        ("sums", [1.0, 2.0], "different sizes"),
        ("sums", 1.0, "different sizes"),
        ("second", [[np.nan]], "second of moments must be finite"),
        ("second", [1.0], "different sizes"),
        ("origin", [np.inf], "origin of moments must be finite"),
        ("origin", [1.0, 2.0], "the origin has shape"),
        ("squares", np.nan, "squares of moments must be a finite number"),
        ("squares", -1.0, "not negative"),
        ("unit", 0.0, "power of two"),
        ("unit", -1.0, "power of two"),
        ("unit", 3.0, "power of two"),
        ("unit", np.inf, "unit of moments must be a finite number"),
        ("unit", 10**400, "unit of moments must be a finite number"),
        ("unit", "a", "unit of moments must be a finite number"),
        ("classes", ("a", "a"), "not different"),
        ("classes", (np.nan, 1.0), "not different"),
        ("classes", ([1], [2]), "cannot be labels"),
        ("key", 3, "key of moments is a string"),
        ("names", ("x", "y"), "2 names for features of width 1"),
    ],
)
def test_what_cannot_be_sums_of_rows_is_refused(field, value, said):
    sound = {"classes": ("a", "b"), "counts": np.ones(2), "sums": np.ones((2, 1))}
    with pytest.raises(ValueError, match=said):
        Moments(**sound | {field: value})


@pytest.mark.parametrize("degree", [1, 2])
def test_no_rows_have_no_mean_and_no_variance(degree):
    rows = accumulate(([[1.0], [2.0]], ["a", "b"]), degree=degree)
    for nothing in (Moments.zero(1, "columns:1", degree), rows - rows):
        assert nothing.variance == 0.0
        for name in ("mean", "center", "feature_means", "centered_means"):
            with pytest.raises(ValueError, match="no rows"):
                getattr(nothing, name)
    with pytest.raises(ValueError, match="no rows"):
        _ = (rows - rows).label_mean


def test_a_sum_that_overflows_is_refused():
    half = Moments(("a",), [1e308], [[0.0]])
    with pytest.raises(ValueError, match="counts of moments must be finite"):
        half + half


@pytest.mark.parametrize("scale", [1e-155, 1e-300, 1e150])
def test_no_rows_add_nothing_at_any_scale(scale):
    moments = accumulate((scale * np.array([[1.0], [3.0]]), [0, 1]))
    total = Moments.zero(1, moments.key) + moments
    assert total.sums.tobytes() == moments.sums.tobytes()
    assert total.unit == moments.unit


@pytest.mark.parametrize(("degree", "far"), [(1, 1e10), (1, 1e17), (2, 1e8), (2, 1e12), (2, 1e17)])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_what_rounding_has_eaten_is_not_called_the_rest(degree, far, offset):
    # The squares of the far row are so large that those of the others are below their last digit, or near it.
    rows = accumulate((offset + np.arange(20.0)[:, None], [0, 1] * 10), degree=degree)
    outlier = accumulate(([[far]], [0]), degree=degree)
    with pytest.raises(ValueError, match="too few digits are left of the rest"):
        rows + outlier - outlier


@pytest.mark.parametrize(("degree", "far"), [(1, 1e7), (2, 1e4)])
def test_what_is_left_after_a_row_less_far_is_right(degree, far):
    rows = accumulate((np.arange(20.0)[:, None], [0, 1] * 10), degree=degree)
    outlier = accumulate(([[far]], [0]), degree=degree)
    left = rows + outlier - outlier
    assert_allclose(left.framed(rows.origin, rows.unit).sums, rows.sums, rtol=1e-6)
