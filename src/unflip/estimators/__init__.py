"""Classifiers in scikit-learn's manner.

>>> model = UnhingedClassifier().fit([[0.0], [1.0]], ["no", "yes"])
>>> model.predict([[2.0]]).tolist()
['yes']
"""

from unflip.estimators.bounded import BoundedUnhingedClassifier
from unflip.estimators.centroid import UnhingedClassifier
from unflip.estimators.discriminant import SquareClassifier
from unflip.estimators.minimizer import LossClassifier
from unflip.solvers.certificate import Certificate

__all__ = [
    "BoundedUnhingedClassifier",
    "Certificate",
    "LossClassifier",
    "SquareClassifier",
    "UnhingedClassifier",
]
