"""Rows that are copies of others leave together, so that a wrong label does not confirm itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer

from unflip import RobustClassifierCV
from unflip.audit import estimate_noise
from unflip.noise import flip_labels
from unflip.robust.copies import copies


def numbers(n=60, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def test_equal_rows_have_one_number_and_others_have_not():
    X = numbers()
    order = np.random.default_rng(1).integers(0, 60, 150)
    found = copies(X[order])
    assert ((found[:, None] == found) == (order[:, None] == order)).all()
    assert found[0] == 0


def test_values_that_differ_in_one_bit_are_no_copies():
    X = np.zeros((64, 2))
    X[:, 0] = (np.arange(64, dtype=np.uint64) + np.float64(1.0).view(np.uint64)).view(np.float64)
    assert copies(X) is None
    assert copies(np.vstack([X, X[:1]])).max() == 63
    powers = 2.0 ** np.arange(-500, 500)[:, None]  # whose last 52 bits are zeros
    assert copies(powers) is None


def test_minus_zero_is_zero():
    X = numbers()
    X[0, 0] = 0.0
    again = X[:1].copy()
    again[0, 0] = -0.0
    assert copies(np.vstack([X, again]))[-1] == 0


def test_columns_of_few_values_make_equal_rows_without_a_copy():
    assert copies(np.random.default_rng(0).integers(0, 4, (500, 2)) * 1.0) is None


@pytest.mark.parametrize("share", [0.2, 1.0])
@pytest.mark.slow
def test_copies_with_their_labels_do_not_hide_wrong_ones(share):
    X, y = load_breast_cancer(return_X_y=True)
    noisy = flip_labels(y, 0.2, rng=0)
    again = np.random.default_rng(0).random(len(y)) < share
    rows, labels = np.vstack([X, X[again]]), np.concatenate([noisy, noisy[again]])
    found = estimate_noise(rows, labels)
    assert found.low <= np.mean(noisy != y) <= found.high
    model = RobustClassifierCV().fit(rows, labels)
    assert repr(model.noise_) == repr(found)
    # A row and its copy left together, so neither has seen its label, and both have one score.
    assert_allclose(model.loo_scores_[: len(y)][again], model.loo_scores_[len(y) :], atol=1e-9)


def test_copies_named_as_groups_change_nothing():
    X, y = load_breast_cancer(return_X_y=True)
    twice, labels = np.repeat(X, 2, axis=0), np.repeat(flip_labels(y, 0.1, rng=0), 2)
    alone, named = RobustClassifierCV(), RobustClassifierCV()
    named.fit(twice, labels, groups=np.repeat(np.arange(len(y)), 2))
    assert_allclose(alone.fit(twice, labels).loo_scores_, named.loo_scores_, atol=1e-12)
