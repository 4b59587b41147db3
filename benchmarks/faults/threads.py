"""Many at once: threads that fit and predict, processes forked in their midst, spawned ones, joblib's.

A race shows as other bits than the same work has when it is done alone. BLAS, though, may round otherwise
when it has fewer threads, and it has one while a sweep of ours is under way: estimators whose large products
and solves are left to BLAS may differ in the last digits, and how much is measured. All of it runs in a
process of its own under a watchdog, which turns a deadlock into a broken promise. The small size takes every
fifth estimator, and leaves out processes that begin with an import (spawn, loky).
"""

import multiprocessing
import os
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from benchmarks.faults.promise import Found, main
from unflip import (
    BoundedUnhingedClassifier,
    KernelSquareClassifier,
    KernelUnhingedClassifier,
    LossClassifier,
    NoiseCorrectedClassifier,
    ProbingClassifier,
    RobustClassifierCV,
    SquareClassifier,
    UnhingedClassifier,
)
from unflip.features import Fourier, Standardize
from unflip.kernels import Gaussian
from unflip.moments import accumulate

AT_ONCE = 16
SMALL = {"rounds": 1, "every": 5, "forked": 1, "spawned": 0, "patience": 60}
FULL = {"rounds": 20, "every": 1, "forked": 16, "spawned": 16, "patience": 1800}
MANY = {  # rows in several blocks, which are shared among threads
    "Unhinged, many rows": UnhingedClassifier(),
    "exact sums, many rows": UnhingedClassifier(summation="exact"),
    "Standardize, many rows": UnhingedClassifier(features=Standardize()),
    "Fourier, many rows": UnhingedClassifier(features=Fourier(32, random_state=0)),
    "Square, many rows": SquareClassifier(),
}
BY_BLAS = {  # products and solves in which BLAS has threads of its own
    "Square, wide": SquareClassifier(regularization=0.1),
    "Loss, wide": LossClassifier(regularization=0.1),
    "KernelUnhinged, wide": KernelUnhingedClassifier(),
    "KernelSquare, wide": KernelSquareClassifier(regularization=0.1),
    "KernelSquare": KernelSquareClassifier(),
}
CLOSE = 1e-12  # as a share of the largest score
FEW = {
    "Unhinged": UnhingedClassifier(),
    "Unhinged, threshold by leave-one-out": UnhingedClassifier(threshold="loo"),
    "Square": SquareClassifier(),
    "Loss": LossClassifier(),
    "Loss, hinge": LossClassifier("hinge"),
    "BoundedUnhinged": BoundedUnhingedClassifier(),
    "NoiseCorrected": NoiseCorrectedClassifier(noise=0.2),
    "KernelUnhinged": KernelUnhingedClassifier(),
    "KernelUnhinged, herded": KernelUnhingedClassifier(bandwidth="loo", compress="herding", n_support=20),
    "Probing": ProbingClassifier(),
    "RobustClassifierCV": RobustClassifierCV(),
}
ESTIMATORS = MANY | BY_BLAS | FEW


@cache
def table(n: int, d: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(n)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, d)) + 0.7 * y[:, None]
    return X, np.where(rng.random(n) < 0.2, 1 - y, y)


def rows_for(name: str) -> tuple[Any, Any]:
    return table(20_000, 8) if name in MANY else table(400, 150) if name.endswith("wide") else table(200, 4)


def fitted(name: str) -> Any:
    return clone(ESTIMATORS[name]).fit(*rows_for(name))


def predictions(name: str, model: Any) -> Any:
    """All that a model says of its rows, in one array."""
    methods = ("decision_function", "predict", "predict_proba")
    said = [getattr(model, method)(rows_for(name)[0]) for method in methods if hasattr(model, method)]
    return np.concatenate([np.ravel(each) for each in said])


def fit_and_predict(name: str) -> Any:
    return predictions(name, fitted(name))


def at_once(work: Callable[[Any], Any], tasks: list[Any]) -> list[Any]:
    """The results of 16 threads that start together."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        gate = threading.Barrier(min(AT_ONCE, len(tasks)))
        for _ in range(gate.parties):
            pool.submit(gate.wait)
        return list(pool.map(work, tasks))


def compared(promise: str, where: str, tasks: list[str], found: list[Any], alone: dict[str, Any]) -> Found:
    wrong = [name for name, each in zip(tasks, found, strict=True) if each.tobytes() != alone[name].tobytes()]
    races, gap = sorted(set(wrong) - set(BY_BLAS)), 0.0
    for name, each in zip(tasks, found, strict=True):
        if name in BY_BLAS:
            gap = max(gap, float(np.abs(each - alone[name]).max() / np.abs(alone[name]).max()))
    ours = sum(name not in BY_BLAS for name in wrong)
    named = f" ({', '.join(races)})" if races else ""
    return Found(
        promise,
        f"{len(tasks)} tasks {where}, {len(set(tasks))} estimators",
        f"{ours} with other bits than alone{named}; {len(wrong) - ours} by BLAS, at most {gap:.1g} apart",
        not races and gap <= CLOSE,
    )


def threads_fit(alone: dict[str, Any], rounds: int) -> Found:
    tasks = list(alone) * rounds
    np.random.default_rng(1).shuffle(tasks)
    where = f"in {min(AT_ONCE, len(tasks))} threads"
    return compared("fit and predict in threads", where, tasks, at_once(fit_and_predict, tasks), alone)


def threads_predict(alone: dict[str, Any], rounds: int) -> Found:
    tasks, found = [], []
    for name in alone:
        model, same = fitted(name), [name] * AT_ONCE * max(1, rounds // 4)
        tasks += same
        found += at_once(lambda name, model=model: predictions(name, model), same)
    return compared("one model predicts in threads", f"in {AT_ONCE} threads", tasks, found, alone)


def threads_save(rounds: int) -> Found:
    """Moments written at once: every file whole, with the rights that the user's mask gives."""
    moments = accumulate(table(200, 4))
    tasks = AT_ONCE * 4 * rounds
    before = os.umask(0o027)
    try:
        with TemporaryDirectory() as folder:
            files = [Path(folder) / f"{i}.npz" for i in range(tasks)]
            at_once(moments.save, files)
            left = os.umask(0o027)
            modes = {stat.S_IMODE(file.stat().st_mode) for file in files}
            loaded = {type(moments).load(file).sums.tobytes() for file in files}
    finally:
        os.umask(before)
    return Found(
        "moments saved in threads",
        f"{tasks} files in {AT_ONCE} threads",
        f"{len(loaded)} content, rights {', '.join(map(oct, sorted(modes)))}, mask afterwards {left:#o}",
        loaded == {moments.sums.tobytes()} and modes == {0o640} and left == 0o027,
    )


@contextmanager
def busy(threads: int) -> Iterator[None]:
    """Others sweep, sum and fit all the while, so that a fork meets whatever locks there are."""
    stop = threading.Event()
    X = table(2000, 8)[0]

    def work(number: int) -> None:
        while not stop.is_set():
            if number % 2:
                Gaussian(1.0).score(X, X, np.ones(len(X)))
            else:
                fit_and_predict("exact sums, many rows")

    with ThreadPoolExecutor(threads) as pool:
        for number in range(threads):
            pool.submit(work, number)
        try:
            yield
        finally:
            stop.set()


def _answer(tasks: list[str], answers: Connection) -> None:
    answers.send([fit_and_predict(name) for name in tasks])


def processes(method: str, alone: dict[str, Any], count: int, patience: int) -> Found:
    """Children of a process that has used BLAS and its threads, and goes on using them."""
    context = multiprocessing.get_context(method)
    tasks, found = list(alone), []
    with busy(2):
        for start in range(0, count, 4):
            children = []
            for _ in range(min(4, count - start)):
                ours, theirs = context.Pipe(duplex=False)
                child = context.Process(target=_answer, args=(tasks, theirs))
                child.start()
                theirs.close()
                children.append((child, ours))
            for child, ours in children:
                with suppress(EOFError):  # it died
                    found += ours.recv() if ours.poll(patience) else []
                child.kill()
                child.join()
    answered = len(found) // len(tasks)
    where = f"in {count} {method}ed processes"
    row = compared(f"{method}: fit and predict", where, tasks * answered, found, alone)
    result = f"{row.result}; {count - answered} processes without an answer"
    return Found(row.promise, row.size, result, row.kept and answered == count)


def jobs(backend: str, alone: dict[str, Any], rounds: int, patience: int) -> Found:
    tasks = list(alone) * max(1, rounds // 2)
    work = Parallel(4, backend=backend, timeout=patience)
    found = work(delayed(fit_and_predict)(name) for name in tasks)
    return compared(f"joblib, {backend}: fit and predict", "in 4 workers", tasks, found, alone)


def _work(rounds: int, every: int, forked: int, spawned: int, patience: int, answers: Connection) -> None:
    os.setsid()  # so that the watchdog can end children too
    sys.setswitchinterval(1e-6)  # threads take turns often, so that races have their chance
    alone = {name: fit_and_predict(name) for name in list(ESTIMATORS)[::every]}
    answers.send(threads_fit(alone, rounds))
    answers.send(threads_predict(alone, rounds))
    answers.send(threads_save(rounds))
    answers.send(processes("fork", alone, forked, patience // 2))
    if spawned:
        answers.send(processes("spawn", alone, spawned, patience // 2))
        answers.send(jobs("loky", alone, rounds, patience // 2))
    answers.send(jobs("threading", alone, rounds, patience // 2))
    answers.send(None)


def run(patience: int, **size: int) -> list[Found]:
    from benchmarks.faults import threads  # by its name, under which other processes find it

    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=threads._work, kwargs={**size, "patience": patience, "answers": theirs})
    child.start()
    theirs.close()
    found: list[Found] = []
    try:
        while True:
            last = found[-1].promise if found else "the start"
            if not ours.poll(patience):
                found.append(Found("no deadlock", "", f"no answer for {patience} s after {last}", False))
                return found
            row = ours.recv()
            if row is None:
                return found
            print(row.promise, row.result, file=sys.stderr)
            found.append(row)
    except EOFError:
        return [*found, Found("no crash", "", f"the process ended after {last}", False)]
    finally:
        if child.is_alive():
            os.killpg(child.pid, signal.SIGKILL)
        child.join()


if __name__ == "__main__":
    main(run, SMALL, FULL)
