"""Exact Gaussian scores of rows that are arrays of torch or CuPy, beside the rows.

Tiles of the table of pairs are made in float64 with the operations of the array API. For float32 on an NVIDIA
GPU with Triton (extra `gpu`) a fused kernel takes over, where its digits suffice.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from unflip._triton import as_tensor, is_for_triton, like_given
from unflip.border.arrays import all_finite, as_float64, beside, is_foreign, to_numpy
from unflip.border.blocks import device_blocks

EXACT_EXPONENTS = 1e3  # (|x|^2 + |z|^2) / bandwidth^2 up to which exponents of a product are right to 1e-12
# Exponents of two up to which the fused kernel keeps its promise, 1e-5 and 1e-3: on an H200, with 64 columns,
# errors are 5e-6 where these reach 176, and 9e-4 where they reach 20.
LARGEST_EXPONENTS = {"accurate": 256.0, "fast": 20.0}


def gaussian_score(X: Any, Z: Any, weights: Any, bandwidth: float, precision: str = "accurate") -> Any:
    """sum_j weights_j exp(-|x_i - z_j|^2 / (2 bandwidth^2)) in float64, beside X; one of X and Z is foreign.

    >>> import array_api_strict as xp
    >>> gaussian_score(xp.asarray([[0.0]]), xp.asarray([[0.0], [2.0]]), [1.0, -1.0], 1.0)
    Array([0.86466472], dtype=array_api_strict.float64)
    """
    if precision not in LARGEST_EXPONENTS:
        raise ValueError(f"precision is 'accurate' or 'fast', got {precision!r}")
    like = X if is_foreign(X) else Z
    left, right = _table(X, like, "X"), _table(Z, like, "Z")
    if left.shape[1] != right.shape[1]:
        raise ValueError(f"X has {left.shape[1]} columns, Z has {right.shape[1]}")
    w = _weights(weights, right)
    found = _by_kernel(left, right, w, bandwidth, precision)
    return _in_tiles(left, right, w, bandwidth) if found is None else found


def _in_tiles(X: Any, Z: Any, w: Any, bandwidth: float) -> Any:
    xp = array_namespace(X)
    origin = _mean(Z)
    z = (as_float64(Z) - origin) / bandwidth
    z_squares = xp.sum(z * z, axis=1)
    farthest = float(xp.max(z_squares)) if Z.shape[0] else 0.0
    if not farthest < 1e300:
        raise ValueError("squared distances overflow: some rows reach far beyond the bandwidth; rescale them")
    parts = []
    for rows in device_blocks(X.shape[0], max(1, min(Z.shape[0], 1 << 12))):
        x = (as_float64(X[rows, :]) - origin) / bandwidth
        x_squares = xp.sum(x * x, axis=1)
        by_product = float(xp.max(x_squares)) + farthest <= EXACT_EXPONENTS
        total = xp.zeros((x.shape[0], *w.shape[1:]), dtype=xp.float64, device=device(X))
        for columns in device_blocks(Z.shape[0], x.shape[0] * (1 if by_product else x.shape[1])):
            near = z[columns, :]
            if by_product:
                apart = x_squares[:, None] + z_squares[columns][None, :] - 2.0 * (x @ near.T)
            else:  # a product would lose the digits of rows that are close to each other
                apart = xp.sum((x[:, None, :] - near[None, :, :]) ** 2, axis=2)
            own = w[columns] if w.ndim == 1 else w[columns, :]
            total = total + xp.exp(-0.5 * apart) @ own
        parts.append(total)
    return parts[0] if len(parts) == 1 else xp.concat(parts, axis=0)


def _by_kernel(X: Any, Z: Any, w: Any, bandwidth: float, precision: str) -> Any:
    """The scores by the fused kernel; None if it is not there, or has too few digits for these rows."""
    xp = array_namespace(X)
    if not is_for_triton(X) or not X.shape[0] or not Z.shape[0]:
        return None
    if precision == "accurate" and (X.dtype == xp.float64 or Z.dtype == xp.float64):
        return None
    from unflip.kernels import triton_gaussian as fused

    if fused.padded_width(X.shape[1]) > fused.WIDEST_TILES:
        return None
    scale = math.sqrt(math.log2(math.e)) / bandwidth
    origin = as_tensor(_mean(Z))
    x, z = (_prepared(as_tensor(side), origin, scale, fused.padded_width(X.shape[1])) for side in (X, Z))
    reach = float((x * x).sum(dim=1).max() + (z * z).sum(dim=1).max()) / 2
    if precision == "fast" and not reach <= LARGEST_EXPONENTS[precision]:
        precision = "accurate"
    if not reach <= LARGEST_EXPONENTS[precision]:
        return None
    columns = as_tensor(w if w.ndim == 2 else w[:, None])
    # One walk over the pairs for each column: most have one.
    found = [fused.scores(x, z, columns[:, k], precision) for k in range(columns.shape[1])]
    if w.ndim == 1:
        return like_given(found[0], X)
    import torch

    return like_given(torch.stack(found, dim=1), X)


def _prepared(rows: Any, origin: Any, scale: float, width: int) -> Any:
    """Rows about the origin, scaled, in float32, with columns of zeros up to a width."""
    import torch

    ready = torch.zeros((rows.shape[0], width), dtype=torch.float32, device=rows.device)
    for part in device_blocks(*rows.shape):
        ready[part, : rows.shape[1]] = (rows[part].double() - origin) * scale
    return ready


def _mean(Z: Any) -> Any:
    """The mean of the rows in float64, zero if there are none."""
    xp = array_namespace(Z)
    total = xp.zeros(Z.shape[1], dtype=xp.float64, device=device(Z))
    for rows in device_blocks(*Z.shape):
        total = total + xp.sum(as_float64(Z[rows, :]), axis=0)
    return total / max(1, Z.shape[0])


def _table(X: Any, like: Any, name: str) -> Any:
    table = beside(X, like)
    xp = array_namespace(table)
    if table.ndim != 2 or xp.isdtype(table.dtype, "complex floating"):
        raise ValueError(f"{name} is two-dimensional and of real numbers, got shape {tuple(table.shape)}")
    if xp.isdtype(table.dtype, "real floating") and not all_finite(table):
        raise ValueError(f"Input {name} contains NaN or infinity")
    return table


def _weights(weights: Any, Z: Any) -> Any:
    w = weights if is_foreign(weights) else np.asarray(weights, dtype=np.float64)
    if w.ndim not in (1, 2) or w.shape[0] != Z.shape[0]:
        rows = Z.shape[0]
        raise ValueError(f"Z has {rows} rows, so weights are ({rows},) or ({rows}, k); got {tuple(w.shape)}")
    w = as_float64(beside(w, Z))
    if not all_finite(w):
        found = to_numpy(w)
        raise ValueError(f"weights are finite, got {found[~np.isfinite(found)][0]}")
    return w
