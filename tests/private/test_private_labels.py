"""Randomised response: the rate of the textbook, OpenDP's epsilon, and learners that do not mind."""

import math

import numpy as np
import pytest

from unflip import UnhingedClassifier
from unflip.moments.privacy import opendp
from unflip.private import private_labels


@pytest.mark.parametrize(("k", "epsilon"), [(2, 0.5), (2, 2.0), (5, 1.0), (2, 15.0)])
@pytest.mark.slow
def test_each_label_is_flipped_at_the_rate_that_epsilon_asks(k, epsilon):
    y = np.arange(6000) % k
    labels, noise = private_labels(y, epsilon)
    rate = (k - 1) / (math.exp(epsilon) + k - 1)
    assert noise.rate == pytest.approx(rate, rel=1e-8)
    error = math.sqrt(rate * (1 - rate) / len(y))
    assert abs((labels != y).mean() - rate) < 5 * error + 1 / len(y)
    # The likelihood ratio of any answer under any two truths is e^epsilon at most.
    ratio = noise.transition.max() / noise.transition.min()
    assert ratio <= math.exp(epsilon) * (1 + 1e-9)
    assert opendp().m.make_randomized_response(list(range(k)), prob=1 - noise.rate).map(1) <= epsilon * (
        1 + 1e-9
    )


def test_a_learner_does_not_mind():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(20_000) < 0.5, "no", "yes")
    X = rng.normal(size=(20_000, 2)) + 2.0 * (y == "yes")[:, None]
    private, noise = private_labels(y, 1.0)
    clean = UnhingedClassifier().fit(X, y)
    model = UnhingedClassifier().fit(X, private)
    assert set(private.tolist()) == {"no", "yes"}
    assert (model.predict(X) == clean.predict(X)).mean() > 0.98
    assert noise.rate == pytest.approx(1 / (1 + math.e))


@pytest.mark.parametrize(
    ("y", "ways", "said"),
    [
        ([0, 1], {"epsilon": 0.0}, "epsilon is a number between 1e-6 and 20"),
        ([0, 1], {"epsilon": None}, "epsilon is a number between .* got None"),
        ([0, 1], {"epsilon": [1]}, "epsilon is a number between"),
        ([0, 1], {"epsilon": "x"}, "epsilon is a number between .* got 'x'"),
        ([0, 0], {"epsilon": 1.0}, "at least two classes"),
        ([[0, 1]], {"epsilon": 1.0}, "one column"),
        ([0.25, 1.0], {"epsilon": 1.0}, "not of probabilities"),
        (["a", None, "b"], {"epsilon": 1.0}, "label of row 1"),
        ([0, 1], {"epsilon": 1.0, "classes": [0, 1, math.nan]}, "classes is a list of all labels"),
        ([0, 1], {"epsilon": 1.0, "classes": [0, 1, None]}, "classes is a list of all labels"),
        ([0, 1], {"epsilon": 1.0, "classes": [[0, 1], [2, 3]]}, "classes is a list of all labels"),
        ([0, 1], {"epsilon": 1.0, "classes": 2}, "classes is a list of all labels there may be, .* got 2"),
        ([0, 2], {"epsilon": 1.0, "classes": [0, 1]}, "the label 2 is not among the classes"),
    ],
)
def test_what_cannot_be_asked(y, ways, said):
    with pytest.raises(ValueError, match=said):
        private_labels(y, **ways)
