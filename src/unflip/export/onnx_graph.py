"""A model of a table as an ONNX graph, in double precision from the columns to the classes.

One input a column, (n, 1): numbers, truth values and dates as doubles with NaN for gaps, categories as text
with "" for gaps. Two outputs: `score`, (n,) for two classes and (n, K) for more, and `label`, (n,). The
metadata say what the inputs are.
"""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import numpy as np

from unflip._extras import extra
from unflip.border.arrays import Array
from unflip.border.words import is_missing
from unflip.export.linear import ColumnWeights, Linear, linear
from unflip.models import TableModel
from unflip.tables.column_kinds import Categories, Numbers, as_numbers

OPSET, ML_OPSET, IR = 17, 2, 8  # old enough for runtimes of 2022
OUTPUTS = ("label", "score")
FEED = {
    "number": "double, NaN for a gap, 1 for true and 0 for false",
    "date": "double, NaN for a gap: days since 1970-01-01 in UTC with fractions; for durations, days",
    "text": 'string, "" for a gap',
}


def onnx_model(model: TableModel) -> bytes:
    """The content of an .onnx file.

    >>> import onnxruntime, polars as pl
    >>> frame = pl.DataFrame({"age": [20, 30, 60, 70], "old": ["no", "no", "yes", "yes"]})
    >>> session = onnxruntime.InferenceSession(onnx_model(TableModel.fit(frame, "old")))
    >>> label, score = session.run(["label", "score"], {"age": np.array([[25.0], [68.0]])})
    >>> label.tolist()
    ['no', 'yes']
    """
    onnx = extra("onnx", "onnx")
    plain = linear(model)
    names = input_names(plain)
    graph = _Graph(onnx, {*names.values(), *OUTPUTS})
    _write(graph, plain, names)
    kinds = {column.name: _kind(column) for column in plain.columns}
    types = {"number": onnx.TensorProto.DOUBLE, "date": onnx.TensorProto.DOUBLE}
    inputs = [
        onnx.helper.make_tensor_value_info(names[name], types.get(kind, onnx.TensorProto.STRING), ["rows", 1])
        for name, kind in kinds.items()
    ]
    wide = ["rows"] if len(plain.classes) == 2 else ["rows", len(plain.classes)]
    label = onnx.helper.np_dtype_to_tensor_dtype(_classes(plain).dtype)
    outputs = [
        onnx.helper.make_tensor_value_info("label", label, ["rows"]),
        onnx.helper.make_tensor_value_info("score", onnx.TensorProto.DOUBLE, wide),
    ]
    made = onnx.helper.make_model(
        onnx.helper.make_graph(graph.nodes, "unflip", inputs, outputs, graph.constants),
        opset_imports=[onnx.helper.make_opsetid("", OPSET), onnx.helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
        ir_version=IR,
        producer_name="unflip",
    )
    facts = {
        "target": model.target,
        "learner": model.learner,
        "classes": json.dumps(plain.classes),
        "inputs": json.dumps({name: {"input": names[name], "feed": FEED[kinds[name]]} for name in kinds}),
    }
    if model.privacy is not None:
        facts["privacy"] = json.dumps(model.privacy.as_facts())
    onnx.helper.set_model_props(made, facts)
    onnx.checker.check_model(made)
    return bytes(made.SerializeToString())


def onnx_inputs(model: TableModel, frame: Any) -> dict[str, Array]:
    """The columns of a frame as a session of onnxruntime takes them.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [20, 30, 60, 70], "old": [0, 0, 1, 1]})
    >>> onnx_inputs(TableModel.fit(frame, "old"), pl.DataFrame({"age": [45, None]}))["age"].tolist()
    [[45.0], [nan]]
    """
    plain = linear(model)
    names = input_names(plain)
    fed = {}
    for column in plain.columns:
        values = frame[column.name]
        if isinstance(column.read, Numbers):
            flat = as_numbers(values, repr(column.name))
        else:
            flat = np.array(["" if is_missing(value) else value for value in values], dtype=object)
            if None in column.read.levels.values and "" in set(values):
                raise ValueError(f"column {column.name!r} holds empty text, which ONNX takes for a gap")
        fed[names[column.name]] = flat[:, None]
    return fed


def input_names(plain: Linear) -> dict[str, str]:
    """What the input of each column is called: as the column, unless an output is called so."""
    taken = {column.name for column in plain.columns}
    names = {}
    for column in plain.columns:
        name = column.name
        while name in (*OUTPUTS, "") or (name != column.name and name in taken):
            name += "_"
        taken.add(name)
        names[column.name] = name
    return names


class _Graph:
    """Nodes and constants, each result with a name that nothing else has."""

    def __init__(self, onnx: Any, taken: set[str]) -> None:
        self.onnx, self.taken, self.numbers = onnx, taken, count()
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: Any) -> str:
        array = np.asarray(values)
        made = self.onnx.numpy_helper.from_array(array, self._name())
        self.constants.append(made)
        return str(made.name)

    def node(self, kind: str, *inputs: str, output: str | None = None, domain: str = "", **ways: Any) -> str:
        name = output or self._name()
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [name], domain=domain, **ways))
        return name

    def _name(self) -> str:
        return next(name for k in self.numbers if (name := f"v{k}") not in self.taken)


def _write(graph: _Graph, plain: Linear, names: dict[str, str]) -> None:
    parts = (_added(graph, column, names[column.name]) for column in plain.columns)
    score = graph.node("Sum", graph.constant(plain.intercepts[None, :]), *parts)
    if len(plain.classes) == 2:
        score = graph.node("Squeeze", score, graph.constant([1]), output="score")
        above = graph.node("Greater", score, graph.constant(0.0))
        place = graph.node("Cast", above, to=graph.onnx.TensorProto.INT64)
    else:
        score = graph.node("Identity", score, output="score")
        place = graph.node("ArgMax", score, axis=1, keepdims=0)  # the first of equals
    graph.node("Gather", graph.constant(_classes(plain)), place, output="label")


def _added(graph: _Graph, column: ColumnWeights, name: str) -> str:
    """What a column adds to the scores, (n, C)."""
    read, weights = column.read, column.weights.T
    if isinstance(read, Categories):
        levels = _texts(column.name, read)
        code = graph.node(
            "LabelEncoder",
            name,
            domain="ai.onnx.ml",
            keys_strings=levels,
            values_int64s=range(len(levels)),
            default_int64=len(levels),
        )
        # The table is in doubles, as the values of an encoder of this age cannot be; its last row is for
        # what is no level.
        table = graph.constant(np.vstack([weights, np.zeros(weights.shape[1])]))
        return graph.node("Gather", table, graph.node("Squeeze", code, graph.constant([1])))
    gaps = graph.node("IsNaN", name)
    filled = graph.node("Where", gaps, graph.constant(read.fill), name)
    shifted = graph.node("Sub", filled, graph.constant(column.centers[0]))
    added = graph.node("Mul", shifted, graph.constant(weights[:1]))
    if not read.marks:
        return added
    return graph.node(
        "Add", added, graph.node("Where", gaps, graph.constant(weights[1:]), graph.constant(0.0))
    )


def _kind(column: ColumnWeights) -> str:
    if isinstance(column.read, Categories):
        return "text"
    return "date" if column.read.dates else "number"


def _texts(name: str, read: Categories) -> list[str]:
    """Levels as text, "" for the missing one."""
    if read.buckets:
        raise ValueError(
            f"column {name!r} has more than {len(read.levels)} levels, and the rare ones share columns by a "
            "hash that ONNX does not have; group them, or leave the column out, before fitting"
        )
    levels = read.levels.values
    odd = [level for level in levels if level is not None and not isinstance(level, str)]
    if odd:
        raise ValueError(
            f"column {name!r} has the level {odd[0]!r}, which is no text, as ONNX wants it; make it text "
            "before fitting"
        )
    if "" in levels:
        raise ValueError(
            f"column {name!r} has the empty text for a level, which stands for a gap in ONNX; give it a "
            "name before fitting"
        )
    return ["" if level is None else level for level in levels]


def _classes(plain: Linear) -> Array:
    texts = all(isinstance(label, str) for label in plain.classes)
    classes = np.array(plain.classes, dtype=object if texts else None)
    if not texts and classes.dtype.kind not in "bi":
        raise ValueError(
            f"the class {plain.classes[0]!r} is neither text nor a whole number, as ONNX wants it"
        )
    return classes
