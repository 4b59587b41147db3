"""Moments: sums that hold all a linear learner needs; they merge, subtract and keep.

>>> moments = accumulate(([[1.0], [3.0]], [-1, 1]))
>>> moments.label_mean.tolist()
[1.0]
"""

from unflip.moments.accumulate import accumulate
from unflip.moments.moments import Moments
from unflip.moments.robust import block_moments, median_of_means, robust_moments

__all__ = ["Moments", "accumulate", "block_moments", "median_of_means", "robust_moments"]
