"""The promise itself, in fractions and without tolerance: noise changes no prediction."""

from fractions import Fraction as F

import numpy as np
import pytest

from unflip.theory import (
    linear_minimizer,
    multiclass_square_scores,
    multiclass_unhinged_scores,
    random_distribution,
)

SEEDS = range(240)
RIDGES = (F(1, 10**6), F(1, 3), F(50))


def rate_of(seed, top):
    """A rate in [0, top), another one for each seed, up to within a thousandth of the top."""
    return top * F(int(np.random.default_rng(seed).integers(1, 1000)), 1000)


def shape_of(seed):
    return {"n_points": 3 + seed % 5, "n_features": 1 + seed % 3}


def signs(scores):
    return [int(score > 0) - int(score < 0) for score in scores]


@pytest.mark.parametrize("block", range(0, len(SEEDS), 40))
def test_unhinged_signs_survive_symmetric_noise(block):  # Equation 3
    for seed in SEEDS[block : block + 40]:
        clean = random_distribution(seed, **shape_of(seed), exact=True)
        noisy = clean.corrupt(rate_of(seed, F(1, 2)))
        before, after = (clean.points @ linear_minimizer(w, "unhinged", 1) for w in (clean, noisy))
        assert signs(before) == signs(after)


@pytest.mark.parametrize("block", range(0, len(SEEDS), 40))
def test_centred_unhinged_signs_survive_symmetric_noise(block):
    """The default of the classifier: zero at the overall mean, which noise does not move."""
    for seed in SEEDS[block : block + 40]:
        clean = random_distribution(seed, **shape_of(seed), exact=True)
        noisy = clean.corrupt(rate_of(seed, F(1, 2)))
        assert (clean.mean == noisy.mean).all()
        before, after = (
            centred.points @ linear_minimizer(centred, "unhinged", 1)
            for centred in (w.map(lambda x, mu=w.mean: x - mu) for w in (clean, noisy))
        )
        assert signs(before) == signs(after)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("block", range(0, len(SEEDS), 40))
def test_square_signs_survive_symmetric_noise_at_any_ridge(block, intercept):
    for seed in SEEDS[block : block + 40]:
        clean = random_distribution(seed, **shape_of(seed), exact=True)
        noisy = clean.corrupt(rate_of(seed, F(1, 2)))
        ridge, d = RIDGES[seed % 3], clean.points.shape[1]
        before, after = (linear_minimizer(w, "square", ridge, intercept=intercept) for w in (clean, noisy))
        assert signs(clean.points @ before[:d] + sum(before[d:])) == signs(
            clean.points @ after[:d] + sum(after[d:])
        )


@pytest.mark.parametrize("block", range(0, len(SEEDS), 40))
def test_multiclass_predictions_survive_uniform_noise(block):
    for seed in SEEDS[block : block + 40]:
        k = 3 + seed % 3
        clean = random_distribution(seed, **shape_of(seed), n_classes=k, exact=True)
        noisy = clean.corrupt(rate_of(seed, F(k - 1, k)))
        for scores in (
            lambda w: multiclass_unhinged_scores(w),
            lambda w: multiclass_unhinged_scores(w, center=False),
            lambda w, ridge=RIDGES[seed % 3]: multiclass_square_scores(w, ridge),
            lambda w, ridge=RIDGES[seed % 3]: multiclass_square_scores(w, ridge, intercept=False),
        ):
            before, after = scores(clean), scores(noisy)
            assert [(row == max(row)).tolist() for row in before] == [
                (row == max(row)).tolist() for row in after
            ]


def test_class_weights_from_noisy_counts_break_the_multiclass_promise():
    """Weighting a class by one over its share uses the noisy share, and some prediction moves."""
    moved = 0
    for seed in range(40):
        clean = random_distribution(seed, n_classes=3, exact=True)
        noisy = clean.corrupt(F(1, 2))
        before, after = (multiclass_unhinged_scores(w) / w.base_rate for w in (clean, noisy))
        moved += [row.argmax() for row in before] != [row.argmax() for row in after]
    assert moved > 0


def test_the_hinge_does_not_keep_the_promise_that_unhinged_keeps():  # Proposition 1
    moved = 0
    for seed in range(20):
        clean = random_distribution(seed)
        noisy = clean.corrupt(0.4)
        before, after = (clean.points @ linear_minimizer(w, "hinge", 0.01) for w in (clean, noisy))
        moved += signs(before) != signs(after)
    assert moved > 0
