"""Many label columns at once: each is the problem it would be alone, however labels and weights come."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import approx_fprime

from unflip.losses import get, noise_corrected
from unflip.solvers import columns, rows
from unflip.solvers.minimize import minimize
from unflip.solvers.newton import newton
from unflip.solvers.problem import Problem
from unflip.solvers.systems import lifted, solver

LOSSES = ["logistic", "hinge", "squared_hinge", "square", "t_logistic", "ramp", noise_corrected("hinge", 0.2)]


def shares(n=80, count=5, soft=False, seed=0):
    """Weights of each row as a positive and as a negative, some of them zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) + 0.3
    clean = X @ rng.normal(size=(4, count)) + rng.normal(size=(n, count)) > 0
    member = rng.random((n, count)) if soft else clean.astype(float)
    weight = rng.random((n, 1)) * (rng.random((n, 1)) > 0.1)
    weight /= weight.sum()
    return X, weight * member, weight * (1 - member)


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_columns_together_are_columns_one_by_one(loss, intercept, soft):
    X, positive, negative = shares(soft=soft)
    together, certificates = minimize(
        Problem.of_shares(get(loss), X, positive, negative, 1e-2, intercept), 1e-8
    )
    for k, certificate in enumerate(certificates):
        assert certificate.met
        one = Problem.of_shares(get(loss), X, positive[:, [k]], negative[:, [k]], 1e-2, intercept)
        assert_allclose(together[:, [k]], minimize(one, 1e-8)[0], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("sparse_rows", [False, True])
def test_the_objective_is_equation_7_and_its_derivatives_are_right(soft, sparse_rows):
    X, positive, negative = shares(soft=soft)
    loss, ridge = get("t_logistic"), 0.3
    task = Problem.of_shares(loss, sparse.csr_array(X) if sparse_rows else X, positive, negative, ridge, True)
    U = np.random.default_rng(1).normal(size=(5, 5))

    def plain(u, k):
        v = X @ u[:-1] + u[-1]
        risk = positive[:, k] @ loss.value(1, v) + negative[:, k] @ loss.value(-1, v)
        return risk + ridge / 2 * u[:-1] @ u[:-1]

    value, gradient = task.value(U), task.gradient(U)
    hessians = task.hessians(task.rows.scores(U))
    for k in range(5):
        assert value[k] == pytest.approx(plain(U[:, k], k), rel=1e-12)
        assert_allclose(gradient[:, k], approx_fprime(U[:, k], plain, 1e-7, k), atol=1e-5)
        steps = [(task.gradient(U + 1e-6 * unit[:, None]) - gradient)[:, k] / 1e-6 for unit in np.eye(5)]
        assert_allclose(hessians[k], steps, atol=1e-5)


def test_gram_matrices_are_the_same_by_pairs_one_by_one_and_of_sparse_rows(monkeypatch):
    X, weight = np.random.default_rng(0).normal(size=(50, 3)), np.random.default_rng(1).normal(size=(50, 9))
    ones = np.column_stack([X, np.ones(50)])
    expected = [(ones * w[:, None]).T @ ones for w in weight.T]
    assert_allclose(rows.RowsOfMatrix(X, True).grams(weight), expected, atol=1e-12)
    assert_allclose(rows.RowsOfMatrix(sparse.csr_array(X), True).grams(weight), expected, atol=1e-12)
    monkeypatch.setattr(rows, "ROOM", 0)
    assert_allclose(rows.RowsOfMatrix(X, True).grams(weight), expected, atol=1e-12)


def test_wide_problems_are_cut_so_that_their_matrices_have_room():
    widths = [part.stop - part.start for part in columns.blocks(100, 10, 4000, np.zeros(1))]
    assert widths == [1] * 10


def test_a_matrix_that_is_not_definite_counts_by_the_size_of_its_eigenvalues():
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    matrix = basis @ np.diag([3.0, -2.0, 1.0]) @ basis.T
    right = np.arange(3.0)[:, None]
    expected = basis @ ((basis.T @ right) / np.array([[3.0], [2.0], [1.0]]))
    assert_allclose(solver(matrix[None], definite=False)(right), expected)
    # One that is definite is divided by as it is, and one of no curvature at all by the length of the vector.
    both = solver(np.array([np.eye(3), np.zeros((3, 3))]), definite=False)(np.hstack([right, right]))
    assert_allclose(both[:, 0], right[:, 0])
    assert np.all(both[:, 1] * right[:, 0] >= 0)
    assert np.isfinite(both).all()


def test_flat_directions_are_lifted():
    flat = np.diag([1.0, 0.0])[None]
    assert_allclose(lifted(flat, 1e-3)[0], np.diag([1.001, 1e-3]))
    assert_allclose(lifted(flat, 1e-3, by_direction=True)[0], np.diag([1.002, 0.0]))


def test_newton_tells_what_is_left_and_how_many_steps_each_column_took():
    X, positive, negative = shares()
    task = Problem.of_shares(get("logistic"), X, positive, negative, 1e-2, True)
    U, left, steps = newton(task, task.zero, tolerance=1e-9)
    assert_allclose(left, np.linalg.norm(task.gradient(U), axis=0), atol=1e-15)
    assert (left <= 1e-9).all()
    stopped, _, once = newton(task, task.zero, most=1)
    assert (once == 1).all()
    assert (steps > 1).all()
    assert (task.value(stopped) < task.value(task.zero)).all()
