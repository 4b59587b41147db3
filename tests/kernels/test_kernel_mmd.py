"""Kernel means of samples, beside the plain formulas of unflip.theory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from unflip import KernelUnhingedClassifier, theory
from unflip.kernels import Gaussian, Laplace, Linear, Polynomial, mmd, permutation_test, witness


def samples(n=12, m=17, shift=0.7, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.normal(size=(m, 3)) + shift, rng.random(n), rng.random(m)


KERNELS = [(Gaussian(1.2), theory.gaussian_kernel(1.2)), (Linear(), theory.linear_kernel)]


@pytest.mark.parametrize(("kernel", "plain"), KERNELS)
def test_discrepancy_and_witness_agree_with_the_theory(kernel, plain):  # Appendix E.4
    X, Z, p, q = samples()
    points = X + 0.3
    assert_allclose(mmd(X, Z, kernel), theory.mmd(X, Z, plain), rtol=1e-12)
    assert_allclose(witness(X, Z, kernel)(points), theory.witness(X, Z, plain)(points), atol=1e-12)
    masses = p / p.sum(), q / q.sum()
    assert_allclose(mmd(X, Z, kernel, p, q), theory.mmd(X, Z, plain, *masses), rtol=1e-12)
    assert_allclose(
        witness(X, Z, kernel, p, q)(points), theory.witness(X, Z, plain, *masses)(points), atol=1e-12
    )


@pytest.mark.parametrize(("kernel", "plain"), KERNELS)
def test_the_unbiased_estimate_averages_over_pairs_of_different_rows(kernel, plain):
    X, Z, *_ = samples()

    def within(rows):
        K, n = plain(rows, rows), len(rows)
        return sum(K[i, j] for i in range(n) for j in range(n) if i != j) / (n * (n - 1))

    expected = within(X) + within(Z) - 2 * plain(X, Z).mean()
    assert_allclose(mmd(X, Z, kernel, unbiased=True), expected, rtol=1e-11)
    assert_allclose(permutation_test(X, Z, kernel, permutations=1)[0], expected, rtol=1e-11)


def test_a_whole_weight_is_a_row_that_occurs_so_often():
    X, Z, *_ = samples(4, 5)
    counts = np.array([1, 2, 3, 1])
    assert_allclose(
        mmd(X, Z, Laplace(2.0), counts), mmd(np.repeat(X, counts, axis=0), Z, Laplace(2.0)), rtol=1e-12
    )


def test_the_unbiased_estimate_is_right_on_average():
    # Normal samples and a linear kernel: the squared distance of the means is known.
    estimates = [mmd(*samples(6, 8, 0.5, seed)[:2], Linear(), unbiased=True) for seed in range(600)]
    assert abs(np.mean(estimates) - 3 * 0.5**2) < 4 * np.std(estimates) / np.sqrt(600)


def test_equal_samples_are_at_distance_zero():
    X = samples()[0]
    assert mmd(X, X[::-1], Gaussian(1.0)) < 1e-7


def test_sparse_samples_will_do():
    X, Z, *_ = samples()
    assert_allclose(mmd(sparse.csr_array(X), sparse.csr_array(Z), Gaussian(1.0)), mmd(X, Z, Gaussian(1.0)))
    assert (
        permutation_test(sparse.csr_array(X), Z, Gaussian(1.0))[1] == permutation_test(X, Z, Gaussian(1.0))[1]
    )


def test_p_values_are_uniform_when_both_samples_are_alike():
    p = np.array(
        [permutation_test(*samples(15, 20, 0.0, seed)[:2], Gaussian(1.5), 199)[1] for seed in range(200)]
    )
    for level in (0.05, 0.1, 0.25, 0.5, 0.75):
        assert abs((p <= level).mean() - level) < 4 * np.sqrt(level * (1 - level) / 200)


def test_a_shift_is_found():
    X, Z, *_ = samples(50, 60, 1.0)
    assert permutation_test(X, Z, Gaussian(1.5), 999)[1] == 1 / 1000


def test_permutations_that_only_relabel_count_as_large():
    # Of the six ways to split these four rows, two are the split itself: p is near a third, never below.
    X, Z = [[0.0], [0.1]], [[5.0], [5.1]]
    assert abs(permutation_test(X, Z, Gaussian(1.0), 3000)[1] - 1 / 3) < 4 * np.sqrt(2 / 9 / 3000)


def test_a_seed_gives_the_same_answer():
    X, Z, *_ = samples(shift=0.2)
    assert permutation_test(X, Z, Gaussian(1.0), 300, rng=3) == permutation_test(
        X, Z, Gaussian(1.0), 300, rng=3
    )


def test_bad_input_is_refused():
    X, Z, p, _ = samples()
    with pytest.raises(ValueError, match=r"X has 12 rows, so X_weight is \(12,\); got \(2,\)"):
        mmd(X, Z, Linear(), p[:2])
    with pytest.raises(ValueError, match="X_weight is finite, not negative and not all zero"):
        mmd(X, Z, Linear(), -p)
    with pytest.raises(ValueError, match="X has 3 columns, Z has 2"):
        mmd(X, Z[:, :2], Linear())
    with pytest.raises(ValueError, match="an unbiased estimate needs two rows of X with a positive weight"):
        mmd(X[:1], Z, Linear(), unbiased=True)
    with pytest.raises(ValueError, match="two rows on each side, got 1 and 17"):
        permutation_test(X[:1], Z, Linear())
    with pytest.raises(ValueError, match="from 1 on, got 0"):
        permutation_test(X, Z, Linear(), permutations=0)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Linear() * Linear()], ids=repr)
@pytest.mark.parametrize("unbiased", [False, True])
def test_a_discrepancy_beyond_all_numbers_is_refused(kernel, unbiased):
    X, Z, *_ = samples()
    with pytest.raises(ValueError, match="overflow: rescale the columns"):
        mmd(X * 1e300, Z, kernel, unbiased=unbiased)
    with pytest.raises(ValueError, match="overflow: rescale the columns"):
        permutation_test(X * 1e300, Z, kernel)
    with pytest.raises(ValueError, match="overflow: rescale the columns"):
        witness(X * 1e300, Z, kernel)(X * 1e300)


def test_sums_of_values_beyond_all_numbers_are_refused():
    far = [[1.2e154], [1.1e154]]  # a product is a number, four are not
    with pytest.raises(ValueError, match=r"the values of Linear\(\) overflow: rescale the columns"):
        mmd(far, np.negative(far), Linear())
    with pytest.raises(ValueError, match=r"sums of the values of Linear\(\) overflow: rescale the columns"):
        permutation_test(far, far, Linear())
    with pytest.raises(ValueError, match=r"the values of Linear\(\) overflow: rescale the columns"):
        mmd([[1e200], [-1e200]], [[0.0], [1.0]], Linear(), unbiased=True)  # its mean is none


def test_at_base_rate_one_half_twice_the_norm_of_the_unhinged_solution_is_the_discrepancy():  # Appendix E.4
    # Appendix D: w = (mu_P - mu_Q) / 2 there, and its scores are half the witness.
    rng = np.random.default_rng(0)
    P, Q = rng.normal(size=(40, 3)), rng.normal(size=(40, 3)) + 0.5
    kernel = Gaussian(1.3)
    model = KernelUnhingedClassifier(kernel, threshold=0.0).fit(np.vstack([Q, P]), np.repeat([0, 1], 40))
    a = model.dual_coef_[:, 0]
    norm = np.sqrt(a @ kernel(model.support_vectors_, model.support_vectors_) @ a)
    assert 2 * norm == pytest.approx(mmd(P, Q, kernel), rel=1e-10)
    assert_allclose(2 * model.decision_function(P), witness(P, Q, kernel)(P), rtol=1e-10, atol=1e-14)
