"""Choosing a classifier when every label is suspect.

>>> from unflip.selection import RobustClassifierCV
>>> RobustClassifierCV().fit([[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1]).predict([[8.0]]).tolist()
[1]
"""

from unflip.selection.guarantee import Guarantee
from unflip.selection.robust_cv import RobustClassifierCV

__all__ = ["Guarantee", "RobustClassifierCV"]
