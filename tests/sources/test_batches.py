"""What may be given as a source, and what is said of anything else."""

import numpy as np
import pytest

from unflip.border.weights import as_weight
from unflip.moments import accumulate
from unflip.sources import arrays, batches

X, Y = np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1])


def test_a_list_of_plain_tuples_is_a_source():
    parts = [(X[:2], Y[:2]), (X[2:], Y[2:], [1.0, 1.0]), arrays(X[:0], Y[:0])]
    assert accumulate(parts).sums.tolist() == accumulate((X, Y)).sums.tolist()
    assert accumulate(iter(parts)).sums.tolist() == accumulate((X, Y)).sums.tolist()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ([X, Y], "this list yields a ndarray"),
        ([X.tolist(), Y.tolist()], "this list yields a list"),
        (X, "this ndarray yields a ndarray"),
        ((X,), "this tuple has length 1"),
        ((X, Y, None, None), "this tuple has length 4"),
        ([(X,)], "this list yields a tuple"),
        (None, "this is a NoneType"),
    ],
)
def test_anything_else_is_refused_in_a_sentence(source, said):
    with pytest.raises(TypeError, match=rf"a source is a tuple \(X, y\) or .*; {said}"):
        list(batches(source))


def test_weights_with_an_infinite_sum_are_refused():
    with pytest.raises(ValueError, match="sample_weight has an infinite sum"):
        as_weight(np.full(60, 1e307), 60)
    with pytest.raises(ValueError, match="weighted sums of X overflow"):
        accumulate((1e3 * X, Y, np.full(4, 1e307)))
