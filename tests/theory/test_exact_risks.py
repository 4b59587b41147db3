"""Risks and regrets against hand computation and brute force."""

from fractions import Fraction as F

import numpy as np
import pytest

from unflip.losses import Hinge, Logistic, WeightedUnhinged, get, noise_corrected
from unflip.theory import FiniteDistribution, random_distribution, regret, risk, stochastic_risk

EXACT = ["zero_one", "hinge", "squared_hinge", "square", "ramp", "unhinged"]


def test_risk_by_hand():  # Equation 1
    world = FiniteDistribution([[1], [2]], [F(1, 4), F(3, 4)], [1, F(1, 3)])
    scores = np.array([F(1, 2), F(-2)], dtype=object)
    # hinge: 1/4 * 1/2 + 3/4 * (1/3 * 3 + 2/3 * 0)
    assert risk(world, "hinge", scores) == F(7, 8)
    assert risk(world, "zero_one", scores) == F(1, 4)
    assert risk(world, "unhinged", scores) == F(1, 4) * F(1, 2) + F(3, 4) * (1 - F(2, 3))
    assert risk(world, "unhinged", lambda x: x[:, 0] * 0) == 1


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("corrected", [False, True])
def test_exact_losses_give_fractions_that_floats_approach(name, corrected):
    loss = noise_corrected(get(name), F(1, 5)) if corrected else get(name)
    world = random_distribution(1, exact=True)
    scores = np.array([F(i - 2, 3) for i in range(5)], dtype=object)
    exact = risk(world, loss, scores)
    assert isinstance(exact, F | int)
    assert float(exact) == pytest.approx(risk(world.floats(), loss, scores.astype(float)), abs=1e-12)


def test_losses_with_transcendental_values_are_computed_in_floats():
    world = FiniteDistribution([[1]], [F(1)], [1])
    assert risk(world, "logistic", np.array([F(0)], dtype=object)) == pytest.approx(np.log(2))


def test_points_without_mass_do_not_count_even_at_infinite_loss():
    world = FiniteDistribution([[0.0], [1.0]], [1.0, 0.0], [1.0, 0.5])
    assert risk(world, Logistic(), [np.inf, -np.inf]) == 0


@pytest.mark.parametrize(
    "name", [*EXACT, "logistic", "sigmoid", "t_logistic", "tangent_boost", "exponential"]
)
@pytest.mark.parametrize("bound", [0.5, 2.0])
def test_regret_is_the_excess_over_the_best_of_a_fine_grid(name, bound):
    world, loss = random_distribution(7), get(name)
    scores = np.linspace(-bound, bound, 5)
    grid = np.linspace(-bound, bound, 2001)
    best = sum(
        m * np.min(loss.conditional_risk(np.full_like(grid, p), grid))
        for m, p in zip(world.masses, world.class_probability, strict=True)
    )
    assert regret(world, loss, scores, bound) == pytest.approx(risk(world, loss, scores) - best, abs=1e-5)


def test_regret_is_exact_in_fractions():
    world = FiniteDistribution([[0], [1]], [F(1, 3), F(2, 3)], [1, F(1, 4)])
    scores = np.array([F(1, 7), F(1, 7)], dtype=object)
    # 1/3 * 1 * (2 - 1/7) + 2/3 * 1/2 * (2 + 1/7)
    assert regret(world, "unhinged", scores, F(2)) == F(1, 3) * F(13, 7) + F(1, 3) * F(15, 7)
    assert regret(world, "zero_one", scores) == F(1, 3)
    assert regret(world, "hinge", scores) == F(1, 3) * F(6, 7) + F(1, 3) * F(8, 7)


def test_without_a_bound_the_unhinged_regret_is_infinite_and_the_best_scorer_has_none():
    world = FiniteDistribution([[0.0]], [1.0], [0.75])
    assert regret(world, "unhinged", [5.0]) == np.inf
    assert regret(world, "unhinged", [np.inf]) == 0


def test_a_scorer_beyond_the_bound_is_refused():
    with pytest.raises(ValueError, match="leaves"):
        regret(FiniteDistribution([[0.0]], [1.0], [1.0]), "unhinged", [2.0], bound=1.0)


def test_a_stochastic_risk_is_the_mean_of_the_risks_it_mixes():
    world = random_distribution(2, exact=True)
    a, b = (np.array([F(i + shift, 3) for i in range(5)], dtype=object) for shift in (-2, 1))
    for loss in ("hinge", WeightedUnhinged(F(1, 4)), "square"):
        mixed = stochastic_risk(world, loss, np.stack([a, b], axis=1), np.full((5, 2), [F(1, 3), F(2, 3)]))
        assert mixed == risk(world, loss, a) / 3 + 2 * risk(world, loss, b) / 3


def test_wrong_numbers_of_scores_and_of_classes_are_refused():
    with pytest.raises(ValueError, match="one score a point"):
        risk(random_distribution(0), "hinge", [1.0])
    with pytest.raises(ValueError, match="two classes"):
        risk(random_distribution(0, n_classes=3), Hinge(), np.zeros(5))
    with pytest.raises(ValueError, match="no loss is called"):
        risk(random_distribution(0), "hing", np.zeros(5))
