"""What a reader should know beside an estimate, each with a name."""

from __future__ import annotations

from typing import Any

import numpy as np

from unflip.border.arrays import Array

FEWEST_LABELLED = 40  # labelled rows
ORDERED_CLASSES, NEIGHBOURS = 4, 0.75  # from so many numbers on; of the disagreements, that are with the next
LESSER_WAY = 0.2  # of steps to the next number, that go up or down
BY_CHANCE = 1.5  # times what chance would make of them


class Caveat(str):
    """A sentence with a name; `warnings` of an estimate are these.

    >>> found = Caveat("overlap", "classes overlap")
    >>> found.name, found.words, found == "classes overlap"
    ('overlap', 'classes overlap', True)
    """

    name: str

    def __new__(cls, name: str, words: str) -> Caveat:
        """A caveat is its words."""
        made = super().__new__(cls, words)
        made.name = name
        return made

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]  # str has one argument
        return self.name, str(self)

    @property
    def words(self) -> str:
        """The sentence."""
        return str(self)


TOO_FEW_ROWS = Caveat(
    "too few rows",
    f"fewer than {FEWEST_LABELLED} rows tell little, so that even the interval rests on the model",
)
ORDERED = Caveat(
    "ordered target",
    "the classes are numbers, and labels differ from the likely class mostly by the next number: neighbours "
    "on a scale overlap, which looks like noise; group the numbers, or read the bound",
)
HIDDEN = Caveat(
    "overlap",
    "labels disagree with the columns far more often than these mistakes explain: classes overlap, or "
    "mistakes fall on rows that are hard to tell, and labels alone cannot say which; to know it, review a "
    "few hundred rows drawn at random",
)


def looks_ordered(classes: list[Any], likely: Array, member: Array) -> bool:
    """Whether labels that differ from the likely class, (n,), mostly differ by the next number.

    >>> likely, given = np.repeat(np.arange(5), 4), np.repeat([1, 0, 3, 4, 3], 4)
    >>> looks_ordered([1, 2, 3, 4, 5], likely, np.eye(5)[given])
    True
    >>> looks_ordered(list("abcde"), likely, np.eye(5)[given])
    False
    """
    k = len(classes)
    if k < ORDERED_CLASSES or not all(isinstance(label, int | float) for label in classes):
        return False
    steps = np.abs(np.arange(k) - likely[:, None])
    by_step = np.array([(member * (steps == step)).sum() for step in range(1, k)])
    shares = member.sum(axis=0) / member.sum()
    apart = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    chance = (np.outer(shares, shares) * (apart == 1)).sum() / max(1 - (shares**2).sum(), 1e-300)
    next_to = by_step[0] / max(by_step.sum(), 1e-300)
    ways = np.array([(member * (np.arange(k) - likely[:, None] == step)).sum() for step in (-1, 1)])
    both = ways.min() > LESSER_WAY * ways.sum()  # one class that is taken for the next goes one way
    return bool(both and next_to > NEIGHBOURS and next_to > BY_CHANCE * chance)
