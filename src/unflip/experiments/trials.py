"""Many noise draws on one split: error and 1 - AUC of each learner at all rates, on clean test labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import (
    array_namespace,
    is_cupy_array,
    is_numpy_array,
    is_torch_array,
    to_device,
)

from unflip.experiments.batch import Whitened, auc, best_cuts, error_rates, fit, grid_cuts
from unflip.experiments.early_stopped import fit_liblinear
from unflip.experiments.protocol import Protocol
from unflip.experiments.splits import Split

Array = Any
RATES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.49)
LOSSES = ("hinge", "logistic", "square", "t_logistic", "tangent_boost", "unhinged")
EARLY = "hinge, liblinear"
EARLY_SHARE = 4  # it is slow, and a fourth of the trials tells it from the exact hinge
LEARNERS = (*LOSSES, EARLY)
THRESHOLDS: dict[str, Callable[[Array, Array], Array]] = {
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

    error: Array
    one_less_auc: Array
    certificate: Array
    separable: Array
    curvature: Array


def run_trials(
    split: Split,
    protocol: Protocol,
    rng: np.random.Generator,
    trials: int = 125,
    learners: Sequence[str] = LEARNERS,
    rates: Sequence[float] = RATES,
) -> dict[str, Outcome]:
    """All trials of one split. Without noise every trial is the same, so it is run once and repeated.

    The arrays of the split may live on another device; the flips are drawn here, the rest is done there.

    >>> from unflip.experiments.protocol import protocol
    >>> from unflip.experiments.splits import draw_split
    >>> rng = np.random.default_rng(0)
    >>> split = draw_split("iris", protocol("iris"), rng)
    >>> outcome = run_trials(split, protocol("iris"), rng, 5, ["unhinged"])["unhinged"]
    >>> outcome.error.shape, float(outcome.error[0, 0])
    ((6, 5), 0.0)
    """
    xp = array_namespace(split.X_train)
    draws = [1 if rate == 0 else trials for rate in rates]
    n = split.y_train.shape[0]
    flips = [rng.random((n, k)) < rate for rate, k in zip(rates, draws, strict=True)]
    seed = int(rng.integers(2**31))
    kept = xp.asarray(np.where(np.hstack(flips), -1.0, 1.0), device=split.y_train.device)
    Y = kept * split.y_train[:, None]
    white = Whitened.of(split.X_train)
    return {name: _outcome(name, split, protocol, white, Y, draws, trials, seed) for name in learners}


def _outcome(
    name: str,
    split: Split,
    protocol: Protocol,
    white: Whitened,
    Y: Array,
    draws: list[int],
    trials: int,
    seed: int,
) -> Outcome:
    if name == EARLY:
        trials = min(trials, max(4, trials // EARLY_SHARE))
        starts = np.cumsum([0, *draws])
        fewer = [
            start + k for start, drawn in zip(starts, draws, strict=False) for k in range(min(drawn, trials))
        ]
        Y, draws = Y[:, fewer], [min(drawn, trials) for drawn in draws]
        weights, reached = fit_liblinear(split.X_train, Y, seed), (np.empty(0),) * 3
    else:
        weights, fits = fit(name, split.X_train, white, Y)
        reached = on_host(fits.certificate), on_host(fits.separable), on_host(fits.curvature)
    cuts = THRESHOLDS[protocol.threshold](split.X_train @ weights, Y)
    scores = split.X_test @ weights
    error, area = error_rates(scores, split.y_test, cuts), auc(scores, split.y_test)
    by_rate = (_by_rate(on_host(values), draws, trials) for values in (error, 1 - area))
    return Outcome(*by_rate, *(np.asarray(values, dtype=np.float64) for values in reached))


def _by_rate(values: Array, draws: list[int], trials: int) -> Array:
    parts = np.split(values, np.cumsum(draws)[:-1])
    return np.array([np.broadcast_to(part, trials) for part in parts])


def on_host(values: Array) -> Array:
    """A NumPy array of values that may live on another device.

    >>> on_host(np.ones(2)).tolist()
    [1.0, 1.0]
    """
    if is_numpy_array(values):
        return values
    if is_torch_array(values) or is_cupy_array(values):
        values = to_device(values, "cpu")
    return np.from_dlpack(values)
