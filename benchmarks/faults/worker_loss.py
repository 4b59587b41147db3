"""Worker processes of a Dask cluster are killed during a fit: it ends all the same, with the same bits.

python -m benchmarks.faults.worker_loss [--small] [--json FILE] [--runs N] [--kills N]

SIGKILL at random moments, to a random worker, as often as asked in every run. Each time Dask's nanny starts
a new process in its place. Rows are Parquet files; each is read several times, as so many partitions.
"""

import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client, LocalCluster

from benchmarks.dask_fit import cluster_of, same_bits, same_model
from benchmarks.faults.promise import Found, main
from unflip.moments import Moments, accumulate
from unflip.sources import dask as dask_source

SMALL = {"runs": 1, "kills": 2, "files": 4, "rows": 12_500, "readings": 5, "allowed_percent": 10_000}
FULL = {"runs": 100, "kills": 4, "files": 6, "rows": 30_000, "readings": 45, "allowed_percent": 250}
COLUMNS = 32
HOPELESS = 120.0  # seconds after which a run is said to hang
SETTINGS = {
    "distributed.scheduler.allowed-failures": 20,  # a task is not to blame for the workers that die around it
    # A worker that is away when Dask looks again, by default after 15 s, is given up, though it may be on its
    # way back from a second kill; with the last one, a run would wait for ever.
    "distributed.deploy.lost-worker-timeout": "1 hour",
    # A worker that fetches sums from a dead one tries to reach it for so long, by default for 30 s.
    "distributed.comm.timeouts.connect": "3s",
    "distributed.worker.profile.enabled": False,
}


@dataclass
class Run:
    """What came of one fit."""

    seconds: float
    killed: int
    identical: bool


def run(runs: int, kills: int, files: int, rows: int, readings: int, allowed_percent: int) -> list[Found]:
    rng = random.Random(0)
    with (
        dask.config.set(SETTINGS),
        tempfile.TemporaryDirectory() as folder,
        cluster_of(2) as cluster,
        Client(cluster) as client,
    ):
        paths = write_files(Path(folder), files, rows) * readings

        def fit() -> Moments:
            return accumulate(dask_source(paths, "label"))

        expected, undisturbed = fit(), []
        done: list[Run] = []
        spared = hung = other = 0  # runs that ended before the last kill; without an end; with other bits
        while len(done) < runs and not hung and spared <= runs:
            if len(done) >= 10 * len(undisturbed):  # now and again, for the machine has other things to do
                undisturbed.append(timed(client, fit)[1])
            pauses = [rng.uniform(0, statistics.median(undisturbed) / 3) for _ in range(kills)]
            found = killing(client, cluster, fit, pauses, expected, rng)
            hung += found is None
            spared += found is not None and found.killed < kills
            other += found is not None and not found.identical
            done += [found] if found is not None and found.killed == kills else []
            if len(done) % 10 == 0:
                print(f"  {len(done)} of {runs} runs", file=sys.stderr, flush=True)
    usual = statistics.median(undisturbed)
    ratios = [each.seconds / usual for each in done] or [np.inf]
    same = sum(each.identical for each in done)
    return [
        Found(
            "worker loss (Dask): all runs end with the identical model",
            f"{len(done)} runs x {kills} SIGKILL; {files * rows * readings:,} rows x {COLUMNS} columns in "
            f"{files * readings} Parquet parts, 2 workers",
            f"{len(done)} ended, {hung} did not, {same} with identical bits; {usual:.1f} s undisturbed, "
            f"{statistics.median(ratios):.2f} times that with the kills (median; worst {max(ratios):.2f}, "
            f"{sum(100 * ratio > allowed_percent for ratio in ratios)} above {allowed_percent / 100:g})"
            + (f"; {spared} more ended before the last kill" if spared else ""),
            len(done) == same == runs and not (hung or other) and 100 * max(ratios) <= allowed_percent,
        )
    ]


def write_files(folder: Path, files: int, rows: int) -> list[str]:
    """Numbers of 53 bits: in another order they would have another sum."""
    paths = [str(folder / f"{number:03}.parquet") for number in range(files)]
    for number, path in enumerate(paths):
        rng = np.random.default_rng(number)
        table = {f"x{j}": rng.normal(size=rows) for j in range(COLUMNS)} | {"label": rng.integers(0, 2, rows)}
        pq.write_table(pa.table(table), path, compression="zstd")
    return paths


def timed(client: Client, fit: Callable[[], Moments]) -> tuple[Moments, float]:
    """A fit with both workers there and warm: what they import at the first task is not its time."""
    client.wait_for_workers(2)
    client.run(accumulate, ([[0.0], [1.0]], [0, 1]))
    start = time.perf_counter()
    found = fit()
    return found, time.perf_counter() - start


def killing(
    client: Client,
    cluster: LocalCluster,
    fit: Callable[[], Moments],
    pauses: list[float],
    expected: Moments,
    rng: random.Random,
) -> Run | None:
    """A fit during which workers are killed, one after each pause; None if it does not end."""
    killed: list[int] = []
    at_work, over = threading.Event(), threading.Event()

    def watched() -> tuple[int, Moments]:
        at_work.set()
        found = fit()
        return len(killed), found

    def kill() -> None:
        at_work.wait()
        for pause in pauses:
            over.wait(pause)
            while not over.is_set():
                alive = [pid for pid in pids(cluster) if pid not in killed]
                if alive:
                    killed.append(rng.choice(alive))
                    os.kill(killed[-1], signal.SIGKILL)
                    break
                over.wait(0.02)  # until a nanny has started another

    killer = threading.Thread(target=kill)
    killer.start()
    with ThreadPoolExecutor(1) as one:
        future = one.submit(timed, client, watched)
        try:
            (count, found), seconds = future.result(HOPELESS)
        except TimeoutError:
            client.close()  # what waits for it is told
            return None
        finally:
            at_work.set()
            over.set()
            killer.join()
    return Run(seconds, count, same_bits(found, expected) and same_model(found, expected))


def pids(cluster: LocalCluster) -> list[Any]:
    """The processes of the workers that are at work."""
    processes = [nanny.process for nanny in list(cluster.workers.values())]
    return [each.pid for each in processes if each is not None and each.pid and each.status.name == "running"]


if __name__ == "__main__":
    main(run, SMALL, FULL)
