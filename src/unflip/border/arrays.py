"""Which array library is this? Asked here, once; array-api-compat does the rest.

Arrays of torch, CuPy and other libraries that follow the array API standard are called foreign. They stay
where they are: what is computed from many rows is computed beside them, and only results that are a few
numbers, or one number a row, come to the host. Libraries that compute later (Dask) or without float64 by
default (JAX) are not among them: their arrays are converted to NumPy, as lists are.
"""

from __future__ import annotations

import math
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


def refuse_other_places(X: Any, estimator: Any, attribute: str, method: str) -> None:
    """Raise if scikit-learn dispatches on the array API and X is of another library or device than the fit.

    Without `sklearn.set_config(array_api_dispatch=True)` a model scores the arrays of any library.
    """
    try:
        from sklearn.utils._array_api import check_same_namespace
    except ImportError:  # scikit-learn before 1.9 does not ask for it
        return
    check_same_namespace(X, estimator, attribute=attribute, method=method)


def here(X: Any, who: str) -> Array:
    """A foreign array as one of NumPy, if it is in the host's memory; `who` does not work elsewhere.

    >>> import array_api_strict as xp
    >>> here(xp.ones((1, 2)), "LossClassifier").tolist()
    [[1.0, 1.0]]
    """
    if "cpu" not in str(device(X)).lower():
        raise TypeError(
            f"{who} works on the host, but X is a {type(X).__name__} on {device(X)}; convert it to NumPy "
            "yourself, or use UnhingedClassifier or SquareClassifier, which leave it where it is"
        )
    return np.asarray(to_numpy(X))
