"""One executable check for each proposition, lemma, numbered equation and counterexample of the paper.

Each check takes no arguments, computes both sides of its claim and returns `Evidence`. Where the paper's
formula slips, the check tests the right one; `docs/errata.md` shows both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from unflip.theory.claims import (
    beyond,
    centroid,
    correction,
    examples,
    nonconvex,
    potentials,
    relations,
    robustness,
    sampling,
    square,
    symmetry,
    unhinged,
)
from unflip.theory.evidence import Evidence

_CHAPTERS = (
    robustness,
    correction,
    symmetry,
    unhinged,
    centroid,
    potentials,
    square,
    examples,
    nonconvex,
    sampling,
    relations,
    beyond,
)


def propositions() -> Iterator[Callable[[], Evidence]]:
    """All checks, in the order of the paper.

    >>> check = next(propositions())
    >>> check().claim
    'Equation 1: the mean loss over (x, y) is the mean conditional risk over x'
    """
    for chapter in _CHAPTERS:
        yield from chapter.CLAIMS
