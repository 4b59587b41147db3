"""Predictions of Dask collections, block by block, by any fitted estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from unflip._extras import extra
from unflip.border.arrays import Array


def predict_blocks(model: Any, X: Any, method: str = "predict") -> Any:
    """What a fitted model says of a Dask array or data frame: a Dask array in the same chunks of rows.

    method: "predict", "decision_function", "predict_proba" or any other that takes rows. Nothing is computed
    before the result is asked for, and then one block at a time in each worker.

    >>> import dask.array as da
    >>> from unflip import UnhingedClassifier
    >>> model = UnhingedClassifier().fit([[0.0], [4.0]], ["no", "yes"])
    >>> predicted = predict_blocks(model, da.from_array(np.array([[1.0], [3.0], [5.0]]), chunks=(2, 1)))
    >>> predicted.chunks, predicted.compute().tolist()
    (((2, 1),), ['no', 'yes', 'yes'])
    """
    dask, da = extra("dask", "dask"), extra("dask.array", "dask")
    frame = hasattr(X, "to_delayed") and hasattr(X, "columns")
    if not frame and not isinstance(X, da.Array):
        raise TypeError(f"predict_blocks takes a Dask array or data frame; this is a {type(X).__name__}")
    names = getattr(model, "feature_names_in_", None)
    if frame and names is not None:
        X = X[list(names)]
    one = X._meta_nonempty.iloc[:1] if frame else np.ones((1, X.shape[1]), dtype=X.dtype)
    like = np.asarray(getattr(model, method)(one))[:0]
    rows = X.to_delayed() if frame else X.rechunk({1: -1}).to_delayed().ravel()
    sizes = [np.nan] * len(rows) if frame else X.chunks[0]
    shared, told = dask.delayed(model), dask.delayed(_predict)  # the model travels once to each worker
    blocks = [
        da.from_delayed(told(shared, method, like, block), shape=(size, *like.shape[1:]), meta=like)
        for size, block in zip(sizes, rows, strict=True)
    ]
    return da.concatenate(blocks)


def _predict(model: Any, method: str, like: Array, rows: Any) -> Array:
    """The answer for some rows; none for none, which estimators refuse."""
    return np.asarray(getattr(model, method)(rows)) if len(rows) else like
