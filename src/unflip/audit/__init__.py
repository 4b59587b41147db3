"""Look at labels before trusting them, and at learners before trusting them with such labels.

>>> from sklearn.datasets import load_iris
>>> from unflip import SquareClassifier
>>> robustness_curve(SquareClassifier(), *load_iris(return_X_y=True), rates=(0.0, 0.3)).scores.shape
(2, 5)
"""

from unflip.audit.displays import NoiseEstimateDisplay, RobustnessCurveDisplay, SuspectsDisplay
from unflip.audit.rate import AuditEstimate, estimate_noise
from unflip.audit.robustness import RobustnessCurve, robustness_curve
from unflip.audit.suspects import Suspect, Suspects, find_suspects

__all__ = [
    "AuditEstimate",
    "NoiseEstimateDisplay",
    "RobustnessCurve",
    "RobustnessCurveDisplay",
    "Suspect",
    "Suspects",
    "SuspectsDisplay",
    "estimate_noise",
    "find_suspects",
    "robustness_curve",
]
