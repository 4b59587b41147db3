"""The walk: passes over rows, wherever they are, that sum them by class into moments.

`accumulate` asks a source how its rows come: in parts, one after another, as tasks on a cluster, or as the
answer to a query. `one_batch` sums the rows of a batch, by the engine that suits them (`engines`). What is
public here is so as a part of `unflip.moments`.

>>> accumulate(([[1.0], [3.0]], [-1, 1])).sums.tolist()
[[1.0], [3.0]]
"""

from unflip.passes.one_pass import accumulate
from unflip.passes.robust import block_moments, robust_moments

__all__ = ["accumulate", "block_moments", "robust_moments"]
