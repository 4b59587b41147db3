"""Odd but honest numbers are numbers; what is refused, and how, is in tests/contracts/test_bad_input.py."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning

from unflip import UnhingedClassifier
from unflip.moments import accumulate
from unflip.sources import arrays, encode


def test_numbers_in_odd_columns_are_numbers_still():
    frame = pd.DataFrame(
        {"a": pd.Series([1, 2], dtype=object), "b": pd.array([True, False], dtype="boolean")}
    )
    assert accumulate((frame, [0, 1])).sums.tolist() == [[1.0, 1.0], [2.0, 0.0]]


@pytest.mark.parametrize("kind", [kind for kind in ("Int128", "UInt128") if hasattr(pl, kind)])
def test_integers_of_128_bits_are_numbers_as_rows_labels_and_weights(kind):
    long = pl.Series("a", [1, 2, 3, 2**100], dtype=getattr(pl, kind))
    X, y = long.to_frame(), [0, 1, 0, 1]
    plain = UnhingedClassifier().fit(np.array([[1.0], [2.0], [3.0], [2.0**100]]), y)
    model = UnhingedClassifier().fit(X, y)
    assert model.coef_.tolist() == plain.coef_.tolist()
    assert model.feature_names_in_.tolist() == ["a"]
    assert model.predict(X).tolist() == plain.predict([[1.0], [2.0], [3.0], [2.0**100]]).tolist()
    assert accumulate((X, y)).sums.tolist() == [[4.0], [2.0**100 + 2.0]]
    assert arrays(X, y, weight=long).weight.tolist() == [1.0, 2.0, 3.0, 2.0**100]
    near = pl.Series("y", [2**100, 2**100 + 1], dtype=getattr(pl, kind))  # which are one, as floats
    assert encode(near).classes.tolist() == [2**100, 2**100 + 1]
    short = pl.Series(y, dtype=getattr(pl, kind))
    with pytest.warns(DataConversionWarning):
        assert encode(short.to_frame()).classes.tolist() == [0, 1]
    assert model.score(X, short, sample_weight=long) == model.score(X, y, sample_weight=[1, 2, 3, 2.0**100])


def test_sparse_tensors_are_refused_in_words():
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match=r"X is a tensor of torch.sparse_coo; use a sparse array of SciPy"):
        arrays(torch.eye(4).to_sparse(), torch.tensor([0, 1, 0, 1]))
