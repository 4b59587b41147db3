"""Label-free feature maps: fitted to rows alone, so that label noise cannot touch them.

>>> from unflip.features import Quantile, Transformed
>>> Quantile().fit_transform([[1.0], [10.0], [1000.0]]).round(2).tolist()
[[-0.97], [0.0], [0.97]]

Any scikit-learn transformer that is fitted without labels serves:

>>> from sklearn.preprocessing import StandardScaler
>>> Transformed(StandardScaler().fit([[0.0], [2.0]])).transform([[1.0]]).tolist()
[[0.0]]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from unflip.features.adapter import Transformed
from unflip.features.base import Columns, FeatureMap, as_feature_map

if TYPE_CHECKING:
    from unflip.features.fourier import Fourier
    from unflip.features.nystroem import Nystroem
    from unflip.features.onehot import OneHot
    from unflip.features.orthogonal import OrthogonalFourier
    from unflip.features.quantile import Quantile
    from unflip.features.standardize import Standardize
    from unflip.tables.tabular import Tabular

__all__ = [
    "Columns",
    "FeatureMap",
    "Fourier",
    "Nystroem",
    "OneHot",
    "OrthogonalFourier",
    "Quantile",
    "Standardize",
    "Tabular",
    "Transformed",
    "as_feature_map",
]

_HOMES = {
    "Fourier": "features.fourier",
    "Nystroem": "features.nystroem",
    "OneHot": "features.onehot",
    "OrthogonalFourier": "features.orthogonal",
    "Quantile": "features.quantile",
    "Standardize": "features.standardize",
    "Tabular": "tables.tabular",  # a layer above, where all that reads tables is
}


def __getattr__(name: str) -> Any:
    """Import a map on first use: classifiers without features should not pay for it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'unflip.features' has no attribute {name!r}")
    return getattr(import_module(f"unflip.{_HOMES[name]}"), name)
