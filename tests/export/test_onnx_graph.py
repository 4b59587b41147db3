"""onnxruntime must say what the model says, on the rows that were fitted and on others."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from tests.export.tables import (
    BUDGET,
    CITY,
    CLASSES,
    TIMES,
    fitted,
    mixed_table,
    new_rows,
    private,
    with_buckets,
)

from unflip.export import check_onnx, made_up_rows, onnx_inputs, onnx_model
from unflip.models import TableModel

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def session_of(model):
    return onnxruntime.InferenceSession(onnx_model(model), providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("learner", ["square", "unhinged"])
@pytest.mark.parametrize("classes", CLASSES)
def test_the_runtime_says_what_the_model_says(classes, learner):
    model = fitted(classes, learner)
    session = session_of(model)
    gaps = pl.lit(None, pl.String).alias(CITY)
    new = new_rows(classes).with_columns(pl.when(pl.col(CITY) == "").then(gaps).otherwise(CITY).alias(CITY))
    for frame in (mixed_table(classes), new, made_up_rows(model)):
        labels, scores = session.run(["label", "score"], onnx_inputs(model, frame))
        expected = model.scores(frame)
        assert scores.dtype == np.float64
        assert scores.shape == expected.shape
        assert_allclose(scores, expected, rtol=0, atol=1e-9)  # 1e-6 is promised
        assert labels.tolist() == model.predict(frame).tolist()
        assert check_onnx(model, onnx_model(model), frame).difference < 1e-9


def test_inputs_are_fed_by_hand_as_the_metadata_say():
    model, frame = fitted(), mixed_table()
    content = onnx.load_model_from_string(onnx_model(model))
    facts = {entry.key: entry.value for entry in content.metadata_props}
    inputs = json.loads(facts["inputs"])
    assert (facts["target"], json.loads(facts["classes"])) == ("y", ["it's", "no"])
    assert inputs["score"]["input"] == "score_"  # an output has its name
    assert "days since 1970-01-01" in inputs["day"]["feed"]
    assert "days since 1970-01-01" in inputs[TIMES]["feed"]
    assert inputs[CITY]["feed"] == 'string, "" for a gap'
    assert "one" not in inputs
    epoch = pl.datetime(1970, 1, 1)
    by_hand = frame.with_columns(
        (pl.col("day").cast(pl.Datetime) - epoch).dt.total_seconds() / 86400,
        (pl.col(TIMES) - epoch).dt.total_seconds() / 86400,
        pl.col("took").dt.total_seconds() / 86400,
        pl.col("smoker").cast(pl.Float64),
        pl.col(CITY).fill_null(""),
    )
    fed = {
        entry["input"]: by_hand[[name]].to_numpy()
        if by_hand[name].dtype == pl.String
        else by_hand[[name]].cast(pl.Float64).fill_null(np.nan).to_numpy()
        for name, entry in inputs.items()
    }
    labels, scores = session_of(model).run(["label", "score"], fed)
    assert_allclose(scores, model.scores(frame), rtol=0, atol=1e-9)
    assert labels.tolist() == model.predict(frame).tolist()


def test_a_private_model_says_what_it_has_cost():
    meta = session_of(private()).get_modelmeta().custom_metadata_map
    assert json.loads(meta["privacy"]) == BUDGET.as_facts()
    assert "privacy" not in session_of(fitted()).get_modelmeta().custom_metadata_map


def test_one_row_and_none_are_scored_too():
    model = fitted("three")
    for n in (1, 0):
        fed = {name: values[:n] for name, values in onnx_inputs(model, mixed_table("three")).items()}
        labels, scores = session_of(model).run(["label", "score"], fed)
        assert labels.shape == (n,)
        assert scores.shape == (n, 3)


def test_names_of_columns_that_collide_are_kept_apart():
    rng = np.random.default_rng(0)
    names = ["label", "label_", "score", "v1", "a column", "ß"]
    frame = pl.DataFrame(rng.normal(size=(40, 6)), names).with_columns(y=pl.Series(np.arange(40) % 2))
    model = TableModel.fit(frame, "y")
    fed = onnx_inputs(model, frame)
    assert list(fed) == ["label__", "label_", "score_", "v1", "a column", "ß"]
    assert_allclose(session_of(model).run(["score"], fed)[0], model.scores(frame), atol=1e-12)


def test_what_cannot_be_expressed_is_refused_by_name():
    with pytest.raises(ValueError, match=r"column 'name' has more than 30 levels, .* leave the column out"):
        onnx_model(with_buckets()[0])
    y = [0, 0, 1, 1, 1, 0] * 4
    codes = pd.DataFrame({"code": pd.Categorical([3, 3, 7, 7, 11, 11] * 4), "y": y})
    with pytest.raises(ValueError, match="column 'code' has the level 3, which is no text"):
        onnx_model(TableModel.fit(codes, "y"))
    blank = pl.DataFrame({"x": ["", "", "a", "a", "a", ""] * 4, "y": y})
    with pytest.raises(ValueError, match="column 'x' has the empty text for a level"):
        onnx_model(TableModel.fit(blank, "y"))


def test_empty_text_is_not_fed_as_a_gap():
    with pytest.raises(ValueError, match="holds empty text, which ONNX takes for a gap"):
        onnx_inputs(fitted(), new_rows())


def test_a_check_notices_what_is_not_the_same():
    model, other = fitted(), fitted(learner="unhinged")
    with pytest.raises(ValueError, match="the ONNX does not say what the model says: scores differ by"):
        check_onnx(model, onnx_model(other), mixed_table())
