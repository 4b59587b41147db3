"""Run splits of the paper's datasets, on several cores if asked, and keep each as soon as it is done.

Every split has a seed of its own, made of the seed of the run, the name of the dataset and its own number. So
the numbers do not depend on how many processes share the work, nor on what was resumed; and all protocols
see the same rows and the same flips.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from threadpoolctl import ThreadpoolController

from unflip.experiments.protocol import protocol
from unflip.experiments.splits import draw_split
from unflip.experiments.store import Place, Store
from unflip.experiments.trials import EARLY, Outcome, run_trials

# For the order of work and the time left: CPU seconds of one split of eight trials, and what each learner
# takes of them.
SECONDS = {"usps_0_vs_7": 5.5, "splice": 4.5, "spambase": 2.4, "mease": 0.6, "car": 0.5, "ionosphere": 0.5}
SHARES = {"hinge": 0.45, "t_logistic": 0.25, EARLY: 0.15, "logistic": 0.06, "tangent_boost": 0.06}


@dataclass(frozen=True)
class Task:
    """Learners to run at one place.

    also: variants of the protocol with another threshold, for which the same fits serve.
    """

    place: Place
    learners: tuple[str, ...]
    also: tuple[str, ...] = ()

    @property
    def places(self) -> list[Place]:
        """Where its outcomes belong: its own place, and those of other thresholds."""
        return [self.place, *(replace(self.place, protocol=name) for name in self.also)]

    @property
    def cost(self) -> float:
        """About how many seconds it takes.

        >>> Task(Place("car", "declared", 16, 0), ("hinge",)).cost
        0.45
        """
        share = sum(SHARES.get(learner, 0.015) for learner in self.learners)
        return SECONDS.get(self.place.dataset, 0.2) * share * self.place.trials / 8


Done = tuple[Task, dict[Place, dict[str, Outcome]]]


def run_tasks(
    tasks: Sequence[Task],
    store: Store,
    seed: int = 0,
    jobs: int = 1,
    data_dir: str | os.PathLike[str] | None = None,
    progress: Callable[[Task], None] = lambda task: None,
) -> None:
    """Run what is not in the store yet, the longest first.

    >>> store = Store(":memory:", {})
    >>> run_tasks([Task(Place("iris", "declared", 2, k), ("square",)) for k in range(2)], store)
    >>> len(store.done())
    2
    """
    done = store.done()
    waiting = []
    for task in tasks:
        left = tuple(learner for learner in task.learners if (task.place, learner) not in done)
        if left:
            waiting.append(replace(task, learners=left))
        else:
            progress(task)
    waiting.sort(key=lambda task: -task.cost)
    for task, found in _worked(waiting, seed, jobs, data_dir):
        store.add(found)
        progress(task)


def run_task(task: Task, seed: int, data_dir: str | os.PathLike[str] | None = None) -> Done:
    """A task and its outcomes: a function of the arguments alone, whatever the number of threads.

    >>> place = Place("long", "declared", 2, 0)
    >>> run_task(Task(place, ("unhinged",)), seed=0)[1][place]["unhinged"].error.shape
    (6, 2)
    """
    place = task.place
    rng = np.random.default_rng([seed, zlib.crc32(place.dataset.encode()), place.split])
    names = (place.protocol, *task.also)
    protocols = {name: protocol(place.dataset, name) for name in names}
    with _threads().limit(limits=1):
        split = draw_split(place.dataset, protocols[place.protocol], rng, data_dir)
        thresholds = [chosen.threshold for chosen in protocols.values()]
        found = run_trials(split, rng, place.trials, task.learners, thresholds)
    return task, {replace(place, protocol=name): found[protocols[name].threshold] for name in names}


@cache
def _threads() -> ThreadpoolController:
    """The libraries whose threads can be limited; looking for them takes longer than a small task."""
    return ThreadpoolController()


def _worked(
    tasks: list[Task], seed: int, jobs: int, data_dir: str | os.PathLike[str] | None
) -> Iterator[Done]:
    """Tasks with their outcomes, as they are done."""
    if jobs == 1:
        yield from (run_task(task, seed, data_dir) for task in tasks)
        return
    from joblib import Parallel, delayed

    pool = Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs", batch_size=1)
    with _deaf_to_interrupts():
        answers = pool(delayed(_run_under)(os.getpid(), task, seed, data_dir) for task in tasks)
    yield from answers


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Workers that start in here never hear of Ctrl-C, which is the parent's to answer; it ends them."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _run_under(parent: int, task: Task, seed: int, data_dir: str | os.PathLike[str] | None) -> Done:
    _leave_with(parent)
    return run_task(task, seed, data_dir)


@cache
def _leave_with(parent: int) -> None:
    """A worker whose parent was killed would go on with what it had been given; it leaves instead."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
