"""Corrected after the fit: on the population, noise is undone exactly, without the rows."""

from fractions import Fraction as F

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

from unflip import (
    KernelSquareClassifier,
    LossClassifier,
    RobustClassifierCV,
    SquareClassifier,
    UnhingedClassifier,
)
from unflip.models import TableModel
from unflip.moments import Moments, accumulate
from unflip.noise import ClassConditionalNoise, NoiseEstimate, SymmetricNoise, flip_labels

TABLES = {
    2: np.array([[0.9, 0.1], [0.4, 0.6]]),
    3: np.array([[0.6, 0.4, 0.0], [0.0, 0.8, 0.2], [0.1, 0.1, 0.8]]),
}
FIXED = {  # what is tuned on labels is given, so that noisy and clean labels have the same
    "unhinged": UnhingedClassifier(),
    "unhinged, not centred": UnhingedClassifier(center=False, threshold=0.0),
    "unhinged, balanced": UnhingedClassifier(class_weight="balanced"),
    "square": SquareClassifier(regularization=0.3),
    "kernel": KernelSquareClassifier("linear", regularization=0.3),
}


def clean_rows(k, n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return rng.normal(size=(n, 3)) + 1.5 * np.eye(3)[y], y


def noisy_population(X, y, table):
    """Every row with every label, as often as noise gives it that one."""
    k = len(table)
    return np.repeat(X, k, axis=0), np.tile(np.arange(k), len(y)), table[y].ravel()


@pytest.mark.parametrize("k", TABLES)
@pytest.mark.parametrize("model", FIXED.values(), ids=FIXED)
def test_the_corrected_model_is_that_of_clean_labels(model, k):
    X, y = clean_rows(k)
    noisy, labels, weight = noisy_population(X, y, TABLES[k])
    clean = model.fit(X, y).decision_function(X)
    found = type(model)(**model.get_params()).fit(noisy, labels, sample_weight=weight)
    assert np.abs(found.decision_function(X) - clean).max() > 0.01
    corrected = found.with_noise(ClassConditionalNoise(TABLES[k]))
    assert_allclose(corrected.decision_function(X), clean, atol=1e-9)
    again = corrected.with_noise(TABLES[k])  # a plain table will do, and takes the place of the other
    assert_allclose(again.decision_function(X), clean, atol=1e-9)
    undone = corrected.with_noise(None)
    assert_allclose(undone.decision_function(X), found.decision_function(X), atol=1e-9)
    assert_allclose(
        found.decision_function(X),
        type(model)(**model.get_params()).fit(noisy, labels, sample_weight=weight).decision_function(X),
        rtol=0,
    )  # the first one stays as it was


@pytest.mark.parametrize("model", [UnhingedClassifier(), SquareClassifier(regularization=0.3)], ids=repr)
def test_corrected_scores_left_out_are_those_of_corrected_fits(model):
    X, y = clean_rows(2, n=12)
    noise = ClassConditionalNoise(TABLES[2])
    noisy = flip_labels(y, noise, rng=1)
    left = model.fit(X, noisy).with_noise(noise).loo_scores(X, noisy)
    for row in range(len(y)):
        rest = np.delete(np.arange(len(y)), row)
        alone = type(model)(**model.get_params()).fit(X[rest], noisy[rest]).with_noise(noise)
        assert_allclose(left[row], alone.decision_function(X[[row]])[0], atol=1e-9)


def test_a_corrected_model_still_learns_and_forgets():
    X, y = clean_rows(3)
    noise = ClassConditionalNoise(TABLES[3])
    whole = UnhingedClassifier().fit(X, y).with_noise(noise)
    parts = UnhingedClassifier().fit(X[:40], y[:40]).with_noise(noise)
    assert_allclose(parts.partial_fit(X[40:], y[40:]).decision_function(X), whole.decision_function(X))
    assert whole.fit(X, y).noise_ is None  # a new fit begins anew


@pytest.mark.parametrize("k", TABLES)
def test_the_flagship_is_linear_in_the_labels(k):
    X, y = clean_rows(k, n=90)
    noise = ClassConditionalNoise(TABLES[k])
    found = RobustClassifierCV(feature_weights=False, noise=None).fit(X, y)
    ensemble, numbers = found.ensemble_, found.table_.transform(X)
    noisy, labels, weight = noisy_population(numbers, y, TABLES[k])
    of_noisy = ensemble.with_sums(ensemble.summed(noisy, labels, weight))
    of_clean = ensemble.with_sums(ensemble.summed(numbers, y))
    corrected = of_noisy.with_noise(noise).score(numbers)
    assert_allclose(corrected, of_clean.mean + of_clean.away(numbers), atol=1e-8)
    assert_allclose(of_noisy.with_noise(noise).with_noise(None).score(numbers), of_noisy.score(numbers))


def test_sums_are_corrected_exactly_and_mix_with_no_others(tmp_path):
    sums = accumulate(([[1.0], [2.0], [4.0]], ["no", "yes", "yes"]))
    noise = ClassConditionalNoise([F(0), F(1, 4)])
    found = sums.with_noise(noise)
    # A quarter of the yes became no: 3/4 yes = 2, so yes = 8/3 and no = 1/3; sums 6 and 1 likewise.
    assert_allclose(found.counts, [1 / 3, 8 / 3], rtol=1e-15)
    assert_allclose(found.sums, [[-1.0], [8.0]], rtol=1e-15)
    assert found.mean == sums.mean
    found.save(tmp_path / "sums.npz")
    loaded = Moments.load(tmp_path / "sums.npz")
    assert_allclose((loaded + loaded).sums, [[-2.0], [16.0]])
    with pytest.raises(ValueError, match="add first, then correct"):
        found + sums
    with pytest.raises(ValueError, match="already"):
        found.with_noise(noise)
    with pytest.raises(ValueError, match="give class 'no' more labels than it has"):
        sums.with_noise(ClassConditionalNoise([0.0, 0.4]))
    with pytest.raises(ValueError, match="speaks of 3 classes, the sums of 2"):
        sums.with_noise(ClassConditionalNoise([0.0, 0.1, 0.1]))


@pytest.mark.parametrize("learner", ["square", "unhinged", "robust"])
def test_a_file_keeps_the_correction(learner, tmp_path):
    X, y = clean_rows(2, n=80)
    noise = ClassConditionalNoise(TABLES[2])
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "label": flip_labels(y, noise, rng=0)})
    plain = TableModel.fit(frame, "label", learner)
    found = plain.with_noise(noise)
    assert np.abs(found.scores(frame) - plain.scores(frame)).max() > 0.01
    found.save(tmp_path / "model.npz")
    loaded = TableModel.load(tmp_path / "model.npz")
    assert_allclose(loaded.scores(frame), found.scores(frame), rtol=0)
    assert loaded.history[-1].startswith("corrected for ClassConditionalNoise")
    if learner == "robust":
        assert_allclose(loaded.probabilities(frame), found.probabilities(frame))
        agree = (loaded.probabilities(frame)[:, 1] > 0.5) == (loaded.scores(frame) > 0)
        assert agree.all()
    else:  # the sums are as they were, and merge
        assert_allclose(loaded.merge(loaded).moments.counts, 2 * plain.moments.counts)


def test_what_cannot_be_corrected_says_so():
    X, y = clean_rows(2)
    frame = pl.DataFrame({"a": X[:, 0], "label": y})
    with pytest.raises(ValueError, match="not linear in the labels"):
        LossClassifier("hinge").fit(X, y).with_noise(0.1)
    with pytest.raises(ValueError, match="cannot be corrected after the fit"):
        TableModel.fit(frame, "label", "logistic").with_noise(0.1)
    with pytest.raises(ValueError, match="needs rows"):
        UnhingedClassifier(threshold="loo").fit(X, y).with_noise(0.1)
    vague = NoiseEstimate(0.3, 0.0, 0.5, 0.5, SymmetricNoise(0.3))
    with pytest.raises(ValueError, match="not identified"):
        UnhingedClassifier().fit(X, y).with_noise(vague)


@pytest.mark.parametrize(("rates", "gain"), [((0.0, 0.4), 0.03), ((0.4, 0.0), 0.03), ((0.2, 0.2), None)])
def test_by_itself_the_flagship_corrects_where_classes_differ_and_nowhere_else(rates, gain):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 1500)
    X = rng.normal(size=(1500, 4)) + 1.2 * y[:, None]
    found = RobustClassifierCV().fit(X[:1000], flip_labels(y[:1000], ClassConditionalNoise(rates), rng=4))
    plain = found.with_noise(None)
    if gain is None:
        assert found.ensemble_.noise is None
    else:
        assert found.score(X[1000:], y[1000:]) > plain.score(X[1000:], y[1000:]) + gain
        assert found.ensemble_.noise == found.noise_.noise
    assert ((found.predict_proba(X)[:, 1] > 0.5) == (found.predict(X) == 1)).all()


def test_targets_are_of_clean_labels():
    rng = np.random.default_rng(5)
    y = (rng.random(4000) < 0.15).astype(int)
    X = rng.normal(size=(4000, 2)) + 1.2 * y[:, None]
    noisy = flip_labels(y[:2000], 0.15, rng=6)
    new, truth = X[2000:], y[2000:]

    def recalls(target):
        said = RobustClassifierCV(target=target).fit(X[:2000], noisy).predict(new)
        return np.array([np.mean(said[truth == k] == k) for k in (0, 1)])

    plain, balanced = recalls("accuracy"), recalls("balanced")
    assert balanced.mean() > plain.mean() + 0.03
    assert abs(balanced[0] - balanced[1]) < abs(plain[0] - plain[1])
    assert_allclose(recalls([[0.0, 1.0], [1.0, 0.0]]), plain, atol=0.01)  # all mistakes cost alike
    assert recalls([[0.0, 1.0], [50.0, 0.0]])[1] > balanced[1]  # a missed one is dear
    with pytest.raises(ValueError, match="costs of the shape"):
        RobustClassifierCV(target=[[0.0, 1.0]]).fit(X, y)
