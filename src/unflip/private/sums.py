"""Private sums: exact sums of clipped rows, in whole numbers, with discrete Gaussian noise.

One row moves one count and one sum. With counts in units of c and sums in steps, c and the bound M being
whole numbers, a row moves them by at most sqrt(c^2 + M^2): the sensitivity, in closed form. OpenDP draws the
noise and says what it is worth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from unflip.border.arrays import Array
from unflip.features import as_feature_map
from unflip.moments.moments import Moments
from unflip.moments.privacy import Budget, epsilon_of_gaussian, gaussian
from unflip.passes.one_batch import batch_moments
from unflip.private.clip import Clipped
from unflip.private.parameters import as_classes, as_epsilon, as_number
from unflip.sources import Batch, batches
from unflip.sources.source import Elsewhere

WHOLE_LIMIT = 2**62  # beyond which whole numbers of 64 bits could overflow with their noise


def private_moments(
    source: Any, epsilon: float, delta: float, bound: float, features: Any = None, classes: Any = None
) -> Moments:
    """The moments of a source, or of a plain (X, y), such that no single row can be told from them.

    They are (epsilon, delta)-differentially private for one row that is added or removed: whatever is made of
    them, a classifier for example, is so too. `privacy` of the result says what was spent, also in its file.

    bound: rows with a longer feature vector are scaled down to this norm. features: a map that is fixed in
    advance, or was fitted to other rows; the same goes for the bound. classes: all labels there may be; if
    not given, those that occur, which then are public. Weights and soft labels are refused.

    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 20_000)
    >>> found = private_moments((y[:, None] + rng.normal(size=(20_000, 1)), y), 1.0, 1e-6, bound=3.0)
    >>> found.privacy.epsilon <= 1.0, bool(abs(found.label_mean[0] - 0.5) < 0.05)
    (True, True)
    """
    epsilon = as_epsilon(epsilon, most=100)
    delta = as_number(delta, 1e-100, 0.1, "delta is a number between 1e-100 and 0.1, far below 1 / rows")
    bound = as_number(bound, 1e-100, 1e100, "the bound on rows is a number between 1e-100 and 1e100")
    known = None if classes is None else tuple(as_classes(classes).tolist())
    if isinstance(source, Elsewhere):
        raise ValueError("private sums are of rows that are read here, not in a database or a cluster")
    exact, clipped, names = _exact_sums(source, features, bound)
    if known is not None:
        exact = exact.with_classes(known)
    per_row = max(1, clipped.largest // 2)  # half the bound: counts are known well enough sooner than sums
    vector, shape = _as_integers(exact, clipped.step, per_row)
    sensitivity = math.nextafter(math.hypot(per_row, clipped.largest), math.inf)
    scale = smallest_scale(epsilon, delta, sensitivity)
    noisy = np.array(gaussian(scale)(vector.tolist()), dtype=np.float64).reshape(shape)
    rho = float(gaussian(scale).map(sensitivity))
    budget = replace(
        Budget.of(rho, delta, clipped.bound), epsilon=epsilon_of_gaussian(scale, sensitivity, delta)
    )
    counts = np.maximum(noisy[:, -1] / per_row, 1.0)  # whatever is computed from here on costs nothing
    sums = _within(noisy[:, :-1] * clipped.step, counts * clipped.bound)
    squares = float(counts.sum()) * clipped.bound**2
    return Moments(exact.classes, counts, sums, None, exact.key, squares, names=names, privacy=budget)


def smallest_scale(epsilon: float, delta: float, sensitivity: float) -> float:
    """The least noise that OpenDP finds private enough, to three digits.

    >>> scale = smallest_scale(1.0, 1e-6, 100.0)
    >>> epsilon_of_gaussian(scale, 100.0, 1e-6) <= 1.0 < epsilon_of_gaussian(scale / 1.002, 100.0, 1e-6)
    True
    """
    # The bound of the textbooks, epsilon = rho + 2 sqrt(rho ln(1 / delta)), is somewhat too careful.
    root = math.sqrt(math.log(1 / delta))
    rho = (epsilon / (math.sqrt(root**2 + epsilon) + root)) ** 2
    enough = 1.01 * sensitivity / math.sqrt(2 * rho)
    while epsilon_of_gaussian(enough, sensitivity, delta) > epsilon:
        enough *= 2
    too_little = enough / 2
    while epsilon_of_gaussian(too_little, sensitivity, delta) <= epsilon:
        enough, too_little = too_little, too_little / 2
    while enough / too_little > 1.001:
        middle = math.sqrt(enough * too_little)
        if epsilon_of_gaussian(middle, sensitivity, delta) <= epsilon:
            enough = middle
        else:
            too_little = middle
    return enough


def _exact_sums(source: Any, features: Any, bound: float) -> tuple[Moments, Clipped, tuple[str, ...] | None]:
    total = clipped = names = None
    for batch in _plain_batches(batches(source)):
        clipped = Clipped(as_feature_map(features, batch.X.shape[1], batch.names), bound)
        names = batch.names if features is None else None
        found = batch_moments(batch, clipped, summation="exact")
        total = found if total is None else total + found
    if total is None or clipped is None:
        raise ValueError("the source has no rows")
    return total, clipped, names


def _plain_batches(given: Iterable[Batch]) -> Iterator[Batch]:
    """Batches in which every row counts once, for one class."""
    for batch in given:
        if not batch.labels.hard:
            raise ValueError("private sums are of labels that are classes, not probabilities")
        if (np.asarray(batch.weight) != 1).any():
            raise ValueError("private sums are of rows that count once each; leave the weights out")
        yield batch


def _as_integers(exact: Moments, step: float, per_row: int) -> tuple[Array, tuple[int, int]]:
    """Sums in steps and counts in units, (K (d + 1),), and their shape as a table."""
    if exact.exact is None:  # no rows
        return np.zeros(exact.sums.size + len(exact.classes), dtype=np.int64), (
            len(exact.classes),
            exact.sums.shape[1] + 1,
        )
    windows = exact.exact
    whole = windows.integers()[:, :-1].copy()  # without the sums of squares
    shift = round(math.log2(step)) - windows.exponent
    whole[:, :-1] = whole[:, :-1] >> shift if shift >= 0 else whole[:, :-1] << -shift
    whole[:, -1] = (
        whole[:, -1] << windows.exponent if windows.exponent >= 0 else whole[:, -1] >> -windows.exponent
    ) * per_row
    if max(abs(number) for number in whole.ravel()) > WHOLE_LIMIT:
        raise ValueError("there are too many rows for whole numbers of 64 bits; release parts of them")
    return whole.astype(np.int64).ravel(), whole.shape


def _within(sums: Array, radius: Array) -> Array:
    """No sum is longer than its rows allow; noise that says otherwise is cut back."""
    norms = np.sqrt(np.square(sums).sum(axis=1))
    return sums * np.minimum(1.0, radius / np.where(norms > 0, norms, 1.0))[:, None]
