"""Feature maps: what phi is, with a key that names it.

A feature map never looks at labels, so label noise cannot touch it. Moments of different maps must
not be merged; the key, a hash of all that was fitted, is how they tell each other apart.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from unflip.features.adapter import Transformed
from unflip.features.labelfree import LabelFree


@runtime_checkable
class FeatureMap(Protocol):
    """What accumulation needs of a fitted map: rows in, rows of features out, and a name."""

    key: str

    def transform(self, X: Any) -> Any:
        """The features of the rows of X."""
        ...


class Columns:
    """The columns as they are; the key remembers their names, or only their number.

    >>> Columns(3).key, Columns(2, ("age", "height")).key
    ('columns:3', 'columns:2:...')
    """

    def __init__(self, width: int, names: tuple[str, ...] | None = None) -> None:
        self.key = f"columns:{width}"
        if names is not None:
            self.key += ":" + hashlib.sha256("\x1f".join(map(str, names)).encode()).hexdigest()[:16]

    def transform(self, X: Any) -> Any:
        """X itself."""
        return X


def as_feature_map(features: Any, width: int, names: tuple[str, ...] | None) -> FeatureMap:
    """A fitted transformer, ours or another, ready for blocks of rows; None stands for the plain columns.

    >>> as_feature_map(None, 4, None).key
    'columns:4'
    """
    if features is None:
        return Columns(width, names)
    ready = isinstance(features, FeatureMap) and not isinstance(features, LabelFree)
    feature_map = features if ready else Transformed(features)
    _refuse_other_columns(getattr(feature_map, "transformer", feature_map), width, names)
    return feature_map


def row_by_row(feature_map: FeatureMap) -> Callable[[Any], Any] | None:
    """How features are made that are the same to the last bit whatever rows are around; None if in no way.

    >>> row_by_row(Columns(1))([[3.0]])
    [[3.0]]
    """
    fitted = getattr(feature_map, "transformer", feature_map)
    if isinstance(feature_map, Columns) or getattr(fitted, "elementwise", False):
        return feature_map.transform
    return getattr(fitted, "row_by_row", None)


def _refuse_other_columns(fitted: Any, width: int, names: tuple[str, ...] | None) -> None:
    """Rows reach the map without names, so that only here swapped columns can be noticed."""
    if getattr(fitted, "n_features_in_", width) != width:
        raise ValueError(
            f"X has {width} columns, but {type(fitted).__name__} was fitted to {fitted.n_features_in_}"
        )
    expected = getattr(fitted, "feature_names_in_", None)
    if names is not None and expected is not None and list(names) != list(expected):
        raise ValueError(
            f"the columns of X are {list(names)}, but {type(fitted).__name__} was fitted to {list(expected)}"
        )
