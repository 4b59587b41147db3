"""Several threads of ours, one of BLAS in each: so everything between two products is parallel too."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _blas() -> Any:
    return ThreadpoolController().select(user_api="blas")


_turn = threading.RLock()  # two sweeps that overlap could each restore the other's limit on BLAS
_worker = threading.local()


def _after_fork() -> None:
    """A child forked during a sweep has its lock, and none of the threads that would give it back."""
    global _turn
    _turn = threading.RLock()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def workers(threads: int | None) -> Iterator[Any]:
    """A `map` over several threads, with BLAS on one thread in each; sweeps take turns.

    A sweep that a worker starts, as a kernel made of kernels may, stays inside this worker.
    """
    if hasattr(_worker, "limit"):
        yield map
        return
    with _turn:
        count = threads or max((library["num_threads"] for library in _blas().info()), default=1)
        with _blas().limit(limits=1):
            if count == 1:
                yield map
            else:
                with ThreadPoolExecutor(count, initializer=_limit) as pool:
                    yield pool.map


@contextmanager
def alone() -> Iterator[None]:
    """Sweeps of this thread stay inside it: somebody else, such as Dask, shares out the machine.

    >>> with alone(), workers(2) as spread:
    ...     spread is map
    True
    """
    if hasattr(_worker, "limit"):
        yield
        return
    _worker.limit = None
    try:
        yield
    finally:
        del _worker.limit


def _limit() -> None:
    """Some builds of BLAS want to be told in every thread."""
    _worker.limit = _blas().limit(limits=1)
