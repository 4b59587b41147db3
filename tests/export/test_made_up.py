"""Rows that are made up must suit every export."""

import pytest
from tests.export.tables import ancient

from unflip.export import as_json, check_json, check_onnx, check_sql, made_up_rows, onnx_model

pytest.importorskip("onnxruntime")

YEAR_1, YEAR_9999 = -719_162, 2_932_850


@pytest.mark.parametrize("first_day", [YEAR_1, YEAR_9999, 10 * YEAR_1, -200_000_000])
def test_dates_that_python_does_not_have(first_day):
    frame, model = ancient(first_day)
    for rows in (made_up_rows(model), frame):
        assert check_json(model, as_json(model), rows).difference < 1e-6
        assert check_onnx(model, onnx_model(model), rows).difference < 1e-6
        assert check_sql(model, rows).difference < 1e-6
