"""What was learned as a value: its sums merge and forget, exactly as fits to other rows would."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from unflip import RobustClassifierCV
from unflip.noise import flip_labels


def rows(n=240, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.searchsorted([0.0, 0.6][: classes - 1], X[:, 0] * X[:, 1])
    return X, flip_labels(y, 0.1, rng=rng), rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("classes", [2, 3])
def test_sums_of_parts_make_the_ensemble_of_all_rows(classes):
    # The features never saw a label, so sums over parts are sums over all, and determine the coefficients.
    X, y, weight = rows(classes=classes)
    ensemble = RobustClassifierCV(feature_weights=False).fit(X, y, weight).ensemble_
    parts = [slice(0, 100), slice(100, 240)]
    again = ensemble.with_sums(sum(ensemble.summed(X[part], y[part], weight[part]) for part in parts))
    assert_allclose(again.score(X), ensemble.score(X), rtol=1e-8, atol=1e-10)


def test_forgetting_rows_is_never_having_summed_them():
    X, y, _ = rows()
    ensemble = RobustClassifierCV(feature_weights=False).fit(X, y).ensemble_
    without = ensemble.with_sums(ensemble.sums - ensemble.summed(X[:40], y[:40]))
    never = ensemble.with_sums(ensemble.summed(X[40:], y[40:]))
    assert_allclose(without.score(X), never.score(X), rtol=1e-7, atol=1e-9)
    assert np.abs(without.score(X) - ensemble.score(X)).max() > 1e-3


def test_only_sums_of_the_same_label_free_map_will_do():
    X, y, _ = rows()
    ensemble = RobustClassifierCV(feature_weights=False).fit(X, y).ensemble_
    other = RobustClassifierCV(feature_weights=False).fit(X + 1, y).ensemble_
    with pytest.raises(ValueError, match="belong to the feature map"):
        ensemble.with_sums(other.sums)
    X = np.random.default_rng(1).normal(size=(400, 8))
    weighed = RobustClassifierCV().fit(X, X[:, 0] > 0).ensemble_
    with pytest.raises(ValueError, match="fit with feature_weights=False"):
        weighed.summed(X, X[:, 0] > 0)
