"""Bounds against exact enumeration and simulation."""

from math import log, sqrt

import numpy as np
import pytest

from unflip.theory import (
    clean_regret,
    clean_regret_bound,
    deviation_bound,
    empirical_rademacher,
    rademacher_bound,
    random_distribution,
)


def test_empirical_complexity_of_two_points_by_hand():
    # signs agree: |(3, 0) + (0, 4)| / 2 = 2.5; signs differ: the same length
    assert empirical_rademacher([[3.0, 0.0], [0.0, 4.0]], 1.0) == pytest.approx(2.5)
    # on a line: agree 3.5, differ 0.5
    assert empirical_rademacher([[3.0], [4.0]], 4.0) == pytest.approx((3.5 + 0.5) / 2 / 2)


def test_the_bound_on_the_complexity_by_hand():  # Appendix D.1
    assert rademacher_bound(3.0, 4.0, 9) == pytest.approx(0.5)


def test_the_deviation_bound_by_hand():
    assert deviation_bound(0.25, 2.0, 50, 0.1) == pytest.approx(0.5 + 4 * sqrt(log(10) / 100))
    assert deviation_bound(0.25, 2.0, 50, 0.1, empirical=True) == pytest.approx(
        0.5 + 12 * sqrt(log(10) / 100)
    )


def test_the_clean_regret_bound_composes_its_parts():  # Section 5.3
    deviation = deviation_bound(rademacher_bound(3.0, 4.0, 90), 1.5, 90, 0.1)
    assert clean_regret_bound(3.0, 4.0, 90, 0.1, 0.3) == pytest.approx(2 * deviation / 0.4)


def test_deviations_of_samples_stay_within_the_bound_as_often_as_promised():  # Proposition 9
    """The largest deviation over the unit ball is |sample mean map - mean map|: no search is needed."""
    world, rng, n, delta = random_distribution(0), np.random.default_rng(0), 40, 0.2
    radius = float(np.max(np.linalg.norm(world.points, axis=1)))
    limit = deviation_bound(rademacher_bound(radius, 1.0, n), radius, n, delta)
    beyond = 0
    for _ in range(300):
        X, y = world.sample(n, rng)
        beyond += np.linalg.norm(y @ X / n - world.label_mean) > limit
    assert beyond <= 300 * delta


def test_regret_is_divided_by_what_noise_leaves():  # Proposition 6
    assert clean_regret(0.1, 0.4) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: clean_regret(0.1, 0.5), "noise rate"),
        (lambda: deviation_bound(0.0, 1.0, 10, 0.0), "delta"),
        (lambda: deviation_bound(0.0, 1.0, 0, 0.1), "at least one example"),
        (lambda: rademacher_bound(1.0, 1.0, -1), "at least one example"),
        (lambda: clean_regret_bound(1.0, 1.0, 0, 0.1), "at least one example"),
        (lambda: empirical_rademacher(np.ones((17, 1)), 1.0), "at most 16"),
    ],
)
def test_values_out_of_range_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
