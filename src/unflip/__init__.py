"""unflip: learn classifiers from labels you cannot trust.

>>> from unflip import UnhingedClassifier
>>> UnhingedClassifier().fit([[0.0], [1.0], [5.0]], ["no", "no", "yes"]).predict([[4.0]]).tolist()
['yes']
"""

from unflip.estimators import (
    BoundedUnhingedClassifier,
    LossClassifier,
    SquareClassifier,
    UnhingedClassifier,
)

__version__ = "0.1.0"

__all__ = ["BoundedUnhingedClassifier", "LossClassifier", "SquareClassifier", "UnhingedClassifier"]
