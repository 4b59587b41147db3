"""Which array library is this? Asked here, once; array-api-compat does the rest.

Arrays of torch, CuPy and other libraries that follow the array API standard are called foreign. They stay
where they are: what is computed from many rows is computed beside them, and only results that are a few
numbers, or one number a row, come to the host. Libraries that compute later (Dask) or without float64 by
default (JAX) are not among them: their arrays are converted to NumPy, as lists are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from array_api_compat import (
    array_namespace,
    device,
    is_array_api_obj,
    is_cupy_array,
    is_dask_array,
    is_jax_array,
    is_ndonnx_array,
    is_pydata_sparse_array,
    is_torch_array,
    to_device,
)
from scipy import sparse

from unflip.border.long_integers import without_long_integers

Array = np.ndarray[Any, Any]
AnyArray = Any  # of NumPy, or of any library that speaks the array API standard; at times a number
_foreign: WeakKeyDictionary[type, bool] = WeakKeyDictionary()  # what was found of each type
FOREIGN_NUMBERS_AT_ONCE = 1 << 24  # numbers of a foreign array that are turned into float64 at a time: 128 MB


def is_plain(values: Any, ndim: int) -> bool:
    """Whether these are an array of NumPy that holds real numbers: nothing else has to be asked about it.

    >>> is_plain(np.ones(2), ndim=1), is_plain(np.ones(2), ndim=2), is_plain(np.array(["a"]), ndim=1)
    (True, False, False)
    """
    return type(values) is np.ndarray and values.ndim == ndim and values.dtype.kind in "biuf"


def is_foreign(X: Any) -> bool:
    """Whether X is an array of another library than NumPy, dense, and computed at once.

    >>> is_foreign(np.ones(2)), is_foreign([1.0, 2.0]), is_foreign(sparse.csr_array([[1.0]]))
    (False, False, False)
    """
    kind = type(X)
    if kind not in _foreign:
        others = (is_dask_array, is_jax_array, is_ndonnx_array, is_pydata_sparse_array)
        plain = isinstance(X, np.ndarray | np.generic | list | tuple) or sparse.issparse(X)
        _foreign[kind] = not plain and is_array_api_obj(X) and not any(is_other(X) for is_other in others)
    return _foreign[kind]


def rows_as_they_are(X: Any, fewest: int = 1) -> Any:
    """A foreign array, if it can be rows: two-dimensional and of real numbers. No number is looked at.

    >>> import array_api_strict as xp
    >>> rows_as_they_are(xp.ones(3))
    Traceback (most recent call last):
    ValueError: Expected 2D array, got an array of shape (3,); reshape your data
    """
    xp = array_namespace(X)
    if str(getattr(X, "layout", "torch.strided")) != "torch.strided":
        raise ValueError(f"X is a tensor of {X.layout}; use a sparse array of SciPy, or X.to_dense()")
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got an array of shape {tuple(X.shape)}; reshape your data")
    if xp.isdtype(X.dtype, "complex floating"):
        raise ValueError("Complex data not supported: give real and imaginary parts columns of their own")
    for count, least, what in zip(X.shape, (fewest, 1), ("sample", "feature"), strict=True):
        if count < least:
            raise ValueError(
                f"Found array with {count} {what}(s) (shape={tuple(X.shape)}) "
                f"while a minimum of {least} is required."
            )
    # torch would remember every step, to differentiate it, and may have put off a change of sign.
    return X.detach().resolve_neg() if hasattr(X, "detach") else X


def on_cuda(X: Any) -> bool:
    """Whether X is on an NVIDIA GPU, as an array of torch or CuPy.

    >>> on_cuda(np.ones(2))
    False
    """
    return is_foreign(X) and (X.device.type == "cuda" if is_torch_array(X) else is_cupy_array(X))


def to_numpy(X: Any) -> Any:
    """X on the host, as an array of NumPy: a foreign array is copied there, others are merely converted.

    >>> to_numpy([1.0, 2.0]).tolist()
    [1.0, 2.0]
    """
    if isinstance(X, np.ndarray) or not is_foreign(X):
        return np.asarray(without_long_integers(X))
    if is_torch_array(X):
        kept = X.detach().cpu()
        # NumPy has no bfloat16, and float64 holds all of it.
        return kept.double().numpy() if kept.dtype.is_floating_point and kept.itemsize < 4 else kept.numpy()
    if is_cupy_array(X):
        return X.get()
    xp = array_namespace(X)
    # array-api-strict pretends to have several devices, and gives arrays away from one of them only.
    return np.asarray(to_device(X, xp.Device("CPU_DEVICE")) if hasattr(xp, "Device") else X)


def beside(values: Any, like: Any) -> Any:
    """`values` as an array of the library of `like`, on its device; of NumPy if that is not foreign.

    >>> beside([1.0], np.zeros(2)).tolist()
    [1.0]
    """
    if not is_foreign(like):
        return to_numpy(values)
    xp = array_namespace(like)
    if is_foreign(values) and array_namespace(values) is xp:
        return values if device(values) == device(like) else to_device(values, device(like))
    host = to_numpy(values)
    # torch would share the memory, and warn where it must not be written to.
    host = host if host.flags.writeable and host.flags.c_contiguous else np.array(host, order="C")
    return xp.asarray(host, device=device(like))


def as_float64(X: Any) -> Any:
    """A foreign array in float64, without a copy where none is needed.

    >>> as_float64(np.ones(1, dtype=np.float32)).dtype
    dtype('float64')
    """
    xp = array_namespace(X)
    return xp.astype(X, xp.float64, copy=False)


def all_finite(X: Any) -> bool:
    """Whether every number is finite, wherever the array is.

    >>> all_finite(np.array([1.0, np.nan]))
    False
    """
    xp = array_namespace(X)
    return bool(xp.all(xp.isfinite(X)))


def doubled(X: Any, times: int) -> Any:
    """X times 2**times, as `numpy.ldexp`, which the standard does not have.

    >>> doubled(np.array([3.0]), 2).tolist()
    [12.0]
    """
    if not is_foreign(X):
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(X, times)
    while times:
        step = max(-1000, min(1000, times))
        X, times = X * math.ldexp(1.0, step), times - step
    return X


def blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Slices that cover rows which turn out `width` wide, as many at a time as one step is worth on a GPU.

    >>> [rows.stop for rows in blocks(3, FOREIGN_NUMBERS_AT_ONCE // 2)]
    [2, 3]
    """
    size = max(1, FOREIGN_NUMBERS_AT_ONCE // max(1, width))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def refuse_other_places(X: Any, estimator: Any, attribute: str, method: str) -> None:
    """Raise if scikit-learn dispatches on the array API and X is of another library or device than the fit.

    Without `sklearn.set_config(array_api_dispatch=True)` a model scores the arrays of any library.
    """
    try:
        from sklearn.utils._array_api import check_same_namespace
    except ImportError:  # scikit-learn before 1.9 does not ask for it
        return
    check_same_namespace(X, estimator, attribute=attribute, method=method)
