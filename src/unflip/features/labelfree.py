"""What our own maps share: scikit-learn's manners, a key, and features for any block of rows.

A map is a transformer that looks at X alone, never at labels. Once fitted it has a `width`, the number
of its features, and a `radius`, which no |phi(x)| exceeds. The features of a row do not depend on the
rows around it, so accumulation works in blocks and never holds n x width numbers.
"""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from unflip._state import all_or_nothing
from unflip.border.arrays import Array
from unflip.border.rows import finite_rows
from unflip.border.words import column_label


class LabelFree(TransformerMixin, BaseEstimator):
    """A feature map that is fitted to rows alone. A new one defines `_learn`, `_map` and what it is made of.

    >>> from unflip.features import Standardize
    >>> scaler = Standardize().fit([[0.0], [2.0]])
    >>> scaler.key, scaler.width, scaler.radius
    ('Standardize:...', 1, inf)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}
    _on_device: ClassVar[bool] = False  # whether arrays of torch and CuPy stay where they are
    elementwise: ClassVar[bool] = False  # each feature comes from one column, by the same steps in any block

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to the rows of X; y is ignored."""
        with all_or_nothing(self):
            self._learn(self._rows(X, reset=True))
        return self

    def transform(self, X: Any) -> Any:
        """The features of the rows of X."""
        check_is_fitted(self)
        return self.block(self._rows(X, reset=False))

    def block(self, X: Any) -> Any:
        """The features of rows that are an array or a CSR matrix already; nothing is checked again."""
        if sparse.issparse(X) and not self._takes_sparse:
            raise TypeError(f"{self!r} takes dense rows only; call .toarray() on sparse ones")
        return self._map(X)

    @property
    def key(self) -> str:
        """The class and a hash of all that makes the map: equal for equal fits, in any process."""
        check_is_fitted(self)
        names = None if self._names is None else list(map(str, self._names))
        parts = {"names": names, **self._parts()}
        facts = {name: part for name, part in parts.items() if not isinstance(part, np.ndarray)}
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
        for name in sorted(parts.keys() - facts.keys()):
            digest.update(f"{name} {parts[name].dtype.str} {parts[name].shape}".encode())
            digest.update(np.ascontiguousarray(parts[name]).tobytes())
        return f"{type(self).__name__}:{digest.hexdigest()[:40]}"

    @property
    @abstractmethod
    def width(self) -> int:
        """The number of features."""

    @property
    @abstractmethod
    def radius(self) -> float:
        """A bound on |phi(x)|, possibly infinite."""

    @abstractmethod
    def _learn(self, X: Any) -> None:
        """Set what is fitted, from rows that were checked."""

    @abstractmethod
    def _map(self, X: Any) -> Any:
        """The features of rows that were checked, in float64."""

    @abstractmethod
    def _parts(self) -> dict[str, Any]:
        """All that makes the fitted map: arrays by name, and anything that JSON keeps."""

    @property
    def _takes_sparse(self) -> bool:
        return False

    @property
    def _fewest_rows(self) -> int:
        return 1

    @property
    def _n_features_out(self) -> int:
        return self.width

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """X as a finite numeric array or CSR matrix."""
        return finite_rows(
            X,
            self,
            reset=reset,
            stay=self._on_device,
            sparse=self._takes_sparse,
            fewest=self._fewest_rows if reset else 1,
        )

    @property
    def _names(self) -> Any:
        return getattr(self, "feature_names_in_", None)

    def _refuse_giant_span(self, low: Array, high: Array) -> None:
        """Raise if a column spans so much that differences overflow."""
        with np.errstate(over="ignore"):
            wide = np.flatnonzero(~np.isfinite(high - low))
        if wide.size:
            j = int(wide[0])
            raise ValueError(
                f"column {column_label(j, self._names)} of X spans {low[j]:g} to {high[j]:g}, "
                "which is more than float64 can hold; rescale it"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        return tags


def generator(random_state: Any) -> np.random.Generator:
    """A generator from anything scikit-learn takes as a random state.

    >>> float(generator(0).uniform()) == float(generator(0).uniform())
    True
    """
    return np.random.default_rng(int(check_random_state(random_state).randint(2**31 - 1)))
