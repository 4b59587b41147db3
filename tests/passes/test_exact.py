"""Sums without rounding, against exact fractions and `math.fsum`, however the rows are cut and merged."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from unflip import UnhingedClassifier
from unflip.features import Nystroem, OrthogonalFourier, Standardize
from unflip.moments import Moments, accumulate
from unflip.moments.exact import Windows, as_integers, products
from unflip.moments.exact_floats import in_floats
from unflip.moments.frame import Frame
from unflip.passes import exact_sums, host
from unflip.sources import encode


def wild(rng, shape):
    """Numbers of all sizes, with both signs, zeros and the smallest there are."""
    x = np.ldexp(rng.normal(size=shape), rng.integers(-1060, 900, shape))
    x[rng.random(shape) < 0.1] = 0.0
    x[rng.random(shape) < 0.1] = 5e-324
    return x


def exact(X, y, weight=None):
    return accumulate((X, y) if weight is None else (X, y, weight), summation="exact")


def bits(moments):
    arrays = moments.counts, moments.sums, moments.origin, moments.exact.limbs
    return *(a.tobytes() for a in arrays), moments.squares, moments.unit, moments.exact.first


@pytest.fixture(params=["numba", "NumPy"])
def way(request, monkeypatch):
    if request.param == "NumPy":
        monkeypatch.setattr(exact_sums, "has_numba", lambda: False)
    else:
        pytest.importorskip("numba", reason="the extra `fast` is not installed")
    return request.param


def test_every_number_is_an_integer_times_a_power_of_two():
    x = wild(np.random.default_rng(0), 1000)
    m, e = as_integers(x)
    assert np.abs(m).max() <= 2**53
    for value, integer, exponent in zip(x, m.tolist(), e.tolist(), strict=True):
        assert Fraction(integer) * Fraction(2) ** exponent == Fraction(value)


def test_products_are_exact_also_where_floats_underflow():
    rng = np.random.default_rng(1)
    a, b = wild(rng, 300), wild(rng, 300)
    parts = products(a, b)
    for i in range(300):
        total = sum(Fraction(int(m[i])) * Fraction(2) ** int(e[i]) for m, e in parts)
        assert total == Fraction(a[i]) * Fraction(b[i])


def test_windows_add_subtract_and_round_as_fractions_do():
    rng = np.random.default_rng(2)
    for _ in range(20):
        a, b, c = (wild(rng, 5) for _ in range(3))
        found = Windows.of(a) + Windows.of(b) - Windows.of(c)
        for i, integer in enumerate(found.integers()):
            truth = Fraction(a[i]) + Fraction(b[i]) - Fraction(c[i])
            assert Fraction(integer) * Fraction(2) ** found.exponent == truth
            assert found.rounded()[i] == float(truth)


def test_equal_sums_are_equal_bits_whatever_the_way_to_them():
    a, b = np.array([1e300, -3.0]), np.array([7.0, 2.0**-1000])
    one = Windows.of(a) + Windows.of(b)
    other = Windows.of(b) - Windows.of(-a)
    again = (one + one) - one
    for found in (other, again):
        assert found.first == one.first
        assert_array_equal(found.limbs, one.limbs)
    nothing = one - one
    assert nothing.limbs.shape == (2, 1)
    assert not nothing.limbs.any()


def test_a_sum_beyond_the_largest_number_rounds_to_infinity_and_comes_back():
    big = Windows.of(np.array([1.7e308]))
    twice = big + big
    assert twice.rounded().tolist() == [math.inf]
    assert (twice - big).rounded().tolist() == [1.7e308]


def test_sums_are_those_of_fsum(way):
    rng = np.random.default_rng(3)
    X = np.ldexp(rng.normal(size=(500, 4)), rng.integers(-90, 90, (500, 4)))
    y = rng.integers(0, 3, 500)
    found = exact(X, y)
    for k in range(3):
        assert found.counts[k] == np.sum(y == k)
        for j in range(4):
            assert found.sums[k, j] == math.fsum(X[y == k, j])
    assert not found.origin.any()


def test_weights_and_soft_labels_multiply_exactly():
    rng = np.random.default_rng(4)
    X, w, p = rng.normal(size=(60, 2)), rng.random(60), np.round(rng.random(60), 3)
    weighted = exact(X, np.arange(60) % 2, w)
    soft = exact(X, p)
    for k in (0, 1):
        for j in (0, 1):
            truth = sum(Fraction(X[i, j]) * Fraction(w[i]) for i in range(60) if i % 2 == k)
            assert weighted.sums[k, j] == float(truth)
            share = p if k else 1 - p
            assert soft.sums[k, j] == float(sum(Fraction(X[i, j]) * Fraction(share[i]) for i in range(60)))


@pytest.mark.slow
def test_no_chunking_order_or_merge_tree_changes_a_bit(way):
    rng = np.random.default_rng(5)
    X, y = wild(rng, (200, 3)), rng.choice(["no", "yes"], 200)
    X = np.clip(X, -1e250, 1e250)
    whole = bits(exact(X, y))
    for _ in range(30):
        order = rng.permutation(200)
        cuts = np.sort(rng.choice(np.arange(1, 200), rng.integers(1, 20), replace=False))
        parts = [exact(X[rows], y[rows]).with_classes(("no", "yes")) for rows in np.split(order, cuts)]
        while len(parts) > 1:  # a random tree
            i, j = rng.choice(len(parts), 2, replace=False)
            merged = parts[i] + parts[j]
            parts = [part for at, part in enumerate(parts) if at not in (i, j)] + [merged]
        assert bits(parts[0]) == whole


def test_compiled_and_plain_sparse_and_dense_column_order_and_float32_are_the_same_bits():
    pytest.importorskip("numba", reason="the extra `fast` is not installed")
    rng = np.random.default_rng(6)
    X = rng.normal(size=(300, 5)) * (rng.random((300, 5)) < 0.5)
    X, y = X.astype(np.float32), encode(rng.integers(0, 2, 300))
    tables = X, X.astype(np.float64), np.asfortranarray(X), sparse.csr_array(X), X[:, ::1]
    ones = np.ones(300)
    found = [exact_sums.exact_sums(table, y, ones) for table in tables]
    found.append(exact_sums._in_numpy(X, y, ones))
    for other in found[1:]:
        assert other.first == found[0].first
        assert_array_equal(other.limbs, found[0].limbs)


def test_rows_taken_away_are_as_if_they_had_never_been_there(way):
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(100, 3)) * 1e9, rng.integers(0, 2, 100)
    model = UnhingedClassifier(summation="exact").fit(X, y).forget(X[:30], y[:30])
    fresh = UnhingedClassifier(summation="exact").fit(X[30:], y[30:])
    assert bits(model.moments_) == bits(fresh.moments_)
    assert model.coef_.tobytes() == fresh.coef_.tobytes()
    for start in range(30, 90, 7):
        fresh = UnhingedClassifier(summation="exact").fit(X[:start], y[:start])
        fresh.partial_fit(X[start:], y[start:])
        assert bits(fresh.moments_) == bits(exact(X, y))


def test_a_far_column_is_seen_from_its_mean_and_keeps_its_digits():
    rng = np.random.default_rng(8)
    X, y = rng.integers(-8, 8, (400, 2)).astype(float), rng.integers(0, 2, 400)
    X += y[:, None] * 4.0
    plain, far = (UnhingedClassifier(summation="exact").fit(rows, y) for rows in (X, X + 2.0**50))
    assert far.moments_.origin.all()
    assert_array_equal(far.predict(X + 2.0**50), plain.predict(X))


def test_huge_and_tiny_rows_have_a_unit():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 2, 50)
    expected = UnhingedClassifier(summation="exact").fit(X, y).predict(X)
    for factor in (2.0**500, 2.0**-500, 2.0**-1000):
        model = UnhingedClassifier(summation="exact").fit(X * factor, y)
        assert model.moments_.unit != 1
        assert_array_equal(model.predict(X * factor), expected)
    with pytest.raises(ValueError, match=r"column \d is on a scale .* rescale it"):  # weights overflow
        UnhingedClassifier(summation="exact").fit(X * 2.0**1000, y)


def test_exact_moments_agree_with_fast_ones():
    rng = np.random.default_rng(10)
    X, y, w = rng.normal(size=(300, 4)) + 3, rng.integers(0, 3, 300), rng.random(300)
    a, b = accumulate((X, y, w)), accumulate((X, y, w), summation="exact")
    for name in ("counts", "sums", "squares", "center", "centered_means", "variance"):
        np.testing.assert_allclose(getattr(b, name), getattr(a, name), rtol=1e-12, err_msg=name)


def test_files_keep_the_windows(tmp_path):
    rng = np.random.default_rng(11)
    found = exact(wild(rng, (50, 2)).clip(-1e200, 1e200), rng.integers(0, 2, 50))
    found.save(tmp_path / "m.npz")
    again = Moments.load(tmp_path / "m.npz")
    assert bits(again) == bits(found)
    assert bits(again + found) == bits(found + found)


def test_single_column_features_are_summed_exactly_and_others_refused():
    rng = np.random.default_rng(12)
    X, y = rng.normal(size=(100, 2)), rng.integers(0, 2, 100)
    scaler = Standardize().fit(X)
    whole = accumulate((X, y), scaler, summation="exact")
    halves = [
        accumulate((X[part], y[part]), scaler, summation="exact") for part in np.split(np.arange(100), 2)
    ]
    assert bits(halves[1] + halves[0]) == bits(whole)
    with pytest.raises(ValueError, match="for raw columns and for Standardize"):
        accumulate((X, y), Nystroem(8).fit(X), summation="exact")


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_random_features_are_summed_exactly_however_rows_are_cut(kind):
    """A row's features must not depend on the rows around it, or a row could not be taken back to the bit."""
    rng = np.random.default_rng(13)
    X, y = rng.normal(size=(300, 5)) * (rng.random((300, 5)) < 0.7), rng.integers(0, 2, 300)
    waves = OrthogonalFourier(33, random_state=1).fit(kind(X))
    whole = accumulate((kind(X), y), waves, summation="exact")
    assert_allclose(waves.row_by_row(kind(X)), waves.transform(kind(X)), rtol=0, atol=1e-13)
    for cuts in ([1, 2, 3], [7, 150, 299], rng.permutation(np.arange(1, 300))[:40]):
        parts = np.split(rng.permutation(300), np.sort(cuts))
        sums = [accumulate((kind(X[part]), y[part]), waves, summation="exact") for part in parts]
        assert bits(sum(sums)) == bits(whole)
        left = accumulate((kind(np.delete(X, parts[0], 0)), np.delete(y, parts[0])), waves, summation="exact")
        assert bits(whole - sums[0]) == bits(left)


def test_exact_and_fast_do_not_mix_but_nothing_mixes_with_both():
    a, b = accumulate(([[1.0]], [0])), exact(np.array([[1.0]]), [0])
    with pytest.raises(ValueError, match="exact and fast sums do not mix"):
        _ = a + b
    nothing = Moments.zero(1, a.key)
    assert bits(nothing + b) == bits(b + nothing) == bits(b)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_named(way, value):
    X = np.ones((20, 3))
    X[7, 2] = value
    with pytest.raises(ValueError, match="row 7, column 2"):
        exact(X, np.arange(20) % 2)


def test_degree_two_and_other_words_are_refused():
    with pytest.raises(ValueError, match="summation='exact' is for degree one"):
        accumulate(([[1.0]], [0]), degree=2, summation="exact")
    with pytest.raises(ValueError, match="summation is 'fast' or 'exact', got 'slow'"):
        accumulate(([[1.0]], [0]), summation="slow")


def test_in_floats_knows_no_rows():
    nothing = in_floats(Windows(0, np.zeros((2, 3, 1), dtype=np.int64)))
    assert nothing.counts.tolist() == [0.0, 0.0]
    assert nothing.unit == 1.0


def test_compiled_and_plain_sums_are_the_same_bits(monkeypatch):
    """Rows are added in one order within blocks that depend on the table alone."""
    pytest.importorskip("numba", reason="the extra `fast` is not installed")
    rng = np.random.default_rng(13)
    n, d = 40_000, 30
    y, w = encode(rng.integers(0, 3, n)), np.ones(n)
    dense = rng.normal(size=(n, d))
    origin = np.where(np.arange(d) % 2, 0.5, 0.0)
    for X in (
        dense,
        dense.astype(np.float32),
        sparse.csr_array(np.where(rng.random((n, 300)) < 0.1, rng.random((n, 300)), 0.0)),
    ):
        where = np.zeros(300) if sparse.issparse(X) else origin
        assert host.is_compiled(X)
        compiled = host.class_sums(X, y, w, Frame(where, 2.0))
        monkeypatch.setattr(host, "WORTH_COMPILING", 1 << 60)
        plain = host.class_sums(X, y, w, Frame(where, 2.0))
        monkeypatch.undo()
        assert_array_equal(compiled.sums, plain.sums)
        assert_array_equal(compiled.counts, plain.counts)
        np.testing.assert_allclose(compiled.squares, plain.squares, rtol=1e-13)
        if not sparse.issparse(X):
            columns = host.class_sums(np.asfortranarray(X), y, w, Frame(where, 2.0))
            np.testing.assert_allclose(columns.sums, plain.sums, rtol=1e-12, atol=1e-9)
            np.testing.assert_allclose(columns.squares, plain.squares, rtol=1e-13)


@pytest.mark.parametrize(
    ("x", "w"), [(1e308, 1e60), (1e-290, 1e-100), (1e-308, 1e-60), (1e-200, 1e-300), (1e200, 1.0)]
)
def test_weighted_squares_of_any_size_have_their_windows(x, w):
    X, y, weight = np.array([[x], [x / 2], [1.0]]), [0, 1, 1], np.array([w, w, w])
    found = exact_sums.exact_sums(X, encode(y), weight)
    whole = found.integers()
    square = sum(Fraction(int(m)) for m in whole[:, -1]) * Fraction(2) ** found.exponent
    truth = sum(Fraction(w) * Fraction(value) ** 2 for value in X[:, 0])
    assert abs(square - truth) <= truth / 2**50
    apart = exact_sums.exact_sums(X[1:], encode(y[1:]), weight[1:])
    again = exact_sums.exact_sums(X[:2], encode(y[:2]), weight[:2])
    assert found.limbs.shape[:2] == (2, 3)
    assert apart.limbs.shape[:2] == (1, 3)
    assert again.limbs.shape[:2] == (2, 3)


def test_entries_of_one_place_are_added_before_they_are_squared():
    X = sparse.csr_array(([1.0, 2.0, 5.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    for summation in ("fast", "exact"):
        assert accumulate((X, [0, 1]), summation=summation).squares == 9.0 + 25.0
    n = 400_000
    wide = sparse.csr_array((np.ones(3 * n), np.tile([0, 0, 1], n), np.arange(0, 3 * n + 1, 3)), shape=(n, 2))
    assert accumulate((wide, np.arange(n) % 2)).squares == 5.0 * n


def test_the_smallest_rows_are_compiled_too():
    X = np.random.default_rng(0).normal(size=(600_000, 2)) * 1e-310
    y = np.arange(600_000) % 2
    assert UnhingedClassifier().fit(X, y).moments_.unit == 2.0**-1000


def test_a_checkpoint_of_more_batches_than_there_are_is_refused(tmp_path):
    def interrupted():
        for place in range(20):
            if place == 17:
                raise KeyboardInterrupt
            yield np.ones((5, 2)), [0, 1, 0, 1, 0]

    file = tmp_path / "pass.npz"
    with pytest.raises(KeyboardInterrupt):
        accumulate(interrupted(), checkpoint=file)
    with pytest.raises(ValueError, match="holds the sums of 16 batches, and the source has 3"):
        accumulate([(np.ones((1, 2)), [0])] * 3, checkpoint=file)
    assert file.exists()
