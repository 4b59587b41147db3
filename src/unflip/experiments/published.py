"""The numbers that the paper prints: 612 cells of its appendix, and 90 of them again in the main text."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class PublishedCell:
    """One printed number: the mean and the standard deviation over 125 trials."""

    table: str
    dataset: str
    metric: str
    noise_rate: float
    loss: str
    mean: float
    std: float
    best: bool


@cache
def published() -> tuple[PublishedCell, ...]:
    """Every printed cell, in the order of the paper's source.

    >>> cells = published()
    >>> len(cells), cells[0].dataset, cells[0].loss, cells[0].mean
    (702, 'long', 'hinge', 0.0)
    """
    text = files("unflip.experiments").joinpath("data", "published.csv").read_text()
    return tuple(
        PublishedCell(
            table=row["table"],
            dataset=row["dataset"],
            metric=row["metric"],
            noise_rate=float(row["noise_rate"]),
            loss=row["loss"],
            mean=float(row["mean"]),
            std=float(row["std"]),
            best=row["best"] == "1",
        )
        for row in csv.DictReader(text.splitlines())
    )


# The paper's summary of its datasets: rows, columns, share of positives.
SUMMARY = {
    "iris": (150, 4, 0.3333),
    "ionosphere": (351, 34, 0.3590),
    "housing": (506, 13, 0.0692),
    "car": (1728, 8, 0.0376),
    "usps_0_vs_7": (2200, 256, 0.5000),
    "splice": (3190, 61, 0.2404),
    "spambase": (4601, 57, 0.3940),
}
