"""Probabilities by probing: against brute force over costs, peers, and known truth."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from unflip import (
    KernelSquareClassifier,
    KernelUnhingedClassifier,
    LossClassifier,
    ProbingClassifier,
    SquareClassifier,
    UnhingedClassifier,
)
from unflip.estimators.probing import weighted_means
from unflip.losses import WeightedUnhinged
from unflip.moments import accumulate
from unflip.noise import ClassConditionalNoise, SymmetricNoise, UniformNoise, flip_labels

MODELS = [UnhingedClassifier(), SquareClassifier(), KernelUnhingedClassifier(), KernelSquareClassifier()]


def logistic_problem(n, seed=0):
    """Labels whose probability is known."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    eta = 1 / (1 + np.exp(-2 * X[:, 0] - X[:, 1]))
    return X, eta, (rng.uniform(size=n) < eta).astype(int)


def test_one_set_of_class_means_holds_the_minimiser_at_every_cost():  # Appendix E.3
    X, _, y = logistic_problem(50)
    costs = [0.1, 0.5, 0.8]
    means = weighted_means(accumulate((X, y)), costs)
    for cost, mean in zip(costs, means, strict=True):
        fit = LossClassifier(WeightedUnhinged(cost), regularization=1.0, fit_intercept=False).fit(X, y)
        assert_allclose(fit.coef_, mean, rtol=1e-9)
    with pytest.raises(ValueError, match=r"between 0 and 1, got 1\.5"):
        weighted_means(accumulate((X, y)), [0.5, 1.5])


@pytest.mark.parametrize("cost", [0.1, 0.5, 0.9])
def test_about_the_weighted_mean_the_direction_does_not_depend_on_the_cost(cost):
    X, _, y = logistic_problem(50)
    plain = UnhingedClassifier().fit(X, y).coef_
    weighted = UnhingedClassifier().fit(X, y, sample_weight=np.where(y == 1, 1 - cost, cost)).coef_
    assert_allclose(weighted / np.linalg.norm(weighted), plain / np.linalg.norm(plain), rtol=1e-9)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_no_threshold_beats_the_probed_one_at_any_cost(model):
    # Row i is called positive at cost c if its probability exceeds c. Over thresholds on leave-one-out scores
    # that is the least weighted error, up to the two rows of average label that are added at the ends.
    X, _, y = logistic_problem(120)
    probing = ProbingClassifier(model).fit(X, y)
    fitted = probing.estimator_
    left = fitted.loo_scores_ if hasattr(fitted, "loo_scores_") else fitted.loo_scores(X, y)
    p = probing._levels[0].predict(np.clip(left / probing._unit, -1, 1))
    for cost in (0.15, 0.35, 0.5, 0.62, 0.85):
        charged = np.where(y == 1, 1 - cost, cost)
        error = charged[(p > cost) != y].sum()
        best = min(charged[(left > cut) != y].sum() for cut in [-np.inf, *left])
        assert error <= best + charged.max()  # no more than one of those two rows


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.slow
def test_probabilities_come_near_the_truth(model):
    X, _, y = logistic_problem(2000)
    new, eta, _ = logistic_problem(2000, seed=1)
    p = ProbingClassifier(model).fit(X, y).predict_proba(new)[:, 1]
    assert np.sqrt(np.mean((p - eta) ** 2)) < 0.07


@pytest.mark.parametrize("noise", [SymmetricNoise(0.3), ClassConditionalNoise([0.1, 0.35]), 0.3], ids=repr)
def test_with_the_noise_known_probabilities_are_those_of_clean_labels(noise):
    X, _, y = logistic_problem(20_000)
    new, eta, _ = logistic_problem(5000, seed=1)
    noisy = flip_labels(y, noise, rng=3)
    plain = ProbingClassifier().fit(X, noisy).predict_proba(new)[:, 1]
    clean = ProbingClassifier(noise=noise).fit(X, noisy).predict_proba(new)[:, 1]
    rms = lambda p: np.sqrt(np.mean((p - eta) ** 2))  # noqa: E731
    assert rms(clean) < 0.06 < 0.15 < rms(plain)


def test_several_classes_under_uniform_noise():
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [2.5, 0.0], [0.0, 2.5]])
    y = rng.integers(0, 3, 6000)
    X = centers[y] + rng.normal(size=(6000, 2))
    density = np.exp(-0.5 * ((X[:, None] - centers) ** 2).sum(axis=2))
    eta = density / density.sum(axis=1, keepdims=True)
    noise = UniformNoise(0.3, n_classes=3)
    model = ProbingClassifier(KernelSquareClassifier(n_landmarks=200), noise=noise)
    p = model.fit(X, flip_labels(y, noise, rng=1)).predict_proba(X)
    assert_allclose(p.sum(axis=1), 1.0)
    assert p.min() >= 0
    assert np.sqrt(np.mean((p - eta) ** 2)) < 0.09


def test_probabilities_never_reach_zero_or_one_and_rise_with_the_score():
    X, y = np.arange(20.0)[:, None], (np.arange(20) >= 10).astype(int)
    model = ProbingClassifier().fit(X, y)
    p = model.predict_proba(np.linspace(-100, 100, 300)[:, None])[:, 1]
    assert 0 < p.min() < 0.1 < 0.9 < p.max() < 1
    assert np.all(np.diff(p) >= 0)
    assert_array_equal(model.predict(X), y)


def test_weights_soft_labels_and_scale():
    X, eta, y = logistic_problem(300)
    weight = np.random.default_rng(1).integers(0, 3, 300).astype(float)
    with_zeros = ProbingClassifier().fit(X, y, weight)
    without = ProbingClassifier().fit(X[weight > 0], y[weight > 0], weight[weight > 0])
    assert_allclose(with_zeros.predict_proba(X), without.predict_proba(X), rtol=1e-9)
    soft = ProbingClassifier().fit(X, eta).predict_proba(X)[:, 1]
    assert np.sqrt(np.mean((soft - eta) ** 2)) < 0.03
    for size in (1e-6, 1 / 300, 1e3):  # the scale of weights is of no account
        scaled = ProbingClassifier().fit(X, y, np.full(300, size)).predict_proba(X)
        assert_allclose(scaled, ProbingClassifier().fit(X, y).predict_proba(X), rtol=1e-9)
    for factor in (1e-120, 1e120):
        scaled = ProbingClassifier().fit(X * factor, y)
        assert_allclose(
            scaled.predict_proba(X * factor), ProbingClassifier().fit(X, y).predict_proba(X), rtol=1e-6
        )


def test_bad_input_is_named_and_leaves_the_fitted_state_alone():
    X, _, y = logistic_problem(30)
    model = ProbingClassifier().fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="no exact leave-one-out scores"):
        clone(model).set_params(estimator=KernelUnhingedClassifier(compress="herding", n_support=5)).fit(X, y)
    for noise, words in ((0.7, "noise rate"), (UniformNoise(0.2, 3), "3")):
        with pytest.raises(ValueError, match=words):
            model.set_params(noise=noise).fit(X, y)
    with pytest.raises(ValueError, match="one class"):
        model.set_params(noise=None).fit(X, np.ones(30))
    assert_array_equal(model.predict_proba(X), before)
