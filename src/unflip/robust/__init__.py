"""Choosing a classifier when every label is suspect.

>>> from unflip.robust import RobustClassifierCV
>>> RobustClassifierCV().fit([[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1]).predict([[8.0]]).tolist()
[1]
"""

from unflip.robust.ensemble import RidgeEnsemble
from unflip.robust.guarantee import Guarantee
from unflip.robust.robust_cv import RobustClassifierCV

__all__ = ["Guarantee", "RidgeEnsemble", "RobustClassifierCV"]
