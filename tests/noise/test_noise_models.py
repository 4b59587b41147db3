"""Noise models against tables written by hand and exact fractions.

The references below multiply tables by plain loops over fractions, so they share nothing with the
library's NumPy code.
"""

import copy
import pickle
from dataclasses import FrozenInstanceError
from fractions import Fraction as F

import numpy as np
import pytest
from numpy.testing import assert_allclose

from unflip.noise import ClassConditionalNoise, SymmetricNoise, UniformNoise, as_noise

TABLE = [[F(7, 10), F(1, 5), F(1, 10)], [F(0), F(1), F(0)], [F(1, 4), F(1, 4), F(1, 2)]]
CYCLE = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]

# Each model beside its table, worked out by hand.
EXACT = [
    (SymmetricNoise(F(0)), [[1, 0], [0, 1]]),
    (SymmetricNoise(F(1, 5)), [[F(4, 5), F(1, 5)], [F(1, 5), F(4, 5)]]),
    (SymmetricNoise(F(49, 100)), [[F(51, 100), F(49, 100)], [F(49, 100), F(51, 100)]]),
    (UniformNoise(F(1, 3), 2), [[F(2, 3), F(1, 3)], [F(1, 3), F(2, 3)]]),
    (
        UniformNoise(F(1, 2), 3),
        [[F(1, 2), F(1, 4), F(1, 4)], [F(1, 4), F(1, 2), F(1, 4)], [F(1, 4), F(1, 4), F(1, 2)]],
    ),
    (
        UniformNoise(F(3, 5), 4),
        [[F(2, 5) if i == j else F(1, 5) for j in range(4)] for i in range(4)],
    ),
    (ClassConditionalNoise([F(1, 10), F(3, 10)]), [[F(9, 10), F(1, 10)], [F(3, 10), F(7, 10)]]),
    (ClassConditionalNoise([F(0), F(99, 100)]), [[1, 0], [F(99, 100), F(1, 100)]]),
    (
        ClassConditionalNoise([0, F(1, 3), F(4, 5)]),  # a plain zero is as exact as a fraction
        [[1, 0, 0], [F(1, 6), F(2, 3), F(1, 6)], [F(2, 5), F(2, 5), F(1, 5)]],
    ),
    (ClassConditionalNoise(TABLE), TABLE),
]
MODELS = [model for model, _ in EXACT]
FLOATS = [
    SymmetricNoise(0.2),
    UniformNoise(0.5, 3),
    ClassConditionalNoise([0.1, 0.3]),
    ClassConditionalNoise([0.1, 0.3, 0.2]),
    ClassConditionalNoise(np.array(TABLE, dtype=float)),
]


def through(probabilities, table):
    """The row vector `probabilities` times `table`, by a double loop."""
    k = len(table)
    return [sum(probabilities[i] * table[i][j] for i in range(k)) for j in range(k)]


def some_probabilities(k):
    """Exact probability vectors: the corners, the centre, and two crooked ones."""
    corners = [[F(int(i == j)) for j in range(k)] for i in range(k)]
    crooked = [F(i + 1, k * (k + 1) // 2) for i in range(k)]
    return [*corners, [F(1, k)] * k, crooked, crooked[::-1]]


@pytest.mark.parametrize(("model", "table"), EXACT, ids=repr)
def test_the_transition_table_is_the_one_written_by_hand(model, table):
    assert model.n_classes == len(table)
    assert model.transition.tolist() == table


@pytest.mark.parametrize(("model", "table"), EXACT, ids=repr)
def test_corrupt_multiplies_by_the_table_and_restore_undoes_it_exactly(model, table):
    for p in some_probabilities(len(table)):
        noisy = through(p, table)
        if len(table) == 2:  # two classes speak of P(y = +1) alone
            assert model.corrupt(p[1]) == noisy[1]
            assert model.restore(noisy[1]) == p[1]
            assert isinstance(model.restore(noisy[1]), F)
        else:
            assert model.corrupt(p).tolist() == noisy
            assert model.restore(noisy).tolist() == p
            assert all(isinstance(q, F) for q in model.restore(noisy))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_whole_numbers_are_exact_under_fractional_rates(model):
    # A corner of the simplex is carried to a row of the table, with no rounding in between.
    k = model.n_classes
    if k == 2:
        assert [model.corrupt(0), model.corrupt(1)] == model.transition[:, 1].tolist()
    else:
        assert model.corrupt(np.eye(k, dtype=int)).tolist() == model.transition.tolist()


@pytest.mark.parametrize("model", [m for m in MODELS if m.n_classes > 2], ids=repr)
def test_noise_keeps_probabilities_summing_to_one_in_both_directions(model):
    # Every row of the table sums to one, and so does every row of its inverse.
    for p in some_probabilities(model.n_classes):
        assert sum(model.corrupt(p)) == 1
        assert sum(model.restore(p)) == 1


@pytest.mark.parametrize("model", FLOATS + MODELS, ids=repr)
@pytest.mark.parametrize("shape", [(), (5,), (0,), (2, 3), (2, 1, 4)], ids=str)
def test_float_arrays_of_any_shape_go_there_and_back(model, shape):
    k = model.n_classes
    p = np.random.default_rng(0).dirichlet(np.ones(k), size=shape)
    p = p[..., 1] if k == 2 else p
    noisy = model.corrupt(p)
    expected = np.asarray(p, dtype=float)
    table = model.transition.astype(float)
    if k == 2:
        expected = (1 - expected) * table[0, 1] + expected * table[1, 1]
    else:
        expected = np.einsum("...i,ij->...j", expected, table)
    assert np.shape(noisy) == np.shape(p)
    assert_allclose(noisy, expected, rtol=1e-14)
    assert_allclose(model.restore(noisy), p, atol=1e-13)
    assert np.asarray(noisy).dtype == np.float64  # fractional rates must not turn floats into objects


@pytest.mark.parametrize("model", [m for m in FLOATS + MODELS if m.n_classes == 2], ids=repr)
@pytest.mark.parametrize("number", [0.25, np.float64(0.25), np.float32(0.25), np.array(0.25)])
def test_a_float_in_gives_a_python_float_out(model, number):
    assert type(model.corrupt(number)) is float
    assert type(model.restore(number)) is float


def test_corrupting_does_not_touch_its_argument():
    p = np.array([0.1, 0.9])
    SymmetricNoise(0.3).corrupt(p)
    assert p.tolist() == [0.1, 0.9]


def test_equation_2_of_the_paper():  # Equation 2
    # eta_bar = (1 - 2 rho) eta + rho
    for rho in [F(0), F(1, 5), F(2, 5)]:
        for eta in [F(0), F(1, 3), F(1)]:
            assert SymmetricNoise(rho).corrupt(eta) == (1 - 2 * rho) * eta + rho


def test_symmetric_noise_twice_is_symmetric_noise_of_the_composed_rate():
    # Two flips cancel, so a label ends wrong when exactly one of the two coins says so.
    first, second = F(1, 10), F(1, 5)
    both = SymmetricNoise(first * (1 - second) + (1 - first) * second)
    eta = F(3, 7)
    assert SymmetricNoise(second).corrupt(SymmetricNoise(first).corrupt(eta)) == both.corrupt(eta)


def test_uniform_noise_over_two_classes_is_symmetric_noise():
    for eta in [F(0), F(2, 7), F(1)]:
        assert UniformNoise(F(1, 5), 2).corrupt(eta) == SymmetricNoise(F(1, 5)).corrupt(eta)
        assert UniformNoise(F(1, 5), 2).restore(eta) == SymmetricNoise(F(1, 5)).restore(eta)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_equal_class_conditional_rates_are_uniform_noise(k):
    rates = ClassConditionalNoise([F(1, 3)] * k)
    uniform = UniformNoise(F(1, 3), k)
    assert rates.transition.tolist() == uniform.transition.tolist()
    assert rates._inverse().tolist() == uniform._inverse().tolist()


def test_restore_leaves_the_unit_interval_where_no_clean_probability_explains_the_noisy_one():
    # Under rate 1/4 every noisy probability lies in [1/4, 3/4].
    noise = SymmetricNoise(F(1, 4))
    assert noise.restore(F(1, 8)) == F(-1, 4)
    assert noise.restore(F(1)) == F(3, 2)


def test_a_permutation_of_the_classes_is_undone():
    # The table is invertible although no class keeps its labels; the elimination must swap rows.
    noise = ClassConditionalNoise([[F(p) for p in row] for row in CYCLE])
    p = [F(1, 2), F(1, 3), F(1, 6)]
    assert noise.corrupt(p).tolist() == [F(1, 6), F(1, 2), F(1, 3)]
    assert noise.restore(noise.corrupt(p)).tolist() == p
    assert_allclose(ClassConditionalNoise(CYCLE).restore([1 / 6, 1 / 2, 1 / 3]), [1 / 2, 1 / 3, 1 / 6])


SINGULAR = [
    [[F(1, 2), F(1, 2), F(0)], [F(1, 2), F(1, 2), F(0)], [F(0), F(0), F(1)]],
    [[F(3, 10), F(1, 5), F(1, 2)], [F(1, 10), F(3, 5), F(3, 10)], [F(1, 5), F(2, 5), F(2, 5)]],
    [[F(1, 3)] * 3] * 3,
]


@pytest.mark.parametrize("table", SINGULAR, ids=str)
@pytest.mark.parametrize("number", [F, float])
def test_a_singular_table_corrupts_but_refuses_to_restore(table, number):
    # One row is a mixture of the others. In floats elimination may miss that by a rounding error.
    noise = ClassConditionalNoise([[number(p) for p in row] for row in table])
    assert sum(noise.corrupt([number(1)] + [number(0)] * 2)) == 1
    with pytest.raises(ValueError, match="singular"):
        noise.restore([number(F(1, 2)), number(F(1, 4)), number(F(1, 4))])


@pytest.mark.parametrize("rate", [-0.1, 0.5, 0.7, F(1, 2), float("nan"), float("inf"), -1e-300])
def test_symmetric_noise_refuses_a_rate_outside_its_range(rate):
    with pytest.raises(ValueError, match=r"a symmetric noise rate lies in \[0, 1/2\), got "):
        SymmetricNoise(rate)


@pytest.mark.parametrize(
    ("rate", "k"),
    [(-0.1, 3), (F(2, 3), 3), (2 / 3, 3), (0.5, 2), (0.75, 4), (F(9, 10), 10), (0.9, 10), (float("nan"), 3)],
)
def test_uniform_noise_refuses_a_rate_outside_its_range(rate, k):
    with pytest.raises(ValueError, match=rf"over {k} classes lies in \[0, {k - 1}/{k}\), got "):
        UniformNoise(rate, k)


@pytest.mark.parametrize("k", range(2, 60))
def test_uniform_noise_refuses_the_limit_itself_and_takes_the_float_before_it(k):
    # At (K - 1) / K the noisy label says nothing, however the limit was rounded.
    limit = (k - 1) / k
    with pytest.raises(ValueError, match="lies in"):
        UniformNoise(limit, k)
    with pytest.raises(ValueError, match="lies in"):
        UniformNoise(F(k - 1, k), k)
    below = np.nextafter(limit, 0)
    assert UniformNoise(below, k).rate == below


@pytest.mark.parametrize("k", [1, 0, -2])
def test_uniform_noise_needs_two_classes(k):
    with pytest.raises(ValueError, match="classes from 2 on"):
        UniformNoise(0.0, k)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "at least two classes"),
        ([0.1], "at least two classes"),
        (0.1, "square table"),
        ([[0.5, 0.5]], r"square table are needed, got an array of shape \(1, 2\)"),
        ([[1.0]], "square table"),
        (np.zeros((2, 2, 2)), "square table"),
        ([0.1, 1.2, 0.1], "between 0 and 1"),
        ([-0.1, 0.2], "between 0 and 1"),
        ([0.1, float("nan")], "between 0 and 1"),
        ([[1.1, -0.1], [0.0, 1.0]], "between 0 and 1"),
        ([[F(3, 2), F(-1, 2)], [F(0), F(1)]], "between 0 and 1"),
        ([[0.9, 0.1], [0.25, 0.5]], "row 1 of the noise table sums to 0.75, not to 1"),
        ([[0.75, 0.25], [0.25, 0.7499]], "row 1 of the noise table sums to 0.9999, not to 1"),
        ([[F(1, 2), F(1, 3)], [F(0), F(1)]], "row 0 of the noise table sums to 5/6"),
        ([0.5, 0.5], "sum to less than 1, got 0.5 and 0.5"),
        ([F(1, 3), F(2, 3)], "sum to less than 1, got 1/3 and 2/3"),
        ([0.9, 0.8], "sum to less than 1"),
    ],
)
def test_class_conditional_noise_says_what_is_wrong_with_its_argument(given, message):
    with pytest.raises(ValueError, match=message):
        ClassConditionalNoise(given)


def test_one_of_two_classes_may_flip_more_often_than_not():
    # Only the sum of the rates decides whether noisy labels still say something.
    assert ClassConditionalNoise([F(0), F(9, 10)]).restore(F(1, 20)) == F(1, 2)


@pytest.mark.parametrize("rows", [[0.3, F(1, 4)], [F(3, 10), 0.25]])
def test_a_float_among_fractions_makes_the_whole_table_floats(rows):
    assert ClassConditionalNoise(rows).transition.dtype == np.float64


@pytest.mark.parametrize("model", [m for m in MODELS + FLOATS if m.n_classes == 3], ids=repr)
@pytest.mark.parametrize("p", [0.5, [0.5, 0.5], np.ones((3, 2))], ids=str)
def test_three_classes_need_rows_of_three_probabilities(model, p):
    with pytest.raises(ValueError, match="rows of 3 class probabilities are needed, got an array of shape"):
        model.corrupt(p)
    with pytest.raises(ValueError, match="rows of 3 class probabilities"):
        model.restore(p)


@pytest.mark.parametrize("model", MODELS + FLOATS, ids=repr)
def test_a_repr_evaluates_to_the_model(model):
    names = {type(model).__name__: type(model), "Fraction": F}
    assert eval(repr(model), names) == model


@pytest.mark.parametrize("model", MODELS + FLOATS, ids=repr)
@pytest.mark.parametrize(
    "again",
    [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))],
    ids=["copy", "deep", "pickle"],
)
def test_copies_and_pickles_are_equal_and_just_as_frozen(model, again):
    twin = again(model)
    assert twin == model
    assert hash(twin) == hash(model)
    assert twin.transition.tolist() == model.transition.tolist()
    assert twin.transition.dtype == model.transition.dtype
    # Writing into the table either fails or meets a fresh copy; the model never changes.
    if isinstance(twin, ClassConditionalNoise):
        with pytest.raises(ValueError, match="read-only"):
            twin.transition[0, 0] = 0
    else:
        twin.transition[0, 0] = 7
        assert twin.transition.tolist() == model.transition.tolist()


@pytest.mark.parametrize("model", MODELS + FLOATS, ids=repr)
def test_a_model_is_a_frozen_value(model):
    with pytest.raises(FrozenInstanceError):
        model.n_classes = 7
    with pytest.raises(FrozenInstanceError):
        model.rate = 0.1


def test_a_model_does_not_follow_later_changes_of_the_array_it_was_made_from():
    table = np.array([[0.9, 0.1], [0.2, 0.8]])
    noise = ClassConditionalNoise(table)
    table[0] = [0.5, 0.5]
    assert noise.transition.tolist() == [[0.9, 0.1], [0.2, 0.8]]
    assert table.flags.writeable


def test_equal_tables_are_equal_models_whatever_their_spelling():
    a = ClassConditionalNoise([0.25, 0.5])
    same = [
        ClassConditionalNoise([[0.75, 0.25], [0.5, 0.5]]),
        ClassConditionalNoise([F(1, 4), F(1, 2)]),
        ClassConditionalNoise(np.array([0.25, 0.5], dtype=np.float32)),
    ]
    assert all(a == b and hash(a) == hash(b) for b in same)
    assert len({a, *same}) == 1


def test_different_models_differ():
    models = [*FLOATS, SymmetricNoise(0.1), UniformNoise(0.2, 3), UniformNoise(0.2, 4)]
    assert len(set(models)) == len(models)
    assert all(a != b for i, a in enumerate(models) for b in models[:i])
    assert ClassConditionalNoise([0.1, 0.3]) != "ClassConditionalNoise([0.1, 0.3])"
    assert SymmetricNoise(0.2) != 0.2


def test_as_noise_reads_a_bare_rate_by_the_number_of_classes():
    assert as_noise(0.2, 2) == SymmetricNoise(0.2)
    assert as_noise(0.2, 3) == UniformNoise(0.2, 3)
    assert as_noise(0.6, 3) == UniformNoise(0.6, 3)
    with pytest.raises(ValueError, match="symmetric noise rate"):
        as_noise(0.6, 2)
    with pytest.raises(ValueError, match="classes from 2 on"):
        as_noise(0.2, 1)


@pytest.mark.parametrize("model", MODELS + FLOATS, ids=repr)
def test_as_noise_passes_a_model_on_and_refuses_one_for_other_classes(model):
    assert as_noise(model, model.n_classes) is model
    with pytest.raises(ValueError, match=rf"speaks of {model.n_classes} classes, the labels of 7"):
        as_noise(model, 7)
