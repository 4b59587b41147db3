"""Flipped labels against counts done by hand, exact expectations, and binomial standard errors.

A statistical check uses a fixed seed and allows four standard errors: a right implementation fails one
such comparison in 16,000, and the seed decides once and for all.
"""

from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest

from unflip.noise import ClassConditionalNoise, SymmetricNoise, UniformNoise, flip_labels

CYCLE = ClassConditionalNoise([[0, 1, 0], [0, 0, 1], [1, 0, 0]])  # every label moves on by one
SIGMAS = 4


def moves(before, after, k):
    """How many labels went from each class (row) to each class (column), by a loop."""
    table = [[0] * k for _ in range(k)]
    for i, j in zip(before, after, strict=True):
        table[i][j] += 1
    return table


# What comes out.

LABELS = {
    "list": [1, 0, 1, 1, 0, 0],
    "tuple": ("b", "a", "b", "b", "a", "a"),
    "int8": np.array([1, 0, 1, 1, 0, 0], dtype=np.int8),
    "uint64": np.array([7, 0, 7, 7, 0, 0], dtype=np.uint64),
    "signs": np.array([1, -1, 1, 1, -1, -1]),
    "float32": np.array([0.5, 0.25, 0.5, 0.5, 0.25, 0.25], dtype=np.float32),
    "bool": np.array([True, False, True, True, False, False]),
    "str": np.array(["spam", "ham", "spam", "spam", "ham", "ham"]),
    "bytes": np.array([b"yes", b"no", b"yes", b"yes", b"no", b"no"]),
    "object": np.array(["b", "aaa", "b", "b", "aaa", "aaa"], dtype=object),
    "tuples": pd.Series([(1, 2), (0, 5), (1, 2), (1, 2), (0, 5), (0, 5)]),
    "dates": np.array(["2020-02-01", "2020-01-01"] * 3, dtype="datetime64[D]"),
    "series": pd.Series([3, 2, 3, 3, 2, 2], index=list("uvwxyz")),
    "nullable": pd.Series([3, 2, 3, 3, 2, 2], dtype="Int64"),
    "categorical": pd.Categorical(["no", "yes", "no", "no", "yes", "yes"], categories=["yes", "no", "maybe"]),
    "category series": pd.Series(["no", "yes"] * 3, dtype="category"),
}


@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("quota", [False, True], ids=["coin", "quota"])
def test_labels_of_any_type_keep_their_dtype_and_stay_among_their_classes(y, quota):
    plain = np.asarray(y)
    kept = plain.copy()
    out = flip_labels(y, 0.4, rng=0, quota=quota)
    assert type(out) is np.ndarray
    assert out.dtype == plain.dtype
    assert out.shape == plain.shape
    assert set(out.tolist()) <= set(plain.tolist())
    assert out.tolist() != plain.tolist()  # seed 0 flips some label under either rule
    assert np.asarray(y).tolist() == kept.tolist()  # the argument is left alone


@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("quota", [False, True], ids=["coin", "quota"])
def test_a_rate_of_zero_returns_an_equal_copy(y, quota):
    out = flip_labels(y, 0, rng=0, quota=quota)
    assert out.tolist() == np.asarray(y).tolist()
    assert not (isinstance(y, np.ndarray) and np.shares_memory(out, y))


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32, bool, object])
def test_naming_the_classes_keeps_the_dtype_of_the_labels(dtype):
    y = np.array([0, 1, 1, 0], dtype=dtype)
    assert flip_labels(y, 0.3, rng=0, classes=[0, 1]).dtype == y.dtype


def test_a_dtype_too_narrow_for_the_named_classes_gives_way():
    # Every "a" becomes "long" under the cycle a -> long -> z -> a; cutting it to one letter would be wrong.
    assert flip_labels(np.array(["a", "a"]), CYCLE, classes=["a", "long", "z"]).tolist() == ["long", "long"]
    assert flip_labels(np.array([0], dtype=np.int8), CYCLE, classes=[0, 1000, 2000]).tolist() == [1000]
    assert flip_labels([0], CYCLE, classes=[0, 0.5, 1]).tolist() == [0.5]


# A coin per label.

COIN = [
    (SymmetricNoise(0.2), [0.5, 0.5]),
    (SymmetricNoise(F(9, 20)), [0.99, 0.01]),
    (UniformNoise(0.3, 3), [0.2, 0.7, 0.1]),
    (UniformNoise(0.7, 4), [0.25, 0.25, 0.25, 0.25]),
    (ClassConditionalNoise([0.05, 0.6]), [0.3, 0.7]),
    (ClassConditionalNoise([0.0, 0.9, 0.2]), [0.3, 0.3, 0.4]),
    (ClassConditionalNoise([[0.7, 0.2, 0.1], [0.0, 1.0, 0.0], [0.25, 0.25, 0.5]]), [0.4, 0.2, 0.4]),
]


@pytest.mark.parametrize(("noise", "shares"), COIN, ids=repr)
def test_coins_follow_the_table_within_four_standard_errors(noise, shares):
    k, n = noise.n_classes, 40_000
    y = np.repeat(np.arange(k), [round(n * share) for share in shares])
    counts = moves(y, flip_labels(y, noise, rng=7), k)
    for clean in range(k):
        size = sum(counts[clean])
        for noisy in range(k):
            p = float(noise.transition[clean, noisy])
            assert abs(counts[clean][noisy] - size * p) <= SIGMAS * np.sqrt(size * p * (1 - p))


def test_the_number_of_coin_flips_is_binomial_and_not_a_quota():
    # Over many seeds the count of flips has mean n p and variance n p (1 - p). The variance of m normal
    # counts is known up to the factor sqrt(2 / (m - 1)).
    n, p, m = 200, 0.3, 2000
    y = np.arange(n) % 2
    flips = np.array([np.sum(flip_labels(y, p, rng=seed) != y) for seed in range(m)])
    variance = n * p * (1 - p)
    assert abs(flips.mean() - n * p) <= SIGMAS * np.sqrt(variance / m)
    assert abs(flips.var(ddof=1) - variance) <= SIGMAS * variance * np.sqrt(2 / (m - 1))


def test_neighbouring_labels_have_coins_of_their_own():
    # For independent flips the chance that rows i and i + 1 both flip is p squared.
    n, p = 40_000, 0.3
    y = np.zeros(n, dtype=int)
    flipped = flip_labels(y, p, rng=3, classes=[0, 1]) == 1
    pairs = flipped.reshape(-1, 2).all(axis=1)
    q = p * p
    assert abs(pairs.sum() - len(pairs) * q) <= SIGMAS * np.sqrt(len(pairs) * q * (1 - q))


@pytest.mark.parametrize("k", [2, 3, 6])
def test_a_higher_rate_flips_the_same_labels_and_more(k):
    # One coin per label is compared with the rate, so raising the rate takes no flip back.
    y = np.arange(3000) % k
    limit = (k - 1) / k
    before = np.zeros(len(y), dtype=bool)
    for rate in np.linspace(0, limit, 12, endpoint=False):
        flipped = flip_labels(y, rate, rng=11) != y
        assert np.all(flipped[before])
        assert flipped.sum() > before.sum() or rate == 0
        before = flipped


def test_flips_are_nested_in_each_class_rate_separately():
    y = np.arange(3000) % 2
    low = flip_labels(y, ClassConditionalNoise([0.1, 0.3]), rng=5) != y
    high = flip_labels(y, ClassConditionalNoise([0.4, 0.3]), rng=5) != y
    assert np.all(high[low])
    assert np.array_equal(high[y == 1], low[y == 1])
    assert high[y == 0].sum() > low[y == 0].sum()


# Seeds and generators.


@pytest.mark.parametrize("quota", [False, True], ids=["coin", "quota"])
def test_a_seed_and_a_generator_repeat_themselves(quota):
    y = np.arange(500) % 3
    for seed in (lambda: 42, lambda: np.random.default_rng(42)):
        first = flip_labels(y, 0.3, seed(), quota=quota)
        assert np.array_equal(first, flip_labels(y, 0.3, seed(), quota=quota))
        assert not np.array_equal(first, flip_labels(y, 0.3, 43, quota=quota))


def test_a_seed_that_also_drew_the_labels_does_not_flip_them_by_class():
    # With one stream for both, a label would be flipped or kept according to its own class.
    y = np.random.default_rng(0).choice(2, 20_000)
    noisy = flip_labels(y, 0.3, 0)
    for k in (0, 1):
        share, n = np.mean(noisy[y == k] != k), np.sum(y == k)
        assert abs(share - 0.3) < 4 * np.sqrt(0.3 * 0.7 / n)


@pytest.mark.parametrize("quota", [False, True], ids=["coin", "quota"])
def test_a_generator_moves_on_between_calls(quota):
    y, rng = np.arange(500) % 2, np.random.default_rng(0)
    assert not np.array_equal(flip_labels(y, 0.3, rng, quota=quota), flip_labels(y, 0.3, rng, quota=quota))


@pytest.mark.parametrize("quota", [False, True], ids=["coin", "quota"])
def test_the_global_generator_is_neither_read_nor_moved(quota):
    y = np.arange(100) % 2
    np.random.seed(0)  # noqa: NPY002
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    a = flip_labels(y, 0.3, quota=quota)
    assert np.array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    b = flip_labels(y, 0.3, quota=quota)
    assert not np.array_equal(a, b)  # without a seed, two calls of 30 flips in 100 hardly ever agree


@pytest.mark.parametrize("quota", [False, True], ids=["coin", "quota"])
def test_only_the_order_of_the_classes_matters_and_not_their_names(quota):
    codes = np.arange(300) % 3
    names = np.array(["ant", "bee", "cow"])
    noise = ClassConditionalNoise([0.1, 0.3, 0.5])
    by_code = flip_labels(codes, noise, 9, quota=quota)
    assert np.array_equal(flip_labels(names[codes], noise, 9, quota=quota), names[by_code])


# An exact quota.


@pytest.mark.parametrize(
    ("sizes", "noise", "expected"),
    [
        ([60, 40], 0.25, [[45, 15], [10, 30]]),
        ([2, 1], 0.1, [[2, 0], [0, 1]]),  # 0.3 flips round to none
        ([1000, 2], ClassConditionalNoise([0.1, 0.5]), [[900, 100], [1, 1]]),
        ([10, 10], ClassConditionalNoise([0.0, 0.9]), [[10, 0], [9, 1]]),
        ([20, 20, 20], 0.3, [[14, 3, 3], [3, 14, 3], [3, 3, 14]]),
        ([40, 4, 0], UniformNoise(0.5, 3), [[20, 10, 10], [1, 2, 1], [0, 0, 0]]),
        ([5, 7, 2], CYCLE, [[0, 5, 0], [0, 0, 7], [2, 0, 0]]),
        (
            [10, 5, 4],
            ClassConditionalNoise([[0.7, 0.2, 0.1], [0.0, 1.0, 0.0], [0.25, 0.25, 0.5]]),
            [[7, 2, 1], [0, 5, 0], [1, 1, 2]],
        ),
    ],
)
def test_quota_counts_agree_with_those_done_by_hand(sizes, noise, expected):
    k = len(sizes)
    y = np.random.default_rng(0).permutation(np.repeat(np.arange(k), sizes))
    for seed in range(5):
        assert moves(y, flip_labels(y, noise, seed, quota=True, classes=range(k)), k) == expected


def test_what_cannot_be_shared_out_evenly_is_shared_out_by_chance():
    # 9.7 + 0.3 flips make 10. Which class has the odd one is drawn, in proportion to the remainders.
    y = np.repeat([0, 1], [97, 3])
    draws = 600
    odd = sum(np.sum(flip_labels(y, 0.1, seed, quota=True)[y == 1] != 1) for seed in range(draws))
    assert abs(odd / draws - 0.3) < 4 * np.sqrt(0.3 * 0.7 / draws)


def test_quota_noise_is_uniform_over_the_other_classes():
    # Ten rows a class at rate 0.1: one row leaves each class, and no other class is favoured.
    y = np.repeat(np.arange(10), 10)
    wrong = np.zeros(10)
    for seed in range(300):
        noisy = flip_labels(y, 0.1, seed, quota=True)
        assert np.sum(noisy != y) == 10
        wrong += np.bincount(noisy[noisy != y], minlength=10)
    # 3000 wrong labels in 10 boxes: each box is binomial with mean 300.
    assert np.all(np.abs(wrong - 300) < 4.5 * np.sqrt(3000 * 0.1 * 0.9))


def fractional_tables():
    rng = np.random.default_rng(1)
    for k in [2, 3, 4, 10]:
        for trial in range(25):
            sizes = rng.integers(0, [3, 20, 300][trial % 3], size=k)
            sizes[rng.integers(k)] += 1 + 50 * (trial % 2)
            if trial % 5 == 0:
                yield sizes, UniformNoise(F(int(rng.integers(1, 50)), 100), k)
                continue
            weights = rng.integers(0, 5, size=(k, k)) + 4 * k * np.eye(k, dtype=int) * (
                trial % 5 != 1 or k == 2
            )
            weights[:, 0] += weights.sum(axis=1) == 0
            rows = [[F(int(w), int(row.sum())) for w in row] for row in weights]
            yield sizes, ClassConditionalNoise(rows)


def test_quota_counts_are_the_expected_ones_rounded():
    # In exact fractions: the total is a nearest whole number to its expectation, each class is within
    # one of its own, and so is each cell of the table. No flip may be lost, however small a class is.
    checked = 0
    for sizes, noise in fractional_tables():
        k = len(sizes)
        y = np.repeat(np.arange(k), sizes)
        counts = moves(y, flip_labels(y, noise, 0, quota=True, classes=range(k)), k)
        table = noise.transition.tolist()
        expected = [[int(sizes[i]) * table[i][j] * (i != j) for j in range(k)] for i in range(k)]
        flips = [[counts[i][j] * (i != j) for j in range(k)] for i in range(k)]
        assert abs(sum(map(sum, flips)) - sum(map(sum, expected))) <= F(1, 2)
        for i in range(k):
            assert abs(sum(flips[i]) - sum(expected[i])) < 1
            assert all(abs(flips[i][j] - expected[i][j]) < 1 for j in range(k))
        checked += 1
    assert checked == 100


def test_quota_asks_no_class_for_more_flips_than_it_has_labels():
    # 17 / 2 + 9 / 2 = 13 flips. Rounding cell by cell would take four from a class with one label.
    y = np.repeat(np.arange(10), [17] + [1] * 9)
    out = flip_labels(y, 0.5, 0, quota=True)
    assert np.sum(out != y) == 13
    assert np.sum((out != y)[y == 0]) in (8, 9)


def test_quota_chooses_every_row_of_a_class_equally_often():
    # 5 of 20 labels flip, so each row flips with probability 1/4 over the seeds.
    y, trials = np.repeat([0, 1], [20, 8]), 2000
    flips = sum((flip_labels(y, 0.25, seed, quota=True) != y).astype(int) for seed in range(trials))
    error = np.sqrt(trials * 0.25 * 0.75)
    assert flips.sum() == trials * 7
    assert np.all(np.abs(flips - trials / 4) <= SIGMAS * error)


# Classes.


def test_the_rows_of_a_table_follow_the_order_of_the_named_classes():
    # small -> medium -> large -> small; in the order of the alphabet the cycle would turn the other way.
    sizes = ["small", "medium", "large"]
    for quota in (False, True):
        out = flip_labels(["small", "large", "medium", "small"], CYCLE, 0, quota=quota, classes=sizes)
        assert out.tolist() == ["medium", "small", "large", "medium"]


def test_class_rates_follow_the_order_of_the_named_classes():
    noise = ClassConditionalNoise([0.0, 0.5])
    y = np.array([0, 1] * 10)
    assert np.all(flip_labels(y, noise, 0)[y == 0] == 0)
    turned = flip_labels(y, noise, 0, quota=True, classes=[1, 0])
    assert np.all(turned[y == 1] == 1)
    assert turned[y == 0].sum() == 5


def test_a_class_that_is_missing_from_the_labels_still_receives_some():
    y = np.zeros(30, dtype=int)
    out = flip_labels(y, 0.5, 0, quota=True, classes=[0, 1, 2])
    assert np.bincount(out).tolist() == [15, 8, 7]  # 7.5 each; the first takes the odd one


def test_no_labels_give_no_labels():
    for quota in (False, True):
        assert flip_labels([], 0.2, 0, quota=quota, classes=["a", "b"]).tolist() == []


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (["a", "a"], {}, r"at least two classes, got \['a'\]; name them in classes="),
        ([], {}, r"at least two classes, got \[\]"),
        ([1, 1], {"classes": [1]}, "at least two classes"),
        ([1, 2], {"classes": []}, r"label 1 is not among the classes \[\]"),
        (["a", "c"], {"classes": ["a", "b"]}, r"label 'c' is not among the classes \['a', 'b'\]"),
        ([1, 2], {"classes": ["1", "2"]}, r"label 1 is not among the classes \['1', '2'\]"),
        (["1", "2"], {"classes": [1, 2]}, r"label '1' is not among the classes \[1, 2\]"),
        ([0, 1], {"classes": [0, 1, 1]}, r"names each class once, got \[0, 1, 1\]"),
        (1, {}, r"labels form one column, got an array of shape \(\)"),
        ([[0], [1]], {}, r"labels form one column, got an array of shape \(2, 1\)"),
        (pd.DataFrame({"y": [0, 1]}), {}, r"shape \(2, 1\)"),
        ([0.0, 1.0, float("nan")], {}, "NaN"),
        ([0.0, 1.0, float("nan")], {"classes": [0.0, 1.0]}, "NaN"),
        (np.array(["2020-01-01", "2020-01-02", "NaT"], dtype="datetime64[D]"), {}, "missing"),
        (["a", "b", None], {}, "none of them missing"),
        (["a", "b", None], {"classes": ["a", "b"]}, "none of them missing"),
        (pd.Series(["a", "b", None]), {}, "missing"),
        (pd.Series([0, 1, pd.NA], dtype="Int64"), {}, "missing"),
        (pd.Series([0, 1, pd.NA], dtype=object), {}, "none of them missing"),
        (np.array([1, "a"], dtype=object), {}, "one sortable type"),
    ],
)
@pytest.mark.parametrize("quota", [False, True], ids=["coin", "quota"])
def test_bad_labels_are_refused_with_a_reason(y, options, message, quota):
    with pytest.raises(ValueError, match=message):
        flip_labels(y, 0.2, 0, quota=quota, **options)


@pytest.mark.parametrize(
    ("y", "noise", "message"),
    [
        ([0, 1], 0.5, "symmetric noise rate"),
        ([0, 1, 2], 0.7, "uniform noise rate over 3 classes"),
        ([0, 1, 2], SymmetricNoise(0.1), "speaks of 2 classes, the labels of 3"),
        ([0, 1], UniformNoise(0.1, 3), "speaks of 3 classes, the labels of 2"),
        ([0, 1], ClassConditionalNoise([0.1, 0.1, 0.1]), "speaks of 3 classes, the labels of 2"),
    ],
)
def test_noise_that_does_not_fit_the_labels_is_refused(y, noise, message):
    with pytest.raises(ValueError, match=message):
        flip_labels(y, noise, 0)
