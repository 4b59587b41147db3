"""The JSON is enough: a scorer of a few lines, which knows nothing of us, says what the model says."""

import datetime
import json
from zlib import crc32

import pytest
from numpy.testing import assert_allclose
from tests.export.tables import BUDGET, CLASSES, fitted, mixed_table, new_rows, private, with_buckets

from unflip.export import as_json, check_json, classes_of_json, scores_of_json

DAY = datetime.timedelta(days=1)


def score_by_hand(facts, row):
    """The scores of a row, a dictionary, as 'how_to_score' tells it."""
    scores = [entry["intercept"] for entry in facts["scores"]]
    for name, column in facts["columns"].items():
        value = row[name]
        if column["kind"] == "levels":
            weights = {entry["level"]: entry["weight"] for entry in column["levels"]}
            added = weights.get(value)
            if added is None and value is not None and column["buckets"]:
                added = column["buckets"][crc32(value.encode("utf-8")) % len(column["buckets"])]
        else:
            if isinstance(value, datetime.datetime):
                value = (value - datetime.datetime(1970, 1, 1)) / DAY
            elif isinstance(value, datetime.date):
                value = (value - datetime.date(1970, 1, 1)).days
            elif isinstance(value, datetime.timedelta):
                value = value / DAY
            away = (column["fill"] if value is None else value) - column["center"]
            mark = column.get("weight_if_missing") if value is None else None
            added = [w * away + (mark[k] if mark else 0) for k, w in enumerate(column["weight"])]
        scores = [score + more for score, more in zip(scores, added or [0] * len(scores), strict=True)]
    return scores


def class_by_hand(facts, scores):
    return facts["classes"][scores.index(max(scores)) if len(scores) > 1 else int(scores[0] > 0)]


def agrees(model, frame):
    facts = json.loads(json.dumps(as_json(model), allow_nan=False))
    by_hand = [score_by_hand(facts, row) for row in frame.to_dicts()]
    assert_allclose(by_hand, model.scores(frame).reshape(frame.height, -1), rtol=0, atol=1e-9)
    assert [class_by_hand(facts, scores) for scores in by_hand] == model.predict(frame).tolist()
    ours = scores_of_json(facts, frame)
    assert_allclose(ours.reshape(frame.height, -1), by_hand, rtol=0, atol=1e-12)
    assert classes_of_json(facts, ours) == model.predict(frame).tolist()
    assert check_json(model, facts, frame).difference < 1e-9


@pytest.mark.parametrize("learner", ["square", "unhinged"])
@pytest.mark.parametrize("classes", CLASSES)
def test_a_row_can_be_scored_by_hand(classes, learner):
    model = fitted(classes, learner)
    agrees(model, mixed_table(classes))
    agrees(model, new_rows(classes))


def test_buckets_are_told():
    model, frame = with_buckets()
    assert len(as_json(model)["columns"]["name"]["buckets"]) == 8
    agrees(model, frame)


def test_a_private_model_says_what_it_has_cost():
    assert json.loads(json.dumps(as_json(private())))["privacy"] == BUDGET.as_facts()
    assert "privacy" not in as_json(fitted())


def test_it_says_what_the_model_is():
    facts = as_json(fitted())
    assert (facts["target"], facts["learner"], facts["classes"]) == ("y", "square", ["it's", "no"])
    assert facts["left_out"] == {"one": "it never varies"}
    assert facts["history"] == ["fitted a table: 150 rows"]
    assert {name: column["kind"] for name, column in facts["columns"].items()}["day"] == "date"
