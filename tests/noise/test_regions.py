"""Bounds by class that know nothing of overlap, rules, ordered classes, and levels of intervals."""

import numpy as np
import pytest
from scipy.stats import beta

from unflip import estimate_noise
from unflip.audit.rule import RULE
from unflip.noise import ClassConditionalNoise, flip_labels, rate_from_scores
from unflip.noise.caveats import HIDDEN, ORDERED, TOO_FEW_ROWS
from unflip.noise.regions import outer_by_class


def gaussians(n, apart, seed, k=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    X = rng.normal(size=(n, 3)) + apart * np.eye(3)[y]
    return X, y


@pytest.mark.parametrize("apart", [0.5, 1.5, 4.0])
@pytest.mark.parametrize("rates", [(0.0, 0.4), (0.3, 0.1)])
def test_the_bound_of_each_class_holds_whatever_the_overlap(apart, rates):
    held = []
    for seed in range(40):
        X, y = gaussians(600, apart, seed)
        noisy = flip_labels(y, ClassConditionalNoise(rates), rng=seed)
        found = outer_by_class(X[:, 1] - X[:, 0], np.eye(2)[noisy])  # scores that saw no label
        held.append(found >= rates)
    assert np.mean(held, axis=0).min() >= 0.95
    if apart == 4.0:
        assert np.all(found < np.array(rates) + 0.15)  # and says something where classes are apart


def test_the_bound_is_the_least_of_the_regions():
    # All hundred rows look alike in order: those of the top ten have one other label, the rest are mixed.
    member = np.eye(2)[[0, 1] * 45 + [1] * 9 + [0]]
    scores = np.arange(100.0)
    sizes = [10, 13, 16, 21, 28, 37, 48, 62, 81, 100]
    right = [member[-size:, 1].sum() for size in sizes]
    tail = 0.05 / len(sizes)
    expected = min(beta.ppf(1 - tail, s - r + 1, r) for s, r in zip(sizes, right, strict=True))
    assert outer_by_class(scores, member)[1] == pytest.approx(expected, rel=0.1)


def test_a_higher_level_is_a_wider_interval():
    X, y = gaussians(800, 3.0, 0)
    noisy = flip_labels(y, 0.2, rng=0)
    found = [estimate_noise(X, noisy, level=level) for level in (0.5, 0.9, 0.99)]
    widths = [each.high - each.low for each in found]
    assert widths == sorted(widths)
    assert widths[0] < widths[2]
    assert len({each.rate for each in found}) == 1
    assert "99 % interval" in str(found[2])
    with pytest.raises(ValueError, match="level lies between 0 and 1, got 90"):
        estimate_noise(X, noisy, level=90)


def test_the_table_is_that_of_the_model():
    X, y = gaussians(900, 4.0, 1, k=3)
    table = np.array([[0.7, 0.3, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    noisy = flip_labels(y, ClassConditionalNoise(table), rng=1)
    found, share = estimate_noise(X, noisy), np.mean(noisy[y == 0] != 0)
    assert found.table.shape == (3, 3)
    assert np.abs(found.table - table).max() < 0.1
    assert found.by_class[0][1] <= share <= found.by_class[0][2]
    assert found.outer_by_class[0] >= 0.3


def names(found):
    return {caveat.name for caveat in found.caveats}


def test_few_rows_are_said():
    X, y = gaussians(30, 4.0, 2)
    assert TOO_FEW_ROWS in estimate_noise(X, y).warnings
    assert "too few rows" not in names(estimate_noise(*gaussians(300, 4.0, 2)))


def test_an_ordered_scale_is_said_and_names_are_not():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 2))
    rating = np.digitize(X[:, 0] + 0.25 * rng.normal(size=1500), [-1.0, -0.3, 0.3, 1.0]) + 1
    assert ORDERED in estimate_noise(X, rating).warnings
    assert ORDERED not in estimate_noise(X, np.array(list("abcde"))[rating - 1]).warnings
    blobs, k = gaussians(1500, 6.0, 3, k=3)
    assert ORDERED not in estimate_noise(blobs, flip_labels(k, 0.2, rng=0)).warnings


def test_labels_of_a_rule_are_said_to_hide_its_mistakes():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(800, 5))
    rule = (X[:, 0] > 0.3).astype(int)  # whatever was true
    assert RULE in estimate_noise(X, rule).warnings
    curved = (np.sum(X**2, axis=1) > 4).astype(int)
    assert RULE not in estimate_noise(X, curved).warnings


def test_where_overlap_may_be_noise_the_bound_comes_first():
    rng = np.random.default_rng(5)
    scores = rng.normal(size=2000)
    y = scores + 1.2 * rng.normal(size=2000) > 0
    found = rate_from_scores(scores, y)
    assert HIDDEN in found.warnings
    assert str(found).startswith(
        f"Between none and {100 * found.outer:.1f} % of the labels are wrong: at most "
    )
