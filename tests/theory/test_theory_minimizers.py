"""Minimisers against peers that were written by others, and against brute force."""

from fractions import Fraction as F
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from unflip._fractions import inverse, solve, to_fractions
from unflip.losses import Ramp, Sigmoid, get, noise_corrected
from unflip.solvers.certificate import Certificate
from unflip.theory import (
    FiniteDistribution,
    ball_minimizer,
    bounded_minimizer,
    linear_minimizer,
    long_servedio,
    minimizers,
    multiclass_square_scores,
    multiclass_unhinged_scores,
    programme_minimizer,
    random_distribution,
    risk,
)

SEEDS = range(6)


def rows(world):
    """The distribution as weighted rows: X, y, weight."""
    X = np.vstack([world.points, world.points])
    y = np.repeat([-1, 1], len(world.points))
    return X, y, world.joint.T.ravel()


def objective(world, loss, w, lam):
    return risk(world, loss, world.points @ w) + lam / 2 * (w @ w)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("lam", [0.05, 1.0])
def test_the_hinge_agrees_with_liblinear(seed, lam):
    world = random_distribution(seed, n_points=8)
    X, y, weight = rows(world)
    there = weight > 0
    peer = LinearSVC(C=1 / lam, loss="hinge", dual=True, fit_intercept=False, tol=1e-10, max_iter=2_000_000)
    peer.fit(X[there], y[there], sample_weight=weight[there])
    assert_allclose(linear_minimizer(world, "hinge", lam), peer.coef_[0], atol=2e-5)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("lam", [1e-6, 1e-3, 0.3, 20.0])
def test_no_step_in_any_direction_lowers_the_regularised_hinge_risk(seed, lam):
    world, rng = random_distribution(seed, n_points=7, n_features=3), np.random.default_rng(seed)
    w = linear_minimizer(world, "hinge", lam)
    least = objective(world, "hinge", w, lam)
    for size in (1e-6, 1e-3, 0.1, 10.0):
        for step in size * rng.standard_normal((50, 3)):
            assert objective(world, "hinge", w + step, lam) >= least - 1e-13


@pytest.mark.parametrize("seed", SEEDS)
def test_no_step_lowers_the_hinge_risk_with_an_unpenalised_intercept(seed):
    world, rng, lam = random_distribution(seed, n_points=7), np.random.default_rng(seed), 0.1
    best = linear_minimizer(world, "hinge", lam, intercept=True)

    def value(w):
        return risk(world, "hinge", world.points @ w[:2] + w[2]) + lam / 2 * (w[:2] @ w[:2])

    for size in (1e-6, 1e-3, 0.1, 10.0):
        for step in size * rng.standard_normal((50, 3)):
            assert value(best + step) >= value(best) - 1e-13


@pytest.mark.parametrize("lam", [1e-9, 1e-16])
def test_a_tiny_ridge_reaches_the_least_hinge_risk(lam):
    for seed in range(20):
        world = random_distribution(seed, n_points=8).corrupt(0.1)
        tiny, none = (
            risk(world, "hinge", world.points @ linear_minimizer(world, "hinge", r)) for r in (lam, 0)
        )
        assert tiny == pytest.approx(none, abs=1e-8)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_the_hinge_minimiser_does_not_mind_units(scale):
    world = random_distribution(2)
    there = linear_minimizer(world.map(lambda x: x * scale), "hinge", 0.1 * scale**2)
    assert_allclose(there * scale, linear_minimizer(world, "hinge", 0.1), rtol=1e-9)


def test_the_unregularised_hinge_has_the_risk_of_a_vanishing_ridge():
    for seed in SEEDS:
        world = random_distribution(seed, n_points=7)
        without, trace = linear_minimizer(world, "hinge"), linear_minimizer(world, "hinge", 1e-7)
        assert risk(world, "hinge", world.points @ without) == pytest.approx(
            risk(world, "hinge", world.points @ trace), abs=1e-6
        )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("intercept", [False, True])
def test_logistic_agrees_with_scikit_learn(seed, intercept):
    world, lam = random_distribution(seed, n_points=8), 0.1
    X, y, weight = rows(world)
    peer = LogisticRegression(
        C=1 / lam, fit_intercept=intercept, tol=1e-12, max_iter=10_000, solver="newton-cg"
    )
    peer.fit(X, y, sample_weight=weight)
    ours = linear_minimizer(world, "logistic", lam, intercept=intercept)
    assert_allclose(ours[:2], peer.coef_[0], atol=1e-6)
    if intercept:
        assert_allclose(ours[2], peer.intercept_[0], atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("intercept", [False, True])
def test_square_agrees_with_ridge_and_fractions_with_floats(seed, intercept):
    exact = random_distribution(seed, n_points=8, exact=True)
    X, y, weight = rows(exact.floats())
    peer = Ridge(alpha=0.25, fit_intercept=intercept, tol=1e-12).fit(X, y, sample_weight=weight)
    ours = linear_minimizer(exact, "square", F(1, 2), intercept=intercept)  # lambda / 2 |w|^2
    assert all(isinstance(value, F) for value in ours)
    assert_allclose(ours[:2].astype(float), peer.coef_, atol=1e-10)
    assert_allclose(linear_minimizer(exact.floats(), "square", 0.5, intercept=intercept), ours.astype(float))


@pytest.mark.parametrize("name", ["squared_hinge", "exponential", "logistic"])
@pytest.mark.parametrize("lam", [1e-3, 1.0])
def test_smooth_minimisers_have_no_slope_left(name, lam):
    for seed in SEEDS:
        world, loss = random_distribution(seed), get(name)
        w = linear_minimizer(world, name, lam)
        scores, eta = world.points @ w, world.class_probability
        slope = eta * loss.derivative(1, scores) + (1 - eta) * loss.derivative(-1, scores)
        assert np.max(np.abs((world.masses * slope) @ world.points + lam * w)) < 1e-9


def test_a_non_convex_loss_is_followed_from_zero_to_the_minimum_the_paper_prints():
    noisy = long_servedio(1 / 60).corrupt(0.3)
    assert_allclose(linear_minimizer(noisy, "tangent_boost"), [0.2122, 1.3031], atol=5e-5)
    assert_allclose(linear_minimizer(noisy, "t_logistic"), [1.0372, 5.0873], atol=5e-5)


def test_the_noise_corrected_square_has_a_closed_form_as_well():
    world = random_distribution(4, exact=True)
    corrected = noise_corrected(get("square"), F(1, 5))
    found = linear_minimizer(world.corrupt(F(1, 5)), corrected, 1)
    assert found.tolist() == linear_minimizer(world, "square", 1).tolist()


@pytest.mark.parametrize("name", ["unhinged", "logistic", "hinge", "squared_hinge", "square"])
@pytest.mark.slow
def test_a_ball_minimiser_beats_every_weight_on_a_grid_of_the_ball(name):
    world, radius = random_distribution(3), 0.4
    w = ball_minimizer(world, name, radius)
    assert np.linalg.norm(w) <= radius * (1 + 1e-9)
    angles, lengths = np.linspace(0, 2 * np.pi, 181), np.linspace(0, radius, 41)
    grid = [r * np.array([np.cos(a), np.sin(a)]) for a in angles for r in lengths]
    best = min(risk(world, name, world.points @ v) for v in grid)
    assert risk(world, name, world.points @ w) <= best + 1e-9


def test_a_ball_that_contains_the_free_minimum_does_not_move_it():
    world = random_distribution(3).corrupt(0.2)
    free = linear_minimizer(world, "square")
    assert_allclose(ball_minimizer(world, "square", 10.0), free, rtol=1e-12)
    assert_allclose(ball_minimizer(world, "logistic", 10.0), linear_minimizer(world, "logistic"), rtol=1e-12)


@pytest.mark.parametrize("name", ["unhinged", "logistic", "hinge", "squared_hinge", "square"])
@pytest.mark.parametrize("scale", [1e-10, 1e-3, 1.0, 1e10])
@pytest.mark.parametrize("radius", [1e-10, 0.1, 1e10])
def test_a_ball_minimiser_does_not_mind_units(name, scale, radius):
    """Only the product of radius and points matters; far off, the free minimum or the mean map decides."""
    world = random_distribution(3)
    here = ball_minimizer(world.map(lambda x: x * scale), name, radius)
    there = ball_minimizer(world.map(lambda x: x * (scale * radius)), name, 1.0)
    assert_allclose(here / radius, there, rtol=1e-6, atol=1e-6 * np.linalg.norm(there))
    if scale * radius < 1e-6:
        direction = world.label_mean / np.linalg.norm(world.label_mean)
        assert_allclose(here / radius, direction, atol=1e-4)
    if scale * radius > 1e6 and name != "unhinged":
        assert_allclose(here * scale, linear_minimizer(world, name), rtol=1e-6)


def test_a_ball_holds_one_of_many_minimisers_if_any_fits():
    world = FiniteDistribution([[1.0, 1.0]], [1.0], [0.75])  # the risk sees w_1 + w_2 alone
    for name, best in (("square", 0.5), ("hinge", 1.0), ("logistic", np.log(3)), ("squared_hinge", 0.5)):
        w = ball_minimizer(world, name, 0.8)
        assert sum(w) == pytest.approx(best, rel=1e-9)
        assert np.linalg.norm(w) <= 0.8


def test_without_labels_to_follow_a_ball_minimiser_stays_at_zero():
    world = FiniteDistribution([[1.0], [-2.0]], [0.5, 0.5], [0.5, 0.5])
    for name in ("unhinged", "square", "hinge"):
        assert ball_minimizer(world, name, 1.0).tolist() == [0.0]


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_the_linear_programmes_do_not_mind_units(scale):
    world = random_distribution(3).corrupt(0.1)
    small = world.map(lambda x: x * scale)
    assert_allclose(linear_minimizer(small, "hinge") * scale, linear_minimizer(world, "hinge"), rtol=1e-9)
    assert_allclose(programme_minimizer(small, 2.0) * scale, 2 * programme_minimizer(world), rtol=1e-9)


def test_an_answer_without_a_certificate_is_refused(monkeypatch):
    lost = Certificate("optimality", gap=1e-3, tolerance=1e-14, method="newton", iterations=300)
    monkeypatch.setattr(minimizers, "minimize", lambda problem, tolerance: (np.zeros((2, 1)), [lost]))
    with pytest.raises(ValueError, match=r"newton stopped 0\.001 short of optimality"):
        linear_minimizer(random_distribution(0), "logistic", 1)


def test_on_separable_points_without_a_penalty_the_answer_is_long_and_separates():
    world = long_servedio(1 / 60)
    for name in ("logistic", "exponential", "t_logistic"):
        w = linear_minimizer(world, name)
        assert risk(world, "zero_one", world.points @ w) == 0
        assert np.linalg.norm(w) > 100


def test_bounded_minimisers_are_bayes_scores():
    world = random_distribution(2, exact=True)
    best = bounded_minimizer(world, "unhinged", F(3))
    assert best.tolist() == [3 * ((2 * p > 1) - (2 * p < 1)) for p in world.class_probability]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_linear_programme_ends_at_the_best_vertex(seed):
    world = random_distribution(seed)
    x, mu = world.points, world.label_mean
    sides = np.vstack([x, -x])
    vertices = []
    for pair in combinations(sides, 2):
        if abs(np.linalg.det(np.array(pair))) > 1e-9:
            corner = np.linalg.solve(np.array(pair), np.ones(2))
            if np.all(sides @ corner <= 1 + 1e-9):
                vertices.append(corner)
    assert mu @ programme_minimizer(world) == pytest.approx(max(mu @ v for v in vertices), abs=1e-9)


def test_multiclass_scores_by_the_definition():
    world = random_distribution(1, n_classes=3)
    mu = world.mean
    for k in range(3):
        w_k = sum(
            m * p[k] * (x - mu)
            for m, p, x in zip(world.masses, world.class_probability, world.points, strict=True)
        )
        assert_allclose(multiclass_unhinged_scores(world)[:, k], (world.points - mu) @ w_k)


@pytest.mark.parametrize("intercept", [False, True])
def test_multiclass_square_agrees_with_ridge_on_one_hot_targets(intercept):
    world = random_distribution(1, n_points=7, n_classes=3)
    X = np.repeat(world.points, 3, axis=0)
    targets = np.tile(np.eye(3), (7, 1))
    peer = Ridge(alpha=0.2, fit_intercept=intercept, tol=1e-12)
    peer.fit(X, targets, sample_weight=world.joint.ravel())
    ours = multiclass_square_scores(world, 0.2, intercept=intercept)
    assert_allclose(ours, peer.predict(world.points), atol=1e-9)


def test_linear_systems_in_fractions_are_solved_exactly_also_with_zero_pivots():
    matrix = to_fractions([[0, 2, 1], [1, 1, 1], [3, 0, -1]])
    truth = to_fractions([F(1, 3), F(-2, 7), 5])
    assert solve(matrix, matrix @ truth).tolist() == truth.tolist()
    assert (matrix @ inverse(matrix)).tolist() == np.eye(3).tolist()


@pytest.mark.parametrize("exact", [False, True])
def test_a_singular_problem_says_what_to_do(exact):
    world = FiniteDistribution([[1.0, 0.0]], [1.0], [1.0])
    with pytest.raises(ValueError, match="positive regularization"):
        linear_minimizer(world.exact() if exact else world, "square")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda w: linear_minimizer(w, "hinge", -1.0), "not negative"),
        (lambda w: linear_minimizer(w, "hinge", float("inf")), "finite"),
        (lambda w: multiclass_square_scores(w, float("nan")), "finite"),
        (lambda w: linear_minimizer(w, "unhinged"), "unbounded below"),
        (lambda w: linear_minimizer(w, "unhinged", 1.0, intercept=True), "unbounded below"),
        (lambda w: ball_minimizer(w, "hinge", float("inf")), "finite"),
        (lambda w: programme_minimizer(w, 0.0), "bound is positive"),
        (lambda w: linear_minimizer(w, Ramp()), "no method here for Ramp"),
        (lambda w: ball_minimizer(w, Sigmoid(), 1.0), "not convex"),
        (lambda w: ball_minimizer(w, "hinge", 0.0), "radius is positive"),
        (lambda w: bounded_minimizer(w, "hinge", -1.0), "non-negative"),
        (lambda w: long_servedio(0), "gamma is positive"),
    ],
)
def test_what_cannot_be_minimised_is_refused_in_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call(random_distribution(0))
