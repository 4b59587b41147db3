"""Finite distributions: exact when asked, honest about bad input, and sampled as they say."""

from fractions import Fraction as F

import numpy as np
import pytest

from unflip.noise import ClassConditionalNoise, SymmetricNoise, UniformNoise
from unflip.theory import FiniteDistribution, random_distribution

HALF = F(1, 2)


def world():
    return FiniteDistribution([[1, 0], [0, 2], [3, 1]], [HALF, F(1, 4), F(1, 4)], [1, HALF, 0])


def test_expectations_are_those_computed_by_hand():
    w = world()
    assert w.mean.tolist() == [F(5, 4), F(3, 4)]
    assert w.label_mean.tolist() == [F(-1, 4), F(-1, 4)]
    assert w.second_moment.tolist() == [[F(11, 4), F(3, 4)], [F(3, 4), F(5, 4)]]
    assert w.base_rate == F(5, 8)
    assert w.class_sums.tolist() == [[F(3, 4), HALF], [HALF, F(1, 4)]]
    assert w.given_label(1).tolist() == [F(4, 5), F(1, 5), 0]
    assert w.given_label(-1).tolist() == [0, F(1, 3), F(2, 3)]


def test_one_fraction_makes_all_numbers_exact_and_plain_integers_do_not():
    assert FiniteDistribution([[1]], [1], [F(1, 3)]).is_exact
    assert not FiniteDistribution([[1]], [1], [1]).is_exact


def test_floats_and_fractions_convert_into_each_other():
    there_and_back = world().floats().exact()
    assert there_and_back.class_probability.tolist() == world().class_probability.tolist()
    tenths = FiniteDistribution(np.zeros((10, 1)), [0.1] * 10, [0.1] * 10).exact()
    assert tenths.masses.sum() == 1
    rows = FiniteDistribution([[0.0]], [1.0], [[0.1, 0.2, 0.7]]).exact()
    assert rows.class_probability.sum() == 1


def test_numpy_integers_do_not_overflow_inside_fractions():
    big = FiniteDistribution(np.array([[2**62]]), [F(1)], [1])
    assert big.second_moment[0, 0] == 2**124


def test_corruption_takes_models_and_bare_rates_and_stays_exact():
    assert world().corrupt(F(1, 4)).class_probability.tolist() == [F(3, 4), HALF, F(1, 4)]
    assert world().corrupt(SymmetricNoise(F(1, 4))).class_probability.tolist() == [F(3, 4), HALF, F(1, 4)]
    skewed = ClassConditionalNoise([F(1, 10), F(3, 10)])  # -1 flips with 1/10, +1 with 3/10
    assert world().corrupt(skewed).class_probability.tolist() == [F(7, 10), F(2, 5), F(1, 10)]
    three = FiniteDistribution([[0]], [F(1)], [[1, 0, 0]])
    assert three.corrupt(F(1, 2)).class_probability.tolist() == [[HALF, F(1, 4), F(1, 4)]]
    with pytest.raises(ValueError, match="3 classes"):
        world().corrupt(UniformNoise(0.1, 3))


@pytest.mark.parametrize(
    "noise", [0.1, np.float32(0.1), SymmetricNoise(0.1), ClassConditionalNoise([0.1, 0.3])]
)
def test_float_rates_corrupt_an_exact_distribution_exactly(noise):
    noisy = world().corrupt(noise)
    up, down = noisy.class_probability[0], noisy.class_probability[2]  # of points that were +1, -1
    assert noisy.class_probability[1] == (up + down) / 2
    if not isinstance(noise, ClassConditionalNoise):
        rate = F(float(getattr(noise, "rate", noise)))
        assert (up, down) == (1 - rate, rate)
        assert (noisy.label_mean == (1 - 2 * rate) * world().label_mean).all()
    three = random_distribution(0, n_classes=3, exact=True).corrupt(0.1)
    assert three.is_exact
    assert set(three.class_probability.sum(axis=1)) == {1}


def test_corruption_twice_composes_as_flips_do():
    once = F(1, 10) * F(4, 5) + F(9, 10) * F(1, 5)  # one of two flips
    twice = world().corrupt(F(1, 10)).corrupt(F(1, 5))
    assert twice.class_probability.tolist() == world().corrupt(once).class_probability.tolist()


def test_sampling_follows_the_masses():
    w = world()
    X, y = w.sample(40_000, np.random.default_rng(0))
    for point, row in zip(w.floats().points, w.floats().joint, strict=True):
        for label, mass in zip((-1, 1), row, strict=True):
            share = np.mean(np.all(point == X, axis=1) & (y == label))
            assert abs(share - mass) < 4 * np.sqrt(mass * (1 - mass) / len(y)) + 1e-12


def test_sampling_several_classes_gives_their_codes():
    w = random_distribution(3, n_classes=4)
    _, y = w.sample(20_000, np.random.default_rng(0))
    assert np.allclose(np.bincount(y, minlength=4) / len(y), w.base_rate, atol=0.02)


def test_random_distributions_repeat_with_their_seed_and_agree_in_both_kinds_of_number():
    assert random_distribution(5).points.tolist() == random_distribution(5).points.tolist()
    assert random_distribution(5).points.tolist() != random_distribution(6).points.tolist()
    exact = random_distribution(5, exact=True)
    assert exact.is_exact
    assert exact.floats().points.tolist() == random_distribution(5).points.tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 2.0], [0.5, 0.5], [0, 1]), "points form a table"),
        (([[1.0]], [0.5, 0.5], [1]), "1 points need as many masses"),
        (([[1.0]], [0.9], [1]), "masses are non-negative and sum to 1"),
        (([[1.0], [2.0]], [1.5, -0.5], [1, 1]), "masses are non-negative"),
        (([[1.0]], [F(999, 1000)], [1]), "sum to 1"),
        (([[1.0]], [1.0], [1.5]), "between 0 and 1"),
        (([[1.0]], [1.0], [float("nan")]), "class_probability are finite"),
        (([[float("inf")]], [1.0], [1.0]), "points are finite"),
        (([[float("nan")]], [F(1)], [1.0]), "points are finite"),
        (([[1j]], [1.0], [1.0]), "points are real numbers"),
        (([[1j]], [F(1)], [1.0]), "points are real numbers"),
        (([["1"]], [1.0], [1.0]), "points are real numbers"),
        (([[1.0]] * 10, [0.1] * 10, [F(1, 2)] * 10), r"call \.exact\(\)"),
        (([[1.0]], [F(1)], [[0.1, 0.2, 0.7]]), r"call \.exact\(\)"),
        (([[1.0]], [1.0], [[0.5, 0.5]]), "as many class probabilities"),
        (([[1.0]], [1.0], [[0.5, 0.4, 0.0]]), "each row"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        FiniteDistribution(*arguments)


def test_two_class_quantities_refuse_more_classes():
    with pytest.raises(ValueError, match="two classes"):
        random_distribution(0, n_classes=3).label_mean  # noqa: B018


@pytest.mark.parametrize(("n_classes", "label"), [(2, 0), (2, -3), (2, 3), (3, -1), (3, 3)])
def test_labels_that_do_not_exist_are_refused(n_classes, label):
    with pytest.raises(ValueError, match=f"labels are .*, got {label}"):
        random_distribution(0, n_classes=n_classes).given_label(label)


def test_an_absent_label_has_no_conditional_distribution():
    with pytest.raises(ValueError, match="no point has label -1"):
        FiniteDistribution([[1.0]], [1.0], [1.0]).given_label(-1)
