"""Sections 6.1 and 6.2, Appendix C: the regularised unhinged solution is a mean, and means survive noise."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import minimize

from unflip.border.arrays import AnyArray
from unflip.theory.claims.cases import noisy_worlds, random_scores, worlds
from unflip.theory.distributions import FiniteDistribution
from unflip.theory.evidence import Evidence, Pairs, agree, at_most
from unflip.theory.means import gaussian_kernel
from unflip.theory.minimizers import linear_minimizer
from unflip.theory.risks import risk

PENALTIES: tuple[Any, ...] = (Fraction(1, 10), Fraction(1), Fraction(20))


def equation_7() -> Evidence:
    """From Equation 8's weight the objective rises by exactly lambda / 2 times the distance squared."""
    pairs: Pairs = []
    for seed, world in enumerate(worlds()):
        for lam in PENALTIES:
            best, other = world.label_mean / lam, random_scores(2, seed)
            excess = _objective(world, other, lam) - _objective(world, best, lam)
            pairs.append((excess, lam / 2 * (other - best) @ (other - best)))
    return agree("Equation 7: the objective rises from its minimum by lambda/2 |w - w*|^2", pairs)


def equation_8() -> Evidence:
    """A general-purpose optimiser on the objective of Equation 7 finds E[y x] / lambda."""
    pairs: Pairs = []
    for world in worlds(5):
        floats = world.floats()
        for lam in map(float, PENALTIES):
            found = minimize(lambda w, at=floats, p=lam: float(_objective(at, w, p)), np.zeros(2), tol=1e-9).x
            pairs += zip(found * lam, floats.label_mean, strict=True)
    return agree("Equation 8: lambda times the minimiser of Equation 7 is E[y x]", pairs, tolerance=1e-5)


def equation_9() -> Evidence:
    """Kernel means weighted by the base rate give the scores of the explicit weight in feature space."""
    pairs: Pairs = []
    for world in worlds():
        lifted = world.map(_squares)
        weighed = linear_minimizer(lifted, "unhinged", 1)
        kernel = (world.points @ world.points.T) ** 2
        pi = world.base_rate
        means = pi * world.given_label(1) @ kernel - (1 - pi) * world.given_label(-1) @ kernel
        pairs += zip(lifted.points @ weighed, means, strict=True)
    return agree("Equation 9: the kernel scorer is pi E_P[k] - (1 - pi) E_Q[k]", pairs)


def equation_10() -> Evidence:
    """Noise multiplies the kernel scorer by 1 - 2 rho at every point; Gaussian kernel."""
    pairs: Pairs = []
    for clean, rate, noisy in noisy_worlds():
        kernel = gaussian_kernel(1.0)(clean.points, clean.points)
        at_clean, at_noisy = ((world.masses * (2 * world.eta - 1)) @ kernel for world in (clean, noisy))
        pairs += zip(at_clean, at_noisy / float(1 - 2 * rate), strict=True)
    return agree("Equation 10: E[y k(X, x)] is its noisy counterpart over 1 - 2 rho", pairs, tolerance=1e-12)


def mean_map() -> Evidence:
    """The mean map of any features is preserved up to 1 - 2 rho; exact, with products as features."""
    pairs: Pairs = []
    for clean, rate, noisy in noisy_worlds():
        before, after = clean.map(_squares).label_mean, noisy.map(_squares).label_mean
        pairs += zip(before, after / (1 - 2 * rate), strict=True)
    return agree("Appendix C: the mean map is its noisy counterpart over 1 - 2 rho, exactly", pairs)


def regularization_changes_no_sign() -> Evidence:
    """The regularisation scales the scores and moves no sign."""
    pairs: Pairs = []
    for world in worlds():
        first, *rest = (np.sign(world.points @ linear_minimizer(world, "unhinged", lam)) for lam in PENALTIES)
        pairs += [(int(sum(first != other)), 0) for other in rest]
    return agree("Section 6.2: lambda changes no sign of the unhinged scorer", pairs)


def bias_is_a_threshold() -> Evidence:
    """A bias penalised by lambda_b adds E[y] / lambda_b to every score, and does nothing else."""
    pairs: Pairs = []
    for world in worlds():
        for t in (Fraction(1, 3), Fraction(2)):  # lambda = 1, lambda_b = t^2: a constant feature 1 / t

            def with_constant(x: AnyArray, value: Fraction = 1 / t) -> AnyArray:
                return np.concatenate([x, 0 * x[:, :1] + value], axis=1)

            wider = world.map(with_constant)
            scores = wider.points @ linear_minimizer(wider, "unhinged", 1)
            plain = world.points @ linear_minimizer(world, "unhinged", 1)
            pairs += [(shift, (2 * world.base_rate - 1) / t**2) for shift in scores - plain]
    return agree("Section 6.2: a regularised bias moves every score by E[y]/lambda_b, a threshold", pairs)


def bias_reaches_one_side_only() -> Evidence:
    """Whatever lambda_b > 0, the bias has the sign of 2 pi - 1: only half of all thresholds are reached."""
    pairs: Pairs = []
    for world in worlds():
        sign = np.sign(2 * world.base_rate - 1)
        one = world.map(lambda x: 0 * x[:, :1] + 1)
        biases = (linear_minimizer(one, "unhinged", lam)[0] for lam in PENALTIES)
        pairs += [(-sign * bias, 0) for bias in biases]
    claim = "Section 6.2, a limit: the regularised bias never has the sign against the base rate"
    return at_most(claim, pairs)


def _objective(world: FiniteDistribution, w: AnyArray, lam: Any) -> Any:
    return risk(world, "unhinged", world.points @ w) + lam / 2 * (w @ w)


def _squares(x: AnyArray) -> AnyArray:
    """All products of two coordinates: the feature map of the kernel <x, z>^2."""
    return (x[:, :, None] * x[:, None, :]).reshape(len(x), -1)


CLAIMS = (
    equation_7,
    equation_8,
    equation_9,
    equation_10,
    mean_map,
    regularization_changes_no_sign,
    bias_is_a_threshold,
    bias_reaches_one_side_only,
)
