"""Section 5: the unhinged loss is convex and symmetric, alone in being both, calibrated and consistent."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import linprog

from unflip.border.arrays import AnyArray
from unflip.losses import Loss, Traits, Unhinged
from unflip.theory.bounds import clean_regret
from unflip.theory.claims.cases import SCORES, noisy_worlds, random_scores, worlds
from unflip.theory.evidence import Evidence, Pairs, agree, at_most, exceeds
from unflip.theory.risks import regret, risk

BOUNDS: tuple[Any, ...] = (Fraction(1), Fraction(3, 2), Fraction(4))


@dataclass(frozen=True)
class AffineLoss(Loss):
    """-slope v + up for y = +1 and slope v + down for y = -1: the right-hand side of Proposition 4.

    >>> AffineLoss(slope=2, up=1, down=3).value([-1, 1], 1.0).tolist()
    [5.0, -1.0]
    """

    slope: Any
    up: Any
    down: Any
    exact = True
    traits = Traits(convex=True, symmetric=True, bounded_below=False, smooth=True, degree=1)

    def _value(self, y: AnyArray, v: AnyArray) -> AnyArray:
        return np.where(y > 0, self.up, self.down) - y * self.slope * v

    def _derivative(self, y: AnyArray, v: AnyArray) -> AnyArray:
        return -y * self.slope * np.ones_like(v)

    def _second_derivative(self, y: AnyArray, v: AnyArray) -> AnyArray:
        return np.zeros_like(v)

    def _even(self, v: AnyArray) -> AnyArray:
        return (self.up + self.down) / 2 * np.ones_like(v)

    def _odd(self, v: AnyArray) -> AnyArray:
        return (self.up - self.down) / 2 - self.slope * v

    def _minimizer(self, eta: AnyArray) -> AnyArray:
        return np.where(eta > 0.5, np.inf, np.where(eta < 0.5, -np.inf, 0.0))


def halves_sum_to_two() -> Evidence:
    """The halves 1 - v and 1 + v of the unhinged loss add up to 2 (the paper prints 0)."""
    loss = Unhinged()
    pairs = [(loss.value(1, v) + loss.value(-1, v), 2.0) for v in SCORES]
    return agree("Section 5.1: the halves of the unhinged loss sum to 2 at every score", pairs, 1e-15)


def any_class_of_scorers() -> Evidence:
    """Over any class of scorers, here random finite ones, noise leaves the unhinged choice alone."""
    pairs: Pairs = []
    for seed, (clean, _, noisy) in enumerate(noisy_worlds()):
        scorers = random_scores((12, len(clean.points)), seed)
        risks = [[risk(world, "unhinged", scores) for scores in scorers] for world in (clean, noisy)]
        chosen = [row.index(min(row)) for row in risks]
        pairs.append((risks[0][chosen[0]], risks[0][chosen[1]]))
    return agree("Section 5.1: over any class of scorers noise leaves the unhinged choice alone", pairs)


def proposition_4_if() -> Evidence:
    """Affine halves of opposite slope: the noisy risk is (1 - 2 rho) risk + rho (B + D), exactly."""
    pairs: Pairs = []
    for seed, (clean, rate, noisy) in enumerate(noisy_worlds()):
        a, b, d = random_scores(3, seed)
        scores = random_scores(len(clean.points), seed + 1000)
        loss = AffineLoss(a, b, d)
        pairs.append((risk(noisy, loss, scores), (1 - 2 * rate) * risk(clean, loss, scores) + rate * (b + d)))
    return agree("Proposition 4 (if): with halves B - A v and D + A v noise only rescales the risk", pairs)


def proposition_4_only_if() -> Evidence:
    """Two convex halves of constant sum cannot bend: a linear programme looks for the most they could."""
    n = 9
    bend = np.diff(np.eye(n), n=2, axis=0)  # second differences on a grid of scores
    nothing = np.zeros_like(bend)
    # Unknowns: both halves on the grid, and their sum C. Convex halves have no negative bend.
    answer = linprog(
        -np.concatenate([bend.sum(axis=0), np.zeros(n + 1)]),
        A_ub=-np.block([[bend, nothing, nothing[:, :1]], [nothing, bend, nothing[:, :1]]]),
        b_ub=np.zeros(2 * len(bend)),
        A_eq=np.hstack([np.eye(n), np.eye(n), -np.ones((n, 1))]),
        b_eq=np.zeros(n),
        bounds=(-1, 1),
    )
    claim = "Proposition 4 (only if): the most that convex halves of constant sum can bend is 0"
    return agree(claim, [(-answer.fun, 0.0)], tolerance=1e-9)


def equation_12() -> Evidence:
    """The conditional risk of 1 - y v is 1 + (1 - 2 eta) v (the paper drops the 1)."""
    v = random_scores(9, seed=0)
    pairs: Pairs = []
    for eta in (Fraction(i, 10) for i in range(11)):
        pairs += zip(Unhinged().conditional_risk(np.full_like(v, eta), v), 1 + (1 - 2 * eta) * v, strict=True)
    return agree("Equation 12: the unhinged conditional risk is 1 + (1 - 2 eta) v", pairs)


def proposition_5() -> Evidence:
    """Over scores in [-B, B] the least conditional risk is at B sign(2 eta - 1); by search over a grid."""
    loss = Unhinged()
    pairs: Pairs = []
    for bound in BOUNDS:
        grid = np.array([bound * Fraction(i, 8) for i in range(-8, 9)], dtype=object)
        for eta in (Fraction(i, 10) for i in range(11)):
            risks = loss.conditional_risk(np.full(len(grid), eta, dtype=object), grid)
            best = grid[risks == min(risks)]
            if eta != Fraction(1, 2):  # there every score is as good
                pairs += [(score, bound if 2 * eta > 1 else -bound) for score in best]
                pairs.append((len(best), 1))
    return agree("Proposition 5: the best score in [-B, B] is B sign(2 eta - 1), and no other", pairs)


def proposition_5_tie() -> Evidence:
    """At eta = 1/2 every score is optimal, so the set there is larger than Proposition 5 says."""
    pairs = [(Unhinged().conditional_risk(0.5, v), Unhinged().conditional_risk(0.5, 0.0)) for v in SCORES]
    return agree("Proposition 5, a tie: at eta = 1/2 every score has the same risk", pairs)


def bounded_by_regularization() -> Evidence:
    """Linear scorers with |w| <= 1 / sqrt(lambda) stay within R / sqrt(lambda), and reach it."""
    rng = np.random.default_rng(0)
    pairs: Pairs = []
    for world in worlds():
        x = world.floats().points
        radius = float(np.max(np.linalg.norm(x, axis=1)))
        for lam in (0.01, 1.0, 7.0):
            w = np.vstack([rng.standard_normal((50, x.shape[1])), x[np.linalg.norm(x, axis=1) > 0]])
            w = w / np.linalg.norm(w, axis=1, keepdims=True) / np.sqrt(lam)
            pairs.append((float(np.max(np.abs(w @ x.T))) * np.sqrt(lam), radius))
    claim = "Section 5.3: |w| <= 1/sqrt(lambda) keeps scores within R/sqrt(lambda), and is tight"
    return agree(claim, pairs, tolerance=1e-12)


def proposition_6_bound() -> Evidence:
    """The 0-1 regret is at most the unhinged regret over scorers bounded by B >= 1; exact."""
    pairs: Pairs = []
    for seed, world in enumerate(worlds()):
        for bound in BOUNDS:
            scores = random_scores(len(world.points), seed) / 3 * bound
            pairs.append((regret(world, "zero_one", scores), regret(world, "unhinged", scores, bound)))
    return at_most("Proposition 6: the 0-1 regret is at most the unhinged regret, for B >= 1", pairs)


def proposition_6_scaling() -> Evidence:
    """The clean unhinged regret is the noisy one over 1 - 2 rho; exact."""
    pairs: Pairs = []
    for seed, (clean, rate, noisy) in enumerate(noisy_worlds()):
        for bound in BOUNDS:
            scores = random_scores(len(clean.points), seed) / 3 * bound
            observed = regret(noisy, "unhinged", scores, bound)
            pairs.append((regret(clean, "unhinged", scores, bound), clean_regret(observed, rate)))
    return agree("Proposition 6: the clean unhinged regret is the noisy regret over 1 - 2 rho", pairs)


def proposition_6_needs_bound_one() -> Evidence:
    """With B below 1 the first half fails: a score just on the wrong side costs less than its error."""
    world = next(w for w in worlds() if max(w.eta) == 1)
    bound = Fraction(1, 2)
    scores = -np.sign(2 * world.eta - 1) * Fraction(1, 100)
    pair = (regret(world, "zero_one", scores), regret(world, "unhinged", scores, bound))
    return exceeds("Proposition 6, the condition: with B = 1/2 the 0-1 regret may be larger", [pair])


CLAIMS = (
    halves_sum_to_two,
    any_class_of_scorers,
    proposition_4_if,
    proposition_4_only_if,
    equation_12,
    proposition_5,
    proposition_5_tie,
    bounded_by_regularization,
    proposition_6_bound,
    proposition_6_scaling,
    proposition_6_needs_bound_one,
)
