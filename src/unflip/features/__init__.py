"""Label-free feature maps: fitted to rows alone, so that label noise cannot touch them.

>>> Quantile().fit_transform([[1.0], [10.0], [1000.0]]).round(2).tolist()
[[-0.97], [0.0], [0.97]]

Any scikit-learn transformer that is fitted without labels serves:

>>> from sklearn.preprocessing import StandardScaler
>>> Transformed(StandardScaler().fit([[0.0], [2.0]])).transform([[1.0]]).tolist()
[[0.0]]
"""

from unflip.features.adapter import Transformed
from unflip.features.base import Columns, FeatureMap, as_feature_map
from unflip.features.fourier import Fourier
from unflip.features.nystroem import Nystroem
from unflip.features.onehot import OneHot
from unflip.features.orthogonal import OrthogonalFourier
from unflip.features.quantile import Quantile
from unflip.features.standardize import Standardize

__all__ = [
    "Columns",
    "FeatureMap",
    "Fourier",
    "Nystroem",
    "OneHot",
    "OrthogonalFourier",
    "Quantile",
    "Standardize",
    "Transformed",
    "as_feature_map",
]
