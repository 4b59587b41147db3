"""What a run of the experiments returns: plain values, ready for a page, a terminal or JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Comparison:
    """One printed number beside ours.

    mean, std: over the noise draws of one split, as the paper has them.
    center, low, high: the mean over many splits and the central 95 % of the means of single splits; the
        printed mean agrees if it lies there, give or take its rounding. std_low, std_high: the same for the
        printed standard deviation.
    reason: where the printed mean does not agree, why; otherwise empty.
    """

    table: str
    dataset: str
    metric: str
    noise_rate: float
    loss: str
    solver: str
    protocol: str
    mean: float
    std: float
    published_mean: float
    published_std: float
    center: float
    low: float
    high: float
    agrees: bool
    std_low: float
    std_high: float
    std_agrees: bool
    reason: str = ""


@dataclass(frozen=True)
class Certified:
    """How near the fits of one loss on one dataset came to their goal.

    kind: "closed form", "duality gap" (relative to the objective) or "gradient norm"; `worst` is the largest.
    met: fits within `limit`, or recognised as separable (of which there are `separable`).
    smallest_eigenvalue: of the Hessian, over all fits, where the loss is not convex; otherwise None.
    flat, negative: fits whose smallest eigenvalue is zero up to 1e-9, or below; otherwise None.
    """

    dataset: str
    loss: str
    solver: str
    kind: str
    fits: int
    met: int
    separable: int
    worst: float
    limit: float
    smallest_eigenvalue: float | None = None
    flat: int | None = None
    negative: int | None = None


@dataclass(frozen=True)
class Tally:
    """How many of the printed cells of a loss on a dataset agree under a protocol, and which do not.

    differing: metric and noise rate of each cell that does not agree.
    """

    protocol: str
    dataset: str
    loss: str
    agreeing: int
    cells: int
    differing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """Something the paper does not say, or says otherwise, as a table that was computed.

    printed: what the paper has, in a sentence. found: what the rows show, in a sentence made from them.
    """

    name: str
    title: str
    printed: str
    found: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Figure:
    """A figure of the paper as numbers: series of records, each record a mapping of names to plain values.

    printed: what the paper shows, in a sentence. found: what ours shows, made from the numbers.
    """

    name: str
    title: str
    printed: str
    found: str
    series: dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Result:
    """All of a run: settings, seeds and versions; every number; what had to be left out.

    complete: nothing was skipped.

    >>> Result(settings={}, skipped=({"name": "housing", "reason": "not shipped"},)).complete
    False
    """

    settings: dict[str, Any]
    protocols: dict[str, dict[str, Any]] = field(default_factory=dict)
    cells: tuple[Comparison, ...] = ()
    tallies: tuple[Tally, ...] = ()
    certificates: tuple[Certified, ...] = ()
    datasets: tuple[dict[str, Any], ...] = ()
    figures: tuple[Figure, ...] = ()
    findings: tuple[Finding, ...] = ()
    skipped: tuple[dict[str, str], ...] = ()

    @property
    def complete(self) -> bool:
        """Could everything that was asked for be run?"""
        return not self.skipped

    def as_plain(self) -> dict[str, Any]:
        """The result as dictionaries and lists, in the shape of `unflip reproduce --json`.

        >>> sorted(Result(settings={}).as_plain())[:3]
        ['cells', 'certificates', 'datasets']
        """
        plain = asdict(self)
        plain["certificates"] = certificate_summary(self.certificates)
        return plain


def certificate_summary(rows: tuple[Certified, ...]) -> dict[str, Any]:
    """How many fits met their certificate, by kind, and the rows themselves.

    >>> row = Certified("iris", "hinge", "exact", "duality gap", 10, 9, 1, 2e-6, 1e-6)
    >>> certificate_summary((row,))["duality gap"]
    {'fits': 10, 'met': 9, 'separable': 1, 'worst': 2e-06, 'limit': 1e-06}
    """
    summary: dict[str, Any] = {}
    for row in rows:
        entry = summary.setdefault(
            row.kind, {"fits": 0, "met": 0, "separable": 0, "worst": 0.0, "limit": row.limit}
        )
        for name in ("fits", "met", "separable"):
            entry[name] += getattr(row, name)
        entry["worst"] = max(entry["worst"], row.worst)
    summary["rows"] = [asdict(row) for row in rows]
    return summary
