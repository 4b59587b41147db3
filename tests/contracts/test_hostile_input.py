"""Properties of drawn rows, labels and weights; `UNFLIP_EXAMPLES` says how many are drawn in all."""

import os
import warnings
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as drawn
from numpy.testing import assert_allclose
from sklearn.base import clone

from unflip import (
    BoundedUnhingedClassifier,
    KernelSquareClassifier,
    KernelUnhingedClassifier,
    LossClassifier,
    NoiseCorrectedClassifier,
    ProbingClassifier,
    RobustClassifierCV,
    SquareClassifier,
    UnhingedClassifier,
)
from unflip.features import Standardize

EXAMPLES = int(os.environ.get("UNFLIP_EXAMPLES", "2000"))
PROPERTIES = (
    "test_whatever_the_rows_a_model_is_finite_or_refused_in_words",
    "test_the_order_of_rows_does_not_matter",
    "test_two_halves_of_a_row_weigh_as_much_as_the_row",
)
ANY = [
    UnhingedClassifier(summation="exact"),
    UnhingedClassifier(),
    UnhingedClassifier(threshold="loo"),
    UnhingedClassifier(features=Standardize()),
    SquareClassifier(),
    LossClassifier("square"),
    BoundedUnhingedClassifier(),
    KernelUnhingedClassifier(),
    KernelSquareClassifier(),
    RobustClassifierCV(),
]
# Functions of weighted averages over the rows, with nothing tuned by leaving rows out.
AVERAGES = [
    UnhingedClassifier(),
    UnhingedClassifier(center=False, threshold=0.0),
    UnhingedClassifier(summation="exact"),
    SquareClassifier(regularization=0.5),
    LossClassifier("square", regularization=0.5),
    KernelUnhingedClassifier(bandwidth=2.0, threshold=0.0),
    KernelSquareClassifier(bandwidth=2.0, regularization=0.5),
]
DTYPES = ["f8", "f8", "f4", "f2", ">f8", "i1", "i8", "u8", "?"]
LABELS = [
    [0, 1],
    [-1.0, 1.0],
    ["no", "yes"],
    [0, 1, 2],
    [0.0, 0.25, 1.0],
    [0.0, np.nan],
    [b"a", b"b"],
    [2**63 - 1, 0],
]
WEIGHTS = [0.0, 1.0, 3.0, 0.5, 5e-324, 1e-300, 1e300, -1.0, np.nan, np.inf]
MOST = 1e-9  # that rounding may change of a score, where rows of length R have scores of the order R**2

tried: Counter[str] = Counter()


def drawing(share):
    """So many examples, the same ones every time."""
    return settings(
        max_examples=max(1, round(share * EXAMPLES)),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@st.composite
def any_problem(draw):
    """Rows of any type and size, the extremes among them; labels and weights that may be bad too."""
    shape = draw(st.integers(1, 8)), draw(st.integers(1, 3))
    X = draw(drawn.arrays(draw(st.sampled_from(DTYPES)), shape))
    classes = draw(st.sampled_from(LABELS))
    y = np.array(draw(st.lists(st.sampled_from(classes), min_size=shape[0], max_size=shape[0])))
    weight = st.lists(st.sampled_from(WEIGHTS), min_size=shape[0], max_size=shape[0])
    return X, y, draw(st.none() | weight)


@st.composite
def good_problem(draw):
    """Rows of moderate size in two classes at least, with weights."""
    n, d = draw(st.integers(4, 10)), draw(st.integers(1, 3))
    X = draw(drawn.arrays("f8", (n, d), elements=st.floats(-100, 100, width=16)))
    classes = draw(st.sampled_from([2, 3]))
    y = np.concatenate(
        [np.arange(classes), draw(drawn.arrays("i8", n - classes, elements=st.integers(0, classes - 1)))]
    )
    weight = draw(drawn.arrays("f8", n, elements=st.sampled_from([0.5, 1.0, 2.0, 7.0])))
    return X, y, weight, draw(st.randoms(use_true_random=False))


def numbers_of(model):
    names = ("coef_", "intercept_", "threshold_", "dual_coef_", "support_vectors_", "regularization_")
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


@drawing(0.5)
@given(st.sampled_from(ANY), any_problem())
@pytest.mark.slow
def test_whatever_the_rows_a_model_is_finite_or_refused_in_words(estimator, problem):
    tried["any"] += 1
    X, y, weight = problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            model = clone(estimator).fit(X, y, sample_weight=weight)
            predicted = model.predict(X)
        except (ValueError, TypeError):
            return
    for name, value in numbers_of(model).items():
        if name == "intercept_" and weight is not None and len(model.classes_) > 2:
            shares = [np.sum(weight, where=y == label) / np.max(weight) for label in model.classes_]
            value = value[np.array(shares) > 0]  # a class whose share vanishes is never chosen: -inf
        assert np.all(np.isfinite(value)), (name, value)
    assert set(predicted.tolist()) <= set(model.classes_.tolist())


def test_a_refusal_of_a_giant_column_warns_of_nothing():
    X = [[1.5e231, 0.0], [0.0, 0.0], [8.5e153, 0.0], [0.0, 0.0]]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(ValueError, match="column 0 is on a scale"):
            SquareClassifier().fit(X, [0, 0, 0, 1], sample_weight=[0.0, 0.0, 1.0, 1.0])


def test_infinity_in_a_row_of_no_weight_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(ValueError, match="row 0, column 0 is inf"):
            UnhingedClassifier(features=Standardize()).fit(
                [[np.inf], [0.0]], [0, 1], sample_weight=[0.0, 1.0]
            )


def test_weights_next_to_nothing_leave_the_constant_as_it_is():
    # The minority weighs 5e-324 of all, so every score is the constant of the other class, -1.
    X, weight = np.array([[1, 1], [1, 1], [0, 1], [1, 1]]), [0.0, 0.0, 1.0, 5e-324]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = LossClassifier("square").fit(X, [0, 0, 0, 1], sample_weight=weight)
        assert_allclose(model.decision_function(X), -1.0)
        assert model.predict(X).tolist() == [0, 0, 0, 0]


def scores_of(estimator, X, rows):
    """Scores of X by a fit to rows, labels and weights; none if they are refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return clone(estimator).fit(*rows[:2], sample_weight=rows[2]).decision_function(X)
        except ValueError:
            return None


def assert_scores_agree(estimator, X, first, second):
    one, other = (scores_of(estimator, X, rows) for rows in (first, second))
    assert (one is None) == (other is None)
    if one is not None:
        assert_allclose(one, other, rtol=0, atol=MOST * (1 + np.abs(X).max()) ** 2)


@drawing(0.25)
@given(st.sampled_from(AVERAGES), good_problem())
@pytest.mark.slow
def test_the_order_of_rows_does_not_matter(estimator, problem):
    # A mean over rows does not know their order; only the rounding of sums does.
    tried["order"] += 1
    X, y, weight, random = problem
    order = list(range(len(y)))
    random.shuffle(order)
    assert_scores_agree(estimator, X, (X, y, weight), (X[order], y[order], weight[order]))


@drawing(0.25)
@given(st.sampled_from(AVERAGES), good_problem())
@pytest.mark.slow
def test_two_halves_of_a_row_weigh_as_much_as_the_row(estimator, problem):
    # Every sum over rows holds w f(x, y) = w/2 f(x, y) + w/2 f(x, y), so all averages stay as they are.
    tried["halves"] += 1
    X, y, weight, _ = problem
    halves = np.repeat(X, 2, axis=0), np.repeat(y, 2), np.repeat(weight / 2, 2)
    assert_scores_agree(estimator, X, (X, y, weight), halves)


# What was found once; the table of bad input itself is in test_bad_input.py


X, Y = [[0.0, 1.0], [1.0, 0.5], [4.0, 5.0], [5.0, 4.0]], [0, 0, 1, 1]


@pytest.mark.parametrize("factor", [1e200, 1e300])
@pytest.mark.parametrize("estimator", [UnhingedClassifier(), SquareClassifier()], ids=repr)
def test_weights_beyond_floats_are_refused_by_column(estimator, factor):
    with pytest.raises(ValueError, match=r"column [01] is on a scale .* float64 can hold"):
        clone(estimator).fit(np.array(X) * factor, Y)


def test_a_class_without_rows_may_have_a_constant_of_minus_infinity():
    model = UnhingedClassifier().partial_fit(X, Y, classes=[0, 1, 2])
    assert model.predict(X).tolist() == Y


PARAMETERS = [
    (UnhingedClassifier(regularization=10**400), "regularization"),
    (UnhingedClassifier(threshold=-(10**400)), "threshold"),
    (UnhingedClassifier(summation=np.array(["fast", "exact"])), "summation"),
    (SquareClassifier(regularization=10**400), "regularization"),
    (LossClassifier(regularization=5e-324), "regularization"),
    (KernelUnhingedClassifier(bandwidth=10**400), "bandwidth"),
    (NoiseCorrectedClassifier(noise=10**400), "noise"),
    (ProbingClassifier(noise=10**400), "noise"),
]


@pytest.mark.parametrize(("estimator", "name"), PARAMETERS, ids=lambda given: str(given)[:40])
def test_parameters_that_no_float_can_hold_are_refused_by_name(estimator, name):
    with pytest.raises(ValueError, match=f"The '{name}' parameter|{name} is a whole number"):
        estimator.fit(X, Y)


def test_numbers_that_are_not_floats_are_numbers():
    expected = UnhingedClassifier().fit(X, Y).coef_
    for kind in (Fraction, Decimal):
        rows = [[kind(value) for value in row] for row in X]
        assert_allclose(UnhingedClassifier().fit(rows, Y).coef_, expected)
    assert LossClassifier(regularization=10**30).fit(X, Y).predict(X).shape == (4,)


@pytest.mark.parametrize("weight", [[1e300] * 40, np.logspace(-300, 300, 40)], ids=["huge", "far apart"])
@pytest.mark.parametrize(
    "estimator",
    [NoiseCorrectedClassifier(noise=None, loss="square"), RobustClassifierCV(), LossClassifier("hinge")],
    ids=repr,
)
def test_no_warning_leaks_from_weights_far_from_one(estimator, weight):
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(40, 2)), np.arange(40) % 2
    rows[:, 0] += 3 * labels
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            scores = clone(estimator).fit(rows, labels, sample_weight=weight).decision_function(rows)
        except ValueError as error:
            scores, why = None, str(error)
    # With one row that weighs all, to a kernel the others are not there.
    assert "rows look equal" in why if scores is None else np.isfinite(scores).all()


HALF = np.arange(40) % 2
NORMAL = np.random.default_rng(0).normal(size=(40, 2))
FAINT = np.where(HALF, 1.0, 5e-324)


@pytest.mark.parametrize(
    ("estimator", "X", "y", "weight", "refusal"),
    [
        (
            BoundedUnhingedClassifier(),
            [[5e-324, 0.0], [5e-324, 5e-324]],
            [0, 1],
            None,
            "column 1 is on a scale",
        ),
        (
            BoundedUnhingedClassifier(),
            [[0.0, 1e150], [5e-324, 0.0]],
            [0, 1],
            [1e-300, 1.0],
            "column 0 is on a",
        ),
        (LossClassifier(), NORMAL, HALF, FAINT, None),
        (NoiseCorrectedClassifier(), NORMAL, HALF, FAINT, "class 0 has 4.94e-324 of the labels"),
        (
            NoiseCorrectedClassifier(),
            [[1e-150], [-1e300], [1e-150], [1e-150]],
            [0, 1, 0, 1],
            [1e-300, 1.0, 1e-20, 0.3],
            "class 0 has 7.69e-21 of the labels",
        ),
        (LossClassifier(), [[-1.6e308], [1.2e308], [1.0e308]], [0, 1, 0], [5e-324, 1.0, 1.0], None),
        (LossClassifier(), [[1e300], [1e-10], [0.0]], [0, 1, 0], [5e-324, 1.0, 1.0], None),
        (
            UnhingedClassifier(summation="exact", threshold="loo"),
            [[0.0], [1e-100], [0.0]],
            [0, 1, 0],
            [1e300, 5e-324, 0.0],
            None,
        ),
        (
            UnhingedClassifier(summation="exact", threshold="loo"),
            [[1e308, 1e-300, 1e308], [1e16, 1e16, -1.0]],
            [0, 1],
            [5e-324, 1e-20],
            None,
        ),
    ],
)
def test_numbers_next_to_nothing_end_in_a_model_or_in_words(estimator, X, y, weight, refusal):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if refusal is None:
            model = clone(estimator).fit(X, y, sample_weight=weight)
            assert np.isfinite(model.coef_).all()
            assert np.isfinite(model.intercept_).all()
        else:
            with pytest.raises(ValueError, match=refusal):
                clone(estimator).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("small", [1e-17, 1e-20, 1e-100, 5e-324])
def test_rows_that_weigh_nothing_beside_another_do_not_count(small):
    weight = np.where(np.arange(40) == 0, 1.0, small)
    with pytest.raises(ValueError, match="rows of at least two classes are needed, got rows of one class, 0"):
        RobustClassifierCV().fit(NORMAL, HALF, sample_weight=weight)


def test_labels_that_are_sure_of_nothing_leave_no_stray_exception():
    rng = np.random.default_rng(0)
    model = RobustClassifierCV().fit(rng.normal(size=(40, 3)), np.full((40, 2), 0.5))
    assert np.isfinite(model.decision_function(rng.normal(size=(4, 3)))).all()


def test_leave_one_out_scores_of_rows_that_weigh_nothing_are_those_of_a_fit_without_them():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(40, 2)), np.arange(40) % 2
    faint = np.arange(40) % 7 == 0
    estimator = KernelSquareClassifier(bandwidth=1.0, regularization=0.1)
    model = clone(estimator).fit(rows, labels, sample_weight=np.where(faint, 1e-24, 1.0))
    without = clone(estimator).fit(rows[~faint], labels[~faint])
    assert_allclose(model.loo_scores_[faint], without.decision_function(rows[faint]), atol=1e-9)
