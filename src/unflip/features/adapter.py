"""Any fitted scikit-learn transformer as a feature map."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted


class Transformed:
    """A fitted, label-free transformer with a key: its class and a hash of its fitted state.

    >>> from sklearn.preprocessing import StandardScaler
    >>> scaler = StandardScaler().fit([[0.0], [2.0]])
    >>> Transformed(scaler).key
    'StandardScaler:...'
    >>> Transformed(scaler).transform([[3.0]]).tolist()
    [[2.0]]
    """

    def __init__(self, transformer: Any) -> None:
        import joblib

        check_is_fitted(transformer)
        self.transformer = transformer
        self.key = f"{type(transformer).__name__}:{joblib.hash(vars(transformer), hash_name='sha1')}"

    def transform(self, X: Any) -> Any:
        """The transformer's output, dense or sparse."""
        return self.transformer.transform(X)
