"""The one pass against the sums it stands for."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from unflip.border import blocks as blocks_module
from unflip.moments import Moments, accumulate
from unflip.sources import Batch, arrays
from unflip.sources.column_table import ColumnTable

pytestmark = pytest.mark.usefixtures("two_threads")


def make_data(n=300, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.integers(0, 3, n), rng.uniform(0, 2, n)


def test_sums_counts_and_second_moment_are_what_they_say():
    X, y, w = make_data()
    moments = accumulate((X, y, w), degree=2)
    for k in range(3):
        assert moments.counts[k] == pytest.approx(w[y == k].sum(), rel=1e-13)
        for j in range(5):
            exact = math.fsum(w[y == k] * X[y == k, j])
            assert moments.sums[k, j] == pytest.approx(exact, rel=1e-12, abs=1e-13)
    assert_allclose(moments.second, X.T @ (w[:, None] * X), rtol=1e-12)
    assert moments.squares == pytest.approx(np.sum(w[:, None] * X**2), rel=1e-12)
    assert moments.classes == (0, 1, 2)
    assert (moments.origin == 0).all()
    assert moments.unit == 1


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.int64, np.uint16, bool])
def test_every_dtype_is_summed_in_float64(dtype):
    rng = np.random.default_rng(0)
    X = (100 * rng.random((5000, 3))).astype(dtype)
    y = rng.integers(0, 2, 5000)
    moments = accumulate((X, y))
    assert moments.sums.dtype == np.float64
    for k in (0, 1):
        for j in range(3):
            assert moments.sums[k, j] == pytest.approx(math.fsum(X[y == k, j].astype(float)), rel=1e-13)


LAYOUTS = {
    "c": np.ascontiguousarray,
    "f": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "apart": lambda X: ColumnTable(list(X.T)),
    "reversed": lambda X: X[::-1][::-1],
    "read-only": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "list": lambda X: X.tolist(),
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_array,
    "pandas": lambda X: pd.DataFrame(X, columns=list("abcde")),
    "polars": lambda X: pl.DataFrame(X, schema=list("abcde")),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("degree", [1, 2])
def test_every_layout_gives_the_same_moments(layout, degree):
    X, y, w = make_data()
    X[X < -0.5] = 0
    expected = accumulate((X, y, w), degree=degree)
    moments = accumulate((LAYOUTS[layout](X), y, w), degree=degree)
    assert_allclose(moments.sums, expected.sums, rtol=1e-12, atol=1e-13)
    assert moments.squares == pytest.approx(expected.squares, rel=1e-12)
    if degree == 2:
        assert_allclose(moments.second, expected.second, rtol=1e-12, atol=1e-12)


def test_no_array_of_the_size_of_x_is_made(monkeypatch):
    monkeypatch.setattr(blocks_module, "ROWS_IN_BLOCK", 64)
    X, y, _ = make_data(n=4096)
    seen = []

    class Spy(np.ndarray):
        def __array_finalize__(self, parent):
            seen.append(self.nbytes)

    accumulate(Batch(X.view(Spy), arrays(X, y).labels, np.ones(4096)))
    # The view itself, then blocks and the sample that the frame is chosen from.
    assert max(seen[1:]) <= max(64, 257) * 5 * 8


def test_the_input_is_not_changed():
    X, y, w = make_data()
    before = X.copy(), y.copy(), w.copy()
    accumulate((X + 0.0, y, w))
    accumulate((X, y, w), degree=2)
    for array, kept in zip((X, y, w), before, strict=True):
        assert_array_equal(array, kept)


def test_blocks_do_not_show(monkeypatch):
    X, y, w = make_data()
    expected = accumulate((X, y, w), degree=2)
    monkeypatch.setattr(blocks_module, "ROWS_IN_BLOCK", 7)
    moments = accumulate((X, y, w), degree=2)
    assert_allclose(moments.sums, expected.sums, rtol=1e-12, atol=1e-13)
    assert_allclose(moments.second, expected.second, rtol=1e-12)


def test_a_source_of_many_batches_is_summed():
    X, y, w = make_data()
    batches = [arrays(X[i : i + 50], y[i : i + 50], w[i : i + 50]) for i in range(0, 300, 50)]
    assert_allclose(accumulate(batches).sums, accumulate((X, y, w)).sums, rtol=1e-12, atol=1e-13)
    with pytest.raises(ValueError, match="no rows"):
        accumulate([])


@pytest.mark.parametrize("factor", [1e-200, 1e-150, 1e150, 1e200])
@pytest.mark.parametrize("offset", [0.0, 1e15])
def test_the_frame_keeps_what_plain_sums_would_lose(factor, offset):
    X, y, _ = make_data()
    X = np.round(X * 4) / 4
    there = (X + offset) * factor if factor < 1 else X * factor + offset
    moments = accumulate((there, y), degree=2)
    assert np.isfinite(moments.second).all()
    if offset == 0 or factor > 1:
        assert_allclose(
            moments.center * moments.unit / factor + moments.origin / factor, X.mean(axis=0), atol=1e-12
        )


def test_far_columns_are_summed_about_their_own_place():
    X, y, _ = make_data()
    X = np.round(X * 4) / 4
    moments = accumulate((X + np.array([1e15, 0, 0, -1e15, 0]), y), degree=2)
    assert (moments.origin != 0).tolist() == [True, False, False, True, False]
    centered = moments.second / 300 - np.outer(moments.center, moments.center)
    assert_allclose(centered, np.cov(X.T, bias=True), rtol=1e-9, atol=1e-12)


def test_features_go_block_by_block_into_the_sums():
    X, y, _ = make_data()
    scaler = StandardScaler().fit(X)
    moments = accumulate((X, y), features=scaler)
    assert_allclose(moments.sums, [scaler.transform(X)[y == k].sum(axis=0) for k in range(3)], atol=1e-10)
    assert moments.key.startswith("StandardScaler:")
    sparse_map = OneHotEncoder().fit(np.round(X[:, :2]))
    assert accumulate((np.round(X[:, :2]), y), features=sparse_map).sums.sum() == pytest.approx(600)


def test_keys_tell_fitted_maps_and_column_names_apart():
    X, y, _ = make_data()
    one, same, other = (StandardScaler().fit(X * c) for c in (1, 1, 2))
    assert accumulate((X, y), features=one).key == accumulate((X, y), features=same).key
    assert accumulate((X, y), features=one).key != accumulate((X, y), features=other).key
    frame = pd.DataFrame(X, columns=list("abcde"))
    assert accumulate((frame, y)).key == accumulate((pl.from_pandas(frame), y)).key
    assert accumulate((frame, y)).key != accumulate((frame[list("bacde")], y)).key
    assert accumulate((X, y)).key == "columns:5"


def test_bad_values_are_named():
    X, y, _ = make_data()
    bad = X.copy()
    bad[17, 3] = np.nan
    with pytest.raises(ValueError, match="NaN: row 17, column 3"):
        accumulate((bad, y))
    with pytest.raises(ValueError, match="NaN: row 17, column 'd'"):
        accumulate((pd.DataFrame(bad, columns=list("abcde")), y))
    with pytest.raises(ValueError, match="column 'b' of X holds 'x' in row 0"):
        accumulate((pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), [0, 1]))
    with pytest.raises(ValueError, match="row 1 has 1 values, row 0 has 2"):
        accumulate(([[1.0, 2.0], [3.0]], [0, 1]))
    with pytest.raises(ValueError, match="300 rows, y has 299"):
        accumulate((X, y[:-1]))
    with pytest.raises(ValueError, match="degree is 1 or 2, got 3"):
        accumulate((X, y), degree=3)
    with pytest.raises(ValueError, match="summation"):
        accumulate((X, y), summation="slow")
    with pytest.raises(ValueError, match="NaN: row 299, column 0"):
        accumulate((X, y), features=_Breaks().fit(X))


class _Breaks(StandardScaler):
    """A transformer that returns NaN in its last row."""

    def transform(self, X):
        out = np.array(X, dtype=float)
        out[-1, 0] = np.nan
        return out


@pytest.mark.parametrize("giant", [1e200, 1.7e308])
def test_a_single_giant_is_no_reason_to_overflow(giant):
    X, y, _ = make_data(n=2000)
    X[1001, 2] = giant  # not among the rows that the frame is first chosen from
    moments = accumulate((X, y), degree=2)
    assert np.isfinite(moments.second).all()
    assert_allclose(moments.mean[2], giant / 2000, rtol=1e-12)


def test_zero_rows_are_the_neutral_element():
    X, y, _ = make_data()
    moments = accumulate((X, y), degree=2)
    zero = Moments.zero(5, moments.key, degree=2)
    for total in (zero + moments, moments + zero, moments - zero):
        assert_array_equal(total.sums, moments.sums)
        assert_array_equal(total.second, moments.second)
        assert total.classes == moments.classes


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_rows_without_zeros_are_summed_about_their_own_place_too(form):
    X, y, _ = make_data()
    X = np.round(X * 4) / 4 + 1e15
    expected, moments = accumulate((X, y), degree=2), accumulate((form(X), y), degree=2)
    assert_array_equal(moments.origin, expected.origin)
    assert_array_equal(moments.sums, expected.sums)
    assert_array_equal(moments.second, expected.second)
    assert moments.variance == pytest.approx(np.var(X - 1e15, axis=0).sum(), rel=1e-12)


def test_rows_of_mostly_zeros_are_never_made_dense(monkeypatch):
    rng = np.random.default_rng(0)
    rows = sparse.csr_array(rng.normal(size=(2000, 50)) * (rng.random((2000, 50)) < 0.4))
    rows.data += 1e15
    y = np.arange(2000) % 2
    original = sparse.csr_array.toarray

    def small(self, *args, **kwargs):
        assert self.shape[0] <= 2, "only sums may be dense"
        return original(self, *args, **kwargs)

    for kind in (sparse.csr_array, sparse.csc_array):
        monkeypatch.setattr(kind, "toarray", small)
    moments = accumulate((rows, y))
    assert (moments.origin == 0).all()
