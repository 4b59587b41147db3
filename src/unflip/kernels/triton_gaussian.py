"""Exact Gaussian scores on an NVIDIA GPU: a fused kernel that never writes the table of pairs (extra `gpu`).

A program holds a tile of rows of X and walks over rows of Z. Rows are scaled so that the exponent of two is
<x, z> - |x|^2 / 2 - |z|^2 / 2: products come from the tensor cores, the exponential is taken in place, is
multiplied by the weight, and one running sum for each row of X is kept in float64. The rows of Z are split
among several programs, whose sums are added in order: the result is the same every time.
"""

# mypy: disable-error-code="import-not-found, untyped-decorator, no-untyped-def"

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl

from unflip._triton import on_device_of

WIDEST_TILES = 128  # columns for which tiles fit near the tensor cores
PARTS_OF_Z = 4  # of Z, so that a short X fills the GPU too


class TileSizes(NamedTuple):
    """Rows of X and of Z in a tile, warps, loads under way, and how products are taken."""

    rows: int
    columns: int
    warps: int
    stages: int
    products: str


@triton.jit
def _score(
    X,
    Z,
    half_x,
    half_z,
    weights,
    partial,
    n,
    m,
    part,
    D: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    PRODUCTS: tl.constexpr,
):
    """Sums over one part of Z, for one tile of X: to partial, (parts, n)."""
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    k = tl.arange(0, D)
    x = tl.load(X + i.to(tl.int64)[:, None] * D + k[None, :], mask=(i < n)[:, None], other=0.0)
    hx = tl.load(half_x + i, mask=i < n, other=0.0)
    total = tl.zeros([ROWS], tl.float64)
    first = tl.program_id(1) * part
    for start in range(first, tl.minimum(first + part, m), COLUMNS):
        j = start + tl.arange(0, COLUMNS)
        z = tl.load(Z + j.to(tl.int64)[None, :] * D + k[:, None], mask=(j < m)[None, :], other=0.0)
        hz = tl.load(half_z + j, mask=j < m, other=0.0)
        w = tl.load(weights + j, mask=j < m, other=0.0)
        exponent = tl.dot(x, z, input_precision=PRODUCTS) - hx[:, None] - hz[None, :]
        total += tl.sum(tl.exp2(exponent) * w[None, :], axis=1).to(tl.float64)
    tl.store(partial + tl.program_id(1).to(tl.int64) * n + i, total, mask=i < n)


def tiles_for(width: int, precision: str) -> TileSizes:
    """What was fastest on an H200 for rows so wide.

    "accurate" makes three products of the tensor cores' 19 bit numbers, "fast" makes one.
    """
    if precision == "fast":
        return TileSizes(64, 128, 4, 3, "tf32") if width <= 64 else TileSizes(128, 128, 8, 2, "tf32")
    if width < 64:
        return TileSizes(64, 128, 4, 2, "tf32x3")
    return TileSizes(128, 64, 4, 2, "tf32x3") if width == 64 else TileSizes(128, 64, 8, 2, "tf32x3")


def padded_width(d: int) -> int:
    """The columns that tensor cores see."""
    return max(16, int(triton.next_power_of_2(d)))


def scores(x: Any, z: Any, weights: Any, precision: str, tiles: TileSizes | None = None) -> Any:
    """sum_j w_j 2^(<x, z_j> - |x|^2 / 2 - |z_j|^2 / 2) for each row of x, (n,) in float64.

    x, z: float32, contiguous, as wide as `padded_width` says, scaled, about a common centre; weights: (m,).
    """
    n, d, m = x.shape[0], x.shape[1], z.shape[0]
    rows, columns, warps, stages, products = tiles or tiles_for(d, precision)
    halves = [(0.5 * torch.sum(side.double() ** 2, dim=1)).float() for side in (x, z)]
    part = triton.cdiv(triton.cdiv(m, PARTS_OF_Z), columns) * columns
    parts = triton.cdiv(m, part)
    partial = torch.empty((parts, n), dtype=torch.float64, device=x.device)
    with on_device_of(x):
        _score[(triton.cdiv(n, rows), parts)](
            x,
            z,
            *halves,
            weights.float().contiguous(),
            partial,
            n,
            m,
            part,
            D=d,
            ROWS=rows,
            COLUMNS=columns,
            PRODUCTS=products,
            num_warps=warps,
            num_stages=stages,
        )
    return torch.sum(partial, dim=0)
