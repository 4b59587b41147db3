"""One robust fit to rows of numbers: landmarks, candidates, choice, and honest scores of the rows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from unflip.border.arrays import Array
from unflip.border.classes import as_scores, chosen
from unflip.border.labels import Labels
from unflip.features.landmarks import Landmarks
from unflip.noise.models import Noise
from unflip.robust.candidates import Candidates, fit_candidates
from unflip.robust.copies import copies, distinct
from unflip.robust.ensemble import Intercept, Part, RidgeEnsemble, mean_target, middle_target
from unflip.robust.everyone import Everyone, ViewedLandmarks
from unflip.robust.folds import folds_of, in_one_order, in_steps
from unflip.robust.relevance import LEARNING_ROWS
from unflip.robust.rows import Rows
from unflip.robust.views import Views

LANDMARKS = 400
MORE, EACH = 800, 600  # landmarks for a closer look: with one kernel, and for each of several
FULL = 0.4  # of the landmarks in use as degrees of freedom: then more of them are worth their time
VIEWS_KEPT = 50_000  # rows
CROWD = 50  # equal rows share one honest score: leave-one-out would order them against their own labels
SIMPLE = 50  # rows a degree of freedom beyond which folds are left out, not single rows
KAPPAS = (0.75, 0.5, 0.25, 0.0)


@dataclass(frozen=True, eq=False)
class RobustFit:
    """What came of a fit, and what scores of rows tell that never saw their own label.

    left: (j, k), leave-one-out scores about the mean target of the rows that were judged, in their order;
    honest: (j,) or (j, K), scores that rank rows without a trace of their labels; judged: (j,), which rows;
    masses: (j, K), the weight of each of them in each class; rows: how many were fitted; results, best: of
    the candidates; column_weights: (d,), or None.
    """

    ensemble: RidgeEnsemble
    left: Array
    honest: Array
    judged: Array
    masses: Array
    rows: int
    results: dict[str, Array]
    best: int
    column_weights: Array | None

    @cached_property
    def scores(self) -> Array:
        """What the ensemble would say of each judged row had it not been fitted: (j,) or (j, K)."""
        return as_scores(self.ensemble.about(self.left))

    @property
    def likely(self) -> Array:
        """The class that it would say, (j,)."""
        return chosen(self.ensemble.about(self.left))

    @property
    def noisy_error(self) -> float:
        """The weighted share of labels that differ from it."""
        return _error(self.likely, self.masses)

    def with_noise(self, noise: Noise | None) -> RobustFit:
        """The same fit, corrected for this noise."""
        return replace(self, ensemble=self.ensemble.with_noise(noise))


def fit_rows(
    X: Array,
    labels: Labels,
    weight: Array,
    together: Array | None,
    most_judged: int,
    weigh_columns: bool,
    rng: np.random.Generator,
    everyone: Everyone | None = None,
) -> RobustFit:
    """Fit rows of finite numbers, all of positive weight.

    together: (n,), numbers of groups that leave together; equal rows do if there are none. most_judged: of
    how many rows at most the scores are computed.
    """
    n = len(X)
    if together is None:
        together = copies(X)
    views = Views().fit(X, rng)
    kept = views.transform(X) if n <= VIEWS_KEPT else None

    def viewed(places: Any) -> Array:
        return views.transform(X[places]) if kept is None else kept[places]

    order = rng.permutation(n)
    judged = some_units(order, together, most_judged)
    rows = Rows(viewed, labels, weight, together)
    half = halves(order, together)
    landmarks = distinct(viewed(order[: min(n, LANDMARKS)]))

    found = fit_candidates(rows, landmarks, order, half, judged, views.two_valued, rng, weigh_columns)
    column_weights = found.column_weights
    more = n > LANDMARKS and found.complexity > FULL * len(landmarks)
    if more:
        groups = found.in_use()
        alone = len(groups) == len(groups[0].paths) == 1
        landmarks = distinct(viewed(order[: min(n, MORE if alone else EACH)]))
    if everyone is not None:
        found = found.over(everyone, views, X, landmarks)
    elif more:
        found = found.again(landmarks, groups)
    masses = rows.weight[judged, None] * labels[judged].membership
    ensemble = _ensemble(views, found, masses, column_weights is None)
    return RobustFit(
        ensemble=ensemble,
        left=in_steps(found.left),
        honest=_shared_by_equal_rows(_honest(found, rng), X[judged]),
        judged=judged,
        masses=masses,
        rows=n,
        results=found.results,
        best=found.choice.best,
        column_weights=column_weights,
    )


def _ensemble(views: Views, found: Candidates, masses: Array, label_free: bool) -> RidgeEnsemble:
    """The candidates that are trusted, averaged, and the constant that the judged rows ask for."""
    parts, sums, mixture = [], None, None
    for group, weights in zip(found.groups, found.mixtures, strict=True):
        for path in group.paths if weights.any() else []:
            mixture = weights / len(group.paths)
            parts.append(Part.of(path.features, path.path, mixture))
            sums = path.moments
    if label_free:
        (part,) = parts
        key = ViewedLandmarks(views, Landmarks(part.kernel, part.landmarks)).key
        assert sums is not None
        sums = replace(sums, key=key)
    else:
        sums = mixture = None
    counts = found.counts
    constant = _intercept(found.left, masses, counts)
    return RidgeEnsemble(
        views, tuple(parts), constant.of(counts), mean_target(counts), mixture, constant, sums
    )


def _intercept(left: Array, masses: Array, counts: Array) -> Intercept:
    """How much of the mean target to keep, by leave-one-out."""
    mean, middle = mean_target(counts), middle_target(len(counts))
    plain = _error(chosen(mean + left), masses)
    others = [_error(chosen(middle + kappa * (mean - middle) + left), masses) for kappa in KAPPAS]
    chance = np.sqrt(max(plain * (1 - plain), 1e-12) / masses.sum())
    return Intercept(KAPPAS[int(np.argmin(others))] if min(others) <= plain - chance / 2 else 1.0)


def _honest(found: Candidates, rng: np.random.Generator) -> Array:
    """Scores that never saw the label of their own row: by leaving out the row, or its fold."""
    away, rows = found.left, found.rows
    units = np.arange(len(rows.weight)) if rows.groups is None else rows.groups
    if SIMPLE * found.complexity < units.max() + 1:
        # So simple a fit gives near rows one score, and leaving one out ranks it against its own label.
        folds = folds_of(units, rng)[found.judged]
        away = in_one_order(found.without_folds(folds), folds)
    return as_scores(in_steps(found.mean + away))


def _error(likely: Array, masses: Array) -> float:
    right = np.take_along_axis(masses, likely[:, None], axis=1).sum()
    return 1 - float(right / masses.sum())


def halves(order: Array, together: Array | None) -> Array:
    """Which half each row is in: those that weigh columns are cut in the middle of their order.

    together: (n,), numbers of groups; a group is in the half of its first row.
    """
    n, learning = len(order), order[:LEARNING_ROWS]
    half = np.empty(n, dtype=np.intp)
    half[learning] = np.arange(len(learning)) >= (len(learning) + 1) // 2
    half[order[LEARNING_ROWS:]] = np.arange(n - len(learning)) % 2
    if together is None:
        return half
    first, codes = np.unique(together[order], return_index=True, return_inverse=True)[1:]
    half[order] = half[order[first]][codes]
    return half


def some_units(order: Array, together: Array | None, most: int) -> Array:
    """At most so many rows, the first of their order, whole groups or nothing of them."""
    if len(order) <= most or together is None:
        return np.sort(order[:most])
    _, first, codes, sizes = np.unique(
        together[order], return_index=True, return_inverse=True, return_counts=True
    )
    turn = np.argsort(first)
    turn = turn[sizes[turn] <= most]
    taken = turn[np.cumsum(sizes[turn]) <= most]
    return np.sort(order[np.isin(codes, taken)])


def _shared_by_equal_rows(scores: Array, X: Array) -> Array:
    """The scores, with one for all rows that are equal and many."""
    places = defaultdict(list)
    for place, row in enumerate(np.ascontiguousarray(X)):
        places[row.tobytes()].append(place)
    shared = scores.copy()
    for equal in places.values():
        if len(equal) >= CROWD:
            shared[equal] = scores[equal].mean(axis=0)
    return shared
