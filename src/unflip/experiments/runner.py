"""Run splits of the paper's datasets, on several cores if asked, and keep each as soon as it is done.

Every split has a seed of its own, made of the seed of the run, the name of the dataset and its own number. So
the numbers do not depend on how many processes share the work, nor on what was resumed.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from multiprocessing import get_context

import numpy as np

from unflip.experiments.catalogue import CATALOGUE
from unflip.experiments.datasets import is_available, load
from unflip.experiments.generators import draw_long, draw_mease
from unflip.experiments.protocol import Protocol, Split, split_rows
from unflip.experiments.store import Store
from unflip.experiments.trials import Outcome, run_trials

DRAWN = ("long", "mease")
TRAINING, TEST = 800, 1000  # rows of the drawn datasets; the paper says so for Long's


def names() -> list[str]:
    """The datasets of the paper's tables.

    >>> names()[:3]
    ['long', 'mease', 'iris']
    """
    return [*DRAWN, *(name for name in CATALOGUE if name != "splice_with_names")]


def run(
    datasets: Sequence[str],
    store: Store,
    splits: int = 50,
    trials: int = 8,
    seed: int = 0,
    jobs: int = 1,
    data_dir: str | os.PathLike[str] | None = None,
    progress: Callable[[str, int], None] = lambda dataset, split: None,
) -> list[str]:
    """Run what is not in the store yet; return the datasets that cannot be had.

    >>> store = Store(":memory:", {})
    >>> run(["iris"], store, splits=2, trials=2), sorted(store.done("iris"))
    ([], [0, 1])
    """
    for name in datasets:
        if name not in names():
            raise ValueError(f"no dataset is called {name!r}; choose one of {', '.join(names())}")
    skipped = [name for name in datasets if name not in DRAWN and not is_available(name, data_dir)]
    wanted = [name for name in datasets if name not in skipped]
    tasks = [(name, k) for name in wanted for k in range(splits) if k not in store.done(name)]
    for (name, k), outcomes in _worked(tasks, trials, seed, jobs, data_dir):
        store.add(name, k, outcomes)
        progress(name, k)
    return skipped


def run_split(
    name: str, split: int, trials: int, seed: int, data_dir: str | os.PathLike[str] | None = None
) -> dict[str, Outcome]:
    """All trials of one split: a function of its arguments alone.

    >>> run_split("long", 0, 2, 0)["unhinged"].error.shape
    (6, 2)
    """
    rng = np.random.default_rng([seed, zlib.crc32(name.encode()), split])
    protocol = PROTOCOLS.get(name, Protocol())
    return run_trials(_rows(name, protocol, rng, data_dir), protocol, rng, trials)


# Long's as the text says: no bias, no tuned threshold. Mease's features are drawn in their final scale.
PROTOCOLS = {"long": Protocol(bias=False, tuned=False, scaling="raw"), "mease": Protocol(scaling="raw")}


def describe(name: str) -> dict[str, object]:
    """The protocol of a dataset, as plain data for a report.

    >>> describe("long")["bias"]
    False
    """
    return asdict(PROTOCOLS.get(name, Protocol()))


def _rows(
    name: str, protocol: Protocol, rng: np.random.Generator, data_dir: str | os.PathLike[str] | None
) -> Split:
    if name not in DRAWN:
        return split_rows(load(name, data_dir), protocol, rng)
    if name == "long":
        (X_train, y_train), (X_test, y_test) = (draw_long(n, rng) for n in (TRAINING, TEST))
    else:
        (X_train, y_train), (X_test, y_test) = (draw_mease(n, rng, normal=True) for n in (TRAINING, TEST))
    if protocol.bias:
        X_train, X_test = (np.column_stack([part, np.ones(len(part))]) for part in (X_train, X_test))
    return Split(X_train, y_train, X_test, y_test)


def _worked(
    tasks: list[tuple[str, int]],
    trials: int,
    seed: int,
    jobs: int,
    data_dir: str | os.PathLike[str] | None,
) -> Iterator[tuple[tuple[str, int], dict[str, Outcome]]]:
    """Tasks with their outcomes, as they are done."""
    if jobs == 1:
        for name, k in tasks:
            yield (name, k), run_split(name, k, trials, seed, data_dir)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(run_split, name, k, trials, seed, data_dir): (name, k) for name, k in tasks}
        for future in as_completed(waiting):
            yield waiting[future], future.result()
