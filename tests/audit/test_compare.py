"""The learner that an audit recommends is one that `unflip fit` fits, and a better rival is named."""

from dataclasses import replace

import numpy as np
import pytest

from unflip.audit.compare import Learner, recommend
from unflip.audit.robustness import RobustnessCurve
from unflip.models.learners import TABLE_LEARNERS

WORSE = dict.fromkeys(TABLE_LEARNERS, 0.6)


def learners(**accuracies):
    """So many rows were judged that a standard error is 0.004 to 0.005."""
    return tuple(
        Learner(name, "", RobustnessCurve(name, np.zeros(1), [[accuracy]]), None, 10_000)
        for name, accuracy in accuracies.items()
    )


@pytest.mark.parametrize("name", TABLE_LEARNERS)
def test_the_best_is_recommended_if_it_is_clearly_the_best(name):
    found = recommend(learners(**WORSE | {name: 0.8}))
    assert found.name == name
    assert found.why == "it matches 80.0 % of held-out labels, the highest of the 5"


def test_an_accuracy_that_is_corrected_is_not_called_one_on_the_labels_as_they_are():
    corrected = tuple(replace(each, stretch=1.3) for each in learners(**WORSE | {"square": 0.8}))
    assert recommend(corrected).why == (
        "it would match 80.0 % of clean labels, at the rates by class, the highest of the 5"
    )


@pytest.mark.parametrize(
    ("name", "reason"),
    [("square", "is simpler"), ("robust", "gives probabilities of clean labels"), ("kernel", None)],
)
def test_some_are_preferred_within_a_standard_error_and_the_reason_is_given(name, reason):
    found = recommend(learners(**WORSE | {name: 0.799, "logistic": 0.8}))
    assert found.name == ("logistic" if reason is None else name)
    if reason is not None:
        said = "it matches 79.9 % of held-out labels, within a standard error of logistic (80.0 %), and "
        assert found.why == said + reason


@pytest.mark.parametrize("simpler", [{}, {"unhinged": 0.799}])
def test_a_rival_is_never_recommended_and_named_if_it_is_clearly_better(simpler):
    ours = WORSE | {"robust": 0.8} | simpler
    clearly = recommend(learners(**ours, RandomForestClassifier=0.82))
    assert clearly.name == next(iter(simpler), "robust")
    assert clearly.why.endswith("; RandomForestClassifier, which you compare with, is ahead with 82.0 %")
    hardly = recommend(learners(**ours, RandomForestClassifier=0.802))
    assert hardly.name == clearly.name
    assert "RandomForestClassifier" not in hardly.why
    assert "the highest of the" not in hardly.why
