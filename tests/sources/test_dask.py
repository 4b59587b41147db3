"""Dask collections against the same rows in memory, and on workers that die."""

import contextlib
import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from unflip import SquareClassifier, UnhingedClassifier
from unflip.estimators.blocks import predict_blocks
from unflip.features import Fourier, Standardize
from unflip.moments import accumulate
from unflip.passes.cluster import BRANCHES
from unflip.sources import batches
from unflip.sources import dask as dask_source

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
db = pytest.importorskip("dask.bag")
dd = pytest.importorskip("dask.dataframe")

RNG = np.random.default_rng(0)
N = 1000
X = RNG.normal(size=(N, 4)) + np.array([0.0, 1e9, 0.0, 5.0])
Y = RNG.choice(["a", "b", "c"], N)
W = RNG.uniform(0, 2, N)
NAMES = list("pqrs")
FRAME = pd.DataFrame(X, columns=NAMES).assign(label=Y, w=W)


def arrays(rows=130, columns=4):
    return da.from_array(X, chunks=(rows, columns)), da.from_array(Y, chunks=100), da.from_array(W, chunks=N)


def assert_same(moments, expected, rtol=1e-10):
    assert moments.classes == expected.classes
    assert moments.key == expected.key
    assert moments.names == expected.names
    moments = moments.framed(expected.origin, expected.unit)
    assert_allclose(moments.counts, expected.counts, rtol=rtol)
    atol = rtol * np.sqrt(expected.squares * expected.total)
    assert_allclose(moments.sums, expected.sums, rtol=rtol, atol=atol)
    assert_allclose(moments.squares, expected.squares, rtol=rtol)
    if expected.second is not None:
        assert_allclose(moments.second, expected.second, rtol=rtol, atol=rtol * expected.squares)


def assert_identical(moments, expected):
    assert_array_equal(moments.counts, expected.counts)
    assert_array_equal(moments.sums, expected.sums)
    assert_array_equal(moments.origin, expected.origin)
    assert (moments.classes, moments.squares, moments.unit) == (
        expected.classes,
        expected.squares,
        expected.unit,
    )
    if expected.exact is not None:
        assert_array_equal(moments.exact.limbs, expected.exact.limbs)


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("columns", [4, 2])
def test_an_array_has_the_moments_of_its_rows(degree, weighted, columns):
    A, y, w = arrays(columns=columns)
    source = dask_source(A, y, w if weighted else None)
    assert len(source.parts) == 8
    expected = accumulate((X, Y, W if weighted else None), degree=degree)
    assert_same(accumulate(source, degree=degree), expected)


def test_labels_and_weights_may_be_in_memory():
    assert_same(accumulate(dask_source(arrays()[0], Y, W.tolist())), accumulate((X, Y, W)))
    soft = RNG.dirichlet([1, 1, 1], N)
    expected = accumulate((X, soft))
    assert_same(accumulate(dask_source(arrays()[0], soft)), expected)
    assert_same(accumulate(dask_source(arrays()[0], da.from_array(soft, chunks=(70, 2)))), expected)


@pytest.mark.parametrize("weight", [None, "w"])
def test_a_frame_has_the_moments_of_its_rows(weight):
    frame = dd.from_pandas(FRAME, npartitions=7)
    moments = accumulate(dask_source(frame, "label", weight, columns=NAMES), degree=2)
    expected = accumulate((FRAME[NAMES], Y, W if weight else None), degree=2)
    assert_same(moments, expected)
    assert accumulate(dask_source(frame, "label", "w")).names == tuple(NAMES)


@pytest.mark.parametrize(
    ("data", "labels", "weight"), [(arrays()[0], Y, W), (None, "label", "w")], ids=["array", "frame"]
)
def test_the_words_are_those_of_all_sources_and_the_old_one_stays(data, labels, weight):
    data = dd.from_pandas(FRAME, npartitions=3) if data is None else data
    source = dask_source(data, target=labels, weight=weight)
    assert_same(accumulate(source), accumulate(dask_source(data, y=labels, weight=weight)))
    for words in ({}, {"target": labels, "y": labels}):
        with pytest.raises(TypeError, match="the labels, or the name of their column, once, as target="):
            dask_source(data, **words)


def test_chunks_of_unknown_length_go_together():
    frame = dd.from_pandas(FRAME, npartitions=7)
    rows, labels = frame[NAMES].to_dask_array(), frame["label"]
    assert_same(accumulate(dask_source(rows, labels)), accumulate((X, Y)))
    with pytest.raises(TypeError, match="lengths of the chunks of X are unknown, so target must be a Dask"):
        dask_source(rows, Y)
    with pytest.raises(ValueError, match="X has 7 chunks of rows, target has 10"):
        dask_source(rows, arrays()[1])


@pytest.mark.parametrize("as_bag", [False, True])
def test_parquet_files_are_read_in_the_tasks(tmp_path, as_bag):
    paths = []
    for k, rows in enumerate(np.array_split(np.arange(N), 5)):
        paths.append(tmp_path / f"{k}.parquet")
        FRAME.iloc[rows].to_parquet(paths[-1], row_group_size=50, index=False)
    given = db.from_sequence(map(str, paths), npartitions=2) if as_bag else paths
    source = dask_source(given, "label", "w")
    assert len(source.parts) == (2 if as_bag else 5)
    assert_same(accumulate(source), accumulate((FRAME[NAMES], Y, W)))
    FRAME.assign(q=np.nan).to_parquet(paths[3])
    with pytest.raises(ValueError, match=r"partition \d: .*3\.parquet: row 0 has no value \(column 'q'\)"):
        accumulate(source)
    FRAME.drop(columns="label").to_parquet(paths[3])
    with pytest.raises(ValueError, match=r"partition \d: .*3\.parquet: there is no column 'label'"):
        accumulate(source)


def test_sparse_blocks_stay_sparse():
    rows = sparse.csr_array(np.where(RNG.random((N, 30)) < 0.1, RNG.random((N, 30)), 0.0))
    blocks = da.from_array(rows.toarray(), chunks=(200, 30)).map_blocks(sparse.csr_array)
    assert_same(accumulate(dask_source(blocks, Y)), accumulate((rows, Y)))


@pytest.mark.parametrize(
    "features",
    [StandardScaler(), Standardize(), Fourier(n_features=16, random_state=0)],
    ids=lambda f: str(f)[:12],
)
def test_a_fitted_map_is_shared_by_the_tasks(features):
    fitted = features.fit(X)
    moments = accumulate(dask_source(*arrays()), fitted)
    assert_same(moments, accumulate((X, Y, W), fitted))


def test_a_partition_may_be_empty_or_without_weight():
    frame = dd.from_pandas(FRAME.sort_values("p"), npartitions=7, sort=False)
    frame = frame[frame["p"] > 0]
    kept = FRAME[FRAME["p"] > 0]
    assert_same(accumulate(dask_source(frame, "label", "w")), accumulate((kept[NAMES], kept.label, kept.w)))
    half = np.where(np.arange(N) < 500, 0.0, 1.0)
    assert_same(accumulate(dask_source(arrays()[0], Y, half)), accumulate((X, Y, half)))
    with pytest.raises(ValueError, match="no rows"):
        accumulate(dask_source(frame[frame["p"] > 1e9], "label"))
    with pytest.raises(ValueError, match="zero in every row"):
        accumulate(dask_source(arrays()[0], Y, np.zeros(N)))


def test_partitions_are_named_when_something_is_wrong(tmp_path):
    bad = X.copy()
    bad[267, 2] = np.nan
    with pytest.raises(ValueError, match="partition 2: Input X contains NaN: row 7, column 2"):
        accumulate(dask_source(da.from_array(bad, chunks=(130, 4)), Y))
    frame = dd.from_pandas(FRAME.assign(r=Y), npartitions=3)
    with pytest.raises(ValueError, match=r"partition \d: column 'r' of X holds"):
        accumulate(dask_source(frame, "label", "w"))
    with pytest.raises(ValueError, match=r"partition \d: sample_weight is -1\.0 in row 0"):
        accumulate(dask_source(arrays()[0], Y, np.full(N, -1.0)))
    with pytest.raises(ValueError, match="no column 'labell'; did you mean 'label'"):
        dask_source(frame, "labell")
    with pytest.raises(ValueError, match="X has 1000 rows, target has 999"):
        dask_source(arrays()[0], Y[:-1])
    with pytest.raises(ValueError, match=r"got an array of shape \(1000,\)"):
        dask_source(arrays()[1], Y)
    with pytest.raises(TypeError, match="columns are chosen by name"):
        dask_source(arrays()[0], Y, columns=["a"])
    for stranger in (frame, ["a.parquet"]):
        with pytest.raises(TypeError, match="target is the name of a column; this is a ndarray"):
            dask_source(stranger, Y)
    for stranger in (X, [], [1, 2]):
        with pytest.raises(TypeError, match="dask takes a Dask array, a Dask data frame, or a list or bag"):
            dask_source(stranger, Y)
    with pytest.raises(ValueError, match="a checkpoint is for rows that are read here"):
        accumulate(dask_source(arrays()[0], Y), checkpoint=tmp_path / "kept")


def test_a_source_can_be_read_batch_by_batch():
    source = dask_source(*arrays())
    assert [len(batch.labels) for batch in batches(source)] == [130] * 7 + [90]
    assert source.fingerprint == dask_source(*arrays()).fingerprint
    assert source.fingerprint != dask_source(*arrays(rows=50)).fingerprint
    model = UnhingedClassifier().fit_moments(accumulate(dask_source(arrays()[0], Y == "a")))
    tuned = model.tune_threshold(dask_source(arrays()[0], Y == "a"))
    expected = UnhingedClassifier(threshold="loo").fit(X, Y == "a")
    assert_allclose(tuned.intercept_, expected.intercept_, rtol=1e-6)


@pytest.mark.parametrize("method", ["predict", "decision_function"])
@pytest.mark.parametrize("labels", [Y, Y == "a"], ids=["three classes", "two classes"])
def test_predictions_are_made_block_by_block(method, labels):
    model = SquareClassifier().fit(FRAME[NAMES], labels)
    expected = getattr(model, method)(FRAME[NAMES])
    frame = dd.from_pandas(FRAME.sample(frac=1.0, random_state=0).sort_index(), npartitions=6)
    found = predict_blocks(model, frame, method)  # takes the columns it knows
    assert found.dtype == expected.dtype
    if method == "predict":
        assert_array_equal(found.compute(), expected)
    else:  # BLAS may sum a block in another order than the whole
        assert_allclose(found.compute(), expected, rtol=0, atol=1e-13)
    nameless = SquareClassifier().fit(X, labels)
    found = predict_blocks(nameless, arrays(columns=2)[0], method)
    assert found.shape == expected.shape
    assert found.chunks[0] == (130,) * 7 + (90,)
    assert_array_equal(found.compute(), getattr(nameless, method)(X))
    none = predict_blocks(model, frame[frame["p"] > 1e9], method).compute()
    assert none.shape == (0, *expected.shape[1:])
    with pytest.raises(TypeError, match="a Dask array or data frame; this is a ndarray"):
        predict_blocks(model, X)


def test_schedulers_do_not_show():
    A, y, w = arrays(rows=37)
    results = []
    for scheduler in ("synchronous", "threads"):
        for summation in ("fast", "exact"):
            with dask.config.set(scheduler=scheduler):
                results.append(accumulate(dask_source(A, y, w), summation=summation))
    assert_identical(results[2], results[0])
    assert_identical(results[3], results[1])
    assert_identical(results[1], accumulate((X, Y, W), summation="exact"))


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    settings = {
        "distributed.scheduler.allowed-failures": 20,
        "distributed.deploy.lost-worker-timeout": "1 hour",  # who is on the way back is not given up
        "distributed.worker.profile.enabled": False,
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,  # workers die here on purpose
        ) as cluster,
        distributed.Client(cluster),
    ):
        yield cluster


def slow_block(number, pause):
    time.sleep(pause)
    return np.random.default_rng(number).normal(size=(50, 4)) + number


def slow_source(pause=0.0, blocks=24):
    make = dask.delayed(slow_block)
    rows = [da.from_delayed(make(number, pause), shape=(50, 4), dtype=float) for number in range(blocks)]
    return dask_source(da.concatenate(rows), np.arange(50 * blocks) % 3)


@contextlib.contextmanager
def killing_workers(cluster, times):
    """Kill a worker process, wait until another has taken its place, and so on; yields what was killed."""
    killed, over = [], threading.Event()

    def kill():
        while len(killed) < times and not over.wait(0.1):
            for nanny in list(cluster.workers.values()):
                process = nanny.process
                alive = process is not None and process.pid and process.status.name == "running"
                if alive and process.pid not in killed and len(killed) < times:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process.pid, signal.SIGKILL)
                        killed.append(process.pid)
                    break

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler:UserWarning")  # on purpose
def test_dead_workers_do_not_show(cluster):
    with dask.config.set(scheduler="threads"):
        fast, exact = (accumulate(slow_source(), summation=summation) for summation in ("fast", "exact"))
    for expected, summation in ((fast, "fast"), (exact, "exact")):
        with killing_workers(cluster, times=2) as killed:
            found = accumulate(slow_source(pause=0.1), summation=summation)
            assert len(killed) == 2, "the workers were to be killed while they worked"
        assert_identical(found, expected)


@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler:UserWarning")  # on purpose
@pytest.mark.parametrize("blocks", [1, BRANCHES, BRANCHES + 1, 8 * BRANCHES + 1])
def test_branches_that_are_fetched_one_by_one_have_their_place_in_the_tree(cluster, blocks):
    with dask.config.set(scheduler="threads"):
        expected = accumulate(slow_source(blocks=blocks))
    assert_identical(accumulate(slow_source(blocks=blocks)), expected)


def test_errors_in_a_worker_reach_the_user(cluster):
    bad = X.copy()
    bad[267, 2] = np.inf
    with pytest.raises(ValueError, match="partition 2: Input X contains infinity: row 7, column 2"):
        accumulate(dask_source(da.from_array(bad, chunks=(130, 4)), Y))


def test_a_key_that_a_partition_lacks_is_named_with_the_partition():
    parts = [dask.delayed(part) for part in (FRAME, FRAME.drop(columns="q"))]
    source = dask_source(dd.from_delayed(parts, meta=FRAME.iloc[:0], verify_meta=False), "label", "w")
    with pytest.raises(ValueError, match=r"partition 1: KeyError: .*q"):
        accumulate(source)


@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler")  # while the cluster is up
def test_a_scheduler_that_is_a_method_need_not_be_that_of_a_cluster():
    class Own:
        def get(self, graph, keys, **options):
            return dask.threaded.get(graph, keys, **options)

    with dask.config.set(scheduler="threads"):
        expected = accumulate(dask_source(*arrays()))
    with dask.config.set(scheduler=Own().get):
        assert_identical(accumulate(dask_source(*arrays())), expected)


def test_a_foreign_map_keeps_its_key_in_the_workers(cluster):
    fitted = StandardScaler().fit(X)
    assert_same(accumulate(dask_source(*arrays()), fitted), accumulate((X, Y, W), fitted))


def test_what_does_not_mix_and_what_is_masked_is_refused_as_in_memory():
    rows = da.ones((4, 1), chunks=(2, 1))
    with pytest.raises(ValueError, match=r"some labels are probabilities, and others the class 5\.0"):
        accumulate(dask_source(rows, da.from_array(np.array([0.5, 0.25, 5, 7]), chunks=2)))
    mask = [True, False, False, False]
    with pytest.raises(ValueError, match="target is masked in row 0"):
        dask_source(rows, np.ma.array([0, 1, 0, 1], mask=mask))
    with pytest.raises(ValueError, match="weight is masked in row 0"):
        dask_source(rows, [0, 1, 0, 1], np.ma.array(np.ones(4), mask=mask))
