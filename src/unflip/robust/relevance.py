"""Weights of columns from the gradient of a robust fit, cross-fitted so that no row judges what it taught.

Noise only rescales the fit, hence its gradient, hence not the shares of columns in the gradient's energy;
so these weights are immune as the sample grows, though they do look at labels. Two guards keep them honest
on a sample. Each half of the rows weighs the columns for the other half. And the energy that the same
smoother finds in permuted labels is subtracted: where noise rules, all columns weigh the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from unflip.border.arrays import Array
from unflip.features.landmarks import Landmarks
from unflip.kernels import EuclideanLaplace, squared_distances
from unflip.robust.choose import choose
from unflip.robust.landmarks import LandmarkPath
from unflip.robust.rows import Rows

ROUNDS = 3
LANDMARKS_OF_HALF = 250  # of each half
LEARNING_ROWS = 8000  # at most, to learn weights from
PERMUTATIONS = 3


class Fit(NamedTuple):
    """What one half says: its error on the other half, and the weights it would use next."""

    missed: float
    weights: Array


def column_weights(
    z: Array, rows: Rows, half: Array, rng: np.random.Generator, spread: Any = map
) -> list[Array] | None:
    """Weights of the columns learned by each half of the rows, for the other; None if they do not help.

    z: (n, d), z-scores of the rows; half: (n,), 0 or 1; spread: a `map` that may use threads.
    """
    halves = [np.flatnonzero(half == h) for h in (0, 1)]
    weights = [np.ones(z.shape[1])] * 2
    best, least, at = weights, np.inf, 0
    for turn in range(ROUNDS):
        orders = [[rng.permutation(len(half)) for _ in range(PERMUTATIONS)] for half in halves]

        def fit(h: int, weights: list[Array] = weights, orders: Any = orders) -> Fit:
            return _fit_half(z, rows, halves[h], halves[1 - h], weights[h], orders[h])

        fits = list(spread(fit, (0, 1)))
        missed = sum(fit.missed for fit in fits)
        # In nats of a Gaussian likelihood, at least one for each round more.
        if turn and len(z) * (least - missed) <= (turn - at) * 2 * missed:
            break
        best, least, at = weights, missed, turn
        weights = [fit.weights for fit in fits]
    return None if at == 0 else best


def _fit_half(
    z: Array,
    everyone: Rows,
    mine: Array,
    others: Array,
    columns: Array,
    orders: list[Array],
) -> Fit:
    scaled = z * columns
    landmarks = scaled[mine[:LANDMARKS_OF_HALF]]
    distances = np.sqrt(squared_distances(landmarks, landmarks))
    pairs = distances[np.triu_indices(len(distances), 1)]
    kernel = EuclideanLaplace(float(np.median(pairs[pairs > 0])) if (pairs > 0).any() else 1.0)
    labels, weight = everyone.targets, everyone.weight
    rows = replace(everyone.some(mine), at=lambda places: scaled[mine[places]])
    path = LandmarkPath(Landmarks(kernel, landmarks), rows, np.arange(len(mine)))
    choice = choose(path.scores, rows.centred, rows.weight, path.freedom, np.zeros(len(path.freedom)))
    dual, offset = path.dual(choice.weights)
    fitted = rows.mean + kernel.score(scaled[others], landmarks, dual) - offset
    missed = float(weight[others] @ np.sum((labels[others] - fitted) ** 2, axis=1) / weight.sum())

    values = kernel.profile(distances)
    steps = np.divide(values, distances, out=np.zeros_like(values), where=distances > 0)
    energy = _energies(steps, landmarks, dual) * columns**2
    floor = np.zeros(z.shape[1])
    shuffled = np.hstack([rows.centred[order] for order in orders])
    for by_chance in np.split(path.smoothed(shuffled, choice.weights), PERMUTATIONS, axis=1):
        floor += _energies(steps, landmarks, by_chance)
    variance = rows.weight @ np.sum(rows.centred**2, axis=1) / rows.weight.sum()
    floor *= columns**2 / PERMUTATIONS * choice.errors[choice.best] / max(float(variance), 1e-300)
    power = floor.mean() + np.maximum(energy - floor, 0.0)
    return Fit(missed, np.sqrt(power / power.mean()) if power.mean() > 0 else columns)


def _energies(steps: Array, landmarks: Array, dual: Array) -> Array:
    """Mean squared slope of the fit at the landmarks along each column, up to a constant.

    The slope of sum_l a_l exp(-|x - x_l| / b) is -sum_l a_l exp(.) (x - x_l) / (b |x - x_l|).
    """
    energy = np.zeros(landmarks.shape[1])
    for a in dual.T:
        slopes = (steps @ a)[:, None] * landmarks - steps @ (a[:, None] * landmarks)
        energy += np.mean(slopes**2, axis=0)
    return energy
