"""Rows in orthogonal coordinates: the same column space, perfectly conditioned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Whitened:
    """X = Q T^-1 with Q'Q = n I. Weights u for Q are weights T u for X, the shortest that give those scores.

    All losses but the unhinged one depend on X only through its column space when there is no penalty
    to speak of (the paper has 1e-16), so this changes nothing but the conditioning.

    >>> white = Whitened.of(np.array([[1.0, 1.0], [1.0, 1.0], [3.0, 3.0]]))
    >>> white.Q.shape, bool(np.allclose(white.Q.T @ white.Q, 3 * np.eye(1)))
    ((3, 1), True)
    """

    Q: Array
    T: Array

    @classmethod
    def of(cls, X: Array) -> Whitened:
        """By singular values; directions without spread beyond rounding are dropped."""
        n, d = X.shape
        left, values, right = np.linalg.svd(X, full_matrices=False)
        keep = values > 1e-10 * np.sqrt(max(n, d)) * values.max(initial=0.0)
        root = np.sqrt(n)
        return cls(root * left[:, keep], root * right[keep].T / values[keep])
