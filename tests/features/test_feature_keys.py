"""One fitted map has one name, wherever and however often it is used."""

import gc
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator
from sklearn.preprocessing import SplineTransformer, StandardScaler

from unflip.features import Transformed, as_feature_map
from unflip.features import adapter as adapter_module
from unflip.moments import accumulate

X = np.random.default_rng(0).normal(size=(40, 2))
Y = np.arange(40) % 2


def test_caches_that_a_transformer_fills_do_not_change_its_key():
    spline = SplineTransformer().fit(X)
    halves = accumulate((X[:20], Y[:20]), features=spline) + accumulate((X[20:], Y[20:]), features=spline)
    assert_allclose(halves.sums, accumulate((X, Y), features=spline).sums, atol=1e-12)


def test_a_broadcast_map_keeps_its_key():
    spline = SplineTransformer().fit(X)
    here = Transformed(spline)
    there = pickle.loads(pickle.dumps(here))
    there.transform(X)
    again = pickle.loads(pickle.dumps(there))
    assert here.key == there.key == again.key == as_feature_map(spline, 2, None).key


def test_fitting_anew_gives_a_new_key():
    scaler = StandardScaler().fit(X)
    old = as_feature_map(scaler, 2, None).key
    assert as_feature_map(scaler.fit(3 * X), 2, None).key != old
    assert as_feature_map(scaler.fit(X), 2, None).key == old


def test_the_memory_of_keys_does_not_keep_transformers_alive():
    scaler = StandardScaler().fit(X)
    as_feature_map(scaler, 2, None)
    gc.collect()
    known = len(adapter_module._keys)
    del scaler
    gc.collect()
    assert len(adapter_module._keys) < known


class Shift(BaseEstimator):
    """A transformer that cannot be hashed."""

    __hash__ = None

    def fit(self, X):
        self.by_ = 1.0
        return self

    def transform(self, X):
        return X + self.by_


def test_a_transformer_that_cannot_be_remembered_still_has_a_key():
    shift = Shift().fit(X)
    assert as_feature_map(shift, 2, None).key == as_feature_map(shift, 2, None).key
    assert_allclose(accumulate((X, Y), features=shift).mean, X.mean(axis=0) + 1)


def test_a_map_fitted_to_a_frame_takes_that_frame_without_a_warning():
    frame = pd.DataFrame(X, columns=["a", "b"])
    scaler = StandardScaler().fit(frame)
    assert_allclose(accumulate((frame, Y), features=scaler).mean, 0, atol=1e-12)
    accumulate((X, Y), features=scaler)
    with pytest.raises(ValueError, match=r"\['b', 'a'\], but StandardScaler was fitted to \['a', 'b'\]"):
        accumulate((frame[["b", "a"]], Y), features=scaler)


class Grumbler(StandardScaler):
    def transform(self, X):
        warnings.warn("something else", UserWarning, stacklevel=2)
        return super().transform(X)


def test_other_warnings_of_a_transformer_are_heard():
    with pytest.warns(UserWarning, match="something else"):
        Transformed(Grumbler().fit(X)).transform(X)
