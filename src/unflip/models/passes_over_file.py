"""Sums of a large file of numbers, in a fixed number of passes and constant memory.

One pass finds what the table map and the scale must know of each column, six find the medians that stand for
gaps of later rows, and one sums. The model is that of the whole file in memory. Files with text or dates
among their features, or without a label in some row, are refused, with the reason.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from unflip._extras import extra
from unflip.border.arrays import Array
from unflip.features import Standardize
from unflip.models.column_facts import ColumnFacts, Medians
from unflip.models.sums import DEGREES, Sums
from unflip.models.table_model import TableModel
from unflip.moments import Moments
from unflip.passes.one_pass import SumsOfRows
from unflip.passes.walk import fold
from unflip.sources import Batch, Labels, csv, parquet
from unflip.sources.arrow_columns import WithGaps
from unflip.tables import Habits
from unflip.tables.column_kinds import FEWEST, IDENTIFIER, NUMBERED, Column, LeftOut, Numbers
from unflip.tables.labels import class_against_others, refuse_doubtful_labels, refuse_odd_targets
from unflip.tables.tabular import NEVER_VARIES, Tabular
from unflip.tables.text import head_of_csv

SMALLEST_SPREAD = 1e-150  # a spread whose square is a float
PARQUET, TEXT = (".parquet", ".pq"), (".csv", ".tsv")


def fit_in_passes(
    path: str | os.PathLike[str],
    target: str,
    learner: str = "square",
    weight: str | None = None,
    positive: str | None = None,
    drop: Collection[str] = (),
    delimiter: str | None = None,
    as_labels: Callable[[list[Any]], list[Any]] = list,
) -> TableModel:
    """What `TableModel.fit` makes of the file, without having it in memory; `ValueError` where it cannot.

    as_labels: what the labels that are written mean.
    """
    source = _opened(Path(path), target, weight, drop, delimiter)
    names = list(source.choice.features)
    facts: ColumnFacts = fold(source, _facts)
    written = [label.strip() if isinstance(label, str) else label for label in facts.labels]
    meant = dict(zip(facts.labels, as_labels(written), strict=True))
    refuse_doubtful_labels(_counts(facts, meant), target, positive)
    against = class_against_others(sorted(set(meant.values())), target, positive)
    if against is not None:
        meant = {label: against if str(m) == against else f"not {against}" for label, m in meant.items()}
    refuse_odd_targets(_counts(facts, meant), target)
    medians = Medians(facts.known)
    while medians.left:
        medians.learn(fold(source, lambda batch: medians.counts(_rows(batch))))
    table, scale = _maps(names, facts, medians.values)
    sums = SumsOfRows(scale, DEGREES[learner], "fast")

    def moments_of(batch: Batch) -> Moments:
        mapped = replace(batch, X=table.block(_rows(batch)), labels=_meant(batch.labels, meant), names=None)
        return sums.of_batch(mapped)

    moments = fold(source, moments_of)
    if not moments.counts.any():
        raise ValueError("the weight is zero in every row; at least one weight must be positive")
    history = (f"fitted {path}: {facts.rows} rows",)
    return TableModel(target, table, Sums(learner, scale, moments), weight, against, history, Habits())


def _opened(path: Path, target: str, weight: str | None, drop: Collection[str], delimiter: str | None) -> Any:
    """A source of the file, whose features may have gaps."""
    aside = {target, weight, *drop}
    if path.suffix.lower() in PARQUET:
        columns = extra("pyarrow.parquet", "io").read_schema(path).names
        source: Any = parquet(path, target, [name for name in columns if name not in aside], weight)
    elif path.suffix.lower() in TEXT:
        columns, mark = head_of_csv(path, delimiter, {target})
        source = csv(path, target, [name for name in columns if name not in aside], weight, mark)
        # Labels are what is written: 007 is another class than 7.
        source = replace(source, types=source.types | {target: extra("pyarrow", "io").string()})
    else:
        raise ValueError(f"files that end in {', '.join((*PARQUET, *TEXT))} are read in passes")
    choice = source.choice
    return replace(source, choice=WithGaps(choice.features, choice.target, choice.weight))


def _rows(batch: Batch) -> Any:
    return np.asarray(batch.X, dtype=np.float64)


def _facts(batch: Batch) -> ColumnFacts:
    if batch.labels.codes is None:
        raise ValueError("labels are probabilities")
    found = np.bincount(batch.labels.codes, minlength=len(batch.labels.classes)).tolist()
    counts = Counter(dict(zip(map(_whole, batch.labels.classes.tolist()), found, strict=True)))
    return ColumnFacts.of(_rows(batch), counts)


def _counts(facts: ColumnFacts, meant: dict[Any, Any]) -> Counter[Any]:
    """How many rows have each label, as it is meant."""
    counts: Counter[Any] = Counter()
    for label, n in facts.labels.items():
        counts[meant[label]] += n
    return counts


def _whole(label: Any) -> Any:
    """Whole numbers that are stored as floats are whole numbers."""
    return int(label) if isinstance(label, float) and label.is_integer() else label


def _meant(labels: Labels, meant: dict[Any, Any]) -> Labels:
    """The same labels as they are meant."""
    found = [meant[_whole(label)] for label in labels.classes.tolist()]
    classes = sorted(set(found))
    places = np.array([classes.index(label) for label in found], np.intp)
    kept = np.array(classes, dtype=object if isinstance(classes[0], str) else None)
    return Labels(kept, places[labels.codes])


def _maps(names: list[str], facts: ColumnFacts, medians: Array) -> tuple[Tabular, Standardize]:
    """The map of these columns, as `Tabular.of_files` would have it, and the scale of its numbers."""
    n, columns, left_out = facts.rows, list[Column](), dict[str, str]()
    kept: list[int] = []
    scales: list[tuple[float, float]] = []  # means and squares about them, of what is kept
    start = 0
    for j, name in enumerate(names):
        column = _column(j, name, facts, float(medians[j]))
        columns.append(column)
        known, gaps = int(facts.known[j]), n - int(facts.known[j])
        varies = []
        if isinstance(column, Numbers) and facts.low[j] < facts.high[j]:
            apart = column.fill - facts.mean[j]  # gaps are so many numbers more, all at the median
            varies.append(
                (0, facts.mean[j] + apart * gaps / n, facts.squares[j] + apart**2 * known * gaps / n)
            )
        if isinstance(column, Numbers) and gaps:
            varies.append((1, gaps / n, known * gaps / n))
        if not varies:
            left_out[name] = column.reason if isinstance(column, LeftOut) else NEVER_VARIES
        kept += [start + place for place, _, _ in varies]
        scales += [(mean, squares) for _, mean, squares in varies]
        start += column.width
    if not kept:
        raise ValueError("no column varies: there is nothing to learn from")
    table, scale = Tabular.of_files(), Standardize()
    table.feature_names_in_, table.n_features_in_ = np.asarray(names, dtype=object), len(names)
    table.columns_, table.left_out_, table.kept_ = columns, left_out, np.asarray(kept, dtype=np.intp)
    scale.n_features_in_, scale.mean_ = table.width, np.array([mean for mean, _ in scales])
    scale.scale_ = np.sqrt([squares / n for _, squares in scales])
    if not (scale.scale_ > SMALLEST_SPREAD).all():
        raise ValueError("some numbers are too small to be squared")
    return table, scale


def _column(j: int, name: str, facts: ColumnFacts, median: float) -> Column:
    known = facts.known[j]
    if not known:
        return LeftOut("it has no values")
    if known >= FEWEST and facts.numbers_rows(j):
        return LeftOut(NUMBERED)
    if known >= FEWEST and facts.whole[j] and facts.low[j] < facts.high[j] and IDENTIFIER.search(name):
        raise ValueError(f"the column {name!r} may number the rows, which takes all of it to tell")
    return Numbers(median, marks=bool(known < facts.rows))
