"""Label-free feature maps.

Any scikit-learn transformer that is fitted without labels serves:

>>> from sklearn.preprocessing import StandardScaler
>>> Transformed(StandardScaler().fit([[0.0], [2.0]])).transform([[1.0]]).tolist()
[[0.0]]
"""

from unflip.features.adapter import Transformed
from unflip.features.base import Columns, FeatureMap, as_feature_map

__all__ = ["Columns", "FeatureMap", "Transformed", "as_feature_map"]
