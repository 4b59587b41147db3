"""Private labels by randomised response: flipped at a known rate before anybody sees them.

Warner (1965). Flips at a rate that does not depend on the row are the noise that the learners here are robust
to by theorem, so they need not be told; whoever knows the rate can correct scores for it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unflip.border.arrays import Array
from unflip.moments.privacy import opendp
from unflip.noise import SymmetricNoise, UniformNoise
from unflip.private.parameters import as_classes, as_epsilon
from unflip.sources import encode


def private_labels(
    y: Any, epsilon: float, classes: Any = None
) -> tuple[Array, SymmetricNoise | UniformNoise]:
    """Labels of which each is epsilon-differentially private, and the noise that they now have.

    Each label is replaced, with probability (K - 1) / (e^epsilon + K - 1), by one of the K - 1 others. What
    stands beside them, X, is as it was. classes: all labels there may be; if not given, those that occur.

    >>> labels, noise = private_labels([0, 1] * 5000, epsilon=math.log(3))
    >>> round(noise.rate, 6), bool(abs((labels != np.array([0, 1] * 5000)).mean() - 0.25) < 0.03)
    (0.25, True)
    """
    epsilon = as_epsilon(epsilon, most=20)
    given = encode(y)
    if given.codes is None:
        raise ValueError("labels to be flipped form one column of classes, not of probabilities")
    known = given.classes if classes is None else as_classes(classes)
    if len(known) < 2:
        raise ValueError("labels are of at least two classes")
    strange = given.classes[~np.isin(given.classes, known)]
    if len(strange):
        raise ValueError(f"the label {strange.tolist()[0]!r} is not among the classes {known.tolist()}")
    k = len(known)
    truth, places = math.exp(epsilon) / (math.exp(epsilon) + k - 1), list(range(k))  # truth: its probability
    answer = opendp().m.make_randomized_response(places, prob=truth)
    while answer.map(1) > epsilon:  # by rounding
        truth = math.nextafter(truth, 0.0)
        answer = opendp().m.make_randomized_response(places, prob=truth)
    told = [answer(place) for place in np.searchsorted(known, given.classes)[given.codes].tolist()]
    return known[told], SymmetricNoise(1 - truth) if k == 2 else UniformNoise(1 - truth, k)
