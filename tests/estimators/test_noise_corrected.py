"""The noise-corrected loss: on average over the noise it must be the clean loss, and nothing less."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit
from sklearn.preprocessing import StandardScaler

from unflip import LossClassifier, SquareClassifier
from unflip.estimators.noise_corrected import NoiseCorrectedClassifier
from unflip.losses import Hinge, Logistic, Square, Unhinged, noise_corrected
from unflip.noise import ClassConditionalNoise, SymmetricNoise, UniformNoise, flip_labels

LOSSES = [Logistic(), Square()]
losses = pytest.mark.parametrize("loss", LOSSES, ids=repr)
TABLE = [[0.7, 0.2, 0.1], [0.0, 0.9, 0.1], [0.25, 0.05, 0.7]]
NOISES = [
    SymmetricNoise(0.3),
    SymmetricNoise(Fraction(1, 5)),
    ClassConditionalNoise([0.1, 0.4]),
    ClassConditionalNoise([0.35, 0.0]),
    UniformNoise(0.4, n_classes=3),
    ClassConditionalNoise([0.1, 0.2, 0.3]),
    ClassConditionalNoise(TABLE),
]


def make_data(n_classes=2, n=200, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    return rng.normal(size=(n_classes, d))[y] + rng.normal(size=(n, d)), y


def make_logistic(n, scale=3.0, seed=0):
    """Rows whose clean probability is logistic in the first column and a half more."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    p = expit(scale * X[:, 0] + 0.5)
    return X, (rng.uniform(size=n) < p).astype(int), p


def make_population(n_classes, seed=0):
    """Twelve points, their masses and the clean class probabilities there."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(12, 3)), rng.dirichlet(np.ones(12)), rng.dirichlet(np.ones(n_classes), size=12)


def as_rows(points, masses, probabilities):
    """A population as weighted rows with hard labels."""
    n_classes = probabilities.shape[1]
    weight = (masses[:, None] * probabilities).T.ravel()
    return np.vstack([points] * n_classes), np.repeat(np.arange(n_classes), len(points)), weight


# The claim: noisy labels, corrected, give the clean minimiser


@losses
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_on_the_noisy_population_the_clean_minimiser_is_found(noise, intercept, loss):  # Equation 5
    points, masses, eta = make_population(noise.n_classes)
    noisy = eta @ noise.transition.astype(float)
    options = {"regularization": 1e-3, "fit_intercept": intercept}
    X, y, weight = as_rows(points, masses, eta)
    clean = LossClassifier(loss, **options).fit(X, y, sample_weight=weight)
    X, y, weight = as_rows(points, masses, noisy)
    model = NoiseCorrectedClassifier(loss, noise, **options).fit(X, y, sample_weight=weight)
    assert_allclose(model.coef_, clean.coef_, atol=1e-6)
    assert_allclose(model.intercept_, clean.intercept_, atol=1e-6)
    # Without correction another scorer is found, so the agreement says something.
    plain = LossClassifier(loss, **options).fit(X, y, sample_weight=weight)
    assert np.abs(plain.coef_ - clean.coef_).max() > 1e-2
    assert model.noise_ is noise
    assert model.noise_estimate_ is None
    assert model.certificate_.met


def test_two_classes_have_the_corrected_label_of_the_formula():  # Equation 10
    # (y - (r0 - r1)) / (1 - r0 - r1) by hand: for the square loss, least squares on just these numbers.
    X, y = make_data()
    r0, r1 = 0.1, 0.3
    target = (2 * y - 1 - (r0 - r1)) / (1 - r0 - r1)
    noise = ClassConditionalNoise([r0, r1])
    model = NoiseCorrectedClassifier("square", noise, regularization=1e-12).fit(X, y)
    design = np.column_stack([X, np.ones(len(X))])
    expected = np.linalg.lstsq(design, target, rcond=None)[0]
    assert_allclose(np.append(model.coef_, model.intercept_), expected, rtol=1e-8)


# Against what the library has already


@losses
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("rho", [0.05, 0.2, 0.4])
def test_symmetric_noise_is_the_corrected_loss_of_equation_4(rho, intercept, loss):  # Equation 4
    X, y = make_data()
    options = {"regularization": 1e-2, "fit_intercept": intercept}
    model = NoiseCorrectedClassifier(loss, rho, **options).fit(X, y)
    expected = LossClassifier(noise_corrected(loss, rho), **options).fit(X, y)
    assert_allclose(model.decision_function(X), expected.decision_function(X), rtol=1e-7, atol=1e-9)
    assert model.noise_ == SymmetricNoise(rho)


@losses
@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_noise_it_is_the_plain_loss(n_classes, loss):
    X, y = make_data(n_classes)
    model = NoiseCorrectedClassifier(loss, noise=0.0).fit(X, y)
    expected = LossClassifier(loss).fit(X, y)
    assert_allclose(model.decision_function(X), expected.decision_function(X), rtol=1e-9, atol=1e-12)
    assert model.certificate_.kind == expected.certificate_.kind == "optimality"


def test_the_square_loss_is_corrected_by_a_factor_on_the_centred_scores():
    X, y = make_data()
    model = NoiseCorrectedClassifier("square", 0.3, regularization=0.4).fit(X, y)
    ridge = SquareClassifier(regularization=0.2 * X.var(axis=0).mean()).fit(X, y)
    assert_allclose(model.coef_, ridge.coef_ / 0.4, rtol=1e-9)


def test_many_columns_take_the_other_road_to_the_same_place():
    X, y = make_data(d=320)
    noise = ClassConditionalNoise([0.1, 0.3])
    model = NoiseCorrectedClassifier(noise=noise, regularization=0.1, fit_intercept=False).fit(X, y)
    assert model.certificate_.method == "l-bfgs"
    assert (model.certificate_.kind, model.certificate_.met) == ("optimality", True)


# Probabilities


@pytest.mark.parametrize("noise", [SymmetricNoise(0.3), ClassConditionalNoise([0.4, 0.1])], ids=repr)
@pytest.mark.slow
def test_probabilities_come_near_the_truth_where_plain_logistic_ones_do_not(noise):
    X, y, p = make_logistic(20_000)
    noisy = flip_labels(y, noise, np.random.default_rng(1))
    model = NoiseCorrectedClassifier(noise=noise).fit(X, noisy)
    plain = LossClassifier().fit(X, noisy)
    assert np.abs(model.predict_proba(X)[:, 1] - p).mean() < 0.04
    assert np.abs(expit(plain.decision_function(X)) - p).mean() > 0.12


@pytest.mark.slow
def test_probabilities_of_several_classes_come_near_the_truth():
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 2.0], [2.0, 0.0], [-2.0, -2.0]])
    y = rng.integers(0, 3, 20_000)
    X = centers[y] + rng.normal(size=(len(y), 2))
    truth = np.exp(X @ centers.T - (centers**2).sum(axis=1) / 2)
    truth /= truth.sum(axis=1, keepdims=True)
    noise = UniformNoise(0.4, 3)
    noisy = flip_labels(y, noise, np.random.default_rng(1))
    model = NoiseCorrectedClassifier(noise=noise).fit(X, noisy)
    # One against the rest is not quite logistic here, so some error stays however many rows there are.
    assert np.abs(model.predict_proba(X) - truth).mean() < 0.04
    assert np.mean(model.predict(X) == truth.argmax(axis=1)) > 0.97


@losses
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_sum_to_one_and_put_the_predicted_class_first(n_classes, loss):
    X, y = make_data(n_classes)
    for intercept in (True, False):
        model = NoiseCorrectedClassifier(loss, 0.2, fit_intercept=intercept).fit(X, y)
        for factor in (1e-20, 1.0, 1e3, 1e200, 1e307):  # ties, saturation, overflow of the scores
            p = model.predict_proba(X * factor)
            assert p.shape == (len(X), n_classes)
            assert np.all((p >= 0) & (p <= 1))
            assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
            if factor < 1e300:
                assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X * factor))


def test_two_classes_have_the_sigmoid_of_the_score_and_half_of_one_plus_it():
    X, y = make_data()
    logistic = NoiseCorrectedClassifier(noise=0.1).fit(X, y)
    expected = expit(logistic.decision_function(X))
    assert_allclose(logistic.predict_proba(X)[:, 1], expected, rtol=1e-12, atol=1e-300)
    square = NoiseCorrectedClassifier("square", noise=0.1).fit(X, y)
    expected = np.clip((1 + square.decision_function(X)) / 2, 0, 1)
    assert_allclose(square.predict_proba(X)[:, 1], expected, rtol=1e-12, atol=1e-15)


# The rate, when nobody tells it


@pytest.mark.parametrize("rho", [0.0, 0.2, 0.35])
@pytest.mark.slow
def test_an_unknown_rate_is_found_within_its_interval(rho):
    X, y, p = make_logistic(2000, scale=8.0)
    noisy = flip_labels(y, SymmetricNoise(rho), np.random.default_rng(1))
    model = NoiseCorrectedClassifier().fit(X, noisy)
    found = model.noise_estimate_
    assert found.low <= rho <= found.high
    assert model.noise_ == SymmetricNoise(found.rate)
    plain = expit(LossClassifier().fit(X, noisy).decision_function(X))
    error = np.abs(model.predict_proba(X)[:, 1] - p).mean()
    assert error < 0.03 if rho == 0 else error < np.abs(plain - p).mean() / 2


@pytest.mark.slow
def test_the_rate_of_several_classes_is_found_in_any_unit():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 900)
    X = 4 * np.array([[0.0, 1.0], [1.0, 0.0], [-1.0, -1.0]])[y] + rng.normal(size=(900, 2))
    noisy = flip_labels(y, UniformNoise(0.3, 3), np.random.default_rng(1))
    model = NoiseCorrectedClassifier().fit(X, noisy)
    assert isinstance(model.noise_, UniformNoise)
    assert model.noise_estimate_.low <= 0.3 <= model.noise_estimate_.high
    stretched = NoiseCorrectedClassifier().fit(X * [1e-9, 1e30] + [1e-3, 0.0], noisy)
    assert stretched.noise_.rate == pytest.approx(model.noise_.rate, abs=1e-6)
    thin = NoiseCorrectedClassifier().fit(sparse.csr_array(X), noisy)
    assert thin.noise_.rate == pytest.approx(model.noise_.rate, abs=1e-6)


@pytest.mark.slow
def test_of_many_rows_some_are_drawn_and_labels_have_no_say_in_it(monkeypatch):
    from unflip.estimators import noise_corrected

    X, y, _ = make_logistic(600, scale=8.0)
    seen = []
    original = noise_corrected.KernelSquareClassifier.fit

    def spy(self, rows, labels, sample_weight):
        seen.append(rows)
        return original(self, rows, labels, sample_weight)

    monkeypatch.setattr(noise_corrected.KernelSquareClassifier, "fit", spy)
    monkeypatch.setattr(noise_corrected, "ENOUGH_ROWS", 400)
    for labels in (y, 1 - y):
        NoiseCorrectedClassifier().fit(X, labels, sample_weight=np.r_[0.0, np.ones(599)])
    assert seen[0].shape == (400, 3)
    assert_array_equal(seen[0], seen[1])


def test_an_estimate_beyond_the_class_counts_is_lowered(monkeypatch):
    # Were all rows of the rare class wrong, there would be one clean class, and no best intercept.
    from unflip.estimators import noise_corrected
    from unflip.noise import NoiseEstimate

    found = NoiseEstimate(0.3, 0.1, 0.4, 0.45, SymmetricNoise(0.3))
    monkeypatch.setattr(noise_corrected, "_estimate", lambda batch: found)
    X, y, _ = make_logistic(400, scale=1.0)
    rare = np.r_[np.flatnonzero(y == 1), np.flatnonzero(y == 0)[:30]]
    model = NoiseCorrectedClassifier().fit(X[rare], y[rare])
    assert model.noise_estimate_ is found
    share = np.mean(y[rare] == 0)
    assert 0 < model.noise_.rate < share < 0.3
    assert model.noise_.restore(1 - share) == pytest.approx(1 - 0.1 * share)
    assert np.isfinite(model.intercept_)


# The border


@pytest.mark.parametrize("noise", [None, 0.2], ids=["unknown", "known"])
@pytest.mark.slow
def test_labels_rows_and_features_come_as_they_like(noise):
    X, y = make_data(n=150)
    expected = NoiseCorrectedClassifier(noise=noise).fit(X, y)
    names = np.array(["ape", "bee"])[y]
    frame = pd.DataFrame(X, columns=list("abc"))
    for rows, labels in ((frame, names), (sparse.csr_array(X), pd.Series(names)), (X, np.eye(2)[y])):
        model = NoiseCorrectedClassifier(noise=noise).fit(rows, labels)
        assert_allclose(model.predict_proba(rows), expected.predict_proba(X), atol=1e-6)
        assert_array_equal(model.predict(rows) == model.classes_[1], expected.predict(X) == 1)
    inside = NoiseCorrectedClassifier(noise=noise, features=StandardScaler()).fit(X, y)
    outside = NoiseCorrectedClassifier(noise=noise).fit(StandardScaler().fit_transform(X), y)
    assert_allclose(inside.coef_, outside.coef_, rtol=1e-6)


def test_soft_labels_and_weights_are_rows_in_parts():
    X, y = make_data(n=80)
    certainty = np.random.default_rng(2).choice([0.0, 0.25, 0.5, 1.0], len(y))
    noise = ClassConditionalNoise([0.05, 0.15])
    soft = NoiseCorrectedClassifier(noise=noise).fit(X, certainty)
    weight = np.concatenate([1 - certainty, certainty])
    pair = NoiseCorrectedClassifier(noise=noise).fit(
        np.vstack([X, X]), np.repeat([0, 1], len(y)), sample_weight=weight
    )
    assert_allclose(soft.coef_, pair.coef_, rtol=1e-6)
    # Soft labels without a given rate, too.
    assert 0 <= NoiseCorrectedClassifier().fit(X, 0.9 * y + 0.05).noise_.rate < 0.5


@losses
def test_a_common_factor_and_an_offset_do_not_change_the_probabilities(loss):
    X, y = make_data()
    expected = NoiseCorrectedClassifier(loss, 0.2).fit(X, y).predict_proba(X)
    for there in (X * 1e-150, X * 1e150, X + 1e6):
        model = NoiseCorrectedClassifier(loss, 0.2).fit(there, y)
        assert_allclose(model.predict_proba(there), expected, atol=1e-5)


BAD = {
    "rate of a half": ({"noise": 0.5}, 2, r"symmetric noise rate lies in \[0, 1/2\), got 0.5"),
    "rate below zero": ({"noise": -0.1}, 2, "got -0.1"),
    "rate that is no number": ({"noise": float("nan")}, 2, "got nan"),
    "rate for three classes": ({"noise": 2 / 3}, 3, r"over 3 classes lies in \[0, 2/3\)"),
    "noise of two classes": ({"noise": SymmetricNoise(0.2)}, 3, "speaks of 2 classes, the labels of 3"),
    "noise of three classes": ({"noise": UniformNoise(0.2, 3)}, 2, "speaks of 3 classes, the labels of 2"),
    "noise by name": ({"noise": "symmetric"}, 2, "'noise' parameter"),
    "hinge": ({"loss": "hinge"}, 2, r"Hinge\(\) is not convex once corrected.*'logistic' or 'square'"),
    "hinge as a loss": ({"loss": Hinge(), "noise": 0.1}, 2, r"LossClassifier\(noise_corrected"),
    "unhinged": ({"loss": Unhinged()}, 2, "nothing to correct; use UnhingedClassifier"),
    "corrected already": ({"loss": noise_corrected("logistic", 0.1)}, 2, "is not one to correct"),
    "no such loss": ({"loss": "cross_entropy"}, 2, "'loss' parameter"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_parameters_are_named_and_leave_the_fitted_state_alone(case):
    parameters, n_classes, message = BAD[case]
    X, y = make_data(n_classes)
    model = NoiseCorrectedClassifier(noise=0.1).fit(X, y)
    before = dict(vars(model))
    model.set_params(**parameters)
    with pytest.raises(ValueError, match=f"(?s){message}"):
        model.fit(X, y)
    assert {**vars(model), **{name: before[name] for name in parameters}} == before


def test_counts_that_no_clean_labels_explain_are_refused_if_there_is_no_minimum():
    X, y = make_data(n=100)
    y = np.where(np.arange(100) < 10, "rare", "usual")
    with pytest.raises(ValueError, match=r"class 'rare' has 0.1 of the labels.*rate=0.2.*loss='square'"):
        NoiseCorrectedClassifier(noise=0.2).fit(X, y)
    with pytest.raises(ValueError, match="class 'rare'"):  # just so many: the infimum is at infinity
        NoiseCorrectedClassifier(noise=0.1).fit(X, y)
    for way_out in ({"loss": "square"}, {"fit_intercept": False}):
        assert NoiseCorrectedClassifier(noise=0.2, **way_out).fit(X, y).certificate_.met
    # So is a class that only rows without weight have: noise would have made some.
    three = np.append(y[:-1], "gone")
    with pytest.raises(ValueError, match="class 'gone' has 0 of the labels"):
        NoiseCorrectedClassifier(noise=0.1).fit(X, three, sample_weight=np.r_[np.ones(99), 0.0])


def test_labels_that_are_coins_bring_a_warning():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
    with pytest.warns(UserWarning, match="hardly better than guessing.*give the rate as `noise`"):
        NoiseCorrectedClassifier().fit(X, y)


def test_rows_from_which_no_rate_can_be_estimated_are_named():
    with pytest.raises(ValueError, match="give it as `noise`: all rows are equal"):
        NoiseCorrectedClassifier().fit(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
    given = NoiseCorrectedClassifier(noise=0.1).fit(np.ones((6, 2)), [0, 1] * 3)
    assert_allclose(given.predict_proba([[1.0, 1.0]]), 0.5)


def test_a_class_that_no_row_looked_at_has_is_not_said_to_be_missing_from_all():
    X = np.arange(10_001.0)[:, None]
    with pytest.raises(ValueError, match=r"estimated from 5000 of the rows.*rows of one class, 0"):
        NoiseCorrectedClassifier().fit(X, [1] + [0] * 10_000)
