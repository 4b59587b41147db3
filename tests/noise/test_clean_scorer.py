"""Scorers inside scikit-learn's searches, against folds, fits and corrections done by hand."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unflip.noise import ClassConditionalNoise, SymmetricNoise, UniformNoise, clean_scorer, flip_labels

FOLDS = StratifiedKFold(3)
METRICS = ["accuracy", "balanced_accuracy", "roc_auc"]
GRID = {"n_neighbors": [1, 5, 25]}


def problem(n=300, seed=0, positives=0.4):
    """Two overlapping clouds with string labels, the second one named "spam"."""
    rng = np.random.default_rng(seed)
    codes = (rng.random(n) < positives).astype(int)
    return rng.normal(size=(n, 2)) + 1.5 * codes[:, None], np.array(["ham", "spam"])[codes]


def by_hand(metric, a, b, y, predicted, scores):
    """The corrected score of labels with flip rates a (of "ham") and b (of "spam"), from definitions."""
    spam = y == "spam"
    if metric == "accuracy":
        right = sum(p == t for p, t in zip(predicted, y, strict=True)) / len(y)
        return (right - a) / (1 - 2 * a)
    if metric == "balanced_accuracy":
        noisy = (np.mean(predicted[spam] == "spam") + np.mean(predicted[~spam] == "ham")) / 2
    else:
        wins = [(p > q) + (p == q) / 2 for p in scores[spam] for q in scores[~spam]]
        noisy = sum(wins) / len(wins)
    share = spam.mean()  # = (1 - b) clean + a (1 - clean)
    clean = (share - a) / (1 - a - b)
    false_spam = a * (1 - clean) / share
    false_ham = b * clean / (1 - share)
    return (noisy - (false_spam + false_ham) / 2) / (1 - false_spam - false_ham)


UNEVEN = ClassConditionalNoise([0.1, 0.3])


@pytest.mark.parametrize(
    ("metric", "noise", "a", "b"),
    [(metric, noise, 0.2, 0.2) for metric in METRICS for noise in (0.2, SymmetricNoise(0.2))]
    + [(metric, UNEVEN, 0.1, 0.3) for metric in METRICS[1:]],  # accuracy has no correction here
    ids=repr,
)
def test_cross_validation_agrees_with_folds_done_by_hand(metric, noise, a, b):
    X, y = problem()
    y = flip_labels(y, noise, 1)
    model = KNeighborsClassifier(5)  # coarse scores, so that ties occur
    expected = []
    for train, test in FOLDS.split(X, y):
        fitted = clone(model).fit(X[train], y[train])
        scores = fitted.predict_proba(X[test])[:, 1]
        expected.append(by_hand(metric, a, b, y[test], fitted.predict(X[test]), scores))
    scored = cross_val_score(model, X, y, cv=FOLDS, scoring=clean_scorer(metric, noise))
    assert_allclose(scored, expected, rtol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_a_search_makes_the_choice_it_makes_on_the_noisy_score(metric):
    # Within a fold every candidate goes through the same increasing line, so their order stays.
    X, y = problem()
    y = flip_labels(y, 0.2, 2)
    plain = GridSearchCV(KNeighborsClassifier(), GRID, cv=FOLDS, scoring=metric).fit(X, y)
    search = GridSearchCV(KNeighborsClassifier(), GRID, cv=FOLDS, scoring=clean_scorer(metric, 0.2)).fit(X, y)
    for fold in range(3):
        noisy = plain.cv_results_[f"split{fold}_test_score"]
        clean = search.cv_results_[f"split{fold}_test_score"]
        assert np.array_equal(np.argsort(noisy, kind="stable"), np.argsort(clean, kind="stable"))
        assert len(set(noisy)) > 1
    if metric == "accuracy":  # one line for all folds, so averages correspond too
        assert_allclose(
            search.cv_results_["mean_test_score"],
            (plain.cv_results_["mean_test_score"] - 0.2) / 0.6,
            rtol=1e-12,
        )
        assert search.best_params_ == plain.best_params_
    assert np.array_equal(search.predict(X), search.best_estimator_.predict(X))


def test_a_search_in_two_processes_gives_the_same_scores():
    X, y = problem()
    y = flip_labels(y, 0.2, 2)
    scoring = {metric: clean_scorer(metric, SymmetricNoise(0.2)) for metric in METRICS}
    results = [
        GridSearchCV(KNeighborsClassifier(), GRID, cv=FOLDS, scoring=scoring, refit="roc_auc", n_jobs=n_jobs)
        .fit(X, y)
        .cv_results_
        for n_jobs in (1, 2)
    ]
    for metric in METRICS:
        one, two = (result[f"mean_test_{metric}"] for result in results)
        assert np.all(np.isfinite(one))
        assert np.array_equal(one, two)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    "again", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))], ids=["copy", "pickle"]
)
def test_a_copied_scorer_scores_alike_and_says_so(metric, again):
    X, y = problem()
    model = LogisticRegression().fit(X, y)
    scorer = clean_scorer(metric, ClassConditionalNoise([0.1, 0.1]))
    twin = again(scorer)
    assert twin == scorer
    assert repr(twin) == repr(scorer)
    assert f"{metric!r}" in repr(scorer)
    assert twin(model, X, y) == scorer(model, X, y)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("wrap", [np.asarray, pd.Series, pd.Categorical, list], ids=lambda w: w.__name__)
def test_a_pipeline_and_any_container_of_labels_will_do(metric, wrap):
    X, y = problem()
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    scores = model.decision_function(X)
    scored = clean_scorer(metric, 0.1)(model, X, wrap(y))
    assert type(scored) is float
    assert_allclose(scored, by_hand(metric, 0.1, 0.1, y, model.predict(X), scores), rtol=1e-12)


def test_the_corrected_accuracy_estimates_the_clean_one():
    # Given the clean labels, each row agrees with its noisy label by a coin of variance rho (1 - rho);
    # the correction divides by 1 - 2 rho. Four standard errors, fixed seed.
    n, rho = 50_000, 0.3
    X, y = problem(n)
    model = LogisticRegression().fit(*problem(500, seed=9))
    truth = np.mean(model.predict(X) == y)
    scored = clean_scorer("accuracy", rho)(model, X, flip_labels(y, rho, 4))
    assert abs(scored - truth) <= 4 * np.sqrt(rho * (1 - rho) / n) / (1 - 2 * rho)


def test_the_corrected_balanced_accuracy_estimates_the_clean_one_under_class_conditional_noise():
    # The noisy recalls are means over the noisy classes, each of standard error at most 1/2 / sqrt(size);
    # their average has variance (1/size_0 + 1/size_1) / 16, and the slope divides it.
    a, b, n = 0.05, 0.4, 50_000
    noise = ClassConditionalNoise([a, b])
    X, y = problem(n, positives=0.3)
    model = LogisticRegression().fit(*problem(500, seed=9))
    predicted = model.predict(X)
    truth = (np.mean(predicted[y == "ham"] == "ham") + np.mean(predicted[y == "spam"] == "spam")) / 2
    noisy = flip_labels(y, noise, 4)
    sizes = np.array([np.sum(noisy == "ham"), np.sum(noisy == "spam")])
    slope = (1 - a - b) * 0.3 * 0.7 / np.prod(sizes / n)
    error = np.sqrt(np.sum(1 / sizes)) / 4 / slope
    assert abs(clean_scorer("balanced_accuracy", noise)(model, X, noisy) - truth) <= 4 * error


def test_scores_may_leave_the_unit_interval():
    # Labels without noise, corrected for a rate of 0.2: (1 - 0.2) / 0.6. Clipping would bias averages.
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0, 0, 1, 1])
    model = KNeighborsClassifier(1).fit(X, y)
    assert_allclose(clean_scorer("accuracy", 0.2)(model, X, y), 4 / 3, rtol=1e-15)
    assert_allclose(clean_scorer("accuracy", 0.2)(model, X, 1 - y), -1 / 3, rtol=1e-15)


THREE = np.repeat([[0.0], [1.0], [2.0]], 4, axis=0), np.repeat([0, 1, 2], 4)


@pytest.mark.parametrize("noise", [0.2, UniformNoise(0.2, 3)], ids=repr)
@pytest.mark.parametrize("metric", METRICS[:2])
def test_three_classes_are_corrected_for_uniform_noise(noise, metric):
    # A right label survives with 0.8 and a wrong one turns right with 0.1. One of twelve is wrong.
    X, y = THREE
    model = KNeighborsClassifier(1).fit(X, y)
    X = np.vstack([X[:-1], [[1.0]]])  # the last row is taken for class 1
    assert_allclose(clean_scorer(metric, noise)(model, X, y), (11 / 12 - 0.1) / 0.7, rtol=1e-12)


def test_a_fold_without_one_of_three_classes_is_still_three_classes():
    # The estimator knows three classes; the rows at hand happen to show two, of unequal size.
    X, y = THREE
    model = KNeighborsClassifier(1).fit(X, y)
    rows = [0, 1, 2, 4]
    assert_allclose(clean_scorer("accuracy", 0.2)(model, X[rows], y[rows]), 0.9 / 0.7, rtol=1e-12)
    with pytest.raises(ValueError, match="class 2 more than its share"):
        clean_scorer("balanced_accuracy", 0.2)(model, X[rows], y[rows])


@pytest.mark.filterwarnings("ignore:A single label was found:UserWarning")
@pytest.mark.parametrize("kept", ["ham", "spam"])
def test_a_fold_of_one_class_has_no_balanced_score(kept):
    # The other class has then no share, which noise of rate 0.1 never produces: an error, not a guess.
    X, y = np.array([[0.0], [1.0]]), np.array(["ham", "spam"])
    model = KNeighborsClassifier(1).fit(X, y)
    only = y == kept
    with pytest.raises(ValueError, match="more than its share of these labels, 0"):
        clean_scorer("balanced_accuracy", 0.1)(model, X[only], y[only])
    assert_allclose(clean_scorer("accuracy", 0.1)(model, X[only], y[only]), 0.9 / 0.8, rtol=1e-12)


class Negative(BaseEstimator):
    """Always answers 0, and has no `classes_`."""

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def test_a_predictor_without_classes_is_read_by_the_labels():
    X, y = np.zeros((4, 1)), np.array([0, 0, 0, 1])
    assert_allclose(clean_scorer("accuracy", 0.1)(Negative(), X, y), (0.75 - 0.1) / 0.8, rtol=1e-12)
    assert_allclose(clean_scorer("balanced_accuracy", 0.1)(Negative(), X, y), 0.5, rtol=1e-12)


@pytest.mark.parametrize("metric", ["f1", "", "ROC_AUC", None])
def test_an_unknown_metric_is_refused_with_the_known_ones(metric):
    with pytest.raises(ValueError, match="metric is one of accuracy, balanced_accuracy, roc_auc, got "):
        clean_scorer(metric, 0.1)


def test_noise_that_does_not_fit_stops_a_search_that_asks_for_errors():
    X, y = problem()
    for noise, message in [
        (UniformNoise(0.1, 3), "speaks of 3 classes, the labels of 2"),
        (0.5, "symmetric noise rate"),
    ]:
        with pytest.raises(ValueError, match=message):
            cross_validate(
                LogisticRegression(), X, y, scoring=clean_scorer("accuracy", noise), error_score="raise"
            )


class Constant(BaseEstimator):
    """Predicts what it is given, row by row."""

    def __init__(self, classes, answers):
        self.classes_, self.answers = np.asarray(classes), np.asarray(answers)

    def predict(self, X):
        return self.answers[np.asarray(X)[:, 0].astype(int)]


@pytest.mark.parametrize(
    "noise",
    [
        UniformNoise(0.5, 3),
        ClassConditionalNoise([0.1, 0.3, 0.2]),
        ClassConditionalNoise([[0.8, 0.2, 0], [0.1, 0.6, 0.3], [0, 0.1, 0.9]]),
    ],
    ids=repr,
)
def test_scores_of_the_noisy_population_are_those_of_the_clean_one(noise):
    # Every (clean class, answer, noisy class) with its probability as a weight: the noisy population itself.
    shares = np.array([0.9, 0.06, 0.04])
    answers = np.array([[0.9, 0.05, 0.05], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]])  # P(answer | clean class)
    cells = [(i, a, j) for i in range(3) for a in range(3) for j in range(3)]
    weight = np.array([shares[i] * answers[i, a] * noise.transition[i, j] for i, a, j in cells])
    model = Constant([0, 1, 2], [a for _, a, _ in cells])
    X, noisy = np.arange(len(cells))[:, None], np.array([j for _, _, j in cells])
    accuracy = clean_scorer("accuracy", noise)(model, X, noisy, sample_weight=weight)
    balanced = clean_scorer("balanced_accuracy", noise)(model, X, noisy, sample_weight=weight)
    assert_allclose(accuracy, shares @ np.diag(answers), rtol=1e-12)
    assert_allclose(balanced, np.diag(answers).mean(), rtol=1e-12)
