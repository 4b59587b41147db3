"""A model as JSON that a stranger can score a row with: how to read each column, and what it weighs."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np

from unflip.border.arrays import Array
from unflip.export.linear import ColumnWeights, linear
from unflip.features.levels import factorized
from unflip.models import TableModel
from unflip.tables.column_kinds import Numbers, as_numbers

HOW = [
    "Each list of weights has one number for each entry of 'scores'. A score begins with its intercept.",
    "A column of kind 'number' or 'date' adds weight * (value - center); a gap has the value 'fill', and "
    "adds 'weight_if_missing' too. True is 1, False is 0; a date is the days since 1970-01-01, in UTC and "
    "with fractions; a duration is in days.",
    "A column of kind 'levels' adds the weight of its level; null is the level of gaps. A value that is "
    "neither a level nor a gap adds the weight of bucket number crc32(its text in UTF-8) modulo the number "
    "of buckets, or nothing where there are none.",
    "Of two classes it is the second one if the score is above zero; of more, the one with the largest "
    "score, the first of equals.",
]


def as_json(model: TableModel) -> dict[str, Any]:
    """All that it takes to score a row, in plain values.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [20, 30, 60, 70], "old": [0, 0, 1, 1]})
    >>> facts = as_json(TableModel.fit(frame, "old", learner="unhinged"))
    >>> facts["columns"]["age"]
    {'kind': 'number', 'fill': 45.0, 'center': 45.0, 'weight': [0.0470...]}
    >>> facts["scores"], facts["classes"]
    ([{'for': 1, 'intercept': 0.0}], [0, 1])
    """
    plain = linear(model)
    scored = plain.classes[1:] if len(plain.classes) == 2 else plain.classes
    facts = {
        "format": "unflip weights 1",
        "how_to_score": HOW,
        "target": model.target,
        "learner": model.learner,
        "classes": list(plain.classes),
        "scores": [
            {"for": label, "intercept": intercept}
            for label, intercept in zip(scored, plain.intercepts.tolist(), strict=True)
        ],
        "columns": {column.name: _as_json(column) for column in plain.columns},
        "left_out": model.table.left_out_,
        "history": list(model.history),
    }
    return facts if model.privacy is None else facts | {"privacy": model.privacy.as_facts()}


def scores_of_json(facts: dict[str, Any], frame: Any) -> Array:
    """The scores of a frame by what `as_json` says and nothing else, as `TableModel.scores` has them.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [20, 30, 60, 70], "old": [0, 0, 1, 1]})
    >>> facts = as_json(TableModel.fit(frame, "old", learner="unhinged"))
    >>> scores_of_json(facts, pl.DataFrame({"age": [45.0, None]})).tolist()
    [0.0, 0.0]
    """
    scores = np.tile([float(score["intercept"]) for score in facts["scores"]], (frame.shape[0], 1))
    for name, column in facts["columns"].items():
        scores += _added(column, frame[name], name)
    return scores[:, 0] if len(facts["scores"]) == 1 else scores


def classes_of_json(facts: dict[str, Any], scores: Array) -> list[Any]:
    """The class that each row of scores chooses.

    >>> classes_of_json({"classes": ["no", "yes"]}, np.array([-1.0, 2.0]))
    ['no', 'yes']
    """
    places = scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)
    return [facts["classes"][int(place)] for place in places]


def _as_json(column: ColumnWeights) -> dict[str, Any]:
    read, weights = column.read, column.weights.T.tolist()
    if isinstance(read, Numbers):
        kind = "date" if read.dates else "number"
        said = {"kind": kind, "fill": read.fill, "center": float(column.centers[0]), "weight": weights[0]}
        return said | ({"weight_if_missing": weights[1]} if read.marks else {})
    levels = [
        {"level": level, "weight": weight}
        for level, weight in zip(read.levels.values, weights, strict=False)  # buckets come after them
    ]
    return {"kind": "levels", "levels": levels, "buckets": weights[len(levels) :]}


def _added(column: dict[str, Any], values: Any, name: str) -> Array:
    if column["kind"] != "levels":
        numbers = as_numbers(values, repr(name))
        gaps = np.isnan(numbers)
        filled = np.where(gaps, column["fill"], numbers) - column["center"]
        return np.outer(filled, column["weight"]) + np.outer(gaps, column.get("weight_if_missing", [0.0]))
    known = {entry["level"]: entry["weight"] for entry in column["levels"]}
    buckets, nothing = column["buckets"], [0.0] * len(column["levels"][0]["weight"])

    def of_level(level: Any) -> Any:
        if level in known or level is None or not buckets:
            return known.get(level, nothing)
        return buckets[crc32(str(level).encode()) % len(buckets)]

    distinct, codes = factorized(values, repr(name))
    return np.array([of_level(level) for level in distinct])[codes]
