"""Robustness curves against a loop by hand, and against learners whose curve is known beforehand."""

import pickle
import re
import sys
from fractions import Fraction
from itertools import pairwise

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from unflip import SquareClassifier
from unflip.audit import RobustnessCurve, RobustnessCurveDisplay, robustness_curve
from unflip.noise import flip_labels

RATES = (0.0, 0.2, 0.4)


def problem(classes=2, rows=120):
    return make_blobs(rows, 3, centers=classes, cluster_std=4.0, random_state=0)


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps the rows and labels that each clone of it was fitted on."""

    def __init__(self, log=None):
        self.log = log

    def __sklearn_clone__(self):
        return self  # a clone would write into a copy of the log

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.log.append((np.asarray(X), np.asarray(y)))
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class Sign(ClassifierMixin, BaseEstimator):
    """Never looks at the labels it is given."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(np.asarray(X)[:, 0] > 0).astype(int)]


def recorded(rates=RATES, **settings):
    log = []
    robustness_curve(Recorder(log), *problem(settings.pop("classes", 2)), rates, **settings)
    return log


# The numbers.


@pytest.mark.parametrize("classes", [2, 3])
def test_the_scores_are_those_of_a_loop_by_hand(classes):  # Equation 3
    X, y = problem(classes)
    curve = robustness_curve(KNeighborsClassifier(3), X, y, RATES, test_size=0.25, repeats=3, random_state=7)
    for repeat, child in enumerate(np.random.SeedSequence(7).spawn(3)):
        split, coins = child.spawn(2)
        train, test = train_test_split(
            np.arange(len(y)), test_size=0.25, stratify=y, random_state=int(split.generate_state(1)[0])
        )
        for row, rate in enumerate(RATES):
            noisy = flip_labels(y[train], rate, np.random.default_rng(coins))
            model = KNeighborsClassifier(3).fit(X[train], noisy)
            assert curve.scores[row, repeat] == np.mean(model.predict(X[test]) == y[test])
    assert curve.scores.shape == (3, 3)
    assert curve.rates.tolist() == list(RATES)
    assert curve.name == "KNeighborsClassifier"


def test_a_classifier_that_ignores_labels_has_a_flat_curve():
    curve = robustness_curve(Sign(), *problem(), RATES)
    assert np.all(curve.scores == curve.scores[0])
    assert len(set(curve.scores[0])) > 1  # the repeats are different splits


def test_nearest_neighbours_lose_what_arithmetic_says():
    # On classes far apart 1-NN copies one training label of the right class: wrong as often as that one is.
    X, y = make_blobs(4000, 2, centers=[[-50, 0], [50, 0]], random_state=0)
    curve = robustness_curve(KNeighborsClassifier(1), X, y, RATES, test_size=0.5, repeats=3)
    assert curve.mean[0] == 1.0
    # A training label is copied several times over: allow four standard errors of 1000 free coins.
    np.testing.assert_allclose(curve.mean, 1 - curve.rates, atol=4 * np.sqrt(0.24 / 1000))


def test_two_jobs_give_the_same_numbers():
    X, y = problem()
    one, two = (robustness_curve(GaussianNB(), X, y, RATES, repeats=2, n_jobs=jobs) for jobs in (None, 2))
    np.testing.assert_array_equal(one.scores, two.scores)


# The flips.


def test_estimators_under_one_seed_meet_the_same_rows_and_labels():
    for (X, y), (X_other, y_other) in zip(recorded(random_state=3), recorded(random_state=3), strict=True):
        np.testing.assert_array_equal(X, X_other)
        np.testing.assert_array_equal(y, y_other)
    other_seed = recorded(random_state=4)
    assert not np.array_equal(other_seed[-1][1], recorded(random_state=3)[-1][1])


@pytest.mark.parametrize("classes", [2, 4])
def test_a_higher_rate_flips_the_same_labels_and_more(classes):
    rates = (0.0, 0.1, 0.3, 0.45)
    clean, *noisy = [y for _, y in recorded(rates, classes=classes, repeats=1)]
    flipped = [y != clean for y in noisy]
    for fewer, more in pairwise(flipped):
        assert np.all(more[fewer])
        assert more.sum() > fewer.sum()


def test_rate_zero_flips_nothing_and_repeats_flip_different_labels():
    X, y = problem()
    log = recorded((0.0, 0.4), repeats=2)
    truth = {tuple(row): label for row, label in zip(X, y, strict=True)}
    wrong = [
        {tuple(r) for r, label in zip(rows, ys, strict=True) if truth[tuple(r)] != label} for rows, ys in log
    ]
    assert not wrong[0]
    assert not wrong[1]
    assert wrong[2] != wrong[3]


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_a_generator_is_a_seed_and_moves_on(kind):
    X, y = problem()
    state = kind(5)
    first, second = (robustness_curve(GaussianNB(), X, y, random_state=state).scores for _ in range(2))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, robustness_curve(GaussianNB(), X, y, random_state=kind(5)).scores)


@pytest.mark.parametrize("state", [None, "generator"])
def test_the_display_shows_all_estimators_the_same_flips_whatever_the_seed(state):
    first, second = [], []
    RobustnessCurveDisplay.from_estimator(
        {"a": Recorder(first), "b": Recorder(second)},
        *problem(),
        iter(RATES),
        random_state=state and np.random.default_rng(0),
        ax=axes(),
    )
    assert len(first) == len(second) == 15
    assert all(np.array_equal(y, other) for (_, y), (_, other) in zip(first, second, strict=True))


# What goes in.


@pytest.mark.parametrize(
    "dress",
    [
        pd.DataFrame,
        lambda X: pl.DataFrame(X, schema=["a", "b", "c"]),
        sparse.csr_array,
        sparse.coo_array,
        lambda X: X.tolist(),
    ],
    ids=["pandas", "polars", "csr", "coo", "list"],
)
def test_rows_of_any_kind_give_the_same_curve(dress):
    X, y = problem()
    plain = robustness_curve(SquareClassifier(), X, y, RATES, repeats=2)
    dressed = robustness_curve(SquareClassifier(), dress(X), y, RATES, repeats=2)
    np.testing.assert_array_equal(dressed.scores, plain.scores)


WORDS = np.array(["ham", "spam"])


@pytest.mark.parametrize(
    "dress",
    [
        lambda y: WORDS[y],
        lambda y: WORDS[y].tolist(),
        lambda y: pd.Series(WORDS[y], index=np.arange(len(y))[::-1]),
        lambda y: pd.Series(WORDS[y], dtype="string"),
        lambda y: pd.Series(WORDS[y], dtype="category"),
        lambda y: pd.Series(y, dtype="Int64"),
        lambda y: y.astype(bool),
        lambda y: y.astype(np.float32),
        lambda y: pl.Series(WORDS[y].tolist()),
    ],
    ids=["str", "list", "Series", "string", "category", "Int64", "bool", "float32", "polars"],
)
def test_labels_of_any_kind_give_the_same_curve(dress):
    X, y = problem()
    plain = robustness_curve(GaussianNB(), X, y, RATES, repeats=2)
    dressed = robustness_curve(GaussianNB(), X, dress(y), RATES, repeats=2)
    np.testing.assert_array_equal(dressed.scores, plain.scores)


def test_frames_reach_the_estimator_as_frames():
    X, y = problem()
    seen = []

    class Names(Sign):
        def fit(self, X, y):
            seen.append(list(X.columns))
            return super().fit(X, y)

    robustness_curve(Names(), pd.DataFrame(X, columns=list("abc")), y, (0.1,), repeats=1)
    assert seen == [["a", "b", "c"]]


def test_the_callers_labels_and_estimator_stay_as_they_are():
    X, y = problem()
    before, model = y.copy(), GaussianNB()
    robustness_curve(model, X, y, RATES, repeats=1)
    np.testing.assert_array_equal(y, before)
    assert not hasattr(model, "classes_")


def test_fractions_are_rates_too():
    X, y = problem(3)
    exact = robustness_curve(GaussianNB(), X, y, [Fraction(1, 4)], repeats=2)
    np.testing.assert_array_equal(
        exact.scores, robustness_curve(GaussianNB(), X, y, [0.25], repeats=2).scores
    )
    assert exact.rates.tolist() == [0.25]


# What is refused, before any fit.


@pytest.mark.parametrize(
    ("classes", "rate", "message"),
    [
        (2, 0.5, "[0, 1/2), got 0.5"),
        (2, -0.1, "[0, 1/2), got -0.1"),
        (2, float("nan"), "[0, 1/2), got nan"),
        (2, "0.1", "[0, 1/2), got '0.1'"),
        (3, 2 / 3, "[0, 2/3), got 0.66"),
    ],
)
def test_a_rate_out_of_range_is_named(classes, rate, message):
    log = []
    with pytest.raises(ValueError, match=re.escape(message)):
        robustness_curve(Recorder(log), *problem(classes), (0.0, rate))
    assert not log


def test_three_classes_stand_more_than_half():
    assert robustness_curve(GaussianNB(), *problem(3), (0.6,), repeats=1).rates.tolist() == [0.6]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rates": ()}, "at least one noise rate"),
        ({"repeats": 0}, "repeats is a whole number from 1 on, got 0"),
        ({"repeats": 2.5}, "repeats is a whole number from 1 on, got 2.5"),
        ({"y": np.linspace(0, 1, 120)}, "got probabilities"),
        ({"y": np.zeros(120)}, "classes from 2 on, got 1"),
        ({"y": [None] * 120}, "row 0 is None"),
        ({"y": np.arange(119) % 2}, r"\[120, 119\]"),
        ({"test_size": 1.5}, "test_size"),
    ],
)
def test_bad_input_is_named(change, message):
    X, y = problem()
    with pytest.raises(ValueError, match=message):
        robustness_curve(GaussianNB(), **{"X": X, "y": y} | change)


@pytest.mark.parametrize("estimator", [{}, {"naive": GaussianNB()}, None, "naive"])
def test_what_is_no_classifier_is_named(estimator):
    named = f"with fit and predict is needed, got a {type(estimator).__name__}; RobustnessCurveDisplay"
    with pytest.raises(TypeError, match=named):
        robustness_curve(estimator, *problem())


# The curve as a value.


def test_mean_and_deviation_are_over_the_repeats():
    curve = RobustnessCurve("mine", [0.0, 0.1], [[1.0, 0.8, 0.9], [0.5, 0.5, 0.5]])
    np.testing.assert_allclose(curve.mean, [0.9, 0.5])
    np.testing.assert_allclose(curve.std, [np.sqrt(0.02 / 3), 0.0], atol=1e-15)


def test_a_curve_is_frozen_and_survives_a_pickle():
    scores = np.array([[1.0]])
    curve = RobustnessCurve("mine", [0.0], scores)
    scores[0, 0] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        curve.scores[0, 0] = 0.0
    assert repr(pickle.loads(pickle.dumps(curve))) == repr(curve)
    assert repr(curve) == "RobustnessCurve('mine', repeats=1, accuracy={0: 1.000±0.000})"


@pytest.mark.parametrize(
    ("rates", "scores"), [([0.0], [1.0]), ([0.0, 0.1], [[1.0]]), ([], []), ([0.0], [[]])]
)
def test_scores_that_do_not_fit_the_rates_are_refused(rates, scores):
    with pytest.raises(ValueError, match="a row of scores for each rate"):
        RobustnessCurve("mine", rates, scores)


# The picture.


def axes():
    from matplotlib.figure import Figure

    return Figure().subplots()


@pytest.fixture
def pyplot():
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def test_the_display_draws_one_line_and_one_band_for_each_estimator(pyplot):
    X, y = problem()
    rivals = {"naive": GaussianNB(), "logistic": LogisticRegression(), "neighbours": KNeighborsClassifier()}
    display = RobustnessCurveDisplay.from_estimator(rivals, X, y, RATES, repeats=3)
    assert list(display.ax_.lines) == display.lines_
    assert list(display.ax_.collections) == display.fill_between_
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == list(rivals)
    assert display.ax_.get_xlabel()
    assert display.ax_.get_ylabel()
    assert display.figure_ is pyplot.gcf()
    for curve, line, band in zip(display.curves, display.lines_, display.fill_between_, strict=True):
        alone = robustness_curve(rivals[curve.name], X, y, RATES, repeats=3)
        np.testing.assert_array_equal(line.get_xdata(), RATES)
        np.testing.assert_array_equal(line.get_ydata(), alone.mean)
        edge = band.get_paths()[0].vertices[:, 1]
        np.testing.assert_allclose(
            [edge.min(), edge.max()], [(alone.mean - alone.std).min(), (alone.mean + alone.std).max()]
        )
    display.figure_.canvas.draw()


def test_a_single_estimator_has_its_class_for_a_name():
    display = RobustnessCurveDisplay.from_estimator(GaussianNB(), *problem(), RATES, repeats=1, ax=axes())
    assert [line.get_label() for line in display.lines_] == ["GaussianNB"]


def test_curves_are_drawn_from_left_to_right_on_the_axes_given():
    ax = axes()
    display = RobustnessCurveDisplay.from_curves(RobustnessCurve("mine", [0.3, 0.0], [[0.5], [1.0]]), ax=ax)
    assert display.ax_ is ax
    assert display.lines_[0].get_xydata().tolist() == [[0.0, 1.0], [0.3, 0.5]]


def test_a_display_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one curve"):
        RobustnessCurveDisplay([])


def test_without_matplotlib_the_extra_is_named_before_any_fit(monkeypatch):
    for module in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, module, None)
    log = []
    display = RobustnessCurveDisplay([RobustnessCurve("mine", [0.0], [[1.0]])])
    for draw in (display.plot, lambda: RobustnessCurveDisplay.from_estimator(Recorder(log), *problem())):
        with pytest.raises(ImportError, match=re.escape('pip install "unflip[plot]"')):
            draw()
    assert not log
