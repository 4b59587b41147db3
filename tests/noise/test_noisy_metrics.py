"""Scores under noise against tables of probabilities corrupted by hand.

A classifier and a distribution are a table of P(y, prediction), in fractions. Noise mixes its rows, and
the scores of the mixed table are computed by loops from their definitions. The library sees only the
score, the model and the share of noisy positives, and must agree to the last digit: fractions have no
rounding to hide behind.
"""

from fractions import Fraction as F

import numpy as np
import pytest
from numpy.testing import assert_allclose

from unflip.noise import (
    ClassConditionalNoise,
    SymmetricNoise,
    UniformNoise,
    clean_accuracy,
    clean_auc,
    clean_balanced_accuracy,
    noisy_accuracy,
    noisy_auc,
    noisy_balanced_accuracy,
)

BINARY = [
    SymmetricNoise(F(0)),
    SymmetricNoise(F(1, 5)),
    SymmetricNoise(F(49, 100)),
    UniformNoise(F(1, 3), 2),
    ClassConditionalNoise([F(1, 10), F(3, 10)]),
    ClassConditionalNoise([F(0), F(9, 10)]),
    ClassConditionalNoise([[F(2, 3), F(1, 3)], [F(1, 7), F(6, 7)]]),
]
ALIKE = [
    *BINARY[:4],
    UniformNoise(F(1, 2), 3),
    UniformNoise(F(3, 5), 4),
    ClassConditionalNoise([F(1, 4)] * 2),
    ClassConditionalNoise([F(1, 4)] * 3),
]
PAIRS = [
    (clean_accuracy, noisy_accuracy),
    (clean_balanced_accuracy, noisy_balanced_accuracy),
    (clean_auc, noisy_auc),
]


def joint_tables(k, columns, base=None):
    """Tables P(y = row, column) in fractions; with `base`, rows of those sums."""
    rng = np.random.default_rng(k * 100 + columns)
    for _ in range(5):
        weights = [[int(w) for w in row] for row in rng.integers(1, 20, size=(k, columns))]
        total = sum(map(sum, weights))
        if base is None:
            yield [[F(w, total) for w in row] for row in weights]
        else:
            yield [[base * F(w, sum(row)) for w in row] for row in weights]


def corrupted(joint, noise):
    """P(noisy y, column): the noise reads the clean label and nothing else."""
    table, k = noise.transition.tolist(), len(joint)
    return [
        [sum(joint[i][c] * table[i][j] for i in range(k)) for c in range(len(joint[0]))] for j in range(k)
    ]


def accuracy(joint):
    return sum(joint[i][i] for i in range(len(joint)))


def balanced_accuracy(joint):
    return sum(joint[i][i] / sum(joint[i]) for i in range(len(joint))) / len(joint)


def auc(joint):
    """P(score of a positive > score of a negative), ties counting one half; columns are scores."""
    negative, positive = ([p / sum(row) for p in row] for row in joint)
    return sum(
        p * n * (F(1) if i > j else F(1, 2) if i == j else F(0))
        for i, p in enumerate(positive)
        for j, n in enumerate(negative)
    )


@pytest.mark.parametrize("noise", ALIKE, ids=repr)
def test_accuracy_agrees_with_the_corrupted_table(noise):
    for joint in joint_tables(noise.n_classes, noise.n_classes):
        clean, noisy = accuracy(joint), accuracy(corrupted(joint, noise))
        assert noisy_accuracy(clean, noise) == noisy
        assert clean_accuracy(noisy, noise) == clean


@pytest.mark.parametrize("noise", BINARY, ids=repr)
def test_balanced_accuracy_agrees_with_the_corrupted_table(noise):
    for joint in joint_tables(2, 2):
        mixed = corrupted(joint, noise)
        clean, noisy, share = balanced_accuracy(joint), balanced_accuracy(mixed), sum(mixed[1])
        assert noisy_balanced_accuracy(clean, noise, share) == noisy
        assert clean_balanced_accuracy(noisy, noise, share) == clean


@pytest.mark.parametrize("noise", [UniformNoise(F(1, 2), 3), UniformNoise(F(3, 5), 4)], ids=repr)
def test_balanced_accuracy_of_many_equally_frequent_classes_agrees_too(noise):
    k = noise.n_classes
    for joint in joint_tables(k, k, base=F(1, k)):
        clean, noisy = balanced_accuracy(joint), balanced_accuracy(corrupted(joint, noise))
        assert noisy_balanced_accuracy(clean, noise) == noisy
        assert clean_balanced_accuracy(noisy, noise) == clean


@pytest.mark.parametrize("noise", BINARY, ids=repr)
@pytest.mark.parametrize("levels", [2, 3, 7])
def test_auc_agrees_with_the_corrupted_table(noise, levels):
    for joint in joint_tables(2, levels):
        mixed = corrupted(joint, noise)
        clean, noisy, share = auc(joint), auc(mixed), sum(mixed[1])
        assert noisy_auc(clean, noise, share) == noisy
        assert clean_auc(noisy, noise, share) == clean


@pytest.mark.parametrize("noise", [ClassConditionalNoise([F(1, 10), F(3, 10)])], ids=repr)
def test_class_conditional_accuracy_is_refused_for_a_reason(noise):
    # Two tables of equal clean accuracy have different noisy ones, so no function of it can be right.
    careful = [[F(1, 2), F(0)], [F(1, 4), F(1, 4)]]
    rash = [[F(1, 4), F(1, 4)], [F(0), F(1, 2)]]
    assert accuracy(careful) == accuracy(rash)
    assert accuracy(corrupted(careful, noise)) != accuracy(corrupted(rash, noise))
    for convert in (clean_accuracy, noisy_accuracy):
        with pytest.raises(ValueError, match="does not determine the clean one; use clean_balanced_accuracy"):
            convert(F(3, 4), noise)


def test_an_uneven_table_of_three_classes_is_refused():
    # The same diagonal is not enough: here class 0 turns only into class 1.
    uneven = ClassConditionalNoise([[0.8, 0.2, 0.0], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    with pytest.raises(ValueError, match="does not determine"):
        clean_accuracy(0.7, uneven)
    with pytest.raises(ValueError, match="only under uniform noise"):
        clean_balanced_accuracy(0.7, uneven)


@pytest.mark.parametrize("rate", [F(2, 3), F(4, 5)])
def test_noise_that_drowns_the_true_class_is_refused(rate):
    # At 2/3 of three classes the noisy accuracy is 1/3 whatever the classifier; beyond, order is reversed.
    with pytest.raises(ValueError, match="no likelier than another"):
        clean_accuracy(F(1, 2), ClassConditionalNoise([rate] * 3))


def test_three_unbalanced_classes_are_refused_for_a_reason():
    # Two tables with the same frequencies and the same balanced accuracy part ways under noise.
    noise = UniformNoise(F(1, 3), 3)
    a = [[F(1, 2), F(0), F(0)], [F(1, 4), F(0), F(0)], [F(0), F(0), F(1, 4)]]
    b = [[F(0), F(1, 2), F(0)], [F(0), F(1, 4), F(0)], [F(0), F(0), F(1, 4)]]
    assert balanced_accuracy(a) == balanced_accuracy(b)
    assert balanced_accuracy(corrupted(a, noise)) != balanced_accuracy(corrupted(b, noise))
    for convert in (clean_balanced_accuracy, noisy_balanced_accuracy):
        with pytest.raises(ValueError, match="equally frequent classes"):
            convert(F(2, 3), noise, F(1, 4))


@pytest.mark.parametrize("convert", [clean_auc, noisy_auc])
def test_the_auc_is_a_matter_of_two_classes(convert):
    with pytest.raises(ValueError, match="corrected for two classes, the noise model has 3"):
        convert(0.7, UniformNoise(0.2, 3))


@pytest.mark.parametrize(
    ("convert", "value", "result"),
    [
        (clean_accuracy, F(37, 50), F(9, 10)),  # (0.74 - 0.2) / 0.6
        (clean_accuracy, F(1, 2), F(1, 2)),
        (clean_accuracy, F(4, 5), F(1)),
        (clean_accuracy, F(1, 5), F(0)),
        (noisy_accuracy, F(9, 10), F(37, 50)),
        (clean_balanced_accuracy, F(37, 50), F(9, 10)),
        (clean_auc, F(4, 5), F(1)),
    ],
)
def test_a_bare_rate_means_symmetric_noise(convert, value, result):
    options = () if convert is clean_accuracy or convert is noisy_accuracy else (F(1, 2),)
    assert convert(value, F(1, 5), *options) == result
    assert convert(value, SymmetricNoise(F(1, 5)), *options) == result


def test_skewed_classes_shrink_the_auc_more():
    # By hand, with rate 1/5 and 1/10 of clean positives: noisy positives are 0.26 of all, of which
    # 0.18 / 0.26 are really negative; of the noisy negatives 0.02 / 0.74 are really positive.
    slope = 1 - F(18, 26) - F(2, 74)
    assert noisy_auc(F(1), SymmetricNoise(F(1, 5)), F(26, 100)) == F(1, 2) + slope / 2
    assert noisy_balanced_accuracy(F(1), SymmetricNoise(F(1, 5)), F(26, 100)) == F(1, 2) + slope / 2


@pytest.mark.parametrize("noise", BINARY, ids=repr)
@pytest.mark.parametrize(("clean", "noisy"), PAIRS[1:], ids=["balanced", "auc"])
def test_one_half_is_a_fixed_point(noise, clean, noisy):
    # A useless classifier is useless on any labels.
    share = noise.corrupt(F(1, 3))
    assert clean(F(1, 2), noise, share) == F(1, 2)
    assert noisy(F(1, 2), noise, share) == F(1, 2)


@pytest.mark.parametrize("noise", [SymmetricNoise(0.3), SymmetricNoise(0.0), UniformNoise(0.4, 2)], ids=repr)
@pytest.mark.parametrize(("clean", "noisy"), PAIRS, ids=["accuracy", "balanced", "auc"])
def test_arrays_go_there_and_back_and_keep_their_order(noise, clean, noisy):
    # An increasing line changes no choice between classifiers.
    scores = np.linspace(0, 1, 21).reshape(3, 7)
    there = noisy(scores, noise)
    assert there.shape == scores.shape
    assert np.all(np.diff(there.ravel()) > 0)
    assert np.all(np.diff(clean(scores, noise).ravel()) > 0)
    assert_allclose(clean(there, noise), scores, atol=1e-14)
    assert_allclose(noisy(clean(scores, noise), noise), scores, atol=1e-14)


@pytest.mark.parametrize(("clean", "noisy"), PAIRS[1:], ids=["balanced", "auc"])
def test_shares_may_come_as_an_array_beside_the_scores(clean, noisy):
    noise = ClassConditionalNoise([0.1, 0.3])
    scores, shares = np.array([0.6, 0.7, 0.8]), np.array([0.2, 0.4, 0.6])
    for convert in (clean, noisy):
        one_by_one = [convert(s, noise, q) for s, q in zip(scores.tolist(), shares.tolist(), strict=True)]
        assert_allclose(convert(scores, noise, shares), one_by_one, rtol=1e-14)
        with pytest.raises(ValueError, match="share of noisy positives"):
            convert(scores, noise, np.array([0.2, 0.4, 0.7]))


@pytest.mark.parametrize("convert", [f for pair in PAIRS[1:] for f in pair])
@pytest.mark.parametrize(
    ("noise", "share"),
    [
        (SymmetricNoise(F(1, 5)), F(1, 5)),
        (SymmetricNoise(F(1, 5)), F(4, 5)),
        (SymmetricNoise(0.2), 0.1),
        (SymmetricNoise(0.2), 0.9),
        (SymmetricNoise(0.0), 0.0),
        (SymmetricNoise(0.0), 1.0),
        (SymmetricNoise(0.2), -0.5),
        (SymmetricNoise(0.2), 1.5),
        (SymmetricNoise(0.2), float("nan")),
        (ClassConditionalNoise([0.1, 0.3]), 0.1),
        (ClassConditionalNoise([0.1, 0.3]), 0.7),
        (ClassConditionalNoise([0.1, 0.3]), 0.05),
    ],
    ids=str,
)
def test_a_share_of_positives_that_the_noise_cannot_produce_is_refused(convert, noise, share):
    # Noise of rates a and b leaves between a and 1 - b of the labels positive, the ends for one class only.
    with pytest.raises(ValueError, match="the share of noisy positives lies strictly between"):
        convert(0.7, noise, share)


@pytest.mark.parametrize("rate", (np.arange(1, 50) / 100).tolist())
def test_the_ends_are_refused_whatever_the_rounding(rate):
    # restore(rate) may round to 1e-17 rather than 0, which would pass for a tiny share of positives.
    for share in (rate, 1 - rate):
        with pytest.raises(ValueError, match="strictly between"):
            noisy_auc(0.9, SymmetricNoise(rate), share)


@pytest.mark.parametrize(("rate", "share"), [(0.01, np.nextafter(0.01, 1)), (0.2, np.nextafter(0.8, 0))])
def test_a_share_within_a_rounding_of_the_ends_is_refused_rather_than_divided_by(rate, share):
    # The clean share then rounds to 0 or 1 and the slope to 0.
    assert SymmetricNoise(rate).restore(share) in (0, 1)
    with pytest.raises(ValueError, match="strictly between"):
        clean_auc(0.9, SymmetricNoise(rate), share)


def test_the_message_names_the_limits_and_the_offender():
    with pytest.raises(ValueError, match=r"strictly between 0\.1 and 0\.7, got 0\.75"):
        clean_auc(0.6, ClassConditionalNoise([0.1, 0.3]), 0.75)


@pytest.mark.parametrize(("clean", "noisy"), PAIRS, ids=["accuracy", "balanced", "auc"])
@pytest.mark.parametrize("rate", [0.5, -0.1])
def test_a_rate_out_of_range_is_refused(clean, noisy, rate):
    for convert in (clean, noisy):
        with pytest.raises(ValueError, match="symmetric noise rate"):
            convert(0.7, rate)


@pytest.mark.parametrize("convert", [f for pair in PAIRS for f in pair])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, None])
def test_a_score_that_is_no_number_is_named(convert, value):
    for scores in (value, [0.7, value], np.array([[0.7, value]])):
        with pytest.raises(ValueError, match=f"a score is a finite number, got {value}"):
            convert(scores, 0.2)


@pytest.mark.parametrize("convert", [f for pair in PAIRS for f in pair])
def test_lists_are_arrays(convert):
    assert_allclose(convert([0.6, 0.7], 0.2), convert(np.array([0.6, 0.7]), 0.2), rtol=0)
