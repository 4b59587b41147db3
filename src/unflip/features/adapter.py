"""Any fitted scikit-learn transformer as a feature map.

The key of a transformer is a hash of its fitted state. Some transformers fill caches while they work
(the splines of `SplineTransformer` do), which changes the hash but not the map. So the key is taken
once for each object, and stands until the object is fitted anew. Other processes do not know the
object: broadcast `Transformed(transformer)`, which carries its key along. Our own maps name themselves.
"""

from __future__ import annotations

import warnings
from typing import Any
from weakref import WeakKeyDictionary

from sklearn.utils.validation import check_is_fitted

from unflip.features.labelfree import LabelFree

_keys: WeakKeyDictionary[Any, tuple[dict[str, Any], str]] = WeakKeyDictionary()


class Transformed:
    """A fitted, label-free transformer with a key: its class and a hash of its fitted state.

    The key is computed once and kept, also through pickle: this is what to send to the workers that
    sum parts of the data. The transformer must not be fitted again.

    >>> from sklearn.preprocessing import StandardScaler
    >>> scaler = StandardScaler().fit([[0.0], [2.0]])
    >>> Transformed(scaler).key
    'StandardScaler:...'
    >>> Transformed(scaler).transform([[3.0]]).tolist()
    [[2.0]]
    """

    def __init__(self, transformer: Any) -> None:
        check_is_fitted(transformer)
        self.transformer = transformer
        self.key: str = transformer.key if isinstance(transformer, LabelFree) else _key(transformer)

    def transform(self, X: Any) -> Any:
        """The transformer's output, dense or sparse."""
        if isinstance(self.transformer, LabelFree):
            return self.transformer.block(X)
        with warnings.catch_warnings():
            # Rows come as arrays; `as_feature_map` has compared the names of the frame they came from.
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            return self.transformer.transform(X)


def _key(transformer: Any) -> str:
    """The key this object had before, if it is still made of the same parts; otherwise a new one."""
    try:
        parts, key = _keys.get(transformer, ({}, ""))
    except TypeError:  # it cannot be hashed or weakly referenced, so it has no memory
        return _computed_key(transformer)
    state = vars(transformer)
    # Fitting replaces parts; a cache grows inside one, or is a part that was not there before.
    if not key or any(state.get(name, parts) is not part for name, part in parts.items()):
        key = _computed_key(transformer)
        _keys[transformer] = dict(state), key
    return key


def _computed_key(transformer: Any) -> str:
    import joblib

    return f"{type(transformer).__name__}:{joblib.hash(vars(transformer), hash_name='sha1')}"
