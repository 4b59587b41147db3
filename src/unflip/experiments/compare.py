"""Put every printed cell beside what was run: means, ranges, verdicts and, where they differ, reasons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unflip.experiments.agreement import Range, mean_range, spread_range
from unflip.experiments.batch import CLOSED
from unflip.experiments.protocol import DECLARED
from unflip.experiments.published import Cell, published
from unflip.experiments.result import Certified, Comparison, Tally
from unflip.experiments.store import Store
from unflip.experiments.trials import EARLY, LOSSES, RATES, Outcome

Array = Any
LIMIT = 1e-6  # of a relative duality gap, or of the norm of a gradient
NEAR = 0.01
GRID = "grid-threshold"


@dataclass(frozen=True)
class Sizes:
    """How much is run: trials on the full split, splits of the study, and trials on each of these."""

    trials: int = 125
    splits: int = 50
    study_trials: int = 8


def comparisons(store: Store, datasets: list[str], sizes: Sizes) -> tuple[Comparison, ...]:
    """Every printed cell of these datasets beside ours; the hinge twice, exact and stopped early."""
    found = []
    for dataset in datasets:
        full = store.outcomes(dataset, DECLARED, sizes.trials)
        study = store.outcomes(dataset, DECLARED, sizes.study_trials)
        cells = [cell for cell in published() if cell.dataset == dataset]
        for learner in (*LOSSES, EARLY):
            loss, solver = ("hinge", "liblinear") if learner == EARLY else (learner, "exact")
            first = full[learner][0]
            rest = study[learner][-sizes.splits :]  # equal numbers of trials would mix the full split in
            found += [_compared(cell, solver, first, rest) for cell in cells if cell.loss == loss]
    return tuple(found)


def _compared(cell: Cell, solver: str, full: Outcome, study: list[Outcome]) -> Comparison:
    once, many = _values([full], cell)[0], _values(study, cell)
    means, spreads = mean_range(many), spread_range(many)
    return Comparison(
        table=cell.table,
        dataset=cell.dataset,
        metric=cell.metric,
        noise_rate=cell.noise_rate,
        loss=cell.loss,
        solver=solver,
        protocol=DECLARED,
        mean=float(once.mean()),
        std=float(once.std(ddof=1)) if len(once) > 1 else 0.0,
        published_mean=cell.mean,
        published_std=cell.std,
        center=means.center,
        low=means.low,
        high=means.high,
        agrees=means.agrees(cell.mean),
        std_low=spreads.low,
        std_high=spreads.high,
        std_agrees=spreads.agrees(cell.std),
    )


def _values(outcomes: list[Outcome], cell: Cell) -> Array:
    """Trials of a cell, one row a split."""
    row = RATES.index(cell.noise_rate)
    return np.array([(o.error if cell.metric == "error" else o.one_less_auc)[row] for o in outcomes])


def agreeing(store: Store, dataset: str, protocol: str, sizes: Sizes) -> Iterator[tuple[Cell, bool]]:
    """The cells of the appendix that a protocol was run for, and whether it reproduces them."""
    study = store.outcomes(dataset, protocol, sizes.study_trials)
    for cell in published():
        if cell.dataset == dataset and cell.table.startswith("full-") and cell.loss in study:
            values = _values(study[cell.loss][-sizes.splits :], cell)
            yield cell, mean_range(values).agrees(cell.mean)


def tallies(store: Store, dataset: str, protocol: str, sizes: Sizes) -> list[Tally]:
    """How many cells of each loss a protocol reproduces."""
    cells = list(agreeing(store, dataset, protocol, sizes))
    found = []
    for loss in LOSSES:
        mine = [(cell, agrees) for cell, agrees in cells if cell.loss == loss]
        differing = tuple(f"{cell.metric} at {cell.noise_rate:g}" for cell, agrees in mine if not agrees)
        if mine:
            found.append(Tally(protocol, dataset, loss, len(mine) - len(differing), len(mine), differing))
    return found


def with_reasons(
    cells: tuple[Comparison, ...], elsewhere: dict[tuple[str, str, float, str], list[str]]
) -> tuple[Comparison, ...]:
    """The same cells; those that do not agree say why, as far as the other numbers tell.

    elsewhere: the variants that reproduce a cell, by dataset, metric, noise rate and loss.
    """
    known = {(c.table, c.dataset, c.metric, c.noise_rate, c.loss, c.solver): c.agrees for c in cells}

    def reason(c: Comparison) -> str:
        key = (c.dataset, c.metric, c.noise_rate, c.loss)
        early = (c.table, *key, "liblinear")
        area = (f"full-{c.dataset}-matlab", c.dataset, "one_minus_auc", c.noise_rate, c.loss, c.solver)
        if c.solver == "exact" and known.get(early):
            return "solver: liblinear, stopped early, agrees; the exact minimiser does not"
        if GRID in elsewhere.get(key, ()):
            return "threshold: agrees when it is sought among 100 evenly spaced ones"
        if c.metric == "error" and known.get(area):
            return "threshold: the ranking agrees (1 - AUC), so the cut was made elsewhere"
        if elsewhere.get(key):
            return f"protocol: agrees under {', '.join(elsewhere[key])}"
        if Range(c.center, c.low, c.high).miss(c.published_mean) <= NEAR:
            return f"near: at most {NEAR} beyond our range"
        return "open: nothing that was tried explains it"

    return tuple(c if c.agrees else replace(c, reason=reason(c)) for c in cells)


def certified(store: Store, datasets: list[str], sizes: Sizes) -> tuple[Certified, ...]:
    """How near all fits under the declared protocol came to their goal."""
    return tuple(_certified(dataset, loss, store, sizes) for dataset in datasets for loss in LOSSES)


def _certified(dataset: str, loss: str, store: Store, sizes: Sizes) -> Certified:
    sets = {sizes.trials, sizes.study_trials}
    outcomes = [o for trials in sorted(sets) for o in store.outcomes(dataset, DECLARED, trials)[loss]]
    certificate = np.concatenate([o.certificate for o in outcomes])
    apart = np.concatenate([o.separable for o in outcomes]) > 0
    curvature = np.concatenate([o.curvature for o in outcomes])
    convex = bool(np.isinf(curvature).all())
    kind = "closed form" if loss in CLOSED else "duality gap" if convex else "gradient norm"
    # Without a minimum there is no gap to speak of: the scorer itself shows that the infimum is zero.
    judged = certificate[~apart] if kind == "duality gap" else certificate
    met = int((judged <= LIMIT).sum()) + len(certificate) - len(judged)
    return Certified(
        dataset=dataset,
        loss=loss,
        solver="exact",
        kind=kind,
        fits=len(certificate),
        met=met,
        separable=int(apart.sum()),
        worst=float(judged.max(initial=0.0)),
        limit=LIMIT,
        smallest_eigenvalue=None if convex else float(curvature.min()),
        positive_definite=None if convex else int((curvature > 0).sum()),
    )
