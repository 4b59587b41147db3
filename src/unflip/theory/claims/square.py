"""Section 6.4 and Appendix F: the square loss, another way to survive noise, and where it fails.

Its minimiser solves a linear system whose matrix knows no labels and whose right side is the mean map, so
noise only shrinks it. Equation 11 writes the ridge as lambda; in the objective of Equation 7 the same
ridge is 2 lambda, because the square loss has slope 2 at zero.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from unflip._fractions import solve, to_fractions
from unflip.border.arrays import AnyArray
from unflip.losses import SquaredHinge
from unflip.theory.claims.cases import error, noisy_worlds, random_scores, worlds
from unflip.theory.distributions import FiniteDistribution
from unflip.theory.evidence import Evidence, Pairs, agree, exceeds
from unflip.theory.gallery import long_servedio
from unflip.theory.minimizers import linear_minimizer
from unflip.theory.risks import risk

CLAIM_RIDGES: tuple[Any, ...] = (Fraction(1, 1000), Fraction(1), Fraction(100))


def equation_11() -> Evidence:
    """(E[x x^T] + lambda I)^-1 E[y x] is stationary: the objective is equally high on both sides of it."""
    pairs: Pairs = []
    for seed, world in enumerate(worlds()):
        for lam in CLAIM_RIDGES:
            w = solve(world.second_moment + lam * to_fractions(np.eye(2)), world.label_mean)
            h = random_scores(2, seed) + Fraction(1, 7)
            sides = [
                risk(world, "square", world.points @ v) + lam * (v @ v)  # 2 lambda / 2, see above
                for v in (w + h, w - h)
            ]
            pairs += [(sides[0], sides[1])]
            pairs += zip(w, linear_minimizer(world, "square", 2 * lam), strict=True)
    return agree("Equation 11: (E[xx'] + lambda I)^-1 E[yx] minimises the square risk + lambda |w|^2", pairs)


def square_is_robust() -> Evidence:
    """Noise multiplies the square solution by 1 - 2 rho, for every ridge, with and without intercept."""
    pairs: Pairs = []
    for clean, rate, noisy in noisy_worlds():
        for lam in CLAIM_RIDGES:
            for intercept in (False, True):
                before, after = (
                    linear_minimizer(world, "square", lam, intercept=intercept) for world in (clean, noisy)
                )
                pairs += zip((1 - 2 * rate) * before, after, strict=True)
    return agree("Section 6.4: noise multiplies the square solution by 1 - 2 rho, any ridge", pairs)


def whitened() -> Evidence:
    """With E[x x^T] = I the square and the unhinged solutions coincide."""
    pairs: Pairs = []
    for white in map(_whitened, worlds()):
        square, unhinged = linear_minimizer(white, "square"), linear_minimizer(white, "unhinged", 1)
        pairs += zip(square, unhinged, strict=True)
    return agree("Section 6.4: on whitened data the square and unhinged solutions coincide", pairs, 1e-10)


def fisher() -> Evidence:
    """Fisher's discriminant is the direction of the square solution with an intercept; exact."""
    pairs = [
        _cross(_discriminant(world), linear_minimizer(world, "square", intercept=True)) for world in worlds()
    ]
    return agree("Section 6.4: Fisher's discriminant is the square solution with an intercept", pairs)


def fisher_needs_the_intercept() -> Evidence:
    """Without an intercept, as Equation 11 is written, the direction is in general another."""
    sides = [_cross(_discriminant(world), linear_minimizer(world, "square")) for world in worlds()]
    claim = "Section 6.4, a limit: without an intercept the direction is another one"
    return exceeds(claim, [(max(abs(a - b) for a, b in sides), Fraction(1, 100))])


def whitened_fisher() -> Evidence:
    """On centred and whitened data Fisher's discriminant has the direction of the unhinged weight."""
    pairs: Pairs = []
    for white in map(_whitened, map(_centred, worlds())):
        fisher, unhinged = _discriminant(white), linear_minimizer(white, "unhinged", 1)
        pairs += zip(fisher / np.linalg.norm(fisher), unhinged / np.linalg.norm(unhinged), strict=True)
    claim = "Section 6.4: on centred, whitened data Fisher's discriminant is the unhinged direction"
    return agree(claim, pairs, tolerance=1e-7)


def whitened_fisher_needs_centring() -> Evidence:
    """With E[x x^T] = I alone, as the paper asks, the two may point apart; the largest angle in degrees."""
    angles = []
    for white in map(_whitened, worlds()):
        fisher, unhinged = _discriminant(white), linear_minimizer(white, "unhinged", 1)
        ahead, behind = _cross(fisher, unhinged)
        angles.append(float(np.degrees(np.arctan2(abs(ahead - behind), fisher @ unhinged))))
    claim = "Section 6.4, the condition: with E[xx'] = I alone the two differ by 90 degrees and more"
    return exceeds(claim, [(max(angles), 90.0)])


def square_weights_on_long() -> Evidence:
    """The square solution on Long and Servedio's points, with the second entry as it should read."""
    pairs: Pairs = []
    for gamma in (Fraction(1, 60), Fraction(1, 13), Fraction(1, 12), Fraction(1, 2)):
        w = linear_minimizer(long_servedio(gamma), "square")
        below = 8 * gamma**2 + 3
        pairs += [(w[0], (8 * gamma + 3) / below), (w[1], (1 - gamma) / (3 * gamma * below))]
    claim = "Appendix F: on Long's points the square weights are (8g+3, (1-g)/(3g)) / (8g^2+3)"
    return agree(claim, pairs)


def square_scores_on_long() -> Evidence:
    """The scores of the two points near the origin, with (12 g - 1)(2 g + 1) for the penaliser."""
    pairs: Pairs = []
    for gamma in (Fraction(1, 60), Fraction(1, 12), Fraction(1, 2)):
        world = long_servedio(gamma)
        _, puller, penaliser = world.points @ linear_minimizer(world, "square")
        below = 3 * (8 * gamma**2 + 3)
        pairs.append((puller, (24 * gamma**2 + 4 * gamma + 5) / below))
        pairs.append((penaliser, (12 * gamma - 1) * (2 * gamma + 1) / below))
    return agree("Appendix F: the square score of (g, -g) is (12g-1)(2g+1) / (3(8g^2+3))", pairs)


def square_fails_below_a_twelfth() -> Evidence:
    """Without any noise the square loss errs on half the mass below gamma = 1/12, and on none above."""
    expected = {
        Fraction(1, 100): Fraction(1, 2),
        Fraction(1, 13): Fraction(1, 2),
        Fraction(1, 12): Fraction(1, 4),  # the score of the penaliser is exactly zero
        Fraction(1, 11): Fraction(0),
        Fraction(1, 2): Fraction(0),
    }
    pairs = [
        (error(long_servedio(gamma), linear_minimizer(long_servedio(gamma), "square")), wrong)
        for gamma, wrong in expected.items()
    ]
    return agree("Appendix F: without noise the square loss errs on 1/2 for gamma < 1/12, else 0", pairs)


def squared_hinge_succeeds() -> Evidence:
    """There the squared hinge classifies perfectly, and (1 / gamma, 0) brings its risk to zero."""
    gamma = Fraction(1, 60)
    world = long_servedio(gamma)
    pairs = [
        (risk(world, "squared_hinge", world.points @ np.array([1 / gamma, Fraction(0)])), 0),
        (error(world, linear_minimizer(world, "squared_hinge")), 0),
    ]
    return agree("Appendix F: the squared hinge classifies the same points perfectly", pairs)


def squared_hinge_bayes_scorers() -> Evidence:
    """The least and the largest optimal score on a grid over [-3, 3], at nine class probabilities.

    At eta = 0 the optimal scores are those up to -1; the paper prints up to 1, where the risk is 4.
    """
    grid = np.array([Fraction(i, 4) for i in range(-12, 13)], dtype=object)
    pairs: Pairs = []
    for eta in (Fraction(i, 8) for i in range(9)):
        risks = SquaredHinge().conditional_risk(np.full_like(grid, eta), grid)
        optimal = grid[risks == min(risks)]
        first, last = (Fraction(-3) if eta == 0 else 2 * eta - 1, Fraction(3) if eta == 1 else 2 * eta - 1)
        pairs += [(min(optimal), first), (max(optimal), last)]
    claim = "Appendix F: the squared hinge is least up to -1 (eta = 0), at 2 eta - 1, from 1 on (eta = 1)"
    return agree(claim, pairs)


def _centred(world: FiniteDistribution) -> FiniteDistribution:
    mean = world.mean
    return world.map(lambda x: x - mean)


def _whitened(world: FiniteDistribution) -> FiniteDistribution:
    """The distribution in coordinates with E[x x^T] = I."""
    floats = world.floats()
    root = np.linalg.cholesky(floats.second_moment)
    return floats.map(lambda x: np.linalg.solve(root, x.T).T)


def _discriminant(world: FiniteDistribution) -> AnyArray:
    """Within-class covariance^-1 (mean of positives - mean of negatives)."""
    p, q, pi = world.given_label(1), world.given_label(-1), world.base_rate
    within = pi * _covariance(world.points, p) + (1 - pi) * _covariance(world.points, q)
    return solve(within, (p - q) @ world.points)


def _cross(v: AnyArray, w: AnyArray) -> tuple[Any, Any]:
    """The two products of the cross product in the plane: equal for vectors of one direction."""
    return v[0] * w[1], v[1] * w[0]


def _covariance(points: AnyArray, weights: AnyArray) -> AnyArray:
    centred = points - weights @ points
    return (centred * weights[:, None]).T @ centred


CLAIMS = (
    equation_11,
    square_is_robust,
    whitened,
    fisher,
    fisher_needs_the_intercept,
    whitened_fisher,
    whitened_fisher_needs_centring,
    square_weights_on_long,
    square_scores_on_long,
    square_fails_below_a_twelfth,
    squared_hinge_succeeds,
    squared_hinge_bayes_scorers,
)
