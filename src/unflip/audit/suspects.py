"""Rows whose label is probably wrong, with the probability, the likely label, and rows that say so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from unflip.audit.certified import CertifiedRows, certain_classes
from unflip.audit.honest import Honest, annotator_curves, judged_labels
from unflip.border.arrays import Array
from unflip.noise.estimate import CONFIDENCE, NO_SIGNAL, NoiseEstimate
from unflip.noise.words import is_told
from unflip.robust.two_part import TwoPart
from unflip.robust.views import Views
from unflip.tables.tabular import Tabular

EXPLAINED_ROWS = 100  # rows that get neighbours
SCALE_ROWS = 400  # rows that scales of distances are taken from
HIGHEST_CHANCE = 1 - 1e-6  # no label is wrong for sure
NEIGHBOUR_ROWS = 20_000  # rows among which neighbours are looked for


class Suspect(NamedTuple):
    """One row: its number, its given and likely label, P(wrong), and near rows that have the likely one."""

    row: int
    given: Any
    likely: Any
    probability: float
    neighbours: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Suspects:
    """All rows, the most suspicious first.

    rows, given, likely, probability: (n,); neighbours: for the first rows, the numbers of the nearest rows
    whose given label is the likely one; noise: the estimate behind it; honest: the scores behind all.

    >>> X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]] * 9, [0, 0, 0, 1, 1, 1] * 9
    >>> y[-1] = 0
    >>> found = find_suspects(X, y)
    >>> found.rows[0].item(), found.given[0].item(), found.likely[0].item()
    (53, 0, 1)
    """

    rows: Array
    given: Array
    likely: Array
    probability: Array
    neighbours: tuple[tuple[int, ...], ...]
    noise: NoiseEstimate
    honest: Honest | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Suspect]:
        near = [*self.neighbours, *[()] * (len(self) - len(self.neighbours))]
        columns = [column.tolist() for column in (self.rows, self.given, self.likely, self.probability)]
        return (Suspect(*values) for values in zip(*columns, near, strict=True))

    def above(self, probability: float = 0.5) -> Suspects:
        """Those that are wrong with at least this probability.

        >>> found = find_suspects([[0.0], [1.0], [8.0], [9.0]] * 10, [0, 0, 1, 1] * 10)
        >>> len(found.above(0.99))
        0
        """
        count = int(np.count_nonzero(self.probability >= probability))
        few = {name: getattr(self, name)[:count] for name in ("rows", "given", "likely", "probability")}
        return replace(self, **few, neighbours=self.neighbours[:count], honest=None)

    def certified(self, max_rate: float, level: float = 0.95) -> CertifiedRows:
        """Rows whose likely clean class is certain, if at no row a label is wrong with more than `max_rate`.

        It also assumes that the score orders rows by how likely a class is. Other rows stay open.

        Parameters
        ----------
        max_rate : float
            Of wrong labels at every single row, below one half.
        level : float, default=0.95
            Of all statements together.

        Returns
        -------
        CertifiedRows
            `rows`, their `classes`, and whether the given label is `right`.

        Examples
        --------
        >>> scores, y = np.linspace(-1, 1, 2000), np.arange(2000) >= 1000
        >>> y[300] = True
        >>> found = find_suspects(None, y, scores=scores).certified(max_rate=0.2)
        >>> found.rows[~found.right].tolist()
        [300]
        """
        if self.honest is None:
            raise ValueError("these suspects are a part of those that were judged; certify all of them")
        honest = self.honest
        found = certain_classes(honest.scores, honest.member, max_rate, level)
        sure = np.flatnonzero(found >= 0)
        given = honest.member[sure].argmax(axis=1)
        return CertifiedRows(honest.rows[sure], honest.classes[found[sure]], found[sure] == given)

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each suspect (extra `io`)."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError('a data frame needs pandas: pip install "unflip[io]"') from None
        return pd.DataFrame(list(self), columns=list(Suspect._fields)).set_index("row")

    def __repr__(self) -> str:
        if NO_SIGNAL in self.noise.warnings:
            return f"Suspects({len(self)} rows, none judged: {NO_SIGNAL})"
        if not is_told(self.noise):
            return f"Suspects({len(self)} rows in order; how many of them are wrong is not known)"
        likely = np.count_nonzero(self.probability >= 0.5)
        return (
            f"Suspects({len(self)} rows, {likely} more likely wrong than right, noise={self.noise.rate:.3f})"
        )


def find_suspects(
    X: Any,
    y: Any,
    *,
    scores: Any = None,
    groups: Any = None,
    trusted: Any = None,
    annotator: Any = None,
    noise: str = "auto",
    sample_weight: Any = None,
    n_neighbours: int = 3,
    random_state: Any = 0,
    level: float = CONFIDENCE,
) -> Suspects:
    """Rank rows by the probability that their label is wrong, from labels that are all suspect.

    Each row is scored by a robust fit to the other rows, and the share of labels that disagree with the
    score, compared with how certain the score is, gives the probability. It assumes what `estimate_noise`
    assumes. Where the columns predict labels no better than guessing there is no probability (NaN).

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or data frame
        The rows; may be None where `scores` are given.
    y : array-like of shape (n_samples,)
        Their labels, of any type; or (n_samples, n_classes), probabilities.
    scores : array-like of shape (n_samples,) or (n_samples, n_classes), optional
        Of your own model, which must not have seen the label of the row it scores; in place of our own.
    groups : array-like of shape (n_samples,), optional
        Rows that belong together and are left out together.
    trusted : array-like, optional
        Rows known to be right, as a mask or as numbers; they are never suspects.
    annotator : array-like of shape (n_samples,), optional
        Who gave each label; a label is as doubtful as the one who gave it.
    noise : {"auto", "symmetric", "class_conditional"}, default="auto"
        One rate for all classes, or one for each. "auto" takes one for all unless the labels contradict it.
    sample_weight : array-like of shape (n_samples,), optional
        How many rows each row stands for.
    n_neighbours : int, default=3
        How many near rows with the likely label to name, for the 100 most suspicious rows.
    random_state : int, default=0
        Seeds the landmarks of the fit.
    level : float, default=0.9
        Of the interval of the rate in `noise`.

    Returns
    -------
    Suspects
        All rows, the most suspicious first.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from unflip.noise import flip_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> noisy = flip_labels(y, 0.1, rng=0)
    >>> worst = find_suspects(X, noisy).rows[:40]
    >>> bool(np.mean(noisy[worst] != y[worst]) > 0.9)
    True
    """
    if not isinstance(n_neighbours, Integral) or n_neighbours < 0:
        raise ValueError(f"n_neighbours is a whole number from 0 on, got {n_neighbours!r}")
    honest, judgement, known = judged_labels(
        X, y, scores, groups, trusted, noise, sample_weight, random_state, level
    )
    estimate = judgement.estimate
    probability, likely = judgement.rows()
    if annotator is not None:
        curves = annotator_curves(honest, judgement.curve, judgement.rates, known, annotator)
        for mine, theirs in curves.values():
            probability[mine] = judgement.rows(theirs)[0][mine]
    probability = np.where(known, 0.0, probability)
    order = np.argsort(-probability, kind="stable")
    if NO_SIGNAL in estimate.warnings:
        probability = np.full(len(order), np.nan)
    given = honest.member.argmax(axis=1)
    near: tuple[tuple[int, ...], ...] = ()
    if X is not None and n_neighbours:
        near = _neighbours(X, honest.rows, given, likely, order[:EXPLAINED_ROWS], n_neighbours)
    return Suspects(
        honest.rows[order],
        honest.classes[given[order]],
        honest.classes[likely[order]],
        np.clip(probability[order], 0.0, HIGHEST_CHANCE),
        near,
        estimate,
        honest,
    )


def _numbers(X: Any, places: Array) -> Array:
    """Some rows as numbers; a table that is numbers already is read no second time."""
    if isinstance(X, np.ndarray) and X.dtype == np.float64 and np.isfinite(X[places]).all():
        return X[places]
    plain = isinstance(X, np.ndarray)
    table = Tabular().fit(X).transform(X[places] if plain else X)
    return table if plain else table[places]


def _neighbours(
    X: Any, rows: Array, given: Array, likely: Array, first: Array, count: int
) -> tuple[tuple[int, ...], ...]:
    """The numbers of the nearest rows whose given label is the likely one of each of the first rows."""
    rng = np.random.default_rng(0)
    among = np.unique(np.concatenate([first, rng.permutation(len(rows))[:NEIGHBOUR_ROWS]]))
    table = _numbers(X, rows[among])
    views = Views().fit(table, rng)
    seen = views.transform(table)
    landmarks = seen[rng.permutation(len(seen))[:SCALE_ROWS]]
    kernel = TwoPart(landmarks, np.ones(table.shape[1]), views.two_valued)
    values = kernel(seen[np.searchsorted(among, first)], seen)
    found = []
    for place, row in enumerate(first):
        agree = np.flatnonzero((given[among] == likely[row]) & (among != row))
        nearest = agree[np.argsort(-values[place, agree], kind="stable")[:count]]
        found.append(tuple(rows[among[nearest]].tolist()))
    return tuple(found)
