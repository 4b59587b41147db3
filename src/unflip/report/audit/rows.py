"""The suspicious rows by their place in the file, with what they are called there."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from unflip.audit.table import Audit

LEAST_LISTED, MOST_LISTED = 20, 10_000


@dataclass(frozen=True)
class Doubtful:
    """One row; `row` and `neighbours` count the rows of the file from 0, the header not among them."""

    row: int
    id: Any
    given: Any
    likely: Any
    probability: float
    neighbours: tuple[int, ...]


def more_likely_wrong(audit: Audit) -> int:
    """How many rows are at least as likely wrong as right."""
    return int(np.count_nonzero(audit.suspects.probability >= 0.5))


def doubtful_rows(audit: Audit, least: int = LEAST_LISTED, most: int = MOST_LISTED) -> list[Doubtful]:
    """All rows that are more likely wrong than right, and no fewer than the `least` most suspicious ones."""
    count = min(max(more_likely_wrong(audit), least), most)
    place = audit.labels.rows
    names = None if audit.ids is None else audit.ids[1]
    return [
        Doubtful(
            int(place[found.row]),
            None if names is None else names[found.row],
            found.given,
            found.likely,
            found.probability,
            tuple(int(place[near]) for near in found.neighbours),
        )
        for found in islice(audit.suspects, count)
    ]


def found_by_checking(audit: Audit) -> list[tuple[int, float]]:
    """How many wrong labels to expect among the first rows of the list, for longer and longer lists."""
    grown = np.cumsum(audit.suspects.probability)
    steps = [scale * first for scale in 10 ** np.arange(1, 10) for first in (1, 2, 5)]
    checked = [*(int(step) for step in steps if step < len(grown)), len(grown)]
    return [(count, float(grown[count - 1])) for count in checked if count]
