"""One battery for every estimator; adding a member to ESTIMATORS is all it takes.

Scikit-learn's own checks are in test_scikit_checks.py, bad input in test_bad_input.py.
"""

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unflip import (
    BoundedUnhingedClassifier,
    KernelSquareClassifier,
    KernelUnhingedClassifier,
    LossClassifier,
    NoiseCorrectedClassifier,
    RobustClassifierCV,
    SquareClassifier,
    UnhingedClassifier,
)
from unflip.losses import Hinge, Logistic, noise_corrected

LINEAR = [
    UnhingedClassifier(),
    UnhingedClassifier(center=False, threshold=0.0),
    UnhingedClassifier(threshold="loo"),
    UnhingedClassifier(class_weight="balanced"),
    SquareClassifier(),
    SquareClassifier(regularization=0.5),
    LossClassifier(),
    LossClassifier("hinge"),
    LossClassifier("squared_hinge"),
    LossClassifier("exponential"),
    LossClassifier("square"),
    LossClassifier("t_logistic"),
    LossClassifier("tangent_boost"),
    LossClassifier("sigmoid"),
    LossClassifier("ramp"),
    LossClassifier("unhinged", fit_intercept=False),
    LossClassifier(noise_corrected(Logistic(), 0.2), regularization=0.5),
    LossClassifier(noise_corrected(Hinge(), 0.2), regularization=0.5),
    BoundedUnhingedClassifier(),
    BoundedUnhingedClassifier(fit_intercept=False),
    NoiseCorrectedClassifier(noise=0.1),
    NoiseCorrectedClassifier("square", noise=0.1, regularization=0.5),
]
KERNEL = [
    KernelUnhingedClassifier(),
    KernelUnhingedClassifier(bandwidth="loo", center=True, threshold="mean"),
    KernelUnhingedClassifier("euclidean_laplace", bandwidth=1.0, threshold=0.0),
    KernelUnhingedClassifier("linear", center=True, threshold="mean"),
    KernelUnhingedClassifier(reading="centroid"),
    KernelUnhingedClassifier(reading="density"),
    KernelUnhingedClassifier(compress="herding", n_support=40),
    KernelSquareClassifier(),
    KernelSquareClassifier(bandwidth="loo", regularization=0.1),
    KernelSquareClassifier("poly", n_landmarks=50),
    RobustClassifierCV(),
    RobustClassifierCV(feature_weights=False),
]
ESTIMATORS = LINEAR + KERNEL
DEFAULTS = [
    UnhingedClassifier(),
    SquareClassifier(),
    LossClassifier(),
    BoundedUnhingedClassifier(),
    KernelUnhingedClassifier(),
    KernelSquareClassifier(),
    RobustClassifierCV(),
]
MOMENTAL = [
    UnhingedClassifier(),
    UnhingedClassifier(center=False),
    SquareClassifier(),
    SquareClassifier(regularization=1.0),
]

linear = pytest.mark.parametrize("estimator", LINEAR, ids=repr)
every = pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
one_of_each_family = pytest.mark.parametrize("estimator", DEFAULTS, ids=repr)


def those(condition):
    """The estimators of which this is true."""
    return pytest.mark.parametrize("estimator", [each for each in ESTIMATORS if condition(each)], ids=repr)


def make_data(n_classes=2, n=200, d=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    centers = 1.5 * rng.normal(size=(n_classes, d))
    return centers[y] + rng.normal(size=(n, d)), y


def classes_of(estimator):
    tuned = isinstance(estimator, UnhingedClassifier) and estimator.threshold == "loo"
    return [2] if tuned or isinstance(estimator, BoundedUnhingedClassifier) else [2, 3]


def takes_several_classes(estimator):
    return classes_of(estimator) != [2]


def draws_rows(estimator):
    """Repeated rows are drawn more often."""
    return bool(estimator.get_params().get("n_landmarks"))


def is_all_tuned(estimator):
    """All of it is chosen by leaving rows out. Copies leave together, as a row of weight 2 does; but they are
    rows where halves, folds and degrees of freedom are counted.
    """
    return isinstance(estimator, RobustClassifierCV)


def with_nothing_but_the_threshold_tuned(estimator):
    """Leaving out a row of weight 2 leaves out both copies, so what is tuned by leave-one-out may differ."""
    fixed = {"bandwidth": 1.5, "regularization": 0.1}
    tuned = [name for name, value in estimator.get_params().items() if name in fixed and value == "loo"]
    return clone(estimator).set_params(**{name: fixed[name] for name in tuned})


# Input in every shape it comes in


@one_of_each_family
def test_every_container_and_dtype_gives_the_same_classifier(estimator):
    for k in classes_of(estimator):
        X, y = make_data(k)
        X = np.round(X * 8) / 8  # exact in float16, so that all containers hold the same numbers
        expected = clone(estimator).fit(X, y).decision_function(X)
        scale = np.abs(expected).max()
        wide = np.zeros((len(X), 2 * X.shape[1]))
        wide[:, ::2] = X
        containers = [
            X.astype(np.float32),
            X.astype(np.float16),
            np.asfortranarray(X),
            wide[:, ::2],
            X[::-1][::-1],
            X.tolist(),
            pd.DataFrame(X, columns=list("abcd")),
            pl.DataFrame(X, schema=list("abcd")),
            sparse.csr_matrix(X),
            sparse.csc_array(X),
            sparse.coo_array(X),
        ]
        for container in containers:
            model = clone(estimator).fit(container, y)
            assert_allclose(model.decision_function(container), expected, atol=1e-6 * scale, rtol=0)
        integers = (X * 8).astype(np.int64)
        exact = clone(estimator).fit(integers.astype(float), y).decision_function(integers.astype(float))
        assert_allclose(clone(estimator).fit(integers, y).decision_function(integers), exact, rtol=1e-9)


@every
def test_a_model_fitted_to_dense_rows_scores_sparse_rows_alike(estimator):
    X, y = make_data()
    X[np.abs(X) < 0.5] = 0
    X[:, 0] += 50  # an offset, which sparse rows cannot be shifted by
    for fitted_to in (X, sparse.csr_array(X)):
        model = clone(estimator).fit(fitted_to, y)
        dense, thin = model.decision_function(X), model.decision_function(sparse.csr_array(X))
        assert_allclose(thin, dense, atol=1e-8 * np.abs(dense).max())


LABELS = {
    "int": lambda y: y,
    "negative": lambda y: 2 * y - 1,
    "str": lambda y: np.array(["ape", "bee", "cat"])[y],
    "object": lambda y: np.array(["ape", "bee", "cat"], dtype=object)[y],
    "bool": lambda y: y.astype(bool),
    "float": lambda y: y.astype(float),
    "bytes": lambda y: np.array([b"a", b"b", b"c"])[y],
    "series": lambda y: pd.Series(np.array(["ape", "bee", "cat"])[y], index=np.arange(len(y)) + 7),
    "nullable": lambda y: pd.Series(y, dtype="Int64"),
    "boolean": lambda y: pd.Series(y, dtype="boolean"),
    "categorical": lambda y: pd.Series(pd.Categorical(np.array(["ape", "bee", "cat"])[y])),
    "polars": lambda y: pl.Series(np.array(["ape", "bee", "cat"])[y]),
    "list": lambda y: np.array(["ape", "bee", "cat"])[y].tolist(),
}


@one_of_each_family
@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_type_come_back_as_they_were(estimator, kind):
    X, y = make_data()
    labels = LABELS[kind](y)
    model, plain = clone(estimator).fit(X, labels), clone(estimator).fit(X, y)
    assert_array_equal(model.predict(X), np.asarray(labels)[[np.argmax(y == p) for p in plain.predict(X)]])
    assert set(model.predict(X)) <= set(np.asarray(labels).tolist())


@every
def test_predictions_are_the_sign_or_the_largest_of_the_scores(estimator):
    for k in classes_of(estimator):
        X, y = make_data(k)
        model = clone(estimator).fit(X, y)
        scores = model.decision_function(X)
        assert scores.shape == ((len(X),) if k == 2 else (len(X), k))
        chosen = (scores > 0).astype(int) if k == 2 else scores.argmax(axis=1)
        assert_array_equal(model.predict(X), model.classes_[chosen])


@linear
def test_scores_are_linear_in_the_columns(estimator):
    for k in classes_of(estimator):
        X, y = make_data(k)
        model = clone(estimator).fit(X, y)
        scores = model.decision_function(X)
        assert model.coef_.shape == ((4,) if k == 2 else (k, 4))
        assert_allclose(scores, X @ model.coef_.T + model.intercept_, atol=1e-9 * np.abs(scores).max())


@those(lambda each: not draws_rows(each))
def test_zero_weights_are_absence(estimator):
    X, y = make_data(n=60)
    there = np.random.default_rng(1).random(len(y)) < 0.6
    estimator = with_nothing_but_the_threshold_tuned(estimator)
    weighted = clone(estimator).fit(X, y, sample_weight=there.astype(float)).decision_function(X)
    without = clone(estimator).fit(X[there], y[there]).decision_function(X)
    if estimator.get_params().get("threshold") == "loo":
        weighted, without = weighted - weighted[0], without - without[0]  # rows of no weight are left out too
    assert_allclose(weighted, without, atol=1e-6 * np.abs(without).max())


@those(lambda each: not (draws_rows(each) or is_all_tuned(each)))
def test_integer_weights_are_repetitions(estimator):
    X, y = make_data(n=60)
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    estimator = with_nothing_but_the_threshold_tuned(estimator)
    weighted = clone(estimator).fit(X, y, sample_weight=weight).decision_function(X)
    repeated = clone(estimator).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).decision_function(X)
    if estimator.get_params().get("threshold") == "loo":
        # Leaving out a row of weight 2 leaves out both copies: another threshold, but the same direction.
        assert_allclose(np.diff(weighted), np.diff(repeated), atol=1e-9)
    else:
        assert_allclose(weighted, repeated, atol=1e-6 * np.abs(repeated).max())


@those(is_all_tuned)
def test_repetitions_and_soft_labels_hardly_change_what_is_all_tuned(estimator):
    X, y = make_data(n=60)
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = clone(estimator).fit(X, y, sample_weight=weight)
    repeated = clone(estimator).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    certainty = np.random.default_rng(2).choice([0.0, 0.25, 0.75, 1.0], len(y))
    shares = np.column_stack([1 - certainty, certainty])
    soft = clone(estimator).fit(X, shares)
    pair = clone(estimator).fit(np.vstack([X, X]), np.repeat([0, 1], len(y)), sample_weight=shares.T.ravel())
    for one, other in ((weighted, repeated), (soft, pair)):
        scores = one.decision_function(X), other.decision_function(X)
        assert np.corrcoef(*scores)[0, 1] > 0.99
        assert np.mean(np.sign(scores[0]) == np.sign(scores[1])) > 0.9


@those(lambda each: not is_all_tuned(each))
def test_soft_labels_equal_the_weighted_pair_of_hard_ones(estimator):
    X, y = make_data(n=60)
    certainty = np.random.default_rng(2).choice([0.0, 0.25, 0.5, 1.0], len(y))
    estimator = with_nothing_but_the_threshold_tuned(estimator)
    soft = clone(estimator).fit(X, certainty)
    pair = clone(estimator).fit(
        np.vstack([X, X]),
        np.repeat([0, 1], len(y)),
        sample_weight=np.concatenate([1 - certainty, certainty]),
    )
    assert soft.classes_.tolist() == [0, 1]
    scores, expected = soft.decision_function(X), pair.decision_function(X)
    if estimator.get_params().get("threshold") == "loo":
        # Leaving out a soft row leaves out both its halves: another threshold, but the same direction.
        scores, expected = scores - scores[0], expected - expected[0]
    assert_allclose(scores, expected, atol=1e-6 * np.abs(expected).max())


@those(lambda each: takes_several_classes(each) and not (draws_rows(each) or is_all_tuned(each)))
def test_soft_rows_of_several_classes_equal_their_weighted_hard_parts(estimator):
    X, y = make_data(3, n=60)
    estimator = with_nothing_but_the_threshold_tuned(estimator)
    p = 0.7 * np.eye(3)[y] + 0.3 * np.random.default_rng(3).dirichlet(np.ones(3), size=len(X))
    soft = clone(estimator).fit(X, p)
    parts = clone(estimator).fit(np.vstack([X] * 3), np.repeat([0, 1, 2], len(X)), sample_weight=p.T.ravel())
    scale = np.abs(parts.decision_function(X)).max()
    assert_allclose(soft.decision_function(X), parts.decision_function(X), atol=1e-6 * scale)


@every
def test_estimators_pickle_clone_and_repeat_themselves(estimator):
    X, y = make_data()
    model = clone(estimator).fit(X, y)
    assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), model.decision_function(X))
    assert_array_equal(clone(model).fit(X, y).decision_function(X), model.decision_function(X))
    assert type(model).__name__ in model._repr_html_()


@every
def test_estimators_work_in_pipelines_and_cross_validation(estimator):
    X, y = make_data()
    scores = cross_val_score(make_pipeline(StandardScaler(), clone(estimator)), X, y, cv=3)
    assert scores.mean() > 0.7


@one_of_each_family
def test_sample_weights_can_be_routed(estimator):
    X, y = make_data()
    with config_context(enable_metadata_routing=True):
        routed = clone(estimator).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        weight = np.linspace(0.1, 1, len(y))
        assert cross_val_score(routed, X, y, cv=3, params={"sample_weight": weight}).mean() > 0.7


@linear
def test_features_are_fitted_without_labels_and_used_everywhere(estimator):
    X, y = make_data()
    inside = clone(estimator).set_params(features=StandardScaler()).fit(X, y)
    outside = clone(estimator).fit(StandardScaler().fit_transform(X), y)
    scores = outside.decision_function(StandardScaler().fit_transform(X))
    assert_allclose(inside.decision_function(X), scores, atol=1e-7 * np.abs(scores).max())


# Scale: at both ends of what is promised; test_bad_input.py has what lies between


def is_indifferent(estimator):
    """Without centring or intercept the origin matters; with an absolute ridge or bandwidth the unit does."""
    parameters = estimator.get_params()
    if "kernel" in parameters:
        return parameters["kernel"] == "rbf" and isinstance(parameters["bandwidth"], str)
    absolute = isinstance(estimator, SquareClassifier) and parameters["regularization"] != "gcv"
    return parameters.get("center", True) and parameters.get("fit_intercept", True) and not absolute


INDIFFERENT = [estimator for estimator in ESTIMATORS if is_indifferent(estimator)]


@pytest.mark.parametrize("estimator", INDIFFERENT, ids=repr)
@pytest.mark.parametrize("factor", [1e-150, 1e150])
def test_a_common_factor_does_not_change_the_classifier(estimator, factor):
    for k in classes_of(estimator):
        X, y = make_data(k)
        expected = clone(estimator).fit(X, y).predict(X)
        assert_array_equal(clone(estimator).fit(X * factor, y).predict(X * factor), expected)


@pytest.mark.parametrize("estimator", INDIFFERENT, ids=repr)
@pytest.mark.parametrize("offset", [1e9, -1e15])
def test_an_offset_does_not_change_the_classifier_beyond_the_rounding_of_the_data(estimator, offset):
    for k in classes_of(estimator):
        X, y = make_data(k)
        there = X * 4 + offset
        back = there - offset  # what the rounding left of the data, exactly
        assert_array_equal(
            clone(estimator).fit(there, y).predict(there), clone(estimator).fit(back, y).predict(back)
        )


@pytest.mark.parametrize("estimator", INDIFFERENT, ids=repr)
def test_a_huge_constant_column_does_not_change_the_classifier(estimator):
    X, y = make_data()
    with_constant = np.column_stack([X, np.full(len(X), 1e15)])
    assert_array_equal(
        clone(estimator).fit(with_constant, y).predict(with_constant), clone(estimator).fit(X, y).predict(X)
    )


@pytest.mark.parametrize("estimator", INDIFFERENT, ids=repr)
@pytest.mark.parametrize("factor", [1e-300, 1e-200, 1e200, 1e305, 1e307])
def test_beyond_the_promised_range_the_answer_is_right_or_the_column_is_named(estimator, factor):
    X, y = make_data()
    with np.errstate(over="ignore"):
        scaled = X * factor
    try:
        predicted = clone(estimator).fit(scaled, y).predict(scaled)
    except ValueError as error:
        predicted = str(error)
    if isinstance(predicted, str):
        assert re.search(r"column \d", predicted)
    else:
        assert_array_equal(predicted, clone(estimator).fit(X, y).predict(X))


# A refused update


GOOD_X = [[0.0, 1.0], [1.0, 0.5], [4.0, 5.0], [5.0, 4.0]]
GOOD_Y = ["a", "a", "b", "b"]


@pytest.mark.parametrize("estimator", MOMENTAL, ids=repr)
def test_partial_fit_names_a_label_it_was_not_told_of(estimator):
    model = clone(estimator).partial_fit(GOOD_X, GOOD_Y)
    before = pickle.dumps(model.moments_)
    with pytest.raises(ValueError, match=r"label 'c' of row 1 .*first partial_fit"):
        model.partial_fit(GOOD_X, ["a", "c", "b", "b"])
    with pytest.raises(ValueError, match="row 3, column 0"):
        model.partial_fit([*GOOD_X[:3], [np.nan, 4.0]], GOOD_Y)
    with pytest.raises(ValueError, match="3 features"):
        model.partial_fit(np.zeros((4, 3)), GOOD_Y)
    with pytest.raises(ValueError, match="cannot be taken away"):
        model.forget(GOOD_X * 2, GOOD_Y * 2)
    assert pickle.dumps(model.moments_) == before
