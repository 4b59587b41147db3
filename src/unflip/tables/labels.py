"""The labels of a table: which rows have one, what the classes are, and what cannot be a target."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from unflip.border.arrays import Array
from unflip.border.weights import as_weight
from unflip.border.words import is_missing

MOST = 100  # classes
MANY_NUMBERS = 20  # different whole numbers: more are rather amounts than classes


@dataclass(frozen=True, eq=False)
class TableLabels:
    """y: (n,), the label of each row that has one; rows: (n,), their numbers in the table.

    classes, counts: the different labels and how many rows have each; missing: how many rows have none.

    >>> import pandas as pd
    >>> found = TableLabels.of(pd.DataFrame({"a": [1, 2, 3], "sick": ["no", None, "yes"]}), "sick")
    >>> found.classes, found.rows.tolist(), found.missing
    (('no', 'yes'), [0, 2], 1)
    """

    target: str
    y: Array
    rows: Array
    weight: Array | None
    classes: tuple[Any, ...]
    counts: tuple[int, ...]
    missing: int

    @classmethod
    def of(cls, frame: Any, target: str, positive: Any = None, weight: str | None = None) -> Self:
        """The labels in a column of a frame. positive: a label; all others become one class."""
        if weight == target:
            raise ValueError(f"the column {target!r} cannot be target and weight at once")
        for column in (target, *([] if weight is None else [weight])):
            if column not in frame.columns:
                raise ValueError(f"there is no column {column!r}; there are {', '.join(frame.columns)}")
        given = _plain(frame[target])
        rows = np.flatnonzero([not is_missing(label) for label in given])
        labels = [given[row] for row in rows]
        odd = [label for label in labels if not isinstance(label, str | int | float)]
        if odd:
            kind = type(odd[0]).__name__
            raise ValueError(f"the target {target!r} holds a {kind}; labels are text or whole numbers")
        if positive is not None:
            refuse_other_spellings(Counter(map(str, labels)), target, (positive,))
            labels = [positive if str(label) == positive else f"not {positive}" for label in labels]
        counts = Counter(labels)
        if len({type(label) for label in counts}) > 1:
            raise ValueError(f"the target {target!r} holds labels of several types; make them all text")
        classes = tuple(sorted(counts))
        y = np.array(labels, dtype=object if any(isinstance(label, str) for label in counts) else None)
        return cls(
            target,
            y,
            rows,
            None if weight is None else _weights(frame[weight], rows, weight),
            classes,
            tuple(counts[label] for label in classes),
            len(given) - len(rows),
        )

    @property
    def by_class(self) -> dict[Any, int]:
        """How many rows have each label."""
        return dict(zip(self.classes, self.counts, strict=True))

    def of_rows(self, frame: Any) -> Any:
        """The rows of a frame that have a label."""
        if len(self.rows) == frame.shape[0]:
            return frame
        return frame.iloc[self.rows] if hasattr(frame, "iloc") else frame[self.rows]


def refuse_doubtful_labels(counts: Mapping[Any, int], target: str, positive: str | None = None) -> None:
    """Raise if these may not be meant as classes: many whole numbers, or two that differ in writing only.

    counts: how many rows have each label; positive: as in `TableLabels.of`.

    >>> refuse_doubtful_labels(dict.fromkeys(range(43), 9), "rating")
    Traceback (most recent call last):
    ValueError: the target 'rating' holds 43 different whole numbers, 0 to 42: if they are amounts or ratings,
    group them first (for example into low and high); if each is the code of a class, say so with --category
    rating
    """
    if positive is not None:
        refuse_other_spellings({str(label): n for label, n in counts.items()}, target, (positive,))
        return
    refuse_other_spellings(counts, target)
    learnable = len(counts) <= min(MOST, sum(counts.values()) / 2)  # else refused whatever they mean
    if len(counts) > MANY_NUMBERS and learnable and all(map(_is_whole, counts)):
        raise ValueError(
            f"the target {target!r} holds {len(counts)} different whole numbers, {int(min(counts))} to "
            f"{int(max(counts))}: if they are amounts or ratings, group them first (for example into low and "
            f"high); if each is the code of a class, say so with --category {shlex.quote(target)}"
        )


def refuse_other_spellings(
    counts: Mapping[Any, int], target: str, known: Collection[str] | None = None
) -> None:
    """Raise if two labels differ only in capitals or blanks around them; "Yes" is hardly other than "yes".

    known: labels that are as they should be; only what resembles one of these is refused.

    >>> refuse_other_spellings({"no": 9, "yes": 7, "Yes": 2}, "sick")
    Traceback (most recent call last):
    ValueError: the labels 'yes' and 'Yes' differ in writing only (7 and 2 rows of 'sick'); write them alike,
    or say with --category sick that they are two classes
    """
    first: dict[str, Any] = {}
    for label in known or sorted(counts, key=lambda label: (-counts[label], str(label))):
        first.setdefault(str(label).strip().casefold(), label)
    for label, count in counts.items():
        other = first.get(str(label).strip().casefold(), label)
        if other == label or label in (known or ()):
            continue
        ask = f", or say with --category {shlex.quote(target)} that they are two classes"
        raise ValueError(
            f"the labels {other!r} and {label!r} differ in writing only ({counts.get(other, 0):,} and "
            f"{count:,} rows of {target!r}); write them alike{'' if known else ask}"
        )


def _is_whole(label: Any) -> bool:
    return isinstance(label, int | float) and not isinstance(label, bool) and float(label).is_integer()


def _plain(column: Any) -> list[Any]:
    """Values as Python has them: whole numbers that are stored as floats are whole numbers."""
    values = column.to_list() if hasattr(column, "to_list") else list(column)
    known = [value for value in values if not is_missing(value)]
    if known and all(isinstance(value, float) and value.is_integer() for value in known):
        return [None if is_missing(value) else int(value) for value in values]
    return values


def labels_to_learn(
    frame: Any, target: str, positive: Any = None, weight: str | None = None
) -> tuple[TableLabels, str | None]:
    """Labels that can be learned, and the one that all others are one class against, if there are others.

    >>> import pandas as pd
    >>> pets = pd.DataFrame({"pet": ["cat", "dog", "cow"] * 2})
    >>> labels_to_learn(pets, "pet", "cat")[0].classes, labels_to_learn(pets, "pet")[1]
    (('cat', 'not cat'), None)
    """
    labels = TableLabels.of(frame, target, None, weight)
    against = class_against_others(labels.classes, target, positive)
    if against is not None:
        labels = TableLabels.of(frame, target, against, weight)
    refuse_odd_targets(labels.by_class, target)
    return labels, against


def class_against_others(classes: Collection[Any], target: str, positive: Any = None) -> str | None:
    """The label that all others are one class against, if there is one and there are several others.

    >>> class_against_others(["cat", "dog", "cow"], "pet", "cat"), class_against_others([0, 1], "sick", "1")
    ('cat', None)
    """
    if positive is None:
        return None
    if str(positive) not in map(str, classes):
        known = ", ".join(map(str, list(classes)[:10]))
        raise ValueError(f"no label of {target!r} is {positive!r}; the labels are {known}")
    return str(positive) if len(classes) > 2 else None


def feature_columns(frame: Any, target: str, *others: str | None) -> Any:
    """The frame without labels, weights and whatever else is no feature.

    >>> import pandas as pd
    >>> feature_columns(pd.DataFrame({"a": [1], "y": [0]}), "y", None).columns.tolist()
    ['a']
    """
    columns = [name for name in frame.columns if name not in (target, *others)]
    if not columns:
        raise ValueError(f"there is no column beside the target {target!r}")
    return frame[columns]


def refuse_odd_targets(counts: Mapping[Any, int], target: str) -> None:
    """Raise if these labels cannot be learned: one class, too many, fractions, classes of a single row.

    counts: how many rows have each label.
    """
    n = sum(counts.values())
    if not n:
        raise ValueError(f"no row has a label: the target {target!r} is empty")
    if len(counts) == 1:
        raise ValueError(f"every label of {target!r} is {next(iter(counts))!r}; at least two are needed")
    if len(counts) > 2 and n / 2 < len(counts) <= MOST:
        raise ValueError(
            f"the target {target!r} has {len(counts)} different values in {n} rows: too few of each"
        )
    if len(counts) > MOST:
        raise ValueError(
            f"the target {target!r} has {len(counts):,} different values in {n:,} rows; labels are at most "
            f"{MOST} classes, so name another column or group its values"
        )
    if any(isinstance(label, float) for label in counts):
        odd = next((label for label in counts if not float(label).is_integer()), next(iter(counts)))
        raise ValueError(
            f"the target {target!r} holds fractions such as {odd}; not classes: group them first, "
            "for example into low and high"
        )
    lonely = [label for label, count in counts.items() if count == 1]
    if lonely:
        raise ValueError(
            f"the label {lonely[0]!r} of {target!r} has a single row; drop it, or join it with another"
        )


def _weights(column: Any, rows: Array, name: str) -> Array:
    values = np.array([np.nan if is_missing(value) else value for value in _plain(column)])
    if values.dtype.kind not in "fiub":
        raise ValueError(f"the weights in {name!r} are no numbers")
    try:
        return as_weight(values[rows], len(rows))
    except ValueError as error:
        raise ValueError(f"the weights in {name!r} cannot be used: {error}") from None
