"""Look at labels before trusting them, and at learners before trusting them with such labels.

>>> from sklearn.datasets import load_iris
>>> from unflip import SquareClassifier
>>> robustness_curve(SquareClassifier(), *load_iris(return_X_y=True), rates=(0.0, 0.3)).scores.shape
(2, 5)
"""

from unflip.audit.robustness import RobustnessCurve, RobustnessCurveDisplay, robustness_curve

__all__ = ["RobustnessCurve", "RobustnessCurveDisplay", "robustness_curve"]
