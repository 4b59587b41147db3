"""Sections 2 and 3: what noise does to a distribution, which learners survive it, and which do not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from unflip.losses import WeightedUnhinged
from unflip.theory.claims.cases import (
    CLAIM_LOSSES,
    POTENTIALS,
    error,
    noisy_worlds,
    random_scores,
    risk_by_cells,
    worlds,
)
from unflip.theory.evidence import Evidence, Pairs, agree, exceeds
from unflip.theory.gallery import long_servedio
from unflip.theory.minimizers import linear_minimizer
from unflip.theory.risks import risk


def equation_1() -> Evidence:
    """The risk as a sum over points and labels, and as the mean of the conditional risk over points."""
    pairs: Pairs = []
    for seed, world in enumerate(worlds(5)):
        scores = random_scores(len(world.points), seed)
        for loss in (loss for loss in CLAIM_LOSSES if loss.exact):
            pairs.append((risk_by_cells(world, loss, scores), risk(world, loss, scores)))
    return agree("Equation 1: the mean loss over (x, y) is the mean conditional risk over x", pairs)


def equation_2() -> Evidence:
    """Noise moves the class probability to (1 - 2 rho) eta + rho; by the formula, and flip by flip."""
    pairs: Pairs = []
    for clean, rate, noisy in noisy_worlds():
        eta = clean.eta
        kept, flipped = (1 - rate) * eta, rate * (1 - eta)
        pairs += zip(noisy.eta, (1 - 2 * rate) * eta + rate, strict=True)
        pairs += zip(noisy.eta, kept + flipped, strict=True)
    return agree("Equation 2: noise turns eta into (1 - 2 rho) eta + rho", pairs)


def equation_3() -> Evidence:
    """SLN-robustness of the unhinged and the square loss with linear scorers: equal 0-1 risk, exactly."""
    pairs = [
        (error(clean, linear_minimizer(clean, loss, 1)), error(clean, linear_minimizer(noisy, loss, 1)))
        for clean, _, noisy in noisy_worlds()
        for loss in ("unhinged", "square")
    ]
    return agree("Equation 3: unhinged and square minimisers err alike from clean and noisy labels", pairs)


def proposition_1() -> Evidence:
    """Long and Servedio: noise takes each convex potential from no error to one half, with linear scorers."""
    world = long_servedio(1 / 60)
    # Without noise the infimum may lie at infinity; a trace of ridge keeps it in reach, and all points right.
    pairs = [
        (
            error(world, linear_minimizer(world.corrupt(rate), loss))
            - error(world, linear_minimizer(world, loss, 1e-6)),
            0.5,
        )
        for loss in POTENTIALS
        for rate in (0.05, 0.1, 0.3, 0.4)
    ]
    return agree("Proposition 1: noise raises the error of all four convex potentials from 0 to 1/2", pairs)


def proposition_1_chooses_gamma_last() -> Evidence:
    """At gamma = 1/12, below the proof's 1/6, logistic regression errs at none of four rates."""
    world = long_servedio(1 / 12)
    pairs = [
        (error(world, linear_minimizer(world.corrupt(r), "logistic")), 0.0) for r in (0.01, 0.1, 0.3, 0.45)
    ]
    return agree(
        "Proposition 1, a limit: at gamma = 1/12 logistic regression errs at none of four rates", pairs
    )


def proposition_1_needs_no_bias() -> Evidence:
    """With an intercept the same example is harmless, as the footnote of the proof says."""
    world = long_servedio(1 / 60)
    noisy = world.corrupt(0.3)
    pairs = [(error(world, linear_minimizer(noisy, loss, intercept=True)), 0.0) for loss in POTENTIALS]
    return agree("Proposition 1, footnote: with an intercept the same example is classified perfectly", pairs)


def proposition_2() -> Evidence:
    """Over all scorers, a calibrated loss gives the same classifier from clean and from noisy labels."""
    pairs: Pairs = []
    for clean, _, noisy in noisy_worlds():
        for loss in (loss for loss in CLAIM_LOSSES if loss.traits.calibrated):
            errors = (
                risk(clean, "zero_one", np.sign(loss.bayes_scorer(world.eta))) for world in (clean, noisy)
            )
            pairs.append(tuple(errors))
    return agree("Proposition 2: over all scorers every calibrated loss is robust", pairs)


def proposition_2_needs_calibration() -> Evidence:
    """A loss that is not calibrated can lose even over all scorers: its threshold is elsewhere."""
    loss = WeightedUnhinged(Fraction(3, 4))
    lost = []
    for clean, _, noisy in noisy_worlds():
        errors = [risk(clean, "zero_one", np.sign(loss.bayes_scorer(world.eta))) for world in (clean, noisy)]
        lost.append(abs(errors[1] - errors[0]))
    return exceeds(
        "Proposition 2, the condition: an uncalibrated loss may change its error", [(max(lost), 0)]
    )


CLAIMS = (
    equation_1,
    equation_2,
    equation_3,
    proposition_1,
    proposition_1_chooses_gamma_last,
    proposition_1_needs_no_bias,
    proposition_2,
    proposition_2_needs_calibration,
)
