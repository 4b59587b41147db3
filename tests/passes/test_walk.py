"""How a pass finds its way: over parts, batches and rows elsewhere, without knowing any source by name."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from unflip.moments import accumulate, block_moments
from unflip.passes.walk import fold
from unflip.private import private_moments
from unflip.sources import Source, arrays
from unflip.sources.source import Elsewhere

pytestmark = pytest.mark.usefixtures("two_threads")
X, Y = np.arange(24.0).reshape(12, 2), np.arange(12) % 3


class Halves(Source):
    """Rows in two parts, of which each comes in two batches."""

    parts = (0, 6)
    fingerprint = "halves"

    def read(self, part):
        for start in (part, part + 3):
            yield arrays(X[start : start + 3], Y[start : start + 3])


class Cluster(Elsewhere):
    """A source that takes functions to its rows, and the sums here."""

    def __init__(self, *parts):
        self.parts = parts

    def summed_by(self, sums):
        return sum(sums.of_batch(arrays(*part)) for part in self.parts)


def test_parts_and_batches_have_the_sums_of_all_rows():
    whole = accumulate((X, Y))
    for source in (Halves(), [(X[:5], Y[:5]), (X[5:], Y[5:])], Cluster((X[:5], Y[:5]), (X[5:], Y[5:]))):
        found = accumulate(source)
        assert_array_equal(found.sums, whole.sums)
        assert found.key == whole.key


def test_anything_that_adds_up_can_be_folded():
    assert fold(Halves(), lambda batch: batch.X.sum()) == X.sum()
    assert fold(Halves(), lambda batch: (len(batch.labels),)) == (3, 3, 3, 3)  # in the order of the rows
    assert fold([], lambda batch: 1) is None


@pytest.mark.parametrize(
    "call",
    [
        lambda source: accumulate(source, checkpoint="no/such/folder/pass.npz"),
        lambda source: block_moments(source, outliers=1),
        lambda source: private_moments(source, 1.0, 1e-6, bound=1.0),
    ],
)
def test_what_needs_rows_here_refuses_rows_elsewhere(call):
    with pytest.raises(ValueError, match="read here, not in a database or a cluster"):
        call(Cluster((X, Y)))


def test_rows_of_an_array_library_may_be_mapped_to_sparse_features_on_the_host():
    xp = pytest.importorskip("array_api_strict")
    from unflip.features import OneHot

    one_hot = OneHot().fit(Y[:, None])
    found = accumulate((xp.asarray(Y[:, None].astype(float)), xp.asarray(Y)), one_hot)
    assert_array_equal(found.sums, accumulate((Y[:, None].astype(float), Y), one_hot).sums)
