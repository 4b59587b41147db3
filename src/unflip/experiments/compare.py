"""Put every printed cell beside what was run: means, ranges, verdicts and, where they differ, reasons."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unflip.border.arrays import AnyArray
from unflip.experiments.agreement import AgreementRange, mean_range, spread_range
from unflip.experiments.batch import CLOSED
from unflip.experiments.protocol import DECLARED
from unflip.experiments.published import PublishedCell, published
from unflip.experiments.result import Certified, Comparison, Tally
from unflip.experiments.store import Store
from unflip.experiments.trials import EARLY, PAPER_LEARNERS, PAPER_LOSSES, PAPER_RATES, Outcome

CERTIFICATE_LIMIT = 1e-6  # of a relative duality gap, or of the norm of a gradient
NEAR_OUR_RANGE = 0.01
FLAT = 1e-9  # eigenvalues this small are rounding
GRID_THRESHOLD = "grid-threshold"


@dataclass(frozen=True)
class Sizes:
    """How much is run: trials on the full split, splits of the study, and trials on each of these."""

    trials: int = 125
    splits: int = 50
    study_trials: int = 8

    def full(self, store: Store, dataset: str) -> dict[str, list[Outcome]]:
        """Outcomes of the full split, number 0, by learner."""
        return store.outcomes(dataset, DECLARED, self.trials, range(1))

    def study(self, store: Store, dataset: str, protocol: str = DECLARED) -> dict[str, list[Outcome]]:
        """Outcomes of the splits of the study, numbered from 1, by learner."""
        return store.outcomes(dataset, protocol, self.study_trials, range(1, self.splits + 1))


def comparisons(store: Store, datasets: list[str], sizes: Sizes) -> tuple[Comparison, ...]:
    """Every printed cell of these datasets beside ours; the hinge twice, exact and stopped early."""
    found = []
    for dataset in datasets:
        full, study = sizes.full(store, dataset), sizes.study(store, dataset)
        cells = [cell for cell in published() if cell.dataset == dataset]
        for learner in PAPER_LEARNERS:
            loss, solver = _loss_and_solver(learner)
            found += [
                _compared(cell, solver, full[learner][0], study[learner])
                for cell in cells
                if cell.loss == loss
            ]
    return tuple(found)


def _loss_and_solver(learner: str) -> tuple[str, str]:
    return ("hinge", "liblinear") if learner == EARLY else (learner, "exact")


def _compared(cell: PublishedCell, solver: str, full: Outcome, study: list[Outcome]) -> Comparison:
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


def _values(outcomes: list[Outcome], cell: PublishedCell) -> AnyArray:
    """Trials of a cell, one row a split."""
    row = PAPER_RATES.index(cell.noise_rate)
    return np.array([(o.error if cell.metric == "error" else o.one_less_auc)[row] for o in outcomes])


Key = tuple[str, str, float, str, str]  # dataset, metric, noise rate, loss, solver


def agreeing(store: Store, dataset: str, protocol: str, sizes: Sizes) -> dict[Key, bool]:
    """The cells of the appendix that a protocol was run for, and whether it reproduces them."""
    found = {}
    for learner, outcomes in sizes.study(store, dataset, protocol).items():
        loss, solver = _loss_and_solver(learner)
        for cell in published():
            if (cell.dataset, cell.loss) == (dataset, loss) and cell.table.startswith("full-"):
                key = (dataset, cell.metric, cell.noise_rate, loss, solver)
                found[key] = mean_range(_values(outcomes, cell)).agrees(cell.mean)
    return found


def tallies(store: Store, dataset: str, protocol: str, sizes: Sizes) -> list[Tally]:
    """How many cells of each loss a protocol reproduces with exact minimisers."""
    cells = agreeing(store, dataset, protocol, sizes)
    found = []
    for loss in PAPER_LOSSES:
        mine = {key: agrees for key, agrees in cells.items() if key[3:] == (loss, "exact")}
        differing = tuple(f"{metric} at {rate:g}" for (_, metric, rate, _, _), ok in mine.items() if not ok)
        if mine:
            found.append(Tally(protocol, dataset, loss, len(mine) - len(differing), len(mine), differing))
    return found


def with_reasons(cells: tuple[Comparison, ...], elsewhere: dict[Key, list[str]]) -> tuple[Comparison, ...]:
    """The same cells; those that do not agree say why, as far as the other numbers tell.

    elsewhere: the variants that reproduce a cell.
    """
    known = {(c.dataset, c.metric, c.noise_rate, c.loss, c.solver): c.agrees for c in cells}

    def reason(c: Comparison) -> str:
        place = (c.dataset, c.metric, c.noise_rate, c.loss)
        others = elsewhere.get((*place, c.solver), [])
        if c.solver == "exact" and known.get((*place, "liblinear")):
            return "solver: liblinear, stopped early, agrees; the exact minimiser does not"
        if GRID_THRESHOLD in others:
            return "threshold: agrees when it is sought among 100 evenly spaced ones"
        if c.metric == "error" and known.get((c.dataset, "one_minus_auc", *place[2:], c.solver)):
            return "perhaps the threshold: the ranking agrees (1 - AUC)"
        if others:
            return f"perhaps the protocol: agrees under {', '.join(others)}"
        if AgreementRange(c.center, c.low, c.high).miss(c.published_mean) <= NEAR_OUR_RANGE:
            return f"near: at most {NEAR_OUR_RANGE} beyond our range"
        return "open: nothing that was tried explains it"

    return tuple(c if c.agrees else replace(c, reason=reason(c)) for c in cells)


def certified(store: Store, datasets: list[str], sizes: Sizes) -> tuple[Certified, ...]:
    """How near all fits under the declared protocol came to their goal."""
    return tuple(_certified(dataset, loss, store, sizes) for dataset in datasets for loss in PAPER_LOSSES)


def _certified(dataset: str, loss: str, store: Store, sizes: Sizes) -> Certified:
    outcomes = [*sizes.full(store, dataset)[loss], *sizes.study(store, dataset)[loss]]
    certificate = np.concatenate([o.certificate for o in outcomes])
    apart = np.concatenate([o.separable for o in outcomes]) > 0
    curvature = np.concatenate([o.curvature for o in outcomes])
    convex = bool(np.isinf(curvature).all())
    kind = "closed form" if loss in CLOSED else "duality gap" if convex else "gradient norm"
    # Without a minimum there is no gap to speak of: the scorer itself shows that the infimum is zero.
    judged = certificate[~apart] if kind == "duality gap" else certificate
    met = int((judged <= CERTIFICATE_LIMIT).sum()) + len(certificate) - len(judged)
    return Certified(
        dataset=dataset,
        loss=loss,
        solver="exact",
        kind=kind,
        fits=len(certificate),
        met=met,
        separable=int(apart.sum()),
        worst=float(judged.max(initial=0.0)),
        limit=CERTIFICATE_LIMIT,
        smallest_eigenvalue=None if convex else float(curvature.min()),
        flat=None if convex else int((np.abs(curvature) <= FLAT).sum()),
        negative=None if convex else int((curvature < -FLAT).sum()),
    )
