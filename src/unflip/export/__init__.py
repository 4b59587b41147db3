"""Models of tables for places without Python: weights as JSON, SQL over the columns, an ONNX graph.

>>> import polars as pl
>>> from unflip.models import TableModel
>>> frame = pl.DataFrame({"age": [20, 30, 60, 70], "old": ["no", "no", "yes", "yes"]})
>>> sorted(as_json(TableModel.fit(frame, "old"))["columns"])
['age']
"""

from unflip.export.check import Agreement, check_json, check_onnx, check_sql
from unflip.export.linear import ColumnWeights, Linear, linear
from unflip.export.made_up import made_up_rows
from unflip.export.onnx_graph import onnx_inputs, onnx_model
from unflip.export.table_sql import as_sql, select_list
from unflip.export.weights_json import as_json, classes_of_json, scores_of_json

__all__ = [
    "Agreement",
    "ColumnWeights",
    "Linear",
    "as_json",
    "as_sql",
    "check_json",
    "check_onnx",
    "check_sql",
    "classes_of_json",
    "linear",
    "made_up_rows",
    "onnx_inputs",
    "onnx_model",
    "scores_of_json",
    "select_list",
]
