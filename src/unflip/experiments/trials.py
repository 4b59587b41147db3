"""Many noise draws on one split: error and 1 - AUC of each learner at all rates, on clean test labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unflip.border.arrays import AnyArray, beside, to_numpy
from unflip.experiments.batch import Fits, Whitened, auc, best_cuts, error_rates, fit, grid_cuts
from unflip.experiments.early_stopped import fit_liblinear
from unflip.experiments.splits import Split
from unflip.noise import flip_labels

PAPER_RATES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.49)
PAPER_LOSSES = ("hinge", "logistic", "square", "t_logistic", "tangent_boost", "unhinged")
EARLY = "hinge, liblinear"
EARLY_SHARE = 4  # it is slow, and a fourth of the trials tells it from the exact hinge
PAPER_LEARNERS = (*PAPER_LOSSES, EARLY)
THRESHOLDS: dict[str, Callable[[AnyArray, AnyArray], AnyArray]] = {
    "tuned": best_cuts,
    "grid": grid_cuts,
    "zero": lambda scores, Y: 0 * scores[0, :],
}


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one learner did on one split.

    error, one_less_auc: one row a rate, one column a trial (of which the early-stopped hinge has fewer).
    certificate, separable, curvature: of each fit, as in `batch.Fits`; empty for what has no certificate.
    """

    error: AnyArray
    one_less_auc: AnyArray
    certificate: AnyArray
    separable: AnyArray
    curvature: AnyArray

    def by_rate(self, draws: Sequence[int], trials: int) -> Outcome:
        """Errors in one row a rate, from values one after another; a single draw counts for all trials."""

        def rows(values: AnyArray) -> AnyArray:
            parts = np.split(values, np.cumsum(draws)[:-1])
            return np.array([np.broadcast_to(part, trials) for part in parts])

        return replace(self, error=rows(self.error), one_less_auc=rows(self.one_less_auc))


def run_trials(
    split: Split,
    rng: np.random.Generator,
    trials: int = 125,
    learners: Sequence[str] = PAPER_LEARNERS,
    thresholds: Sequence[str] = ("tuned",),
    rates: Sequence[float] = PAPER_RATES,
) -> dict[str, dict[str, Outcome]]:
    """All trials of one split, by threshold and learner.

    Without noise every trial is the same, so it is run once and repeated. The arrays of the split may live on
    another device; the flips are drawn here, the rest is done there.

    >>> from unflip.experiments.protocol import protocol
    >>> from unflip.experiments.splits import draw_split
    >>> rng = np.random.default_rng(0)
    >>> split = draw_split("iris", protocol("iris"), rng)
    >>> outcome = run_trials(split, rng, 5, ["unhinged"])["tuned"]["unhinged"]
    >>> outcome.error.shape, float(outcome.error[0, 0])
    ((6, 5), 0.0)
    """
    draws = [1 if rate == 0 else trials for rate in rates]
    clean = to_numpy(split.y_train)
    noisy = [flipped(clean, rate, k, rng) for rate, k in zip(rates, draws, strict=True)]
    seed = int(rng.integers(2**31))
    Y = beside(np.hstack(noisy), split.y_train)
    white = Whitened.of(split.X_train)
    found: dict[str, dict[str, Outcome]] = {threshold: {} for threshold in thresholds}
    for name in learners:
        if name == EARLY:
            some = early_trials(trials)
            fewer, Y_some = _first(draws, Y, some)
            weights, fits = fit_liblinear(split.X_train, Y_some, seed), None
        else:
            some, fewer, Y_some = trials, draws, Y
            weights, fits = fit(name, split.X_train, white, Y)
        for threshold, outcome in _outcomes(split, weights, fits, Y_some, thresholds).items():
            found[threshold][name] = outcome.by_rate(fewer, some)
    return found


def flipped(y: AnyArray, rate: float, draws: int, rng: np.random.Generator) -> AnyArray:
    """Draws of noisy labels, one column each; every label of each has a coin of its own.

    >>> flipped(np.array([1.0, -1.0]), 0.0, 2, np.random.default_rng(0)).tolist()
    [[1.0, 1.0], [-1.0, -1.0]]
    """
    return flip_labels(np.repeat(y, draws), rate, rng, classes=[-1.0, 1.0]).reshape(len(y), draws)


def early_trials(trials: int) -> int:
    """How many of the trials the early-stopped hinge is run on.

    >>> early_trials(125), early_trials(8), early_trials(3)
    (31, 4, 3)
    """
    return min(trials, max(4, trials // EARLY_SHARE))


def _first(draws: list[int], Y: AnyArray, trials: int) -> tuple[list[int], AnyArray]:
    """The first few label vectors of each rate."""
    fewer = [min(drawn, trials) for drawn in draws]
    starts = np.cumsum([0, *draws[:-1]])
    return fewer, Y[:, np.concatenate([s + np.arange(k) for s, k in zip(starts, fewer, strict=True)])]


def _outcomes(
    split: Split, weights: AnyArray, fits: Fits | None, Y: AnyArray, thresholds: Sequence[str]
) -> dict[str, Outcome]:
    """Errors at each threshold; 1 - AUC and certificates, which have nothing to do with it."""
    train, scores = split.X_train @ weights, split.X_test @ weights
    area = to_numpy(1 - auc(scores, split.y_test))
    kept = (fits.certificate, fits.separable, fits.curvature) if fits else (np.empty(0),) * 3
    reached = [np.asarray(to_numpy(values), dtype=np.float64) for values in kept]
    return {
        name: Outcome(to_numpy(error_rates(scores, split.y_test, THRESHOLDS[name](train, Y))), area, *reached)
        for name in thresholds
    }
