"""Many noise draws on one split: six losses, all rates, 0-1 error and 1 - AUC on the clean test labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unflip.experiments.batch import (
    Whitened,
    auc,
    best_cuts,
    error_rates,
    fit_hinge,
    fit_smooth,
    fit_square,
    fit_unhinged,
)
from unflip.experiments.protocol import Protocol, Split
from unflip.losses import get

Array = np.ndarray[Any, Any]
RATES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.49)
LOSSES = ("hinge", "logistic", "square", "t_logistic", "tangent_boost", "unhinged")


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one loss did: error and 1 - AUC, one row a rate, one column a trial; the worst certificate.

    certificate: the duality gap per row (hinge), the norm of the gradient (smooth losses), or zero (closed
        forms), the largest over all trials.
    """

    error: Array
    one_less_auc: Array
    certificate: float


def run_trials(
    split: Split,
    protocol: Protocol,
    rng: np.random.Generator,
    trials: int = 125,
    losses: Sequence[str] = LOSSES,
    rates: Sequence[float] = RATES,
) -> dict[str, Outcome]:
    """All trials of one split. Without noise every trial is the same, so it is run once and repeated.

    >>> from unflip.experiments.datasets import load
    >>> from unflip.experiments.protocol import split_rows
    >>> rng = np.random.default_rng(0)
    >>> outcome = run_trials(split_rows(load("iris"), Protocol(), rng), Protocol(), rng, 5, ["unhinged"])
    >>> outcome["unhinged"].error.shape, float(outcome["unhinged"].error[0, 0])
    ((6, 5), 0.0)
    """
    draws = [1 if rate == 0 else trials for rate in rates]
    flips = [rng.random((len(split.y_train), k)) < rate for rate, k in zip(rates, draws, strict=True)]
    Y = np.where(np.hstack(flips), -split.y_train[:, None], split.y_train[:, None])
    white = Whitened.of(split.X_train)
    return {
        name: _measured(split, protocol, Y, *fit(name, white, split.X_train, Y), draws, trials)
        for name in losses
    }


def fit(name: str, white: Whitened, X: Array, Y: Array) -> tuple[Array, float]:
    """Weights for the columns of X, one column a label vector, and the worst certificate among them.

    >>> X, Y = np.array([[1.0], [2.0]]), np.array([[1], [1]])
    >>> fit("unhinged", Whitened.of(X), X, Y)[0].tolist()
    [[1.5]]
    """
    if name == "unhinged":
        return fit_unhinged(X, Y), 0.0
    if name == "square":
        return fit_square(white, Y), 0.0
    if name == "hinge":
        hinge = fit_hinge(white, Y)
        return white.T @ hinge.weights, float(hinge.gap.max())
    smooth = fit_smooth(get(name), white.Q, Y)
    return white.T @ smooth.weights, float(smooth.gradient_norm.max())


def _measured(
    split: Split, protocol: Protocol, Y: Array, W: Array, certificate: float, draws: list[int], trials: int
) -> Outcome:
    cuts = best_cuts(split.X_train @ W, Y) if protocol.tuned else np.zeros(W.shape[1])
    scores = split.X_test @ W
    error = error_rates(scores, split.y_test, cuts)
    one_less_auc = 1 - auc(scores, split.y_test)
    return Outcome(_by_rate(error, draws, trials), _by_rate(one_less_auc, draws, trials), certificate)


def _by_rate(values: Array, draws: list[int], trials: int) -> Array:
    parts = np.split(values, np.cumsum(draws)[:-1])
    return np.array([np.broadcast_to(part, trials) for part in parts])
