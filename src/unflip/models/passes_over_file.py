"""Sums of a large file of numbers, in a fixed number of passes and constant memory.

One pass finds what the table map and the scale must know of each column, six find the medians that stand for
gaps of later rows, and one sums. The model is that of the whole file in memory. Files with text, dates or
gaps in their features are refused, with the reason.
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
from unflip.features import Standardize
from unflip.models.column_facts import ColumnFacts, Medians
from unflip.models.sums import DEGREES, Sums
from unflip.models.table_model import TableModel
from unflip.passes.one_pass import Sums as SumsOfRows
from unflip.passes.walk import fold
from unflip.sources import Batch, Labels, csv, parquet
from unflip.tables import Habits
from unflip.tables.column_kinds import FEWEST, IDENTIFIER, NUMBERED, Column, LeftOut, Numbers
from unflip.tables.labels import class_against_others, refuse_doubtful_labels, refuse_odd_targets
from unflip.tables.tabular import NEVER_VARIES, Tabular
from unflip.tables.text import head_of_csv

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
    opened = _opener(Path(path), target, weight, delimiter)
    source = opened(None)
    names = [name for name in source.choice.features if name not in drop]
    source = opened(names)
    facts: ColumnFacts = fold(source, _facts)
    written = [label.strip() if isinstance(label, str) else label for label in facts.labels]
    meant = dict(zip(facts.labels, as_labels(written), strict=True))
    refuse_doubtful_labels(_counts(facts, meant), target, positive)
    against = class_against_others(sorted(set(meant.values())), target, positive)
    if against is not None:
        meant = {label: against if str(m) == against else f"not {against}" for label, m in meant.items()}
    refuse_odd_targets(_counts(facts, meant), target)
    medians = Medians(facts.rows, len(names))
    while medians.left:
        medians.learn(fold(source, lambda batch: medians.counts(_rows(batch))))
    table, used = _table(names, facts, medians.values)
    scale = Standardize()
    scale._refuse_giant_span(facts.low, facts.high)
    scale.n_features_in_, scale.mean_ = table.width, facts.mean[used]
    scale.scale_ = np.sqrt(facts.squares[used] / facts.rows)
    sums = SumsOfRows(scale, DEGREES[learner], "fast")
    kept = opened([names[j] for j in used])
    moments = fold(kept, lambda batch: sums.of_batch(_relabelled(batch, meant)))
    if not moments.counts.any():
        raise ValueError("the weight is zero in every row; at least one weight must be positive")
    history = (f"fitted {path}: {facts.rows} rows",)
    return TableModel(target, table, Sums(learner, scale, moments), weight, against, history, Habits())


def _opener(path: Path, target: str, weight: str | None, delimiter: str | None) -> Callable[[Any], Any]:
    """A source of the file, of the columns that are named."""
    if path.suffix.lower() in PARQUET:
        return lambda columns: parquet(path, target=target, columns=columns, weight=weight)
    if path.suffix.lower() not in TEXT:
        raise ValueError(f"files that end in {', '.join((*PARQUET, *TEXT))} are read in passes")
    mark = head_of_csv(path, delimiter, {target})

    def opened(columns: Any) -> Any:
        source = csv(path, target=target, columns=columns, weight=weight, delimiter=mark)
        # Labels are what is written: 007 is another class than 7.
        return replace(source, types=source.types | {target: extra("pyarrow", "io").string()})

    return opened


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


def _relabelled(batch: Batch, meant: dict[Any, Any]) -> Batch:
    """The same rows, with labels as they are meant."""
    found = [meant[_whole(label)] for label in batch.labels.classes.tolist()]
    classes = sorted(set(found))
    places = np.array([classes.index(label) for label in found], np.intp)
    kept = np.array(classes, dtype=object if isinstance(classes[0], str) else None)
    return replace(batch, labels=Labels(kept, places[batch.labels.codes]))


def _table(names: list[str], facts: ColumnFacts, medians: Any) -> tuple[Tabular, Any]:
    """The map of these columns, as `Tabular.of_files` would have it, and which of them it keeps."""
    columns: list[Column] = []
    left_out: dict[str, str] = {}
    for j, name in enumerate(names):
        constant = bool(facts.low[j] == facts.high[j])
        if facts.rows >= FEWEST and facts.numbers_rows(j):
            columns.append(LeftOut(NUMBERED))
            left_out[name] = NUMBERED
            continue
        if facts.rows >= FEWEST and facts.whole[j] and not constant and IDENTIFIER.search(name):
            raise ValueError(f"the column {name!r} may number the rows, which takes all of it to tell")
        columns.append(Numbers(float(medians[j])))
        if constant:
            left_out[name] = NEVER_VARIES
    made = [j for j, column in enumerate(columns) if column.width]
    table = Tabular.of_files()
    table.feature_names_in_, table.n_features_in_ = np.asarray(names, dtype=object), len(names)
    table.columns_, table.left_out_ = columns, left_out
    table.kept_ = np.flatnonzero([names[j] not in left_out for j in made])
    if not table.width:
        raise ValueError("no column varies: there is nothing to learn from")
    return table, np.asarray(made)[table.kept_]
