"""Denoised labels, learners trained on them, blends of learners, and certified rows."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from unflip import DenoisedClassifier, RobustClassifierCV, denoise, find_suspects
from unflip.noise import ClassConditionalNoise, flip_labels
from unflip.robust.blend import fit_blend


def gaussians(n=900, apart=2.5, seed=0, k=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return rng.normal(size=(n, 4)) + apart * np.eye(4)[y], y


NOISES = {
    "one rate": (2, 0.3),
    "by class": (2, ClassConditionalNoise([0.0, 0.4])),
    "three classes": (3, 0.3),
    "a pair": (3, ClassConditionalNoise([[0.6, 0.4, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])),
}


@pytest.mark.parametrize(("k", "noise"), NOISES.values(), ids=NOISES)
def test_denoised_labels_are_nearer_to_the_clean_ones(k, noise):
    X, y = gaussians(k=k)
    noisy = flip_labels(y, noise, rng=1)
    found, clean = denoise(X, noisy), np.eye(k)[y]
    assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    assert found.min() >= 0
    assert np.mean(found.argmax(axis=1) == y) > 0.9 > np.mean(noisy == y)
    assert np.mean((found - clean) ** 2) < 0.4 * np.mean((np.eye(k)[noisy] - clean) ** 2)
    # As `find_suspects` has it: what the label keeps is the chance that it is right.
    suspects = find_suspects(X, noisy, n_neighbours=0)
    kept = found[suspects.rows, noisy[suspects.rows]]
    assert_allclose(1 - kept, suspects.probability, atol=1e-4)


def test_trusted_rows_and_unlearnable_ones_keep_their_labels():
    X, y = gaussians()
    noisy = flip_labels(y, 0.3, rng=2)
    trusted = np.arange(len(y)) < 50
    assert_allclose(denoise(X, noisy, trusted=trusted)[:50], np.eye(2)[noisy[:50]])
    nothing = np.random.default_rng(3).normal(size=(400, 3))
    labels = np.arange(400) % 2
    assert_allclose(denoise(nothing, labels), np.eye(2)[labels])


def test_any_learner_is_trained_on_them():
    X, y = gaussians(1600)
    noisy = flip_labels(y[:800], 0.3, rng=4)
    forest = RandomForestClassifier(random_state=0)
    found = DenoisedClassifier(forest).fit(X[:800], noisy)
    assert found.score(X[800:], y[800:]) > forest.fit(X[:800], noisy).score(X[800:], y[800:]) + 0.05
    frame = pd.DataFrame(X, columns=list("abcd"))
    named = DenoisedClassifier(LogisticRegression()).fit(frame[:800], np.array(["no", "yes"])[noisy])
    assert set(named.predict(frame[800:])) == {"no", "yes"}
    assert named.predict_proba(frame[800:]).shape == (800, 2)
    assert DenoisedClassifier().fit(X[:800], noisy).estimator_.min_samples_leaf == 5
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
        DenoisedClassifier(KNeighborsClassifier()).fit(X, y)


def test_the_weights_of_a_blend_do_not_mind_symmetric_noise():
    # The target of the least squares under noise is that of clean labels, scaled and moved: the same weights.
    rng = np.random.default_rng(5)
    X, y = gaussians(600, apart=1.5)
    kernels = np.clip(np.eye(2)[y] * 0.6 + 0.2 + 0.1 * rng.normal(size=(600, 1)) * [[1, -1]], 0, 1)
    clean = np.eye(2)[y]
    expected = 0.3 + 0.4 * clean  # E[indicator | clean label] at a rate of 0.3
    ways = kernels, clean, np.ones(600), np.arange(600), [GaussianNB()]
    one, other = (fit_blend(X, ways[0], ways[1], targets, *ways[2:]).weights for targets in (clean, expected))
    assert_allclose(one, other, atol=1e-9)
    assert one.sum() == pytest.approx(1)
    assert (one >= 0).all()


@pytest.mark.parametrize(("k", "noise"), [(2, 0.2), (3, ClassConditionalNoise([0.0, 0.4, 0.0]))])
def test_learners_stand_beside_the_kernels(k, noise):
    X, y = gaussians(1200, k=k)
    noisy = flip_labels(y[:700], noise, rng=6)
    found = RobustClassifierCV(estimators=[RandomForestClassifier(min_samples_leaf=5, random_state=0)])
    found.fit(X[:700], noisy)
    plain = RobustClassifierCV().fit(X[:700], noisy)
    new, truth = X[700:], y[700:]
    assert found.score(new, truth) > plain.score(new, truth) - 0.02
    chances = found.predict_proba(new)
    assert_allclose(chances.sum(axis=1), 1)
    assert (chances.argmax(axis=1) == found.predict(new)).all()
    weights, forest = found.blend_.weights, found.blend_.learners[0]
    expected = weights[0] * plain.predict_proba(new)
    if weights[1]:
        expected = expected + weights[1] * forest.predict_proba(new)
    assert_allclose(chances, expected, atol=1e-9)
    with pytest.raises(ValueError, match="fit again with"):
        found.with_noise(0.1)


@pytest.mark.parametrize("k", [2, 3])
def test_certified_rows_are_right_as_often_as_the_level_says(k):
    held, share = [], []
    for seed in range(10):
        X, y = gaussians(2000, apart=4.0, seed=seed, k=k)
        noisy = flip_labels(y, 0.15, rng=seed)
        found = find_suspects(X, noisy, n_neighbours=0).certified(max_rate=0.3)
        held.append((found.classes == y[found.rows]).mean())
        share.append(len(found.rows) / len(y))
        assert ((noisy[found.rows] == found.classes) == found.right).all()
    assert min(held) > 0.99  # classes are apart: the likely class is the clean one
    assert np.mean(share) > 0.5


def test_without_a_margin_nothing_is_certain():
    X, y = gaussians(1000, apart=0.5)
    assert len(find_suspects(X, flip_labels(y, 0.3, rng=0)).certified(max_rate=0.4).rows) == 0
    some = find_suspects(*gaussians())
    with pytest.raises(ValueError, match="max_rate lies in"):
        some.certified(max_rate=0.5)
    with pytest.raises(ValueError, match="certify all of them"):
        some.above(0.5).certified(max_rate=0.1)
