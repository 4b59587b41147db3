"""A kernel of ranks: it does not change when a column is stretched by an increasing function.

Cut each column of ranks at the points of a Poisson process, and let two rows agree if no cut falls
between them: they do with probability exp(-sum_j |r_j - r'_j| / b). So this kernel is the closed form
of infinitely many random partitions, made without a look at labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unflip.border.arrays import Array
from unflip.kernels.distances import manhattan_between
from unflip.kernels.profile import DistanceKernel
from unflip.kernels.rows import as_dense, as_table


def midranks(X: Any, reference: Any) -> Array:
    """(count below + count at or below) / (2 rows), in [0, 1], against the columns of a sample.

    >>> midranks([[0.0], [1.0], [2.5], [9.0]], [[3.0], [2.0], [1.0], [1.0]]).ravel().tolist()
    [0.0, 0.25, 0.75, 1.0]
    """
    sample = as_dense(as_table(reference, "reference"), "a rank")
    return _ranks(as_dense(as_table(X, "X"), "a rank"), np.sort(sample, axis=0))


@dataclass(frozen=True, eq=False, repr=False)
class RankLaplace(DistanceKernel):
    """exp(-sum_j |r_j - r'_j| / bandwidth), r being mid-ranks against a reference sample.

    The columns of the reference are sorted on the way in. Rows are dense.

    >>> kernel = RankLaplace([[1.0], [10.0], [100.0], [1000.0]], bandwidth=1.0)
    >>> kernel([[50.0]], [[5.0], [500.0]]).round(6).tolist()
    [[0.778801, 0.778801]]
    """

    metric: ClassVar[str] = "manhattan"

    reference: Any
    bandwidth: float

    def __post_init__(self) -> None:
        super().__post_init__()
        columns = np.sort(as_dense(as_table(self.reference, "reference"), "a rank"), axis=0)
        columns.flags.writeable = False
        object.__setattr__(self, "reference", columns)

    def ranks(self, X: Any) -> Array:
        """The mid-ranks that the kernel sees."""
        return self.prepare(as_table(X, "X"), None)

    def prepare(self, X: Any, origin: Array | None) -> Array:
        """Mid-ranks."""
        return _ranks(as_dense(X, "RankLaplace"), self.reference)

    def distances_between(self, a: Any, b: Any) -> Array:
        """Sums of absolute differences of ranks."""
        return manhattan_between(a, b)

    @property
    def stationary(self) -> bool:
        """False: steps count in ranks."""
        return False

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, RankLaplace)
            and self.bandwidth == other.bandwidth
            and np.array_equal(self.reference, other.reference)
        )

    def __hash__(self) -> int:
        return hash((self.bandwidth, self.reference.tobytes()))

    def __repr__(self) -> str:
        rows, columns = self.reference.shape
        return f"RankLaplace({rows} x {columns} reference, bandwidth={self.bandwidth!r})"


def _ranks(X: Array, columns: Array) -> Array:
    """Mid-ranks against sorted columns."""
    if X.shape[1] != columns.shape[1]:
        raise ValueError(f"X has {X.shape[1]} columns, the reference has {columns.shape[1]}")
    ranks = np.empty(X.shape)
    for j, column in enumerate(columns.T):
        below, upto = (np.searchsorted(column, X[:, j], side) for side in ("left", "right"))
        ranks[:, j] = (below + upto) / (2 * len(column))
    return ranks
