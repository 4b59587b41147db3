"""One battery for every feature map; adding a member to MAPS is all it takes."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from unflip import SquareClassifier, UnhingedClassifier
from unflip.border import blocks as blocks_module
from unflip.features import (
    FeatureMap,
    Fourier,
    Nystroem,
    OneHot,
    OrthogonalFourier,
    Quantile,
    Standardize,
    as_feature_map,
)
from unflip.moments import accumulate

MAPS = [
    Standardize(),
    Standardize(center=False),
    Quantile(),
    Quantile(n_quantiles=5, clip=1.0),
    OneHot(),
    OneHot(sparse=True),
    OneHot(columns=[1], sparse=False),
    Fourier(n_features=40),
    Fourier(n_features=7, kernel="laplace"),
    Fourier(n_features=40, kernel="euclidean_laplace", bandwidth=2.0),
    OrthogonalFourier(n_features=40),
    OrthogonalFourier(n_features=7, kernel="euclidean_laplace"),
    Nystroem(n_components=10),
    Nystroem(n_components=10, kernel="laplace", landmarks="pivoted"),
    Nystroem(n_components=10, kernel="euclidean_laplace", bandwidth=2.0),
]
RANDOM = [m for m in MAPS if "random_state" in m.get_params()]
SPARSE = [
    Standardize(center=False),
    Fourier(),
    OrthogonalFourier(),
    Nystroem(),
    Nystroem(landmarks="pivoted"),
]
every = pytest.mark.parametrize("feature_map", MAPS, ids=repr)

RNG = np.random.default_rng(0)
X = RNG.integers(-3, 4, size=(60, 4)) + 0.5  # few levels, so that categories repeat
Y = (X[:, 0] + RNG.normal(size=60) > 0.5).astype(int)


def dense(phi):
    return phi.toarray() if sparse.issparse(phi) else np.asarray(phi)


# What a feature map promises


@every
def test_a_fitted_map_is_a_feature_map_of_its_width(feature_map):
    fitted = clone(feature_map).fit(X)
    phi = fitted.transform(X)
    assert isinstance(fitted, FeatureMap)
    assert phi.dtype == np.float64
    assert phi.shape == (len(X), fitted.width)
    assert len(fitted.get_feature_names_out()) == fitted.width
    assert fitted.key.startswith(type(feature_map).__name__ + ":")


@every
def test_a_map_that_is_not_fitted_says_so(feature_map):
    for use in (
        lambda m: m.key,
        lambda m: m.transform(X),
        lambda m: accumulate((X, Y), features=m),
        lambda m: UnhingedClassifier(features=m).partial_fit(X, Y),
    ):
        with pytest.raises(NotFittedError, match=f"This {type(feature_map).__name__} instance is not fitted"):
            use(clone(feature_map))


@every
def test_the_features_of_a_row_do_not_depend_on_the_rows_around_it(feature_map):
    fitted = clone(feature_map).fit(X)
    whole = dense(fitted.transform(X))
    for size in (1, 7, 59):
        parts = [dense(fitted.transform(X[i : i + size])) for i in range(0, len(X), size)]
        assert_allclose(np.vstack(parts), whole, atol=1e-12)
    assert_allclose(dense(fitted.transform(X[::-1]))[::-1], whole, atol=1e-12)


@every
def test_labels_never_matter(feature_map):
    keys = {
        clone(feature_map).fit(X, y).key for y in (None, Y, 1 - Y, np.random.default_rng(1).permutation(Y))
    }
    assert len(keys) == 1


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(MAPS),
    hnp.arrays(float, (8, 2), elements=st.floats(-1e6, 1e6).map(lambda x: round(x, 6))),
    hnp.arrays(float, (5, 2), elements=st.floats(-1e9, 1e9)),
)
def test_no_feature_vector_is_longer_than_the_radius(feature_map, rows, others):
    if len(np.unique(rows, axis=0)) < 2:
        rows = rows + np.arange(8.0)[:, None]  # equal rows have no median distance
    fitted = clone(feature_map).fit(rows)
    for some in (rows, others):
        assert np.all(np.linalg.norm(dense(fitted.transform(some)), axis=1) <= fitted.radius * (1 + 1e-9))


def test_only_maps_that_let_numbers_through_have_an_infinite_radius():
    infinite = [m for m in MAPS if np.isinf(clone(m).fit(X).radius)]
    assert infinite == [m for m in MAPS if isinstance(m, Standardize) or getattr(m, "columns", None)]


# Keys


@every
def test_equal_fits_have_equal_keys_and_other_rows_another(feature_map):
    key = clone(feature_map).fit(X).key
    assert clone(feature_map).fit(X.copy(order="F")).key == key
    assert clone(feature_map).fit(X[:30] + 1).key != key
    assert clone(feature_map).fit(pd.DataFrame(X, columns=list("abcd"))).key != key


@pytest.mark.parametrize("feature_map", RANDOM, ids=repr)
def test_another_seed_gives_another_key(feature_map):
    keys = {clone(feature_map).set_params(random_state=seed).fit(X).key for seed in (0, 1, 2)}
    assert len(keys) == 3
    generators = [np.random.RandomState(5), np.random.RandomState(5)]
    first, second = (clone(feature_map).set_params(random_state=g).fit(X).key for g in generators)
    assert first == second


@every
def test_a_key_survives_pickling(feature_map):
    fitted = clone(feature_map).fit(X)
    copy = pickle.loads(pickle.dumps(fitted))
    assert copy.key == fitted.key
    copy.transform(X)
    assert copy.key == fitted.key
    assert_array_equal(dense(copy.transform(X)), dense(fitted.transform(X)))


@pytest.mark.subprocess
def test_keys_are_the_same_in_another_process(tmp_path):
    fitted = [clone(m).fit(X) for m in MAPS] + [OneHot().fit([["red", 1], [None, 2.5], ["blue", 3]])]
    path = tmp_path / "maps.pickle"
    path.write_bytes(pickle.dumps(([clone(m) for m in fitted[:-1]], X, fitted)))
    code = f"""
import pathlib, pickle
unfitted, X, fitted = pickle.loads(pathlib.Path({str(path)!r}).read_bytes())
print([m.fit(X).key for m in unfitted] == [m.key for m in fitted[:-1]])
print([m.key for m in fitted])
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["True", str([m.key for m in fitted])]


# In the estimators


@every
@pytest.mark.parametrize("estimator", [UnhingedClassifier(), SquareClassifier()], ids=repr)
def test_classifiers_fit_their_own_copy_and_agree_with_features_made_beforehand(estimator, feature_map):
    inside = clone(estimator).set_params(features=clone(feature_map)).fit(X, Y)
    phi = dense(clone(feature_map).fit_transform(X))
    outside = clone(estimator).fit(phi, Y)
    expected = outside.decision_function(phi)
    assert_allclose(inside.decision_function(X), expected, atol=1e-8 * np.abs(expected).max())
    assert not hasattr(inside.features, "n_features_in_")
    assert inside.moments_.key == clone(feature_map).fit(X).key


@every
def test_batches_shards_and_moments_lead_to_the_same_classifier(feature_map):
    fitted = clone(feature_map).fit(X)
    expected = UnhingedClassifier(features=feature_map).fit(X, Y).decision_function(X)
    halves = slice(0, 25), slice(25, None)
    steady = UnhingedClassifier(features=fitted)
    for rows in halves:
        steady.partial_fit(X[rows], Y[rows], classes=[0, 1])
    shards = sum(accumulate((X[rows], Y[rows]), features=fitted) for rows in halves)
    remote = UnhingedClassifier(features=pickle.loads(pickle.dumps(fitted))).fit_moments(shards)
    forgetful = UnhingedClassifier(features=fitted).partial_fit(X, Y).partial_fit(X[:9], Y[:9])
    forgetful.forget(X[:9], Y[:9])
    for model in (steady, remote, forgetful):
        assert_allclose(model.decision_function(X), expected, atol=1e-9)


@pytest.mark.parametrize("feature_map", RANDOM, ids=repr)
def test_moments_of_different_maps_do_not_mix(feature_map):
    one, other = (clone(feature_map).set_params(random_state=seed).fit(X) for seed in (0, 1))
    with pytest.raises(ValueError, match="moments of different feature maps do not mix"):
        accumulate((X, Y), features=one) + accumulate((X, Y), features=other)
    with pytest.raises(ValueError, match="the moments belong to the feature map"):
        UnhingedClassifier(features=other).fit_moments(accumulate((X, Y), features=one))


def test_wide_features_are_made_a_few_rows_at_a_time(monkeypatch):
    heights = []
    block = Fourier.block

    def watched(self, rows):
        heights.append(rows.shape[0])
        return block(self, rows)

    monkeypatch.setattr(Fourier, "block", watched)
    monkeypatch.setattr(blocks_module, "NUMBERS_IN_BLOCK", 1000)
    fitted = Fourier(n_features=100).fit(X)
    model = UnhingedClassifier(features=fitted, threshold="mean").partial_fit(X, Y)
    assert max(heights[1:]) == 10  # the first call looks at a sample of all rows
    del heights[:]
    model.decision_function(X)
    assert max(heights) == 10


def test_sparse_features_stay_in_long_blocks():
    X = sparse.csr_array(np.eye(40))
    rows = [r for r, _ in blocks_module.feature_blocks(X, lambda rows: rows)]
    assert rows == [slice(0, 40)]


# Input


@every
def test_containers_and_dtypes_make_no_difference(feature_map):
    fitted = clone(feature_map).fit(X)
    expected = dense(fitted.transform(X))
    for other in (X.astype(np.float32), np.asfortranarray(X), X.tolist(), X.astype(np.float16)):
        assert_allclose(dense(clone(feature_map).fit(other).transform(other)), expected, atol=1e-6)
    for frame in (pd.DataFrame(X, columns=list("abcd")), pl.DataFrame(X, schema=list("abcd"))):
        named = clone(feature_map).fit(frame)
        assert named.feature_names_in_.tolist() == list("abcd")
        assert_allclose(dense(named.transform(frame)), expected, atol=1e-12)
        moments = accumulate((frame, Y), features=named)
        assert_allclose(moments.mean, expected.mean(axis=0), atol=1e-12)
        with pytest.raises(ValueError, match=r"\['b', 'a', 'c', 'd'\], but .* was fitted to"):
            accumulate((frame[["b", "a", "c", "d"]], Y), features=named)


@pytest.mark.parametrize("feature_map", SPARSE, ids=repr)
def test_sparse_rows_have_the_features_of_dense_ones(feature_map):
    rng = np.random.default_rng(1)
    thin = sparse.csr_array(np.where(rng.random((50, 6)) < 0.3, rng.random((50, 6)), 0.0))
    for fitted_to in (thin, thin.toarray()):
        fitted = clone(feature_map).fit(fitted_to)
        assert_allclose(dense(fitted.transform(thin)), dense(fitted.transform(thin.toarray())), atol=1e-9)
    model = UnhingedClassifier(features=feature_map).fit(thin, Y[:50])
    assert_array_equal(model.predict(thin), model.predict(thin.toarray()))


DENSE_ONLY = [
    Standardize(),
    Quantile(),
    OneHot(),
    Fourier(kernel="laplace"),
    Nystroem(kernel="laplace"),
]


@pytest.mark.parametrize("feature_map", DENSE_ONLY, ids=repr)
def test_maps_that_need_dense_rows_refuse_sparse_ones(feature_map):
    thin = sparse.csr_array(X)
    for use in (
        lambda: clone(feature_map).fit(thin),
        lambda: clone(feature_map).fit(X).transform(thin),
        lambda: accumulate((thin, Y), features=clone(feature_map).fit(X)),
    ):
        with pytest.raises(TypeError, match=r"toarray\(\)"):
            use()


NUMERIC = [Standardize(), Quantile(), Fourier(), OrthogonalFourier(), Nystroem()]


@pytest.mark.parametrize("feature_map", NUMERIC, ids=repr)
def test_bad_input_is_named(feature_map):
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    hole = frame.copy()
    hole.loc[3, "b"] = np.nan
    text = frame.astype(object)
    text.loc[2, "c"] = "tall"
    infinite = X.copy()
    infinite[5, 1] = np.inf
    fitted = clone(feature_map).fit(frame)
    model = UnhingedClassifier(features=feature_map).fit(frame, Y)
    cases = [
        (hole, "NaN: row 3, column 'b'"),
        (infinite, "infinity: row 5, column 1"),
        (text, "column 'c' of X holds 'tall' in row 2"),
    ]
    for bad, message in cases:
        for use in (
            lambda bad=bad: clone(feature_map).fit(bad),
            lambda bad=bad: UnhingedClassifier(features=feature_map).fit(bad, Y),
            lambda bad=bad: accumulate((bad, Y), features=clone(feature_map).fit(X)),
        ):
            with pytest.raises(ValueError, match=message):
                use()
    for use in (fitted.transform, model.predict):
        with pytest.raises(ValueError, match="NaN: row 3, column 'b'"):
            use(hole)
    with pytest.raises(ValueError, match=r"X has 3 columns, but .* was fitted to 4"):
        accumulate((X[:, :3], Y), features=clone(feature_map).fit(X))
    with pytest.raises(ValueError, match=r"3 features, but .* is expecting 4"):
        clone(feature_map).fit(X).transform(X[:, :3])


def test_a_map_comes_to_the_pass_ready_for_blocks():
    fitted = Standardize().set_output(transform="pandas").fit(X)
    assert isinstance(as_feature_map(fitted, 4, None).transform(X), np.ndarray)
    assert_allclose(accumulate((X, Y), features=fitted).mean, 0, atol=1e-12)


@pytest.mark.parametrize("feature_map", [Standardize(), Quantile(), Fourier(), Nystroem()], ids=repr)
def test_a_fit_that_fails_leaves_the_map_as_it_was(feature_map):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(20, 3)), rng.normal(size=(20, 4))
    B[3, 1] = np.nan
    fitted = clone(feature_map).fit(A)
    before = fitted.transform(A)
    with pytest.raises(ValueError, match="row 3, column 1"):
        fitted.fit(B)
    assert_array_equal(fitted.transform(A), before)


@every
@pytest.mark.parametrize("kind", [kind for kind in ("Int128", "UInt128") if hasattr(pl, kind)])
def test_integers_of_128_bits_are_read_as_numbers(feature_map, kind):
    """Which polars has, and NumPy does not; those of 64 bits are the same numbers."""
    plain = pl.DataFrame({"a": list(range(12)), "b": [3, 1, 2] * 4})
    long = plain.cast(getattr(pl, kind))
    found, expected = (clone(feature_map).fit_transform(table) for table in (long, plain))
    assert_array_equal(*(out.toarray() if sparse.issparse(out) else out for out in (found, expected)))
