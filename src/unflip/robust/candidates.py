"""All candidates: kernels with plain and with weighted columns at every ridge, and how they are averaged.

Where columns were weighed there are two kernels of a kind, one for each half of the rows, and every row is
judged by the weights that it did not teach.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from unflip._threads import workers
from unflip.border.arrays import Array
from unflip.features.landmarks import Landmarks
from unflip.robust.choose import ChosenModel, choose
from unflip.robust.everyone import Everyone
from unflip.robust.landmarks import RIDGES, LandmarkPath
from unflip.robust.relevance import LEARNING_ROWS, column_weights
from unflip.robust.rows import Rows
from unflip.robust.two_part import TwoPart
from unflip.robust.views import Views

FEWEST_ROWS_OF_HALF = 10  # rows of a half that can weigh columns


class CandidateGroup(NamedTuple):
    """Paths of the same candidates: of the plain kernel, or one for each half's weights of the columns."""

    name: str
    columns: list[Array]
    paths: list[LandmarkPath]

    @property
    def freedom(self) -> Array:
        """Degrees of freedom of each ridge, averaged over the kernels."""
        return np.asarray(np.mean([path.freedom for path in self.paths], axis=0))


@dataclass(frozen=True, eq=False)
class Candidates:
    """Groups of candidates, fitted to the same rows.

    judged: (j,), the rows that are left out; half: (n,), which half each row is in; two_valued: (d,), which
    columns have two values.
    """

    rows: Rows
    judged: Array
    half: Array
    two_valued: Array
    groups: list[CandidateGroup]

    @property
    def column_weights(self) -> Array | None:
        """Weights of the columns, (d,), if they were weighed."""
        weighed = [group for group in self.groups if group.name == "weighted"]
        return np.asarray(np.mean(weighed[0].columns, axis=0)) if weighed else None

    @property
    def mean(self) -> Array:
        """The mean target of all rows, (k,)."""
        return self.groups[0].paths[0].path.spectrum.mean

    @property
    def counts(self) -> Array:
        """The weight of each class in all rows, (K,)."""
        return self.groups[0].paths[0].moments.counts

    @cached_property
    def scores(self) -> Array:
        """Leave-one-out scores of each candidate about the mean target, (C, j, k)."""
        return np.concatenate(
            [self._own_half(group.paths[0].scores, group.paths[-1].scores) for group in self.groups]
        )

    @cached_property
    def freedom(self) -> Array:
        """Degrees of freedom of each candidate, (C,)."""
        return np.concatenate([group.freedom for group in self.groups])

    @cached_property
    def choice(self) -> ChosenModel:
        """Which candidates are trusted."""
        place = np.repeat([group.name == "weighted" for group in self.groups], len(RIDGES)).astype(int)
        targets, weight = self.rows.targets[self.judged], self.rows.weight[self.judged]
        return choose(self.scores, targets - self.mean, weight, self.freedom, place)

    @property
    def mixtures(self) -> list[Array]:
        """For each group, what each ridge contributes."""
        return np.split(self.choice.weights, len(self.groups))

    @cached_property
    def left(self) -> Array:
        """Leave-one-out scores of the average, (j, k)."""
        return np.tensordot(self.choice.weights, self.scores, axes=1)

    @property
    def complexity(self) -> float:
        """Degrees of freedom of the candidates that are trusted, on average."""
        return float(self.freedom[self.choice.kept].mean())

    @property
    def results(self) -> dict[str, Array]:
        """A column for each property of the candidates."""
        return {
            "kernel": np.repeat([group.name for group in self.groups], len(RIDGES)),
            "ridge": np.tile(RIDGES, len(self.groups)),
            "loo_squared_error": self.choice.errors,
            "slope": self.choice.slopes,
            "degrees_of_freedom": self.freedom,
            "kept": self.choice.kept,
            "weight": self.choice.weights,
        }

    def without_folds(self, folds: Array) -> Array:
        """Scores of the average, each by fits to all rows but a fold, (j, k)."""
        total = np.zeros((len(self.judged), self.rows.targets.shape[1]))
        for group, mixture in zip(self.groups, self.mixtures, strict=True):
            if mixture.any():
                parts = [path.without_folds(folds, mixture) for path in group.paths]
                total += self._own_half(parts[0], parts[-1])
        return total

    def in_use(self) -> list[CandidateGroup]:
        """Groups of which some candidate is trusted."""
        return [group for group, share in zip(self.groups, self.mixtures, strict=True) if share.any()]

    def again(self, landmarks: Array, groups: list[CandidateGroup]) -> Candidates:
        """The same kernels on other landmarks."""
        fit = partial(_path, self.rows, landmarks, self.judged, self.two_valued)
        columns = [column for group in groups for column in group.columns]
        # A path by itself shares its rows among the threads.
        with workers(None) if len(columns) > 1 else nullcontext(map) as spread:
            return self._with(groups, list(spread(fit, columns)))

    def over(self, everyone: Everyone, views: Views, X: Array, landmarks: Array) -> Candidates:
        """The same kernels on these landmarks, from the sums of all rows; X are those of the sample."""
        columns = [column for group in self.in_use() for column in group.columns]
        kernels = [Landmarks(TwoPart(landmarks, column, self.two_valued), landmarks) for column in columns]
        units = None if self.rows.groups is None else everyone.units(X[self.judged])
        sums = everyone.sums(views, kernels)
        paths = [
            LandmarkPath(kernel, self.rows, self.judged, moments, units)
            for kernel, moments in zip(kernels, sums, strict=True)
        ]
        return self._with(self.in_use(), paths)

    def _with(self, groups: list[CandidateGroup], paths: list[LandmarkPath]) -> Candidates:
        left = iter(paths)
        fitted = [group._replace(paths=[next(left) for _ in group.columns]) for group in groups]
        return Candidates(self.rows, self.judged, self.half, self.two_valued, fitted)

    def _own_half(self, first: Array, second: Array) -> Array:
        """For each row what the other half's weights say: `first` were learned by the first half."""
        return np.where((self.half[self.judged] == 0)[:, None], second, first)


def fit_candidates(
    rows: Rows,
    landmarks: Array,
    order: Array,
    half: Array,
    judged: Array,
    two_valued: Array,
    rng: np.random.Generator,
    weigh: bool,
) -> Candidates:
    """The plain kernel and, where they help, one for the column weights that each half learned.

    order: (n,), the rows in the order in which they are drawn; the first of them weigh columns.
    """
    fit, even = partial(_path, rows, landmarks, judged, two_valued), np.ones(landmarks.shape[1] // 2)
    done = partial(Candidates, rows, judged, half, two_valued)
    learning = order[:LEARNING_ROWS]
    apart = learning  # rows that leave apart from each other
    if rows.groups is not None:
        apart = learning[np.unique(rows.groups[learning], return_index=True)[1]]
    few = min(np.bincount(half[apart], minlength=2)) < FEWEST_ROWS_OF_HALF
    if not weigh or len(even) < 2 or few:
        return done([CandidateGroup("plain", [even], [fit(even)])])
    z = rows.at(learning)[:, : len(even)]
    with workers(None) as spread:
        plain = spread(fit, [even])  # which goes on while columns are weighed
        weights = column_weights(z, rows.some(learning), half[learning], rng, spread)
        weighted = list(spread(fit, weights or []))
        groups = [CandidateGroup("plain", [even], list(plain))]
    return done(groups if weights is None else [*groups, CandidateGroup("weighted", weights, weighted)])


def _path(rows: Rows, landmarks: Array, judged: Array, two_valued: Array, columns: Array) -> LandmarkPath:
    return LandmarkPath(Landmarks(TwoPart(landmarks, columns, two_valued), landmarks), rows, judged)
