"""Appendix E: the unhinged scorer among centroids, kernel densities, weighted losses, mean discrepancies."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from unflip.border.arrays import AnyArray
from unflip.losses import Hinge, WeightedUnhinged, noise_corrected
from unflip.theory.claims.cases import noisy_worlds, random_scores, worlds
from unflip.theory.distributions import FiniteDistribution
from unflip.theory.evidence import Evidence, Pairs, agree, at_most, exceeds
from unflip.theory.means import gaussian_kernel, linear_kernel, mmd, witness
from unflip.theory.minimizers import linear_minimizer


def corrected_hinge_is_unbounded() -> Evidence:
    """Beyond its kink the corrected hinge is -rho (1 + v) / (1 - 2 rho), falling without end."""
    pairs = [
        (noise_corrected(Hinge(), rate).value(1, v), -rate * (1 + v) / (1 - 2 * rate))
        for rate in (0.2, 0.4)
        for v in (1.0, 10.0, 1e6)
    ]
    return agree("Appendix E.1: the corrected hinge falls without end, as -rho (1+v)/(1-2 rho)", pairs, 1e-6)


def corrected_hinge_is_not_convex() -> Evidence:
    """At its second kink, v = -1, the corrected hinge lies above its own chord."""
    pairs: Pairs = []
    for rate in (0.2, 0.4):
        loss = noise_corrected(Hinge(), rate)
        pairs.append((loss.value(1, -1.0), (loss.value(1, -2.0) + loss.value(1, 0.0)) / 2))
    return exceeds("Appendix E.1: the corrected hinge is not convex, it rises above its chord", pairs)


def nearest_centroid() -> Evidence:
    """With equal classes, squared distances to the centroids differ by 4 <w, x> plus a constant."""
    pairs: Pairs = []
    for nearer, scores, shift in _centroids():
        pairs += zip(nearer, 4 * scores + shift, strict=True)
    claim = "Appendix E.2: at pi = 1/2 nearest centroid is the unhinged scorer with a threshold"
    return agree(claim, pairs)


def nearest_centroid_differs() -> Evidence:
    """Without that threshold the two classifiers may differ, so they are not equivalent as they stand."""
    differ = sum(int(sum(np.sign(nearer) != np.sign(scores))) for nearer, scores, _ in _centroids())
    claim = "Appendix E.2, a limit: without the threshold the two differ on some points; how many"
    return exceeds(claim, [(differ, 0)])


def rocchio_is_robust() -> Evidence:
    """Rocchio's scorer does not weight the means; noise rescales it by one factor everywhere, too."""
    pairs: Pairs = []
    for clean, rate, noisy in noisy_worlds():
        before, after = (
            witness(w.points, w.points, linear_kernel, w.given_label(1), w.given_label(-1))(w.points)
            for w in (clean, noisy)
        )
        pi, pi_bar = clean.base_rate, noisy.base_rate
        factor = (1 - 2 * rate) * pi * (1 - pi) / (pi_bar * (1 - pi_bar))
        pairs += zip(after, factor * before, strict=True)
    return agree("Appendix E.2: noise only rescales Rocchio's difference of kernel means", pairs)


def kernel_density() -> Evidence:
    """Scores with a Gaussian kernel are Bayes' rule with kernel density estimates, up to one constant."""
    from sklearn.neighbors import KernelDensity

    bandwidth = 0.7
    pairs: Pairs = []
    for world in worlds():
        floats = world.floats()
        x, pi = floats.points, floats.base_rate
        densities = [
            np.exp(KernelDensity(bandwidth=bandwidth).fit(x[m > 0], sample_weight=m[m > 0]).score_samples(x))
            for m in (floats.given_label(1), floats.given_label(-1))
        ]
        bayes = (pi * densities[0] - (1 - pi) * densities[1]) * (2 * np.pi * bandwidth**2)
        kernel = gaussian_kernel(bandwidth)(x, x)
        pairs += zip((floats.masses * (2 * floats.eta - 1)) @ kernel, bayes, strict=True)
    return agree("Appendix E.3: Gaussian unhinged scores are Bayes' rule on kernel densities", pairs, 1e-10)


def nadaraya_watson() -> Evidence:
    """The ratio of weighted kernel means estimates eta / (1 - eta), here of the noisy labels, as h falls."""
    pairs: Pairs = []
    for _, _, noisy in noisy_worlds(8):
        world = noisy.floats().map(lambda x: np.arange(float(len(x)))[:, None])
        kernel = gaussian_kernel(0.1)(world.points, world.points)
        pi, eta = world.base_rate, world.eta
        odds = pi / (1 - pi) * (world.given_label(1) @ kernel) / (world.given_label(-1) @ kernel)
        pairs += zip(odds / (1 + odds), eta, strict=True)
    return agree(
        "Appendix E.3: the ratio of kernel means recovers eta/(1-eta) of the noisy labels", pairs, 1e-9
    )


def weighted_unhinged_scorer() -> Evidence:
    """The weighted unhinged solution weights each class mean by its cost; exact."""
    pairs: Pairs = []
    for world in worlds():
        for cost in (Fraction(1, 4), Fraction(9, 10)):
            negative, positive = world.class_sums
            weights = linear_minimizer(world, WeightedUnhinged(cost), 2)
            pairs += zip(weights, ((1 - cost) * positive - cost * negative) / 2, strict=True)
    return agree("Appendix E.3: the weighted unhinged solution weights each kernel mean by its cost", pairs)


def weighted_unhinged_bayes() -> Evidence:
    """Its best score in [-B, B] is B sign(eta - cost); by search over a grid."""
    pairs: Pairs = []
    bound = 2
    grid = np.array([Fraction(i, 4) for i in range(-8, 9)], dtype=object)
    for cost in (Fraction(1, 4), Fraction(7, 10)):
        for eta in (Fraction(i, 10) for i in range(11) if Fraction(i, 10) != cost):
            risks = WeightedUnhinged(cost).conditional_risk(np.full(len(grid), eta, dtype=object), grid)
            pairs.append((grid[np.argmin(risks)], bound if eta > cost else -bound))
    return agree("Appendix E.3: the weighted unhinged Bayes scorer is B sign(eta - c)", pairs)


def probing() -> Evidence:
    """The share of costs at which the weighted scorer says yes tells eta, to the step of the costs."""
    costs = [(i + 0.5) / 100 for i in range(100)]
    pairs: Pairs = []
    for world in worlds():
        eta = world.floats().eta
        votes = sum(WeightedUnhinged(c).bayes_scorer(eta, bound=1.0) > 0 for c in costs)
        pairs += [(abs(vote / 100 - p), 0.005) for vote, p in zip(votes, eta, strict=True)]
    return at_most("Appendix E.3: probing over costs recovers eta to half a step", pairs, slack=1e-12)


def mean_discrepancy() -> Evidence:
    """At base rate 1/2 the norm of the unhinged weight is half the maximum mean discrepancy."""
    pairs: Pairs = []
    for world in map(_balanced, worlds()):
        apart = mmd(world.points, world.points, linear_kernel, world.given_label(1), world.given_label(-1))
        pairs.append((float(np.linalg.norm(world.floats().label_mean)), apart / 2))
    return agree("Appendix E.4: at pi = 1/2 the unhinged weight has half the norm of the MMD", pairs, 1e-12)


def witness_function() -> Evidence:
    """At base rate 1/2 the unhinged scorer is half the witness, and no unit weight separates means more."""
    pairs: Pairs = []
    for seed, world in enumerate(map(_balanced, worlds())):
        p, q = world.given_label(1), world.given_label(-1)
        see = witness(world.points, world.points, linear_kernel, p, q)(world.points)
        scores = world.points @ linear_minimizer(world, "unhinged", 1)
        pairs += zip(scores, see / 2, strict=True)
        largest = mmd(world.points, world.points, linear_kernel, p, q)
        for w in random_scores((20, 2), seed).astype(np.float64):
            separated = float((p - q) @ world.points @ w) / max(float(np.linalg.norm(w)), 1.0)
            pairs.append((max(separated - largest, 0.0), 0.0))
    return agree("Appendix E.4: at pi = 1/2 the unhinged scorer is half the witness function", pairs, 1e-12)


def _centroids() -> Iterator[tuple[AnyArray, AnyArray, Fraction]]:
    """At pi = 1/2: how much nearer the positive centroid is, the unhinged scores, and |mu_Q|^2 - |mu_P|^2."""
    for world in map(_balanced, worlds()):
        p, q = (world.given_label(y) @ world.points for y in (1, -1))
        nearer = ((world.points - q) ** 2).sum(axis=1) - ((world.points - p) ** 2).sum(axis=1)
        yield nearer, world.points @ linear_minimizer(world, "unhinged", 1), q @ q - p @ p


def _balanced(world: FiniteDistribution) -> FiniteDistribution:
    """The same P and Q with base rate 1/2."""
    p, q = world.given_label(1) / 2, world.given_label(-1) / 2
    there = p + q > 0
    return FiniteDistribution(world.points[there], (p + q)[there], (p / np.where(there, p + q, 1))[there])


CLAIMS = (
    corrected_hinge_is_unbounded,
    corrected_hinge_is_not_convex,
    nearest_centroid,
    nearest_centroid_differs,
    rocchio_is_robust,
    kernel_density,
    nadaraya_watson,
    weighted_unhinged_scorer,
    weighted_unhinged_bayes,
    probing,
    mean_discrepancy,
    witness_function,
)
