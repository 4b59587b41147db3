"""Corrected scores with their doubt: coverage on problems whose clean score is known by a formula.

Two Gaussian classes around -d and +d, scored by x + shift: the accuracy on clean labels is a mean of two
normal probabilities, and the AUC one more. So the truth owes nothing to the library.
"""

import dataclasses
import pickle
from functools import cache
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import beta, norm, spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV, cross_validate
from sklearn.neighbors import KNeighborsClassifier

from unflip.noise import (
    ClassConditionalNoise,
    NoiseEstimate,
    ScoreEstimate,
    SymmetricNoise,
    UniformNoise,
    clean_accuracy,
    clean_auc,
    clean_balanced_accuracy,
    clean_score_interval,
    clean_scorer,
    flip_labels,
    rate_from_scores,
)
from unflip.noise.estimate import NO_SIGNAL
from unflip.noise.scorers import METRICS

GIVEN = NoiseEstimate(0.2, 0.15, 0.26, 0.31, SymmetricNoise(0.2))


def problem(n, d, rng, positives=0.5):
    y = (rng.random(n) < positives).astype(int)
    return rng.normal(size=n) + d * (2 * y - 1), y


def truth(metric, d, shift, positives=0.5):
    """The clean score of the scorer x + shift, for classes around -d and +d."""
    right = np.array([norm.cdf(d - shift), norm.cdf(d + shift)])
    if metric == "accuracy":
        return float(right @ [1 - positives, positives])
    return float(right.mean()) if metric == "balanced_accuracy" else float(norm.cdf(2 * d / np.sqrt(2)))


def seen(metric, scores):
    return scores if metric == "roc_auc" else (scores > 0).astype(int)


@cache
def draws_with_estimated_rates():
    """3 overlaps x 2 sizes x 5 rates x 2 draws, the same for all metrics: overlap, scores, labels, rate."""
    found = []
    for d, n, rate, draw in product((2.0, 1.3, 0.9), (300, 1500), (0.0, 0.05, 0.1, 0.2, 0.3), range(2)):
        rng = np.random.default_rng([int(10 * d), n, int(100 * rate), draw])
        scores, y = problem(n, d, rng)
        noisy = flip_labels(y, rate, rng)
        found.append((d, scores, noisy, rate_from_scores(scores, noisy)))
    return found


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.slow
@pytest.mark.xdist_group("draws with estimated rates")
def test_the_interval_covers_the_clean_score_when_the_rate_is_estimated(metric):
    # The rate comes from the same rows, which is what users do.
    covered, width = [], []
    for d, scores, noisy, estimate in draws_with_estimated_rates():
        if not estimate.identified:
            continue  # refused, as tested below
        found = clean_score_interval(metric, noisy, seen(metric, scores + 0.3), estimate)
        assert 0 <= found.low <= found.estimate <= found.high <= 1
        covered.append(found.low <= truth(metric, d, 0.3) <= found.high)
        width.append(found.high - found.low)
    assert len(covered) >= 50
    assert np.mean(covered) >= 0.85
    assert np.mean(width) < 0.25  # covering by saying nothing would not count


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("positives", [0.5, 0.2])
@pytest.mark.slow
def test_with_a_known_rate_the_interval_covers_about_as_often_as_it_says(metric, positives):
    covered = []
    for draw in range(60):
        rng = np.random.default_rng([17, draw])
        scores, y = problem(600, 1.0, rng, positives)
        noisy = flip_labels(y, 0.1, rng)
        found = clean_score_interval(metric, noisy, seen(metric, scores + 0.3), 0.1, rng=rng)
        covered.append(found.low <= truth(metric, 1.0, 0.3, positives) <= found.high)
    assert 0.8 <= np.mean(covered) <= 0.98


@pytest.mark.parametrize("metric", METRICS)
def test_with_a_known_rate_and_many_rows_the_interval_closes_on_the_truth(metric):
    rng = np.random.default_rng(1)
    scores, y = problem(400_000, 1.0, rng, 0.3)
    noisy = flip_labels(y, 0.3, rng)
    found = clean_score_interval(
        metric, noisy, seen(metric, scores + 0.3), SymmetricNoise(0.3), confidence=0.99
    )
    assert found.low <= truth(metric, 1.0, 0.3, 0.3) <= found.high
    assert found.high - found.low < 0.03


@pytest.mark.parametrize("metric", METRICS)
def test_an_estimate_leaves_more_doubt_than_a_known_rate_however_many_the_rows(metric):
    rng = np.random.default_rng(2)
    scores, y = problem(50_000, 1.0, rng, 0.4)
    noisy = flip_labels(y, 0.2, rng)
    given = seen(metric, scores)
    known, found = (clean_score_interval(metric, noisy, given, noise) for noise in (0.2, GIVEN))
    assert known.noisy == found.noisy
    assert_allclose(known.estimate, found.estimate, rtol=1e-12)
    correct = {
        "accuracy": lambda rate: clean_accuracy(found.noisy, rate),
        "balanced_accuracy": lambda rate: clean_balanced_accuracy(found.noisy, rate, noisy.mean()),
        "roc_auc": lambda rate: clean_auc(found.noisy, rate, noisy.mean()),
    }[metric]
    low, high = correct(GIVEN.low), min(correct(GIVEN.high), 1)
    assert found.low <= low < known.low < known.high < high <= found.high
    # With so many rows nearly all doubt is the rate's.
    assert found.high - found.low < 1.1 * (high - low)


def test_the_widened_low_end_of_the_rate_reaches_the_score():
    rng = np.random.default_rng(3)
    scores, y = problem(2000, 2.0, rng)
    noisy = flip_labels(y, 0.2, rng)
    estimate = rate_from_scores(scores, noisy)
    assert estimate.low > 0.1
    wider = dataclasses.replace(estimate, low=0.0)
    found = clean_score_interval("accuracy", noisy, scores > 0, wider)
    assert found.low <= found.noisy  # a rate of zero is admitted, and corrects nothing
    assert found.low < clean_score_interval("accuracy", noisy, scores > 0, estimate).low


def test_the_accuracy_of_clean_labels_has_jeffreys_interval():
    y, predicted = np.repeat([0, 1], 100), np.repeat([0, 1, 0, 1], [90, 10, 20, 80])
    found = clean_score_interval("accuracy", y, predicted, 0.0, confidence=0.8)
    assert (found.estimate, found.noisy) == (0.85, 0.85)
    assert_allclose([found.low, found.high], beta.ppf([0.1, 0.9], 170.5, 30.5), atol=0.003)


def test_the_noisy_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(4)
    scores, y = problem(500, 0.5, rng, 0.3)
    scores = scores.round(1)  # with ties
    weight = rng.integers(0, 3, size=500)
    for metric, expected in (
        ("balanced_accuracy", balanced_accuracy_score(y, scores > 0, sample_weight=weight)),
        ("roc_auc", roc_auc_score(y, scores, sample_weight=weight)),
    ):
        found = clean_score_interval(metric, y, seen(metric, scores), 0.05, sample_weight=weight)
        assert_allclose(found.noisy, expected, rtol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("noise", [GIVEN, 0.1], ids=["estimated", "known"])
def test_a_weight_counts_as_so_many_rows(metric, noise):
    rng = np.random.default_rng(5)
    scores, y = problem(300, 0.8, rng)
    weight = rng.integers(0, 4, size=300)
    given = seen(metric, scores)
    one = clean_score_interval(metric, y, given, noise, sample_weight=weight)
    two = clean_score_interval(metric, np.repeat(y, weight), np.repeat(given, weight), noise)
    assert_allclose(dataclasses.astuple(one), dataclasses.astuple(two), rtol=1e-9)


@pytest.mark.parametrize("metric", METRICS)
def test_the_estimate_is_what_the_scorer_says_but_clipped(metric):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(400, 2))
    y = np.array(["ham", "spam"])[(X[:, 0] + rng.normal(size=400) > 0.5).astype(int)]
    model = LogisticRegression().fit(X, y)
    given = model.decision_function(X) if metric == "roc_auc" else model.predict(X)
    noisy = flip_labels(y, 0.1, 6)
    found = clean_score_interval(metric, noisy, given, 0.1)
    assert_allclose(found.estimate, clean_scorer(metric, 0.1)(model, X, noisy), rtol=1e-12)
    clipped = clean_score_interval(metric, y, y == "spam" if metric == "roc_auc" else y, 0.1)
    assert (clipped.estimate, clipped.high, clipped.noisy) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("metric", METRICS)
def test_a_perfect_score_of_few_rows_is_not_certain(metric):
    # Ten of ten in each class: Jeffreys' lower 5 % for ten of ten is 0.83, for twenty of twenty 0.91.
    y = np.repeat([0, 1], 10)
    found = clean_score_interval(metric, y, y, 0.0)
    assert 0.8 < found.low < 0.95
    assert found.high == 1.0


@pytest.mark.slow
def test_more_than_two_classes_of_any_size_are_understood_under_uniform_noise():
    covered = []
    for draw in range(20):
        rng = np.random.default_rng([18, draw])
        y = rng.choice(3, size=1500, p=[0.6, 0.25, 0.15])
        recall = np.array([0.95, 0.8, 0.6])
        predicted = np.where(rng.random(1500) < recall[y], y, (y + 1) % 3)
        noisy = flip_labels(y, UniformNoise(0.2, 3), rng)
        estimate = NoiseEstimate(0.2, 0.18, 0.22, 0.4, UniformNoise(0.2, 3))
        for metric, value in (("accuracy", recall @ [0.6, 0.25, 0.15]), ("balanced_accuracy", recall.mean())):
            found = clean_score_interval(metric, noisy, predicted, estimate)
            covered.append(found.low <= value <= found.high)
    assert np.mean(covered) >= 0.85


def test_class_conditional_noise_that_is_known_is_undone():
    rng = np.random.default_rng(7)
    noise = ClassConditionalNoise([0.05, 0.3])
    scores, y = problem(100_000, 1.0, rng, 0.4)
    noisy = flip_labels(y, noise, rng)
    for metric in METRICS:
        found = clean_score_interval(metric, noisy, seen(metric, scores), noise, confidence=0.99)
        assert found.low <= truth(metric, 1.0, 0.0, 0.4) <= found.high
        assert found.high - found.low < 0.03


@pytest.mark.parametrize("metric", METRICS)
def test_the_doubt_of_rates_by_class_goes_into_the_interval(metric):
    rng = np.random.default_rng(8)
    noise = ClassConditionalNoise([0.1, 0.3])
    scores, y = problem(4000, 1.3, rng)
    noisy = flip_labels(y, noise, rng)
    estimate = NoiseEstimate(0.2, 0.16, 0.24, 0.31, noise)
    given = seen(metric, scores + 0.3)
    known, doubtful = (clean_score_interval(metric, noisy, given, each) for each in (noise, estimate))
    assert doubtful.low <= truth(metric, 1.3, 0.3) <= doubtful.high
    assert doubtful.high - doubtful.low > 1.5 * (known.high - known.low)


def test_rates_that_cannot_have_given_these_labels_are_left_out():
    # A quarter is positive, so the rate is below a quarter; the estimate alone would admit 0.26.
    rng = np.random.default_rng(8)
    scores, y = problem(3000, 1.5, rng, 0.08)
    noisy = flip_labels(y, 0.2, rng)
    assert 0.22 < noisy.mean() < 0.27
    for metric in METRICS[1:]:
        found = clean_score_interval(metric, noisy, seen(metric, scores), GIVEN)
        assert 0 <= found.low <= truth(metric, 1.5, 0.0) <= found.high <= 1
        with pytest.raises(ValueError, match="share"):
            clean_score_interval(metric, noisy, seen(metric, scores), 0.3)


@pytest.mark.parametrize("metric", METRICS)
def test_the_seed_decides_and_hardly_matters(metric):
    rng = np.random.default_rng(9)
    scores, y = problem(500, 1.0, rng)
    noisy = flip_labels(y, 0.2, rng)
    given = seen(metric, scores)
    one, two, three = (clean_score_interval(metric, noisy, given, GIVEN, rng=seed) for seed in (0, 0, 1))
    assert one == two != three
    assert_allclose(dataclasses.astuple(one), dataclasses.astuple(three), atol=0.02)
    narrow = clean_score_interval(metric, noisy, given, GIVEN, confidence=0.5)
    assert one.low < narrow.low < narrow.estimate < narrow.high <= one.high  # both may end at 1


@pytest.mark.parametrize(
    "estimate",
    [
        dataclasses.replace(GIVEN, warnings=(NO_SIGNAL,)),
        dataclasses.replace(GIVEN, high=0.495),
        NoiseEstimate(0.5, 0.2, 0.665, 0.7, UniformNoise(0.5, 3)),
    ],
    ids=["no signal", "two classes", "three classes"],
)
def test_a_rate_that_is_not_identified_corrects_nothing(estimate):
    message = (
        "the noise rate is not identified, so no score can be corrected for it: NoiseEstimate.*carry nothing"
    )
    with pytest.raises(ValueError, match=message):
        clean_scorer("accuracy", estimate)
    y = np.arange(10) % estimate.noise.n_classes
    with pytest.raises(ValueError, match=message):
        clean_score_interval("accuracy", y, y, estimate)


def test_coins_correct_nothing():
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=400), rng.integers(2, size=400)
    with pytest.raises(ValueError, match="not identified"):
        clean_score_interval("roc_auc", y, scores, rate_from_scores(scores, y))


@pytest.mark.parametrize(
    ("metric", "y", "predicted", "options", "message"),
    [
        ("f1", [0, 1], [0, 1], {}, "metric is one of accuracy, balanced_accuracy, roc_auc, got 'f1'"),
        (
            "accuracy",
            [0, 1],
            [0, 1],
            {"confidence": 1.0},
            "confidence lies strictly between 0 and 1, got 1.0",
        ),
        ("accuracy", [0, 1], [0, 1], {"confidence": np.nan}, "confidence lies strictly"),
        ("accuracy", [0, 1], [0, 1, 1], {}, "there are 3 answers for 2 labels"),
        ("roc_auc", [0, 1], [[0.1, 0.9], [0.2, 0.8]], {}, r"scores form one column, got .* \(2, 2\)"),
        ("accuracy", [[0, 1]], [0, 1], {}, r"labels form one column, got .* \(1, 2\)"),
        ("accuracy", [0, 1], [0.3, 0.8], {}, r"the answer 0.3 is not among the classes \[0, 1\]"),
        ("accuracy", [0, 1], ["0", "1"], {}, r"the answer '0' is not among the classes \[0, 1\]"),
        ("accuracy", [0, 5], [0, 1], {"classes": [0, 1]}, r"the label 5 is not among the classes \[0, 1\]"),
        ("accuracy", [1, 1], [1, 1], {}, r"labels of at least two classes are needed, got \[1\]"),
        ("accuracy", [], [], {}, r"labels of at least two classes are needed, got \[\]"),
        ("roc_auc", [0, 1, 2], [0.1, 0.2, 0.3], {}, "the AUC is corrected for two classes"),
        ("roc_auc", [0, 1, 1], [0.1, np.nan, 0.3], {}, "the score of row 1 is nan; scores are finite"),
        ("roc_auc", [0, 0], [0.1, 0.3], {"classes": [0, 1]}, "the AUC needs rows of both classes"),
        ("accuracy", [0, 1], [0, 1], {"sample_weight": [1, -1]}, "sample_weight is -1.0 in row 1"),
        ("accuracy", [0, 1, 2], [0, 1, 2], {"noise": GIVEN}, "speaks of 2 classes, the labels of 3"),
        ("accuracy", [0, 1], [0, 1], {"noise": 0.5}, "a symmetric noise rate lies in"),
    ],
)
def test_what_cannot_be_scored_is_refused_by_name(metric, y, predicted, options, message):
    with pytest.raises(ValueError, match=message):
        clean_score_interval(metric, y, predicted, options.pop("noise", 0.1), **options)


def test_a_class_that_the_labels_lack_can_be_named():
    y, predicted = np.repeat([0, 1], 50), np.repeat([0, 1, 2], [50, 40, 10])
    found = clean_score_interval("accuracy", y, predicted, 0.3, classes=[0, 1, 2])
    assert_allclose(found.noisy, 0.9)
    assert found == clean_score_interval("accuracy", y, predicted, UniformNoise(0.3, 3), classes=[0, 1, 2])


def test_a_score_estimate_is_a_frozen_value():
    found = ScoreEstimate(0.9, 0.8, 0.95, 0.7)
    assert pickle.loads(pickle.dumps(found)) == found
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.low = 0.0


# A scorer made from an estimate, inside scikit-learn.


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=600) > 0).astype(int)
    noisy = flip_labels(y, 0.2, rng)
    honest = LogisticRegression().fit(X[:300], noisy[:300]).decision_function(X[300:])
    return X, noisy, rate_from_scores(honest, noisy[300:])


@pytest.mark.parametrize("metric", METRICS)
def test_an_estimate_makes_the_scorer_of_its_likeliest_rate(metric, rows):
    X, noisy, estimate = rows
    scorer = clean_scorer(metric, estimate)
    assert scorer == clean_scorer(metric, SymmetricNoise(estimate.rate))
    assert pickle.loads(pickle.dumps(scorer)) == scorer
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 9, 49]}, cv=3, scoring=scorer)
    assert search.fit(X, noisy).best_params_["n_neighbors"] > 1
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))


def test_cross_validation_and_threshold_tuning_take_scorers_of_an_estimate(rows):
    X, noisy, estimate = rows
    scoring = {metric: clean_scorer(metric, estimate) for metric in METRICS}
    result = cross_validate(LogisticRegression(), X, noisy, cv=3, scoring=scoring, error_score="raise")
    for metric in METRICS:
        assert np.mean(result[f"test_{metric}"]) > 0.8
    plain = cross_validate(LogisticRegression(), X, noisy, cv=3, scoring="accuracy")["test_score"]
    assert_allclose(result["test_accuracy"], clean_accuracy(plain, estimate.noise), rtol=1e-12)


def test_a_threshold_tuned_by_the_corrected_accuracy_is_the_one_of_the_noisy_accuracy(rows):
    # The one is an increasing function of the other.
    X, noisy, estimate = rows

    def tuned(scoring):
        return TunedThresholdClassifierCV(LogisticRegression(), scoring=scoring, cv=3, thresholds=25).fit(
            X, noisy
        )

    clean, plain = tuned(clean_scorer("accuracy", estimate)), tuned("accuracy")
    assert clean.best_threshold_ == plain.best_threshold_
    assert_allclose(clean.best_score_, clean_accuracy(plain.best_score_, estimate.noise), rtol=1e-12)
    assert 0.2 < tuned(clean_scorer("balanced_accuracy", estimate)).best_threshold_ < 0.8
    with pytest.raises(ValueError, match="the AUC is the same at every threshold"):
        tuned(clean_scorer("roc_auc", estimate))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.slow
def test_ten_models_rank_on_noisy_labels_as_on_clean_ones(metric):
    # Ten directions, each a little worse; on many rows the noisy ranking is the clean one.
    rng = np.random.default_rng(12)
    X = rng.normal(size=(60_000, 2))
    y = (X[:, 0] + 0.5 * rng.normal(size=60_000) > 0.3).astype(int)
    noisy = flip_labels(y, 0.3, rng)
    angles = rng.permutation(np.linspace(0, 1.2, 10))
    scores = X @ np.array([np.cos(angles), np.sin(angles)]) - 0.3
    estimate = rate_from_scores(scores[:, angles.argmin()], noisy)
    clean = [clean_score_interval(metric, y, seen(metric, s), 0.0).noisy for s in scores.T]
    found = [clean_score_interval(metric, noisy, seen(metric, s), estimate) for s in scores.T]
    assert spearmanr(clean, [f.estimate for f in found]).statistic > 0.95
    assert spearmanr([f.noisy for f in found], [f.estimate for f in found]).statistic == pytest.approx(1)
    assert np.mean([f.low <= c <= f.high for f, c in zip(found, clean, strict=True)]) > 0.8
