"""Mean discrepancies against double loops."""

from fractions import Fraction as F
from math import exp, sqrt

import numpy as np
import pytest

from unflip.theory import gaussian_kernel, linear_kernel, mmd, witness

RNG = np.random.default_rng(0)
P, Q = RNG.standard_normal((4, 2)), RNG.standard_normal((3, 2)) + 1
p, q = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.5, 0.25, 0.25])


def gaussian(x, z, h=0.7):
    return exp(-sum((a - b) ** 2 for a, b in zip(x, z, strict=True)) / (2 * h * h))


def test_mmd_against_a_double_loop():
    total = 0.0
    for points_a, a, sign_a in ((P, p, 1), (Q, q, -1)):
        for points_b, b, sign_b in ((P, p, 1), (Q, q, -1)):
            for x, m in zip(points_a, a, strict=True):
                for z, n in zip(points_b, b, strict=True):
                    total += sign_a * sign_b * m * n * gaussian(x, z)
    assert mmd(P, Q, gaussian_kernel(0.7), p, q) == pytest.approx(sqrt(total), abs=1e-12)


def test_witness_against_a_loop():
    see = witness(P, Q, gaussian_kernel(0.7), p, q)([[0.3, -0.2]])[0]
    there = [0.3, -0.2]
    expected = sum(m * gaussian(x, there) for x, m in zip(P, p, strict=True)) - sum(
        m * gaussian(x, there) for x, m in zip(Q, q, strict=True)
    )
    assert see == pytest.approx(expected, abs=1e-12)


def test_points_without_weights_count_alike():
    assert mmd(P, Q, linear_kernel) == pytest.approx(np.linalg.norm(P.mean(axis=0) - Q.mean(axis=0)))


def test_a_distribution_has_no_distance_from_itself():
    assert mmd(P, P, gaussian_kernel(0.7)) < 1e-7


def test_fractions_stay_exact_in_the_witness():
    points = np.array([[F(1, 3)]], dtype=object)
    one = np.array([F(1)], dtype=object)
    assert witness(points, -points, linear_kernel, one, one)(points).tolist() == [F(2, 9)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], [[1.0]], linear_kernel), "table"),
        (([[1.0]], [[1.0]], linear_kernel, [0.5, 0.5]), "as many weights"),
        (([[1.0]], [[1.0]], linear_kernel, [0.5]), "sum to 1"),
        (([[1.0], [2.0]], [[1.0]], linear_kernel, [1.5, -0.5]), "not negative"),
        (([[1.0], [2.0]], [[1.0]], linear_kernel, [float("nan"), 1.0]), "not negative"),
    ],
)
def test_bad_points_and_weights_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        mmd(*arguments)


def test_a_bandwidth_is_positive():
    with pytest.raises(ValueError, match="positive"):
        gaussian_kernel(0.0)
