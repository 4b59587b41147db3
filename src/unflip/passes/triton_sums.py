"""Sums by class on an NVIDIA GPU: one kernel that reads X once, at the speed of memory (extra `gpu`).

A program takes a run of rows and a panel of columns. It keeps one sum for each class and column in float64,
and turns numbers into z = (x - origin) / unit on their way. Programs write their sums side by side and these
are added in order: the result is the same every time.
"""

# mypy: disable-error-code="import-not-found, untyped-decorator, no-untyped-def"

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
import triton
import triton.language as tl

from unflip._triton import as_tensor, on_device_of
from unflip.border.labels import Labels
from unflip.moments.frame import Frame
from unflip.passes.array_api import second_moment
from unflip.passes.sums import ClassSums

__all__ = ["class_sums", "second_moment"]
WIDTH_OF_PANEL = 128  # columns in a panel


@triton.jit
def _add_rows(
    X,
    codes,
    weight,
    frame,
    partial,
    n,
    run,
    d_units,
    stride_units,
    column_stride,
    code_stride,
    weight_stride,
    K: tl.constexpr,
    SLOTS: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    STEPS: tl.constexpr,
    ALIGN: tl.constexpr,
    FRAMED: tl.constexpr,
    WEIGHTED: tl.constexpr,
):
    """Sums of one run of rows: to partial, (runs, K + 1, d + 1), squares in row K; column d is for counts."""
    d, stride = d_units * ALIGN, stride_units * ALIGN  # so that the compiler knows what they divide by
    first = tl.program_id(0).to(tl.int64) * run
    last = tl.minimum(first + run, n)
    k = tl.arange(0, SLOTS)[:, None, None]
    r = tl.arange(0, ROWS)[None, :, None]
    c = (tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS))[None, None, :]
    sums = tl.zeros([SLOTS, ROWS, COLUMNS], tl.float64)
    squares = tl.zeros([1, ROWS, COLUMNS], tl.float64)
    if FRAMED:
        # Numbers that are handed over arrive in float32, so the scale comes in memory, after the origin.
        middle, scale = tl.load(frame + c, mask=c < d, other=0.0), tl.load(frame + d)
    for start in range(first, last, ROWS * STEPS):
        for step in tl.static_range(STEPS):
            row = start + step * ROWS + r
            inside = row < last
            x = tl.load(X + row * stride + c * column_stride, mask=inside & (c < d), other=0.0)
            code = tl.load(codes + row * code_stride, mask=inside, other=99).to(tl.int32)
            z = x.to(tl.float64)
            if FRAMED:
                z = tl.where(inside, (z - middle) * scale, 0.0)
            if WEIGHTED:
                w = tl.load(weight + row * weight_stride, mask=inside, other=0.0)
                sums += tl.where(code == k, w, 0.0) * z
                squares += (w * z) * z
            else:
                sums += tl.where(code == k, 1.0, 0.0).to(tl.float64) * z
                squares += z * z
    width = d + 1
    out = partial + tl.program_id(0).to(tl.int64) * (K + 1) * width
    ks, cs = tl.arange(0, SLOTS), tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    shown = (ks < K)[:, None] & (cs < d)[None, :]
    tl.store(out + ks[:, None] * width + cs[None, :], tl.sum(sums, axis=1), mask=shown)
    tl.store(out + K * width + cs, tl.sum(tl.sum(squares, axis=1), axis=0), mask=cs < d)


@triton.jit
def _count(
    codes,
    weight,
    partial,
    n,
    run,
    d,
    code_stride,
    weight_stride,
    K: tl.constexpr,
    SLOTS: tl.constexpr,
    BLOCK: tl.constexpr,
    WEIGHTED: tl.constexpr,
):
    """Counts of the same run of rows: to column d of partial."""
    first = tl.program_id(0).to(tl.int64) * run
    last = tl.minimum(first + run, n)
    out = partial + (tl.program_id(0).to(tl.int64) * (K + 1) * (d + 1) + d)
    k = tl.arange(0, SLOTS)[:, None]
    counts = tl.zeros([SLOTS, BLOCK], tl.float64)
    for start in range(first, last, BLOCK):
        row = start + tl.arange(0, BLOCK)
        code = tl.load(codes + row * code_stride, mask=row < last, other=99).to(tl.int32)
        if WEIGHTED:
            w = tl.load(weight + row * weight_stride, mask=row < last, other=0.0)
            counts += tl.where(code[None, :] == k, w[None, :], 0.0)
        else:
            counts += tl.where(code[None, :] == k, 1.0, 0.0).to(tl.float64)
    ks = tl.arange(0, SLOTS)
    tl.store(out + ks * (d + 1), tl.sum(counts, axis=1), mask=ks < K)


def class_sums(X: Any, labels: Labels, weight: Any, frame: Frame) -> ClassSums:
    """Weighted sums of z by class, of float32 or float64 and hard labels; see `Engine`."""
    X, codes, weight = as_tensor(X), as_tensor(labels.codes), as_tensor(weight)
    place = (
        None if frame.is_plain else torch.asarray(np.append(frame.origin, 1 / frame.unit), device=X.device)
    )
    weighted = weight.stride(0) != 0  # ones that take no memory are not read either
    total = _start(X, codes, weight if weighted else None, len(labels.classes), place)
    found = (total if weighted else total * weight[0]).cpu().numpy()
    return ClassSums(found[:-1, -1], found[:-1, :-1], found[-1, :-1])


def _start(X: Any, codes: Any, weight: Any, n_classes: int, frame: Any) -> Any:
    """Counts, sums and squares in one tensor, (K + 1, d + 1), while the GPU is still at work on it.

    Rows of other codes than 0 to K - 1 are left out of counts and sums.
    """
    n, d = X.shape
    stride, column_stride = X.stride()
    in_line = d % 4 == 0 and stride % 4 == 0 and column_stride == 1
    align = 4 if in_line else 1
    shape = _shape_for(d, n_classes, in_line, weight is None)
    runs = max(1, min(shape.waves * _multiprocessors(X.device), n // (shape.rows * shape.steps)))
    run = -(-n // (runs * shape.rows)) * shape.rows
    runs = -(-n // run)
    weighted, code_stride = weight is not None, codes.stride(0)
    weight_stride = weight.stride(0) if weighted else 0
    weight = weight if weighted else X
    with on_device_of(X):
        partial = torch.empty((runs, n_classes + 1, d + 1), dtype=torch.float64, device=X.device)
        _add_rows[(runs, -(-d // shape.columns))](
            X,
            codes,
            weight,
            X if frame is None else frame,
            partial,
            n,
            run,
            d // align,
            stride // align,
            column_stride,
            code_stride,
            weight_stride,
            n_classes,
            shape.slots,
            shape.rows,
            shape.columns,
            shape.steps,
            align,
            frame is not None,
            weighted,
            num_warps=shape.warps,
        )
        _count[(runs,)](
            codes,
            weight,
            partial,
            n,
            run,
            d,
            code_stride,
            weight_stride,
            n_classes,
            shape.slots,
            1024 if n_classes <= 4 else 256,
            weighted,
        )
        return torch.sum(partial, dim=0)


class Shape(NamedTuple):
    """Classes, rows and columns of a tile, tiles a step, warps, and programs for each multiprocessor."""

    slots: int
    rows: int
    columns: int
    steps: int
    warps: int
    waves: int


@cache
def _shape_for(d: int, n_classes: int, in_line: bool, plain: bool) -> Shape:
    """What was fastest on an H200: as many numbers a thread as registers hold sums for."""
    slots = triton.next_power_of_2(n_classes)
    columns = min(WIDTH_OF_PANEL, max(4, triton.next_power_of_2(d)))
    if not in_line:
        return Shape(slots, 512 // columns, columns, 4, 4, 16)
    if n_classes <= 2:
        return Shape(slots, 1024 // columns, columns, 6, 8 if plain else 4, 8)
    return Shape(
        slots, (1024 if n_classes <= 4 else 512) // columns, columns, 6, 4, 8 if n_classes <= 4 else 4
    )


@cache
def _multiprocessors(device: Any) -> int:
    if device.type != "cuda":
        return 1  # Triton's interpreter, in tests
    return int(torch.cuda.get_device_properties(device).multi_processor_count)
