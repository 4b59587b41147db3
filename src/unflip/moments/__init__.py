"""Moments: sums that hold all a linear learner needs; they merge, subtract and keep.

The value and its algebra live here, and know nothing of how sums are made: passes over rows do, in
`unflip.passes`, a layer above. Users look for both under this name, so functions of that layer are fetched
when they are asked for: the one import that goes up, as the contract in pyproject.toml says.

>>> from unflip.moments import accumulate
>>> moments = accumulate(([[1.0], [3.0]], [-1, 1]))
>>> moments.label_mean.tolist()
[1.0]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from unflip.moments.median import median_of_means
from unflip.moments.moments import Moments

if TYPE_CHECKING:
    from unflip.passes import accumulate, block_moments, robust_moments

__all__ = ["Moments", "accumulate", "block_moments", "median_of_means", "robust_moments"]


def __getattr__(name: str) -> Any:
    """Fetch a pass over rows."""
    if name in __all__:
        return getattr(import_module("unflip.passes"), name)
    raise AttributeError(f"module 'unflip.moments' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
