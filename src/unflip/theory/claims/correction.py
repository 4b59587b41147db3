"""Section 4.1: the noise-corrected loss, whose risk on noisy labels is the clean risk of the loss.

In the even/odd split Equation 4 divides the odd part by 1 - 2 rho, which is just what noise takes away.
"""

from __future__ import annotations

from fractions import Fraction

from unflip.losses import Square, Unhinged, get
from unflip.theory.claims.cases import (
    CLAIM_LOSSES,
    CLAIM_RATES,
    SCORES,
    corrected,
    error,
    noisy_worlds,
    random_scores,
    risk_by_cells,
)
from unflip.theory.evidence import Evidence, Pairs, agree
from unflip.theory.minimizers import linear_minimizer


def equation_4() -> Evidence:
    """The corrected loss of every loss, against the formula with both labels."""
    pairs: Pairs = []
    for loss in CLAIM_LOSSES:
        for rate in map(float, CLAIM_RATES):
            for y in (-1, 1):
                here, there = loss.value(y, SCORES), loss.value(-y, SCORES)
                formula = ((1 - rate) * here - rate * there) / (1 - 2 * rate)
                ours = corrected(loss, Fraction(rate)).value(y, SCORES)
                pairs += zip(ours, formula, strict=True)
    tolerance = 1e-11  # at rate 0.49 the formula loses two digits, our form does not
    return agree(
        "Equation 4: the corrected loss is ((1-rho) l(y,v) - rho l(-y,v)) / (1-2 rho)", pairs, tolerance
    )


def corrected_risk() -> Evidence:
    """The risk of the corrected loss on noisy labels is the risk of the loss on clean ones; all losses."""
    pairs: Pairs = []
    for seed, (clean, rate, noisy) in enumerate(noisy_worlds(8)):
        scores = random_scores(len(clean.points), seed)
        pairs += [
            (risk_by_cells(clean, loss, scores), risk_by_cells(noisy, corrected(loss, rate), scores))
            for loss in CLAIM_LOSSES
        ]
    claim = "Section 4.1: the corrected loss has on noisy labels the risk the loss has on clean ones"
    return agree(claim, pairs, tolerance=1e-11)


def corrected_risk_exactly() -> Evidence:
    """The same in fractions, for the losses of plain arithmetic, without any tolerance."""
    exact = tuple(loss for loss in CLAIM_LOSSES if loss.exact)
    pairs: Pairs = []
    for seed, (clean, rate, noisy) in enumerate(noisy_worlds()):
        scores = random_scores(len(clean.points), seed)
        pairs += [
            (risk_by_cells(clean, loss, scores), risk_by_cells(noisy, corrected(loss, rate), scores))
            for loss in exact
        ]
    return agree("Section 4.1: the same identity in exact fractions, no tolerance", pairs)


def corrected_minimizer() -> Evidence:
    """Minimising the corrected loss on noisy labels finds the clean minimiser of the loss itself."""
    pairs: Pairs = []
    for clean, rate, noisy in noisy_worlds(5):
        for name in ("unhinged", "square", "logistic"):
            loss = get(name)
            found = linear_minimizer(noisy, corrected(loss, rate), 1)
            pairs += zip(found, linear_minimizer(clean, loss, 1), strict=True)
    claim = "Section 4.1: the corrected minimiser from noisy labels is the minimiser from clean ones"
    return agree(claim, pairs, tolerance=1e-9)


def equation_5() -> Evidence:
    """Robustness re-expressed: on noisy labels, loss and corrected loss give the same 0-1 risk."""
    pairs = [
        (
            error(clean, linear_minimizer(noisy, corrected(loss, rate), 1)),
            error(clean, linear_minimizer(noisy, loss, 1)),
        )
        for clean, rate, noisy in noisy_worlds()
        for loss in (Unhinged(), Square())
    ]
    return agree("Equation 5: on noisy labels the loss and its correction classify alike", pairs)


CLAIMS = (equation_4, corrected_risk, corrected_risk_exactly, corrected_minimizer, equation_5)
