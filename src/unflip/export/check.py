"""Whether an export says what its model says."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from unflip._extras import extra
from unflip.border.arrays import Array
from unflip.export.linear import linear
from unflip.export.onnx_graph import onnx_inputs
from unflip.export.table_sql import select_list
from unflip.export.weights_json import classes_of_json, scores_of_json
from unflip.models import TableModel

CLOSE_SCORES = 1e-6  # of the largest score, or of one


@dataclass(frozen=True)
class Agreement:
    """On so many rows scores differ by at most `difference`, and classes in `ties` where two are as good."""

    rows: int
    difference: float
    ties: int


def check_json(model: TableModel, facts: dict[str, Any], frame: Any) -> Agreement:
    """Score a frame with what `as_json` wrote.

    >>> import polars as pl
    >>> from unflip.export import as_json
    >>> frame = pl.DataFrame({"age": [20, 30, 60, 70], "old": [0, 0, 1, 1]})
    >>> model = TableModel.fit(frame, "old")
    >>> check_json(model, as_json(model), frame).rows
    4
    """
    written = json.loads(json.dumps(facts))
    scores = scores_of_json(written, frame)
    return _agreement(model, frame, scores, classes_of_json(written, scores), "JSON")


def check_sql(model: TableModel, frame: Any) -> Agreement:
    """Score a polars frame with DuckDB."""
    duckdb, pl = extra("duckdb", "sql"), extra("polars", "io")
    rows = frame.select([column.name for column in linear(model).columns])
    rows = rows.with_columns(pl.selectors.float().fill_nan(None))
    order = "row"
    while order in rows.columns:
        order += "_"
    with duckdb.connect() as database:
        database.register("frame", rows.with_row_index(order).to_arrow())
        query = f'SELECT {select_list(model)} FROM "frame" ORDER BY "{order}"'
        try:
            found = database.execute(query).fetchall()
        except duckdb.Error as error:
            raise ValueError(f"DuckDB cannot score these rows: {error}") from None
    scores = np.array([row[:-1] for row in found], dtype=np.float64)
    scores = scores[:, 0] if scores.shape[1] == 1 else scores
    return _agreement(model, frame, scores, [row[-1] for row in found], "SQL")


def check_onnx(model: TableModel, content: bytes, frame: Any) -> Agreement:
    """Score a frame with onnxruntime."""
    runtime = extra("onnxruntime", "onnx")
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    labels, scores = session.run(["label", "score"], onnx_inputs(model, frame))
    return _agreement(model, frame, scores, labels.tolist(), "ONNX")


def _agreement(model: TableModel, frame: Any, scores: Array, labels: list[Any], what: str) -> Agreement:
    """How well these agree with the model; `ValueError` if they do not."""
    expected, classes = model.scores(frame), model.predict(frame).tolist()
    difference = float(np.abs(scores - expected).max(initial=0.0))
    least = CLOSE_SCORES * max(1.0, float(np.abs(expected).max(initial=0.0)))
    if not difference <= least:
        raise ValueError(f"the {what} does not say what the model says: scores differ by {difference:.2g}")
    ordered = np.sort(np.column_stack([expected, -expected]) if expected.ndim == 1 else expected, axis=1)
    tied = ordered[:, -1] - ordered[:, -2] <= least
    others = np.flatnonzero([ours != theirs for ours, theirs in zip(classes, labels, strict=True)])
    for row in others[~tied[others]]:
        raise ValueError(
            f"the {what} does not say what the model says: row {row} is {labels[row]!r}, not {classes[row]!r}"
        )
    return Agreement(len(classes), difference, len(others))
