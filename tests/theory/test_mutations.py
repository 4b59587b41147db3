"""No check is idle: each one is refuted by some mistake planted in what it computes with."""

from dataclasses import dataclass, replace
from fractions import Fraction as F
from importlib import import_module

import numpy as np
import pytest
from scipy.optimize import linprog

from unflip.losses import Hinge, Loss, Sigmoid, Square, SquaredHinge, Traits, Unhinged, WeightedUnhinged
from unflip.losses.transforms import NoiseCorrected
from unflip.solvers.certificate import Certificate
from unflip.theory import (
    FiniteDistribution,
    bounds,
    long_servedio,
    means,
    minimizers,
    propositions,
    regret,
    risk,
)

CHECKS = {check.__name__: check for check in propositions()}
CHAPTERS = {
    name.rpartition(".")[2]: import_module(name)
    for name in sorted({check.__module__ for check in CHECKS.values()})
}


def chapter(name, attribute, value):
    return lambda patch: patch.setattr(CHAPTERS[name], attribute, value)


def everywhere(attribute, value):
    """Replace a name in every chapter that has imported it."""

    def plant(patch):
        for module in CHAPTERS.values():
            if hasattr(module, attribute):
                patch.setattr(module, attribute, value)

    return plant


def method(owner, name, value):
    return lambda patch: patch.setattr(owner, name, value)


@dataclass(frozen=True)
class Overconfident(WeightedUnhinged):
    """A loss that claims to be calibrated and is not."""

    cost: object = F(3, 4)
    traits = Traits(convex=True)


@property
def uncentred_label_mean(self):
    return (self.masses * self.class_probability) @ self.points


def class_means(world, **options):
    """Class means weighted by one over the (noisy) class share."""
    return minimizers.multiclass_unhinged_scores(world, **options) / world.base_rate


def weighted_square(world, *arguments, **options):
    return minimizers.multiclass_square_scores(world, *arguments, **options) / world.base_rate


def wrong_gaussian(bandwidth):
    return lambda X, Z: means.gaussian_kernel(bandwidth)(X, Z) ** 2


def always(value):
    return lambda *arguments, **options: value


def absolute_sum(x, axis=None, keepdims=False):
    """The wrong norm."""
    return np.abs(x).sum(axis=axis, keepdims=keepdims)


def without_convexity(cost, A_eq, b_eq, bounds, **_):
    return linprog(cost, A_eq=A_eq, b_eq=b_eq, bounds=bounds)


linear = minimizers.linear_minimizer


def shifted(world, loss, *arguments, **options):
    """A minimiser that leans by one hundredth for noisy worlds, more for those with more noise."""
    return linear(world, loss, *arguments, **options) + world.class_probability.min() * F(1, 10)


def half_the_unhinged(problem, tolerance):
    soft = problem.weight - (0 if problem.against is None else problem.against)
    found = problem.rows.combine(soft * problem.labels) / 2 / problem.penalty[:, None]
    return found, [Certificate("optimality", 0.0, tolerance, "guess", 1)]


def hinge_without_its_hinge(world, loss, regularization=0, **options):
    unhinged = "unhinged" if isinstance(loss, Hinge) or loss == "hinge" else loss
    return linear(world, unhinged, regularization or 1, **options).astype(float)


def sloppy(world, loss, regularization=0, **options):
    return 1.01 * linear(world, loss, regularization, **options)


def unhinged_as(phi):
    """Another function of the margin in place of 1 - m, wherever the unhinged loss computes."""

    def plant(patch):
        patch.setattr(Unhinged, "_phi", phi)
        patch.setattr(Unhinged, "_conditional_risk", Loss._conditional_risk)

    return plant


def with_costs_swapped(patch):
    def slope(self, y, v):
        return np.where(y > 0, -self.cost, 1 - self.cost) * (0 * v + 1)

    patch.setattr(WeightedUnhinged, "_derivative", slope)
    patch.setattr(WeightedUnhinged, "_value", lambda self, y, v: slope(self, y, v) * v)
    patch.setattr(WeightedUnhinged, "_conditional_risk", Loss._conditional_risk)


def ninefold(world, loss, *bound):
    return regret(world, loss, *bound) * (9 if loss == "zero_one" else 1)


def as_a_square(patch):
    for name in ("_phi", "_phi1", "_phi2"):
        patch.setattr(SquaredHinge, name, getattr(Square, name))


def centred_and_whitened(world, whiten=CHAPTERS["square"]._whitened):
    return whiten(CHAPTERS["square"]._centred(world))


MUTANTS = {
    "noise is forgotten": (
        method(FiniteDistribution, "corrupt", lambda self, noise: self),
        "equation_2 equation_10 mean_map corrected_risk corrected_risk_exactly corrected_minimizer "
        "proposition_1 proposition_2_needs_calibration proposition_4_if proposition_6_scaling "
        "square_is_robust rocchio_is_robust accuracy_is_affine figure_1_hinge figure_1_small_noise "
        "appendix_b_grid appendix_b_starts appendix_b_minimizers appendix_b_errors "
        "tangent_boost_is_not_robust strong_ridge_makes_the_hinge_robust "
        "multiclass_needs_uniform_noise",
    ),
    "minimisers lean with the noise": (
        everywhere("linear_minimizer", shifted),
        "equation_3 equation_5 equation_9 corrected_minimizer regularization_changes_no_sign "
        "bias_is_a_threshold square_is_robust figure_1_unhinged_line weighted_unhinged_scorer "
        "nearest_centroid witness_function equation_11 fisher",
    ),
    "the mean map forgets the negatives": (
        method(FiniteDistribution, "label_mean", uncentred_label_mean),
        "equation_7 equation_8 mean_map proposition_8_limit equation_11 mean_discrepancy",
    ),
    "the unhinged loss has a hinge": (
        unhinged_as(Hinge._phi),
        "halves_sum_to_two equation_6 equation_12 any_class_of_scorers proposition_3_if "
        "proposition_5_tie proposition_6_scaling equation_7 equation_8 lemma",
    ),
    "the unhinged loss is flat beyond one": (
        unhinged_as(lambda self, m: 1 - np.clip(m, -1, 1)),
        "proposition_5",
    ),
    "correction ignores the label": (
        method(NoiseCorrected, "_value", lambda self, y, v: self.loss._value(y, v)),
        "equation_4 corrected_risk corrected_hinge_is_unbounded corrected_hinge_is_not_convex lemma_converse "
        "lemma_needs_an_odd_part_only",
    ),
    "correction leaves the class probability alone": (
        method(NoiseCorrected, "_clean", lambda self, eta: eta),
        "proposition_3_if proposition_3_only_if proposition_3_constant_odd",
    ),
    "the halves of v^2 + y do not vary": (
        chapter("symmetry", "spread", always(0.0)),
        "proposition_3_exception proposition_3_constant_odd lemma_exception",
    ),
    "correction adds to the score": (
        method(NoiseCorrected, "_value", lambda self, y, v: self.loss._value(y, v) + v),
        "proposition_3_exception lemma_exception lemma corrected_risk_exactly",
    ),
    "a hinge passes for symmetric": (
        chapter("symmetry", "SYMMETRIC", (Hinge(),)),
        "equation_6 proposition_3_if lemma",
    ),
    "a sigmoid passes for asymmetric": (
        chapter("symmetry", "OTHERS", (Sigmoid(),)),
        "equation_6_excludes proposition_3_only_if lemma_converse",
    ),
    "a step passes for proper": (
        method(Sigmoid, "_minimizer", lambda self, eta: eta),
        "proper_losses_are_not_symmetric",
    ),
    "an uncalibrated loss passes for calibrated": (
        chapter("robustness", "CLAIM_LOSSES", (Overconfident(),)),
        "proposition_2",
    ),
    "a calibrated loss passes for uncalibrated": (
        chapter("robustness", "WeightedUnhinged", lambda cost: Unhinged()),
        "proposition_2_needs_calibration",
    ),
    "the square loss passes for a potential": (
        chapter("robustness", "POTENTIALS", (Square(),)),
        "proposition_1",
    ),
    "the risk of a scorer doubles": (
        everywhere("risk", lambda *given: 2 * risk(*given)),
        "equation_1 equation_7",
    ),
    "the intercept is lost": (
        chapter("robustness", "error", lambda world, w: CHAPTERS["square"].error(world, w[:2])),
        "proposition_1_needs_no_bias",
    ),
    "convexity is not asked for": (
        chapter("unhinged", "linprog", without_convexity),
        "proposition_4_only_if",
    ),
    "all regrets are one": (
        chapter("unhinged", "regret", always(F(1))),
        "proposition_6_needs_bound_one",
    ),
    "the 0-1 regret counts ninefold": (
        chapter("unhinged", "regret", ninefold),
        "proposition_6_bound",
    ),
    "the regret is not rescaled": (
        chapter("unhinged", "clean_regret", lambda regret, rate: regret),
        "proposition_6_scaling",
    ),
    "the bias turns against the base rate": (
        chapter("centroid", "linear_minimizer", lambda *a, **o: -linear(*a, **o)),
        "bias_reaches_one_side_only bias_is_a_threshold equation_9",
    ),
    "the hinge loses its hinge": (
        everywhere("linear_minimizer", hinge_without_its_hinge),
        "proposition_7_is_sharp hinge_norm_bound figure_1_hinge figure_1_hinge_line "
        "strong_ridge_makes_the_hinge_robust",
    ),
    "the box of the hinge is too small": (
        method(minimizers, "minimize", half_the_unhinged),
        "proposition_7 proposition_7_is_sharp",
    ),
    "solutions point elsewhere": (
        chapter("potentials", "ball_minimizer", lambda world, loss, radius: radius * np.array([0.6, 0.8])),
        "equation_13 proposition_8_bound",
    ),
    "the limit is far": (
        chapter("potentials", "linear_minimizer", lambda world, loss, lam: linear(world, loss, 0.1)),
        "proposition_8_limit proposition_7",
    ),
    "the bound has its r": (
        chapter("potentials", "_epsilon", lambda world, loss, w: 1e12 * float(np.linalg.norm(w))),
        "proposition_8_needs_r",
    ),
    "the curvature is halved": (
        chapter("potentials", "_curvature", always(0.25)),
        "equation_14",
    ),
    "the tangent is too steep": (chapter("potentials", "_slope", always(0.3)), "tangent_below equation_14"),
    "solutions are one percent long": (
        everywhere("linear_minimizer", sloppy),
        "equation_11 square_weights_on_long square_succeeds_on_three_points unhinged_weight_on_three_points",
    ),
    "gamma is eight times as large": (
        everywhere("long_servedio", lambda gamma: long_servedio(8 * gamma)),
        "square_weights_on_long square_scores_on_long square_fails_below_a_twelfth appendix_b_grid "
        "figure_1_unhinged_line figure_1_hinge",
    ),
    "only a local minimum is found": (
        chapter("nonconvex", "_best", lambda loss, gamma, rate: np.array([30.3, 0.26])),
        "tangent_boost_errs_without_noise tangent_boost_is_not_robust",
    ),
    "clean labels are noisy": (
        chapter("nonconvex", "linear_minimizer", lambda world, loss: linear(world.corrupt(0.3), loss)),
        "t_logistic_is_perfect_without_noise",
    ),
    "gamma is forty times as small": (
        everywhere("long_servedio", lambda gamma: long_servedio(gamma / 40)),
        "figure_1_gamma_of_the_text figure_1_hinge",
    ),
    "the penaliser is a negative": (
        chapter(
            "examples",
            "long_servedio",
            lambda gamma: replace(long_servedio(gamma), class_probability=[1, 1, F(0)]),
        ),
        "figure_1_unhinged",
    ),
    "one of the three points is another": (
        chapter(
            "examples",
            "three_points",
            lambda: FiniteDistribution([[1, 2], [1, 4], [1, 1]], [F(1, 3)] * 3, [1, 1, 0]),
        ),
        "unhinged_weight_on_three_points square_succeeds_on_three_points kernel_cure programme_cure",
    ),
    "the three points are easy": (
        chapter(
            "examples",
            "three_points",
            lambda: FiniteDistribution([[1, 0], [2, 0], [-1, 0]], [F(1, 3)] * 3, [1, 1, 0]),
        ),
        "unhinged_fails_on_three_points",
    ),
    "the squared hinge is a square": (
        as_a_square,
        "squared_hinge_succeeds squared_hinge_bayes_scorers",
    ),
    "the squared hinge has its kink elsewhere": (
        method(SquaredHinge, "_phi", lambda self, m: np.maximum(2 - m, 0) ** 2),
        "squared_hinge_bayes_scorers",
    ),
    "the complexity doubles": (
        chapter("sampling", "empirical_rademacher", lambda *a: 2 * bounds.empirical_rademacher(*a)),
        "rademacher_of_the_ball rademacher_is_reached",
    ),
    "the deviation bound takes B for 2 B": (
        chapter(
            "sampling",
            "deviation_bound",
            lambda c, b, n, delta, empirical: bounds.deviation_bound(c, b / 2, n, delta),
        ),
        "proposition_9",
    ),
    "coins are never far out": (
        chapter("sampling", "_chance_beyond", always(0.0)),
        "proposition_9_as_printed proposition_9_with_sup one_point_by_enumeration",
    ),
    "the regret bound is halved": (
        chapter("sampling", "clean_regret_bound", lambda *a: bounds.clean_regret_bound(*a) / 2),
        "clean_regret_from_noisy_sample",
    ),
    "the regret bound is doubled": (
        chapter("sampling", "clean_regret_bound", lambda *a: bounds.clean_regret_bound(*a) * 2),
        "clean_regret_bound_is_no_waste",
    ),
    "lengths are measured by the wrong norm": (
        method(np.linalg, "norm", absolute_sum),
        "bounded_by_regularization erm_regret mean_discrepancy",
    ),
    "the bandwidth is wrong": (
        everywhere("gaussian_kernel", wrong_gaussian),
        "kernel_density kernel_cure_needs_a_bandwidth",
    ),
    "the kernel is flat": (
        everywhere("gaussian_kernel", lambda h: lambda X, Z: np.ones((len(X), len(Z)))),
        "nadaraya_watson kernel_cure",
    ),
    "labels are swapped in the conditionals": (
        method(FiniteDistribution, "given_label", lambda self, y: self.joint[:, 0] / self.joint[:, 0].sum()),
        "equation_9 nadaraya_watson",
    ),
    "costs are swapped": (
        with_costs_swapped,
        "weighted_unhinged_scorer weighted_unhinged_bayes",
    ),
    "costs do not matter": (method(WeightedUnhinged, "_minimizer", lambda self, eta: eta - 0.5), "probing"),
    "the discrepancy is not halved": (
        chapter("relations", "mmd", lambda *a: 2 * means.mmd(*a)),
        "mean_discrepancy",
    ),
    "the witness sees double": (
        chapter("relations", "witness", lambda *a: lambda x: 2 * means.witness(*a)(x) + 1),
        "witness_function rocchio_is_robust",
    ),
    "the unhinged ridge counts twice": (
        chapter(
            "square",
            "linear_minimizer",
            lambda world, loss, *ridge: linear(world, loss, *(2 * r for r in ridge)),
        ),
        "whitened equation_11",
    ),
    "centring is forgotten": (chapter("square", "_centred", lambda world: world), "whitened_fisher"),
    "whitening centres": (
        chapter("square", "_whitened", centred_and_whitened),
        "whitened_fisher_needs_centring",
    ),
    "noise leaves balanced accuracy alone": (
        chapter("beyond", "noisy_balanced_accuracy", lambda clean, *_: clean),
        "balanced_accuracy_is_affine",
    ),
    "the intercept is always there": (
        chapter("square", "linear_minimizer", lambda *given, **_: linear(*given, intercept=True)),
        "fisher_needs_the_intercept",
    ),
    "logistic regression is a hinge": (
        chapter("robustness", "linear_minimizer", lambda world, loss: linear(world, "hinge")),
        "proposition_1_chooses_gamma_last",
    ),
    "noise leaves the AUC alone": (chapter("beyond", "noisy_auc", lambda clean, *_: clean), "auc_is_affine"),
    "classes are weighted by noisy counts": (
        chapter("beyond", "multiclass_unhinged_scores", class_means),
        "multiclass_unhinged",
    ),
    "so are they for least squares": (
        chapter("beyond", "multiclass_square_scores", weighted_square),
        "multiclass_square",
    ),
    "printed digits are others": (
        chapter("nonconvex", "PRINTED", dict.fromkeys(CHAPTERS["nonconvex"].PRINTED, np.array([-0.2, 1.3]))),
        "appendix_b_starts appendix_b_minimizers",
    ),
    "a point on the right side of both": (
        chapter(
            "relations", "worlds", lambda: [FiniteDistribution([[1, 0], [-1, 0]], [F(1, 2)] * 2, [1, 0])]
        ),
        "nearest_centroid_differs",
    ),
}


class Solutions:
    """What is kept between checks: shared by those of one mistake, never by those of two."""

    caches = (CHAPTERS["potentials"]._solutions, CHAPTERS["nonconvex"]._ends)
    mistake = None

    def belong_to(self, mistake):
        if mistake != self.mistake:
            for cache in self.caches:
                cache.cache_clear()
        self.mistake = mistake


@pytest.fixture(scope="module")
def solutions():
    found = Solutions()
    found.belong_to("the first")
    yield found
    found.belong_to(None)


@pytest.fixture
def planted(request, monkeypatch, solutions):
    solutions.belong_to(request.param)
    MUTANTS[request.param][0](monkeypatch)


PAIRS = [(mutant, check) for mutant, (_, checks) in MUTANTS.items() for check in checks.split()]


@pytest.mark.parametrize(
    ("planted", "check"), PAIRS, indirect=["planted"], ids=[f"{check}: {mutant}" for mutant, check in PAIRS]
)
@pytest.mark.usefixtures("planted")
def test_a_planted_mistake_is_found(check):
    assert not CHECKS[check]().holds


def test_every_check_is_refuted_by_some_mistake():
    assert set(CHECKS) - {check for _, check in PAIRS} == set()
