"""The estimators fitted to whole distributions, against exact fractions.

A finite distribution is a weighted sample: each point once for each label, with the probability of the pair
as its weight. So an estimator can be fitted to a population, clean or noisy, and must predict what the exact
formulas of `unflip.theory` say.
"""

from fractions import Fraction

import numpy as np
import pytest

from unflip import SquareClassifier, UnhingedClassifier
from unflip.theory import (
    linear_minimizer,
    multiclass_square_scores,
    multiclass_unhinged_scores,
    random_distribution,
)

RATES = [Fraction(0), Fraction(1, 10), Fraction(2, 5), Fraction(49, 100)]


def as_sample(world):
    """Points, labels and weights of a distribution, dropping what has no weight."""
    points, p = world.points.astype(float), world.class_probability.astype(float)
    p = np.column_stack([1 - p, p]) if p.ndim == 1 else p
    weight = (world.masses.astype(float)[:, None] * p).ravel()
    X, y = np.repeat(points, p.shape[1], axis=0), np.tile(np.arange(p.shape[1]), len(points))
    return X[weight > 0], y[weight > 0], weight[weight > 0]


def exact_scores(world, kind):
    """One column a class, in fractions."""
    if world.class_probability.ndim == 2:
        square = multiclass_square_scores(world, Fraction(1, 3))
        return square if kind == "square" else multiclass_unhinged_scores(world)
    centered = world.points - world.mean
    if kind == "square":  # with lambda / 2 |w|^2 the ridge of Equation 11 is half of lambda
        *w, b = linear_minimizer(world, "square", Fraction(2, 3), intercept=True)
        scores = world.points @ np.array(w) + b
    else:
        label_mean_of_centered = world.label_mean - (2 * world.base_rate - 1) * world.mean
        scores = centered @ label_mean_of_centered
    return np.column_stack([-scores, scores])


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("kind", ["unhinged", "square"])
@pytest.mark.slow
def test_estimators_of_noisy_populations_predict_what_exact_formulas_of_clean_ones_say(kind, n_classes):
    compared = 0
    for seed in range(70):
        world = random_distribution(seed, n_points=6, n_classes=n_classes, exact=True)
        exact = exact_scores(world, kind)
        for rate in RATES:
            X, y, weight = as_sample(world.corrupt(rate))
            model = UnhingedClassifier() if kind == "unhinged" else SquareClassifier(regularization=1 / 3)
            predicted = model.fit(X, y, weight).predict(world.points.astype(float))
            for scores, k in zip(exact, predicted, strict=True):
                # Where two classes tie exactly, rounding may choose either of them.
                assert scores[k] == max(scores), (seed, rate)  # Equation 10
                compared += 1
    assert compared == 70 * 6 * len(RATES)
