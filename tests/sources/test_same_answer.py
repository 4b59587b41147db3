"""The same rows wherever they are: memory, files, databases, a cluster, a GPU. One answer."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from unflip import SquareClassifier, UnhingedClassifier
from unflip.moments import accumulate
from unflip.sources import arrays, arrow, csv, frame, parquet, sql
from unflip.sources import dask as dask_source

N, D = 40_000, 30  # so many numbers that compiled loops take part
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, N)
X = RNG.normal(size=(N, D)) * 10.0 ** RNG.integers(-1, 2, D) + 0.3 * Y[:, None] + RNG.integers(0, 3, D)
X[RNG.random((N, D)) < 0.3] = 0.0
NAMES = [f"x{j}" for j in range(D)]
FRAME = pd.DataFrame(X, columns=NAMES).assign(y=Y)


def in_parquet(folder):
    path = folder / "rows.parquet"
    pq.write_table(pa.Table.from_pandas(FRAME), path, row_group_size=N - 2_000)
    return parquet(path, "y")


def in_csv(folder):
    path = folder / "rows.csv"
    FRAME.to_csv(path, index=False)  # with as many digits as tell a number from its neighbours
    return csv(path, "y")


def on_cluster(folder):
    da = pytest.importorskip("dask.array")
    return dask_source(da.from_array(X, chunks=(3_000, D)), da.from_array(Y, chunks=3_000))


READ_HERE = {
    "rows": lambda folder: arrays(X, Y),
    "columns": lambda folder: arrays(np.asfortranarray(X), Y),
    "csr": lambda folder: arrays(sparse.csr_array(X), Y),
    "batches": lambda folder: [(X[rows], Y[rows]) for rows in np.array_split(np.arange(N), 9)],
    "parquet": in_parquet,
    "csv": in_csv,
    "arrow": lambda folder: arrow(pa.Table.from_pandas(FRAME), "y"),
    "polars": lambda folder: frame(pl.from_pandas(FRAME).lazy(), "y"),
    "dask": on_cluster,
}


@pytest.fixture(scope="module")
def truth():
    """Correctly rounded sums by class, one column after another."""
    return np.array([[math.fsum(column[k == Y]) for column in X.T] for k in (0, 1)])


def assert_same(moments, truth):
    size = np.array([[math.sqrt((column**2).sum() * N) for column in X.T]])
    assert_array_equal(moments.counts, np.bincount(Y))
    assert (np.abs(moments.framed(np.zeros(D), 1.0).sums - truth) <= 1e-10 * size).all()
    assert moments.framed(np.zeros(D), 1.0).squares == pytest.approx((X * X).sum(), rel=1e-10)


def assert_same_models(source):
    for learner, degree in ((UnhingedClassifier(), 1), (SquareClassifier(), 2)):
        model = learner.fit_moments(accumulate(source, degree=degree))
        plain = type(learner)().fit_moments(accumulate((X, Y), degree=degree))
        scale = np.abs(plain.coef_).max()
        assert_allclose(model.coef_, plain.coef_, rtol=1e-10, atol=1e-10 * scale)
        assert_allclose(model.intercept_, plain.intercept_, rtol=1e-10, atol=1e-10 * scale)


@pytest.mark.parametrize("place", READ_HERE)
@pytest.mark.slow
def test_rows_that_are_read_here(place, tmp_path, truth):
    assert_same(accumulate(READ_HERE[place](tmp_path)), truth)
    assert_same_models(READ_HERE[place](tmp_path))


@pytest.mark.parametrize("place", READ_HERE)
def test_exact_sums_are_the_correctly_rounded_ones_to_the_last_bit(place, tmp_path, truth):
    assert_array_equal(accumulate(READ_HERE[place](tmp_path), summation="exact").sums, truth)


@pytest.mark.slow
def test_rows_in_a_database(database, truth):
    ibis = pytest.importorskip("ibis")
    table = database.create_table("rows", ibis.memtable(pa.Table.from_pandas(FRAME)))
    assert_same(accumulate(sql(table, "y")), truth)
    assert_same_models(sql(table, "y"))


def test_rows_of_other_array_libraries(xp, truth):
    source = arrays(xp.move(X), xp.move(Y))
    assert_same(accumulate(source), truth)
    assert_same_models(source)
