"""Linear scores that neither overflow nor lose their sign.

A factor of 1e150 on the features makes scores of 1e300, one of 1e-150 makes them vanish. Signs and
order do not need that scale, so scores are computed relative to a power of two and scaled last.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from unflip._threads import workers
from unflip.border.arrays import Array, beside, doubled, is_foreign
from unflip.border.blocks import feature_rows
from unflip.moments.frame import Frame, dense
from unflip.passes.host import compiled_scores, is_compiled


@dataclass(frozen=True, eq=False)
class LinearScorer:
    """2**doublings * (<direction, z> + base), with z in a frame of the features.

    direction: (d,) for two classes, (K, d) for more; base: a number or (K,).

    >>> scorer = LinearScorer(np.array([2.0]), -1.0, Frame(np.array([5.0])))
    >>> scorer.relative(np.array([[6.0], [5.0]]), lambda X: X).tolist(), scorer.exponent
    ([0.25, -0.25], 2)
    """

    direction: Array
    base: Any
    frame: Frame
    doublings: int = 0

    @cached_property
    def exponent(self) -> int:
        """The power of two that relative scores lack, the doublings aside."""
        largest = float(np.abs(self.direction).max(initial=0.0))
        if not largest:
            return 0
        known = np.abs(np.asarray(self.base)[np.isfinite(self.base)])
        room = int(np.frexp(known.max(initial=0.0))[1]) - 1000  # below which the base would overflow
        return max(int(np.frexp(largest)[1]), room)

    @property
    def coef(self) -> Array:
        """Weights of the features as they come."""
        with np.errstate(over="ignore"):
            return np.ldexp(self.direction / self.frame.unit, self.doublings)

    @property
    def intercept(self) -> Any:
        """The score of the zero vector."""
        origin, unit = self.frame
        with np.errstate(over="ignore", invalid="ignore"):
            return np.ldexp(self.base - self.direction @ (origin / unit), self.doublings)

    def relative(self, X: Any, transform: Callable[[Any], Any]) -> Any:
        """The scores of the rows of X without their common power of two: right in sign and order.

        They are an array of NumPy, or of the library of X beside X.
        """
        direction = np.ldexp(self.direction, -self.exponent)
        base = np.ldexp(self.base, -self.exponent)
        if is_foreign(X):
            return self._relative_beside(X, transform, direction, base)
        scores = np.empty((X.shape[0], *self.direction.shape[:-1]))
        compiled = self.direction.ndim == 1 and is_compiled(X)

        def score(rows: slice) -> None:
            phi = transform(X[rows])
            with np.errstate(over="ignore", invalid="ignore"):
                if compiled and isinstance(phi, np.ndarray) and phi.flags.c_contiguous:
                    scores[rows] = compiled_scores(phi, direction, self.frame) + base
                else:
                    scores[rows] = dense(self.frame.z(phi) @ direction.T) + base

        blocks = feature_rows(X, transform)
        with workers(None) if len(blocks) > 1 else nullcontext(map) as spread:
            for _ in spread(score, blocks):
                pass
        return scores

    @np.errstate(over="ignore", invalid="ignore")  # for libraries that are NumPy inside
    def _relative_beside(self, X: Any, transform: Callable[[Any], Any], direction: Array, base: Any) -> Any:
        parts, added = [], beside(base, X)
        for rows in feature_rows(X, transform):
            phi = transform(X[rows, :])
            z = self.frame.z(phi)
            # A map that works on the host only has brought its features there.
            parts.append(beside(z @ beside(direction.T, z), X) + added)
        return parts[0] if len(parts) == 1 else array_namespace(X).concat(parts)

    def absolute(self, relative: Any) -> Any:
        """Relative scores in their own scale."""
        return doubled(relative, self.exponent + self.doublings)
