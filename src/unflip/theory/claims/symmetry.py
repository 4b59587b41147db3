"""Section 4.2: losses of constant even part, which noise can only rescale, and no others.

If the even part is constant, the correction of Equation 4 is a change of scale and origin and orders all
scorers as before; if it is not, two scorers exist that trade even part for odd part and change their
order. One case is missing in the paper: a loss that ignores the label has no odd part, so it is its own
correction whatever its even part.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from unflip.losses import Loss, Traits
from unflip.losses.base import Array, MarginLoss
from unflip.theory.distributions import FiniteDistribution
from unflip.theory.evidence import Evidence, Pairs, agree, at_most, exceeds
from unflip.theory.propositions.cases import (
    LOSSES,
    RATES,
    SCORES,
    corrected,
    noisy_worlds,
    random_scores,
    spread,
)
from unflip.theory.risks import stochastic_risk

SYMMETRIC = tuple(loss for loss in LOSSES if loss.traits.symmetric)
OTHERS = tuple(loss for loss in LOSSES if not loss.traits.symmetric)


@dataclass(frozen=True)
class LabelBlind(MarginLoss):
    """v^2, whatever the label: it teaches nothing, and noise cannot touch it.

    >>> LabelBlind().value([-1, 1], 3.0).tolist()
    [9.0, 9.0]
    """

    traits = Traits(convex=True, calibrated=False, smooth=True, degree=2)
    exact = True

    def _phi(self, m: Array) -> Array:
        return m**2

    def _phi1(self, m: Array) -> Array:
        return 2 * m

    def _phi2(self, m: Array) -> Array:
        return 2 * np.ones_like(m)

    def _even(self, v: Array) -> Array:
        return v**2

    def _odd(self, v: Array) -> Array:
        return 0 * v

    def _minimizer(self, eta: Array) -> Array:
        return 0 * eta


def equation_6() -> Evidence:
    """The halves of a symmetric loss add up to the same number at every score."""
    pairs = [(spread(_sum_of_halves(loss)), 0.0) for loss in SYMMETRIC]
    return agree("Equation 6: 0-1, ramp, sigmoid and unhinged have a constant sum of halves", pairs, 1e-12)


def equation_6_excludes() -> Evidence:
    """And no other loss of the library has that property."""
    pairs = [(spread(_sum_of_halves(loss)), 1e-2) for loss in OTHERS]
    return exceeds("Equation 6: for all the other losses the sum of halves varies", pairs)


def proposition_3_if() -> Evidence:
    """With a constant sum C, the corrected risk is the risk rescaled: (risk - rho C) / (1 - 2 rho)."""
    pairs: Pairs = []
    for seed, (clean, rate, _) in enumerate(noisy_worlds(8)):
        scores = random_scores((len(clean.points), 3), seed)
        chances = random_scores((len(clean.points), 3), seed + 1000) ** 2 + 1
        chances = chances / chances.sum(axis=1, keepdims=True)
        for loss in SYMMETRIC:
            total = Fraction(2 * loss.even(0.0))
            plain = stochastic_risk(clean, loss, scores, chances)
            moved = stochastic_risk(clean, corrected(loss, rate), scores, chances)
            pairs.append((moved, (plain - rate * total) / (1 - 2 * rate)))
    claim = "Proposition 3 (if): with a constant sum the corrected risk is a rescaled risk"
    return agree(claim, pairs, tolerance=1e-12)


def proposition_3_only_if() -> Evidence:
    """Without it, two stochastic scorers change their order between loss and corrected loss."""
    disordered = [_has_disorder(loss) for loss in OTHERS]
    claim = "Proposition 3 (only if): every other loss has two scorers that change their order"
    return agree(claim, [(sum(disordered), len(OTHERS))])


def proposition_3_exception() -> Evidence:
    """A loss that ignores the label keeps all orders although its sum varies: the paper must exclude it."""
    loss = LabelBlind()
    kept = [
        (loss.value(y, SCORES) - corrected(loss, rate).value(y, SCORES)).tolist()
        for y in (-1, 1)
        for rate in RATES
    ]
    moved = max(abs(value) for row in kept for value in row)
    varies = spread(_sum_of_halves(loss))
    claim = "Proposition 3, exception: v^2 is its own correction, yet its sum of halves varies"
    return Evidence(claim, varies, moved, moved, moved == 0 and varies > 1)


def lemma() -> Evidence:
    """l = alpha l_bar + beta is possible for the symmetric losses, with alpha = 1 - 2 rho."""
    pairs = [(_affine_misfit(loss, float(rate)), 1e-12) for loss in SYMMETRIC for rate in RATES]
    return at_most("Lemma: a symmetric loss is an affine function of its correction", pairs)


def lemma_converse() -> Evidence:
    """And impossible for every other loss that looks at the label, as the lemma says."""
    pairs = [(_affine_misfit(loss, float(rate)), 1e-4) for loss in OTHERS for rate in RATES]
    return exceeds("Lemma: no other loss that looks at the label is one", pairs)


def lemma_exception() -> Evidence:
    """The lemma's division by 1 - alpha fails at alpha = 1: a loss without odd part is a counterexample."""
    misfit = max(_affine_misfit(LabelBlind(), float(rate)) for rate in RATES)
    varies = spread(_sum_of_halves(LabelBlind()))
    claim = "Lemma, exception: v^2 meets its condition with alpha = 1, yet its sum varies"
    return Evidence(claim, varies, misfit, misfit, misfit < 1e-12 and varies > 1)


def proper_losses_are_not_symmetric() -> Evidence:
    """A loss whose best score tells eta apart everywhere cannot have a constant sum (Appendix B.2)."""
    etas = np.linspace(0.05, 0.95, 19)
    best = {loss: loss.bayes_scorer(etas) for loss in LOSSES}
    proper = [loss for loss, scores in best.items() if np.all(scores[1:] > scores[:-1])]
    pairs = [(spread(_sum_of_halves(loss)), 1e-2) for loss in proper]
    return exceeds("Appendix B.2: strictly proper composite losses break Equation 6", pairs)


def _sum_of_halves(loss: Loss) -> Array:
    return loss.value(1, SCORES) + loss.value(-1, SCORES)


def _affine_misfit(loss: Loss, rate: float) -> float:
    """The largest error of the best fit of l by alpha l_bar + beta, over both labels and the grid."""
    old = np.concatenate([loss.value(y, SCORES) for y in (-1, 1)]).astype(np.float64)
    new = np.concatenate([corrected(loss, Fraction(rate)).value(y, SCORES) for y in (-1, 1)])
    design = np.stack([new.astype(np.float64), np.ones(len(new))], axis=1)
    return float(np.max(np.abs(old - design @ np.linalg.lstsq(design, old)[0])))


def _has_disorder(loss: Loss) -> bool:
    """Whether some pair of stochastic scorers at one point is ordered differently by loss and correction.

    Each scorer draws its score v or 0 by a fair coin. If the scorers differ by e in the even and by o in
    the odd part, the risks differ by e + k o and e + k o / (1 - 2 rho), k = 2 eta - 1: of opposite sign
    for k between -e / o and -(1 - 2 rho) e / o. At rho = 0.4 we take k = -0.6 e / o, in the middle.
    """
    even, odd = loss.even(SCORES), loss.odd(SCORES)
    for i in range(len(SCORES)):
        for j in range(i):
            e, o = even[i] - even[j], odd[i] - odd[j]
            if o == 0 or e == 0 or 0.6 * abs(e / o) > 1:
                continue
            world = FiniteDistribution([[0.0]], [1.0], [(1 - 0.6 * e / o) / 2])
            chances = [[0.5, 0.5]]
            plain, moved = (
                stochastic_risk(world, form, [[SCORES[i], 0.0]], chances)
                - stochastic_risk(world, form, [[SCORES[j], 0.0]], chances)
                for form in (loss, corrected(loss, Fraction(0.4)))
            )
            if plain * moved < -1e-12:
                return True
    return False


CLAIMS = (
    equation_6,
    equation_6_excludes,
    proposition_3_if,
    proposition_3_only_if,
    proposition_3_exception,
    lemma,
    lemma_converse,
    lemma_exception,
    proper_losses_are_not_symmetric,
)
