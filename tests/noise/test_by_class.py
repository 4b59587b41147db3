"""Rates by class: two rates for two classes, a table for more, and when they are taken in place of one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from sklearn.datasets import make_classification

from unflip import RobustClassifierCV
from unflip.noise import (
    ClassConditionalNoise,
    NoiseEstimate,
    SymmetricNoise,
    UniformNoise,
    flip_labels,
    rate_from_scores,
)
from unflip.noise.estimate import NO_SIGNAL
from unflip.noise.judgement import COUNTED, beats_guessing, judge
from unflip.noise.table import MOST_CLASSES, _Likelihood, fit_tables
from unflip.noise.two_rates import fit_two_rates
from unflip.noise.words import is_by_class, is_told


def blobs(n_classes, n=1500, spread=0.25, seed=0):
    """Scores of well separated classes, and their clean labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    scores = np.eye(n_classes)[y] + spread * rng.normal(size=(n, n_classes))
    return (scores[:, 1] - scores[:, 0] if n_classes == 2 else scores), y


def pairs(n_classes, rate):
    """Every class is taken for the next one."""
    table = (1 - rate) * np.eye(n_classes)
    return table + rate * np.roll(np.eye(n_classes), 1, axis=1)


@pytest.mark.parametrize(
    ("table", "length"), [({"rates": 1}, 1), ({"rates": 3}, 3), ({"base": 0.7 * np.eye(3) + 0.1}, 9)], ids=str
)
def test_the_gradient_is_that_of_the_likelihood(table, length):
    scores, y = blobs(3, 60)
    trusted = np.arange(60) < 10
    likelihood = _Likelihood(scores, np.eye(3)[y], trusted, **table)
    rng = np.random.default_rng(1)
    at = 0.3 * rng.normal(size=9 + 3 + 1 + length)
    _, slope = likelihood(at)
    assert_allclose(slope, approx_fprime(at, lambda v: likelihood(v)[0], 1e-6), atol=2e-3, rtol=1e-4)


@pytest.mark.parametrize("n_classes", [3, 5, 8])
@pytest.mark.slow
def test_a_planted_table_is_found(n_classes):
    scores, y = blobs(n_classes)
    noise = ClassConditionalNoise(pairs(n_classes, 0.3))
    noisy = flip_labels(y, noise, rng=1)
    found = judge(scores, np.eye(n_classes)[noisy]).estimate
    assert found.low <= np.mean(noisy != y) <= found.high
    assert found.high - found.low < 0.08
    assert np.abs(found.noise.transition - noise.transition).max() < 0.12
    inside = [low <= 0.3 <= high for _, low, high in found.by_class.values()]
    assert np.mean(inside) >= 0.6


@pytest.mark.parametrize("rates", [(0.1, 0.4), (0.4, 0.0), (0.0, 0.4)])
def test_two_planted_rates_are_found(rates):
    scores, y = blobs(2)
    noisy = flip_labels(y, ClassConditionalNoise(rates), rng=2)
    found = judge(scores, np.eye(2)[noisy], classes=["no", "yes"]).estimate
    assert found.low <= np.mean(noisy != y) <= found.high
    for (rate, low, high), true in zip(found.by_class.values(), rates, strict=True):
        assert rate == pytest.approx(true, abs=0.06)
        assert low <= true <= high
    assert list(found.by_class) == ["no", "yes"]


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("rate", [0.0, 0.2, 0.35])
@pytest.mark.slow
def test_one_rate_for_all_classes_stays_one_rate(n_classes, rate):
    kinds = []
    for seed in range(4):
        scores, y = blobs(n_classes, seed=seed)
        noisy = flip_labels(y, rate, rng=seed)
        kinds.append(type(judge(scores, np.eye(n_classes)[noisy]).estimate.noise))
    assert kinds == [SymmetricNoise if n_classes == 2 else UniformNoise] * 4


@pytest.mark.slow
def test_trusted_rows_are_never_what_makes_classes_differ():
    """All wrong labels of the second class lie in rows that are said to be right: then they are right."""
    scores, y = blobs(2)
    noisy = flip_labels(y, ClassConditionalNoise([0.0, 0.4]), rng=3)
    member = np.eye(2)[noisy]
    assert fit_two_rates(scores, member).differ > 0.9
    assert fit_two_rates(scores, member, noisy != y).differ < 0.5
    scores, y = blobs(4)
    noisy = flip_labels(y, ClassConditionalNoise(pairs(4, 0.3)), rng=3)
    assert fit_tables(scores, np.eye(4)[noisy]).differ > 0.9
    assert fit_tables(scores, np.eye(4)[noisy], noisy != y).other.wrong < 0.05


def test_more_classes_than_a_table_is_fitted_for_are_counted():
    n_classes = MOST_CLASSES + 2
    scores, y = blobs(n_classes, 4000)
    noisy = flip_labels(y, ClassConditionalNoise(pairs(n_classes, 0.3)), rng=4)
    found = judge(scores, np.eye(n_classes)[noisy], noise="class_conditional").estimate
    assert np.abs(found.noise.transition - pairs(n_classes, 0.3)).mean() < 0.02
    assert COUNTED in found.warnings
    never = scores - 9 * np.eye(n_classes)[3]
    with pytest.raises(ValueError, match="rows look like class 3: too few"):
        judge(never, np.eye(n_classes)[noisy], noise="class_conditional")


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_likely_class_of_a_wrong_label_is_another_one(n_classes):
    scores, y = blobs(n_classes)
    noisy = flip_labels(y, ClassConditionalNoise(pairs(n_classes, 0.4) if n_classes > 2 else [0, 0.4]), rng=5)
    wrong, likely = judge(scores, np.eye(n_classes)[noisy]).rows()
    assert np.all(likely[wrong > 0.5] != noisy[wrong > 0.5])
    assert np.mean(likely == y) > 0.97
    assert wrong.sum() == pytest.approx(np.sum(noisy != y), rel=0.1)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_scores_of_coins_beat_guessing_in_few_of_a_hundred(n_classes):
    rng = np.random.default_rng(6)
    member = np.eye(n_classes)[
        rng.choice(n_classes, 400, p=np.r_[0.6, np.full(n_classes - 1, 0.4 / (n_classes - 1))])
    ]
    shape = (400,) if n_classes == 2 else (400, n_classes)
    assert sum(beats_guessing(rng.normal(size=shape), member) for _ in range(200)) <= 8


def test_a_rare_class_is_not_hidden_by_a_frequent_one():
    """Always saying "no" is right in 97 %, and no threshold beats that, yet the scores tell much."""
    rng = np.random.default_rng(7)
    y = (rng.uniform(size=4000) < 0.03).astype(int)
    scores = rng.normal(size=4000) + 1.5 * y - 3
    assert max(np.mean((scores > at) == y) for at in np.linspace(-3, 3, 61)) < np.mean(y == 0) + 0.005
    assert NO_SIGNAL not in rate_from_scores(scores, y).warnings


def mislabelled(share, rate, n=4000, seed=0):
    """Nearly perfect scores; the second class has this share of the rows, of which this rate is flipped."""
    rng = np.random.default_rng(seed)
    y = (rng.uniform(size=n) < share).astype(int)
    noisy = np.where((y == 1) & (rng.uniform(size=n) < rate), 0, y)
    return 2 * y - 1 + 0.1 * rng.normal(size=n), noisy, noisy != y


@pytest.mark.parametrize("share", [0.05, 0.08, 0.2])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
def test_a_rare_class_that_is_often_mislabelled_is_seen(share, seed):
    scores, noisy, wrong = mislabelled(share, 0.4, seed=seed)
    found = rate_from_scores(scores, noisy)
    assert found.low <= wrong.mean() <= found.high
    assert found.by_class[1][0] == pytest.approx(0.4, abs=0.12)


def test_labels_of_a_rare_class_are_not_called_clean_because_they_are_few():
    scores, noisy, wrong = mislabelled(0.02, 0.4)
    found = rate_from_scores(scores, noisy, noise="symmetric")
    assert wrong.mean() < found.outer < 0.02
    assert "may be clean" not in str(found)
    scores, noisy, _ = mislabelled(0.5, 0.0)
    assert "may be clean" in str(rate_from_scores(scores, noisy))


@pytest.mark.parametrize("share", [0.03, 0.08, 0.2, 0.5])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
def test_classes_that_overlap_are_not_taken_for_classes_that_are_flipped(share, seed):
    rng = np.random.default_rng(seed)
    y = (rng.uniform(size=4000) < share).astype(int)
    found = rate_from_scores(rng.normal(size=4000) + 1.2 * y, y)
    assert found.low == 0
    assert isinstance(found.noise, SymmetricNoise)


def test_a_class_that_is_more_often_wrong_than_right_leaves_the_interval_open():
    scores, noisy, wrong = mislabelled(0.5, 0.6)
    found = rate_from_scores(scores, noisy, noise="class_conditional")
    assert found.low <= wrong.mean() <= found.high
    assert "or more if mistakes depend on the class alone" in str(found)
    found = rate_from_scores(-scores, noisy, noise="class_conditional")  # whoever has it wrong throughout
    assert not found.identified


@pytest.mark.slow
def test_a_class_without_mistakes_may_have_as_many_as_its_rows_cannot_exclude():
    """Nothing wrong among n rows excludes, at 95 %, no rate below 1 - 0.05 ** (1 / n)."""
    scores, y = blobs(5, 500)
    table = np.where(np.arange(5)[:, None] == 0, pairs(5, 0.4), np.eye(5))  # 0 is taken for 1
    noisy = flip_labels(y, ClassConditionalNoise(table), rng=0)
    rates = judge(scores, np.eye(5)[noisy], noise="class_conditional").estimate.by_class
    for label in range(1, 5):
        rate, low, high = rates[label]
        assert low == 0
        assert high > max(rate, 0.8 * (1 - 0.05 ** (1 / np.sum(y == label))))


@pytest.mark.slow
def test_no_mistake_is_said_to_be_more_frequent_than_the_right_label():
    """Else a sentence would say more than half are wrong on the assumption that they are fewer."""
    scores, y = blobs(3, 1500)
    table = np.array([[0.45, 0.55, 0.0], [0.0, 1.0, 0.0], [0.0, 0.1, 0.9]])
    noisy = flip_labels(y, ClassConditionalNoise(table), rng=0)
    found = judge(scores, np.eye(3)[noisy], noise="class_conditional").estimate
    assert np.all(found.noise.transition.max(axis=1) <= np.diag(found.noise.transition) + 1e-12)
    assert "or more if mistakes depend on the class alone" in str(found)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.slow
def test_a_class_that_seems_half_wrong_may_be_worse_so_nothing_is_counted(n_classes):
    scores, y = blobs(n_classes)
    wrong = (y == 1) & (np.random.default_rng(0).uniform(size=len(y)) < 0.6)
    found = judge(scores, np.eye(n_classes)[np.where(wrong, 0, y)], classes=list("abc")[:n_classes]).estimate
    assert found.half_wrong == ("b",)
    assert found.high == found.outer
    assert not is_told(found)
    assert "hardly known" in str(found)
    assert "Caution: what is really “b”" in str(found)


@pytest.mark.parametrize(("n_classes", "seed"), [(10, 0), (10, 4), (12, 2), (12, 12)])
@pytest.mark.slow
def test_many_classes_that_overlap_are_not_taken_for_mistakes_between_some_of_them(n_classes, seed):
    """Eight columns hold so many classes only side by side: neighbours are often taken for each other."""
    shape = {
        "n_samples": 700,
        "n_features": 14,
        "n_informative": 8,
        "n_redundant": 0,
        "n_clusters_per_class": 1,
    }
    X, y = make_classification(**shape, n_classes=n_classes, class_sep=1.5, flip_y=0, random_state=seed)
    assert not is_by_class(RobustClassifierCV().fit(X, y).noise_)


def test_mistakes_are_named_only_where_a_class_has_some_for_sure():
    noise = ClassConditionalNoise([[0.9, 0.1, 0.0], [0.1, 0.9, 0.0], [0.0, 0.3, 0.7]])
    rates = {"a": (0.1, 0.0, 0.3), "b": (0.1, 0.05, 0.2), "c": (0.3, 0.2, 0.4)}
    said = str(NoiseEstimate(0.2, 0.15, 0.26, 0.31, noise, by_class=rates))
    assert (
        "30.0 % of what is really “c” is labelled “b” (in all 20.0 % to 40.0 % of it is mislabelled)" in said
    )
    assert "really “a”" not in said
    assert "really “" not in str(NoiseEstimate(0.2, 0.0, 0.26, 0.31, noise, by_class=rates))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.slow
def test_where_classes_may_differ_the_interval_admits_both(seed):
    scores, y = blobs(4, 500, spread=0.45, seed=seed)
    rng = np.random.default_rng(seed)
    wrong = rng.uniform(size=500) < np.array([0.0, 0.1, 0.3, 0.4])[y]
    noisy = np.where(wrong, (y + rng.integers(1, 4, 500)) % 4, y)
    found = rate_from_scores(scores, noisy)
    assert found.low <= wrong.mean() <= found.high <= found.outer


def overlapping(n_classes, n=1500, seed=0):
    """Scores whose classes overlap everywhere, with labels as they were drawn: none is wrong."""
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=n)
    y = np.digitize(signal + rng.normal(size=n), np.linspace(-1, 1, n_classes + 1)[1:-1])
    centers = np.linspace(-1, 1, n_classes)
    return (signal if n_classes == 2 else -((signal[:, None] - centers) ** 2)), y


@pytest.mark.parametrize("labels", [overlapping, blobs])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("trust", [False, True])
def test_rows_do_not_count_more_wrong_labels_than_the_estimate(labels, n_classes, trust):
    scores, y = labels(n_classes)
    trusted = np.arange(len(y)) % 3 == 0 if trust else None
    found = judge(scores, np.eye(n_classes)[y], trusted)
    doubted = np.ones(len(y), dtype=bool) if trusted is None else ~trusted
    assert found.rows()[0][doubted].mean() <= found.estimate.rate + 1e-6
