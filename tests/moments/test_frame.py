"""The frame of sums: where features are counted from, and how sums move from one to another."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from unflip.moments.frame import FAR_FROM_ZERO, Frame

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(20, 3))


def test_ordinary_rows_are_taken_as_they_come():
    for rows in (ROWS, 1e80 * ROWS, 1e-80 * ROWS, ROWS + 0.5 * FAR_FROM_ZERO, np.zeros((4, 3)), ROWS[:0]):
        assert Frame.of(rows).is_plain


def test_a_column_far_from_zero_is_counted_from_its_own_place():
    rows = ROWS + np.array([0.0, 1e9, -1e12])
    frame = Frame.of(rows)
    assert (frame.origin != 0).tolist() == [False, True, True]
    assert np.abs(frame.z(rows)).max() < 10


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_a_unit_is_a_power_of_two_of_the_size_of_the_rows(size):
    frame = Frame.of(size * ROWS)
    assert np.frexp(frame.unit)[0] == 0.5
    assert 0.1 < np.abs(frame.z(size * ROWS)).max() <= 1


def test_z_is_the_same_for_rows_of_every_kind(xp):
    frame = Frame(np.array([1.0, 0.0, -2.0]), 4.0)
    expected = (ROWS - frame.origin) / 4
    assert_array_equal(frame.z(ROWS), expected)
    assert_array_equal(frame.z(ROWS.tolist()), expected)
    assert_array_equal(frame.z(sparse.csr_array(ROWS)), expected)
    assert_array_equal(xp.back(frame.z(xp.move(ROWS))), expected)


def test_sparse_rows_stay_sparse_about_zero():
    found = Frame(np.zeros(3), 2.0).z(sparse.csr_array(ROWS))
    assert sparse.issparse(found)
    assert_array_equal(found.toarray(), ROWS / 2)


def test_a_change_of_frame_is_a_ratio_and_a_shift():
    here, there = Frame(RNG.normal(size=3), 2.0), Frame(RNG.normal(size=3), 0.5)
    ratio, shift = here.to(there)
    assert_allclose(ratio * here.z(ROWS) + shift, there.z(ROWS), rtol=1e-14, atol=1e-14)


def test_two_frames_have_one_in_common_whichever_comes_first():
    a, b = Frame(np.array([1e9, -3.0, 0.0]), 2.0), Frame(np.array([-1e9, 2.0, 5.0]))
    for found in (a.common(b), b.common(a)):
        assert_array_equal(found.origin, [-1e9, 2.0, 0.0])  # the nearer to zero; of two as near, the lower
        assert found.unit == 2.0
    far = Frame(np.array([1e300])).common(Frame(np.array([-1e300])))
    assert far.unit > 1e300 / 2  # in which the square of their distance is a float


def test_features_that_are_zero_have_a_place():
    frame = Frame(np.array([3.0, 0.0, -1.0]), 2.0)
    assert_array_equal(frame.zero, frame.z(np.zeros((1, 3)))[0])
