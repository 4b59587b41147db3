"""Section 4.2: losses of constant even part, which noise can only rescale, and no others.

If the even part is constant, the correction of Equation 4 is a change of scale and origin and orders all
scorers as before. If even and odd part both vary, two stochastic scorers exist that differ in both, trade
one for the other, and change their order. A case is missing in the paper: under an odd part that does not
depend on the score the risks of any two scorers differ by their even parts alone, whatever the rate.
Then all orders are kept although the sum may vary. The lemma has fewer exceptions, only an odd part of
zero, since it asks for one constant beta and v^2 + y has one for each distribution.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from unflip.border.arrays import AnyArray
from unflip.losses import Loss, Traits
from unflip.theory.claims.cases import (
    CLAIM_LOSSES,
    CLAIM_RATES,
    SCORES,
    corrected,
    noisy_worlds,
    random_scores,
    spread,
)
from unflip.theory.distributions import FiniteDistribution
from unflip.theory.evidence import Evidence, Pairs, agree, at_most, exceeds
from unflip.theory.risks import stochastic_risk

SYMMETRIC = tuple(loss for loss in CLAIM_LOSSES if loss.traits.symmetric)
OTHERS = tuple(loss for loss in CLAIM_LOSSES if not loss.traits.symmetric)


@dataclass(frozen=True)
class ConstantOdd(Loss):
    """v^2 + constant y: which score is better does not depend on the label, so noise cannot touch it.

    >>> ConstantOdd(1).value([-1, 1], 3.0).tolist()
    [8.0, 10.0]
    """

    constant: int
    traits = Traits(convex=True, calibrated=False, smooth=True, degree=2)
    exact = True

    def _value(self, y: AnyArray, v: AnyArray) -> AnyArray:
        return v**2 + self.constant * y

    def _derivative(self, y: AnyArray, v: AnyArray) -> AnyArray:
        return 2 * v

    def _second_derivative(self, y: AnyArray, v: AnyArray) -> AnyArray:
        return 2 * np.ones_like(v)

    def _even(self, v: AnyArray) -> AnyArray:
        return v**2

    def _odd(self, v: AnyArray) -> AnyArray:
        return self.constant * np.ones_like(v)

    def _minimizer(self, eta: AnyArray) -> AnyArray:
        return 0 * eta


LABEL_BLIND, SHIFTED = ConstantOdd(0), ConstantOdd(1)


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
        scores, chances = _stochastic(len(clean.points), seed)
        for loss in SYMMETRIC:
            total = Fraction(2 * loss.even(0.0))
            plain = stochastic_risk(clean, loss, scores, chances)
            moved = stochastic_risk(clean, corrected(loss, rate), scores, chances)
            pairs.append((moved, (plain - rate * total) / (1 - 2 * rate)))
    claim = "Proposition 3 (if): with a constant sum the corrected risk is a rescaled risk"
    return agree(claim, pairs, tolerance=1e-12)


def proposition_3_only_if() -> Evidence:
    """Without it, two stochastic scorers change their order between loss and corrected loss."""
    disordered = [_has_disorder(loss) for loss in OTHERS]  # Definition 4
    claim = "Proposition 3 (only if): every other loss has two scorers that change their order"
    return agree(claim, [(sum(disordered), len(OTHERS))])


def proposition_3_exception() -> Evidence:
    """v^2, which ignores the label, is its own correction, so it keeps all orders although its sum varies."""
    pairs: Pairs = []
    for rate in CLAIM_RATES:
        for y in (-1, 1):
            moved = corrected(LABEL_BLIND, rate).value(y, SCORES)
            pairs += zip(moved, LABEL_BLIND.value(y, SCORES), strict=True)
    claim = "Proposition 3, exception: v^2 is its own correction, yet its sum of halves varies"
    return _and_varies(LABEL_BLIND, agree(claim, pairs))


def proposition_3_constant_odd() -> Evidence:
    """v^2 + y keeps all orders too: loss less corrected loss is a number of the distribution alone.

    It is E[y] (1 - 1 / (1 - 2 rho)) for every stochastic scorer: the beta of the paper's proof, which
    depends on the distribution, so that no beta serves all of them and the lemma does not apply.
    """
    pairs: Pairs = []
    for seed, (clean, rate, _) in enumerate(noisy_worlds(8)):
        scores, chances = _stochastic(len(clean.points), seed)
        plain, moved = (
            stochastic_risk(clean, loss, scores, chances) for loss in (SHIFTED, corrected(SHIFTED, rate))
        )
        pairs.append((plain - moved, (2 * clean.base_rate - 1) * (1 - 1 / (1 - 2 * rate))))
    claim = "Proposition 3, exception: v^2 + y keeps the order of all scorers, yet its sum varies"
    return _and_varies(SHIFTED, agree(claim, pairs))


def lemma() -> Evidence:
    """l = alpha l_bar + beta is possible for the symmetric losses, with alpha = 1 - 2 rho."""
    pairs = [(_affine_misfit(loss, float(rate)), 1e-12) for loss in SYMMETRIC for rate in CLAIM_RATES]
    return at_most("Lemma: a symmetric loss is an affine function of its correction", pairs)


def lemma_converse() -> Evidence:
    """And impossible for every other loss of the library, as the lemma says: their odd parts are not zero."""
    pairs = [(_affine_misfit(loss, float(rate)), 1e-4) for loss in OTHERS for rate in CLAIM_RATES]
    return exceeds("Lemma: no other loss that looks at the label is one", pairs)


def lemma_exception() -> Evidence:
    """The lemma's division by 1 - alpha fails at alpha = 1: a loss without odd part is a counterexample."""
    pairs = [(_affine_misfit(LABEL_BLIND, float(rate)), 1e-12) for rate in CLAIM_RATES]
    claim = "Lemma, exception: v^2 meets its condition with alpha = 1, yet its sum varies"
    return _and_varies(LABEL_BLIND, at_most(claim, pairs))


def lemma_needs_an_odd_part_only() -> Evidence:
    """v^2 + y, whose odd part is constant but not zero, is no affine function of its correction."""
    pairs = [(_affine_misfit(SHIFTED, float(rate)), 1e-2) for rate in CLAIM_RATES]
    claim = "Lemma: v^2 + y is no exception, no alpha and beta lead from its correction to it"
    return exceeds(claim, pairs)


def proper_losses_are_not_symmetric() -> Evidence:
    """A loss whose best score tells eta apart everywhere cannot have a constant sum (Appendix B.2)."""
    etas = np.linspace(0.05, 0.95, 19)
    best = {loss: loss.bayes_scorer(etas) for loss in CLAIM_LOSSES}
    proper = [loss for loss, scores in best.items() if np.all(scores[1:] > scores[:-1])]
    pairs = [(spread(_sum_of_halves(loss)), 1e-2) for loss in proper]
    return exceeds("Appendix B.2: strictly proper composite losses break Equation 6", pairs)


def _stochastic(n: int, seed: int) -> tuple[AnyArray, AnyArray]:
    """Three scores at each of n points, and the chance of each."""
    chances = random_scores((n, 3), seed + 1000) ** 2 + 1
    return random_scores((n, 3), seed), chances / chances.sum(axis=1, keepdims=True)


def _and_varies(loss: Loss, evidence: Evidence) -> Evidence:
    """The evidence, for a loss whose sum of halves does vary."""
    return replace(evidence, holds=evidence.holds and spread(_sum_of_halves(loss)) > 1)


def _sum_of_halves(loss: Loss) -> AnyArray:
    return loss.value(1, SCORES) + loss.value(-1, SCORES)


def _affine_misfit(loss: Loss, rate: float) -> float:
    """The largest error of the best fit of l by alpha l_bar + beta, over both labels and the grid."""
    old = np.concatenate([loss.value(y, SCORES) for y in (-1, 1)]).astype(np.float64)
    new = np.concatenate([corrected(loss, Fraction(rate)).value(y, SCORES) for y in (-1, 1)])
    design = np.stack([new.astype(np.float64), np.ones(len(new))], axis=1)
    return float(np.max(np.abs(old - design @ np.linalg.lstsq(design, old)[0])))  # Lemma


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
            if plain * moved < -1e-12:  # Definition 3
                return True
    return False


CLAIMS = (
    equation_6,
    equation_6_excludes,
    proposition_3_if,
    proposition_3_only_if,
    proposition_3_exception,
    proposition_3_constant_odd,
    lemma,
    lemma_converse,
    lemma_exception,
    lemma_needs_an_odd_part_only,
    proper_losses_are_not_symmetric,
)
