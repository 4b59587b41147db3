"""kill -9 at random moments, again until a run gets through: it leaves the same as if nothing had happened.

python -m benchmarks.faults.crash [--small] [--json FILE] [--fits N] [--reproduce N] [--commands N]

A file that is there after a kill is the old one or the whole new one; a checkpoint has counted each row once;
and the run that goes on to the end leaves the bytes of an undisturbed one. Moments are uniform over the time
of an undisturbed run, but a third of the kills wait until the process has a temporary file open.
Fits of streams are processes that were forked with the libraries loaded; commands are started as from a
shell, and the command alone is killed: its workers must leave by themselves.
"""

import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.faults.promise import Found, main
from unflip._files import load_arrays
from unflip.moments import accumulate
from unflip.sources import csv, parquet

SMALL = {"fits": 3, "reproduce": 0, "commands": 0}
FULL = {"fits": 100, "reproduce": 40, "commands": 20}
PARTS = 160
AIMED = 1 / 3  # of the kills wait for a file to be written
SPARED = 1 / 3  # of the runs that go on after a kill are let through
PATIENCE = 20.0  # seconds in which workers may leave
LOADED = ["unflip.moments", "unflip.sources", "pyarrow.parquet", "pyarrow.csv"]


@dataclass
class Tally:
    """What was seen."""

    kills: int = 0
    writing: int = 0  # kills while one of them was being written
    broken: int = 0  # files that were neither old nor whole
    miscounted: int = 0  # checkpoints whose counts are not those of their parts
    ended: int = 0  # runs that got through, after at least one kill or none
    same: int = 0  # those among them that left the bytes of an undisturbed run
    temporary: int = 0  # temporary files and folders that kills left behind
    remaining: int = 0  # those that were still there after the run that got through
    workers: int = 0  # processes that did not leave
    longest: float = 0.0  # seconds that workers took to leave

    @property
    def kept(self) -> bool:
        return not (self.broken or self.miscounted or self.workers) and self.ended == self.same > 0

    def __str__(self) -> str:
        words = (
            f"{self.writing} kills while a file was written; {self.broken} half-written files, "
            f"{self.miscounted} wrong counts; {self.same} of {self.ended} runs that got through left the "
            f"same bytes; {self.temporary} temporary files and folders left by kills, {self.remaining} still "
            "there after a whole run"
        )
        left = f"; workers left within {self.longest:.1f} s, {self.workers} did not"
        return words + (left if self.longest or self.workers else "")


@dataclass
class Trial:
    """Something to be killed: how it starts in a folder, what it writes there, and how that is judged."""

    start: Callable[[Path], Any]  # a process with pid, kill(), and an exit code
    outputs: list[str]
    prepare: Callable[[Path], None] = lambda folder: None  # what has to be there before the first start
    judge: Callable[[Path, Tally], None] = lambda folder, tally: None  # what else is looked at after a kill


def tried(trial: Trial, kills: int, rng: random.Random, say: str) -> Tally:
    """Kill, look, start again; when a run gets through, compare, and begin anew until all kills are done."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as place:
        whole = Path(place, "whole")
        whole.mkdir()
        trial.prepare(whole)
        ended(trial.start(whole))  # the first one fills caches
        start = time.perf_counter()
        assert ended(trial.start(whole)) == 0, f"{say} fails without any kill"
        spent = time.perf_counter() - start
        expected = {name: (whole / name).read_bytes() for name in trial.outputs}
        while tally.kills < kills:
            folder = Path(place, "killed")
            folder.mkdir()
            trial.prepare(folder)
            chain(trial, folder, expected, spent, kills, rng, tally)
            shutil.rmtree(folder)
            print(f"  {say}: {tally.kills} of {kills} kills", file=sys.stderr, flush=True)
    return tally


def chain(
    trial: Trial,
    folder: Path,
    expected: dict[str, Any],
    spent: float,
    kills: int,
    rng: random.Random,
    tally: Tally,
) -> None:
    """One run, killed and started again until it gets through, or until it is let through."""
    old = {name: (folder / name).read_bytes() for name in trial.outputs if (folder / name).exists()}
    before = tally.kills
    while True:
        known = leftovers(folder)
        process = trial.start(folder)
        spared = tally.kills == kills or (tally.kills > before and rng.random() < SPARED)
        if spared or not killed(process, folder, spent, rng, tally):
            break
        tally.temporary += len(leftovers(folder) - known)
        for name in trial.outputs:
            path = folder / name
            tally.broken += path.exists() and path.read_bytes() not in (old.get(name), expected[name])
        trial.judge(folder, tally)
        wait_for_workers(process.pid, tally)
    code = ended(process)
    found = {name: (folder / name).read_bytes() for name in trial.outputs if (folder / name).exists()}
    tally.ended += 1
    tally.same += code == 0 and found == expected
    tally.remaining += len(leftovers(folder))


def killed(process: Any, folder: Path, spent: float, rng: random.Random, tally: Tally) -> bool:
    """Whether the process was killed; it may have come to its end before."""
    moment = time.perf_counter() + rng.uniform(0, spent)
    if rng.random() < AIMED:
        while running(process) and not writing(process, folder):
            time.sleep(0.0002)
        moment = 0.0
    while running(process) and (left := moment - time.perf_counter()) > 0:
        time.sleep(min(left, 0.02))
    if not running(process):
        return False
    os.kill(process.pid, signal.SIGSTOP)  # for a look at what it was doing
    at_work = writing(process, folder)
    process.kill()
    if ended(process) != -signal.SIGKILL:
        return False
    tally.kills += 1
    tally.writing += at_work
    return True


def running(process: Any) -> bool:
    return process.poll() is None if isinstance(process, subprocess.Popen) else process.is_alive()


def ended(process: Any) -> int:
    """Wait for its end; the exit code."""
    if isinstance(process, subprocess.Popen):
        return process.wait()
    process.join()
    return int(process.exitcode)


def writing(process: Any, folder: Path) -> bool:
    """Whether a file of the folder is open that has no name yet, or a temporary one."""
    inside, endings = os.path.realpath(folder), (" (deleted)", ".part", "-journal")
    for link in Path(f"/proc/{process.pid}/fd").glob("*"):
        with suppress(OSError):  # it was closed just now
            name = os.readlink(link)
            if name.startswith(inside) and name.endswith(endings):
                return True
    return False


def leftovers(folder: Path) -> set[Path]:
    """Temporary files and folders, and journals of SQLite, which it rolls back when it opens the file."""
    return {*folder.glob(".*.part"), *folder.glob("*-journal"), *folder.glob("tmp/*")}


def wait_for_workers(session: int, tally: Tally) -> None:
    """Processes of a killed command that are still there: they have a while to notice."""
    start = time.perf_counter()
    while (left := in_session(session)) and time.perf_counter() - start < PATIENCE:
        time.sleep(0.05)
        tally.longest = max(tally.longest, time.perf_counter() - start)
    tally.workers += len(left)
    for pid in left:
        os.kill(pid, signal.SIGKILL)


def in_session(session: int) -> list[int]:
    """Processes that a command and its workers are: it was started as the head of a session."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, own = stat.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue  # it has just left
        if int(own) == session and state != "Z":
            found.append(int(stat.parent.name))
    return found


# Fits of streams: Parquet row groups, CSV files and plain batches.


def part(number: int) -> tuple[Any, Any]:
    """Rows and labels of a part; parts are of different lengths, so that counts tell which they were."""
    rng = np.random.default_rng(number)
    rows = 40 + number % 17
    return rng.normal(size=(rows, 4)), rng.integers(0, 2, rows)


def batches() -> Iterator[tuple[Any, Any]]:
    yield from map(part, range(PARTS))


def write_tables(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    (folder / "csv").mkdir()
    writer = None
    for number in range(PARTS):
        X, y = part(number)
        table = pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])} | {"label": y})
        writer = writer or pq.ParquetWriter(folder / "rows.parquet", table.schema)
        writer.write_table(table)
        pc.write_csv(table, folder / "csv" / f"{number:03}.csv")
    writer.close()


def fit_stream(kind: str, data: Path, folder: Path, summation: str) -> None:
    """What is killed."""
    sources: dict[str, Callable[[], Any]] = {
        "Parquet": lambda: parquet(data / "rows.parquet", "label"),
        "CSV": lambda: csv(data / "csv", "label"),
        "batches": batches,
    }
    moments = accumulate(sources[kind](), summation=summation, checkpoint=folder / "kept.npz")
    moments.save(folder / "moments.npz")


def judge_checkpoint(folder: Path, tally: Tally) -> None:
    path = folder / "kept.npz"
    if not path.exists():
        return
    try:
        facts, arrays = load_arrays(path, "checkpoint")
    except ValueError:
        tally.broken += 1
        return
    labels = np.concatenate([part(number)[1] for number in range(facts["position"])])
    tally.miscounted += arrays["counts"].tolist() != np.bincount(labels).tolist()


def killed_fits(fits: int, rng: random.Random) -> list[Found]:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(LOADED)
    kinds = [(kind, how) for how in ("exact", "fast") for kind in ("Parquet", "CSV", "batches")]
    total, most = Tally(), 0
    with tempfile.TemporaryDirectory() as place:
        data = Path(place)
        write_tables(data)
        for number, (kind, how) in enumerate(kinds):
            share = (fits + number) // len(kinds)
            if not share:
                continue

            def start(folder: Path, kind: str = kind, how: str = how) -> Any:
                process = context.Process(target=fit_stream, args=(kind, data, folder, how))
                process.start()
                return process

            tally = tried(Trial(start, ["moments.npz"], judge=judge_checkpoint), share, rng, f"{kind}, {how}")
            most += 1
            for name, value in vars(tally).items():
                setattr(total, name, getattr(total, name) + value)
    size = (
        f"{total.kills} SIGKILL, {most} of 6 kinds (Parquet, CSV, batches; fast, exact), {PARTS} parts each"
    )
    return [
        Found("crash: streaming fit with a checkpoint", size, str(total), total.kept and total.kills == fits)
    ]


# Commands.


def command(*words: str) -> Callable[[Path], Any]:
    """Start `unflip`, as the head of a session, with a folder of its own for temporary things."""

    def start(folder: Path) -> Any:
        (folder / "tmp").mkdir(exist_ok=True)
        code = "from unflip.cli import main; main()"
        environment = os.environ | {"TMPDIR": str(folder / "tmp")}
        return subprocess.Popen(
            [sys.executable, "-c", code, *words],
            cwd=folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    return start


def write_people(path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sick = rng.random(600) < 0.4
    columns = zip(rng.normal(40, 10, 600) + 20 * sick, rng.choice(list("abc"), 600), sick, strict=True)
    lines = [f"{age:.2f},{city},{'yes' if label else 'no'}" for age, city, label in columns]
    path.write_text("\n".join(["age,city,sick", *lines]) + "\n")


def write_models(folder: Path) -> None:
    """A table, and two models that can be merged."""
    write_people(folder / "people.csv", 0)
    write_people(folder / "others.csv", 1)
    for words in ("people.csv --out a.npz", "others.csv --out b.npz --like a.npz"):
        assert ended(command("fit", *words.split(), "--target", "sick")(folder)) == 0


def judge_store(folder: Path, tally: Tally) -> None:
    """Results so far, opened in a copy, for SQLite mends what a kill left when it opens a file."""
    if not (folder / "page.sqlite").exists():
        return
    with tempfile.TemporaryDirectory() as place:
        for path in folder.glob("page.sqlite*"):
            shutil.copy(path, place)
        connection = sqlite3.connect(Path(place, "page.sqlite"))
        try:
            tally.broken += connection.execute("pragma integrity_check").fetchall() != [("ok",)]
        except sqlite3.DatabaseError:
            tally.broken += 1
        finally:
            connection.close()


def killed_commands(reproduce: int, commands: int, rng: random.Random) -> list[Found]:
    page, model = ["page.html", "page.md", "page.json"], ["model.npz"]
    study = "reproduce iris --trials 8 --splits 8 --jobs 2 --out page.html --resume"
    audit = "audit people.csv --target sick --out page.html --suspects suspects.csv"
    outputs = {
        audit: [*page, "suspects.csv"],
        "fit people.csv --target sick --out model.npz": model,
        "merge a.npz b.npz --out model.npz": model,
    }
    found = []
    if reproduce:
        trial = Trial(command(*study.split()), page, judge=judge_store)
        found.append(as_found(study, tried(trial, reproduce, rng, "reproduce")))
    if not commands:
        return found
    with tempfile.TemporaryDirectory() as place:
        write_models(Path(place))
        for words, names in outputs.items():

            def prepare(folder: Path, names: list[str] = names) -> None:
                for name in ("people.csv", "a.npz", "b.npz"):
                    shutil.copy(Path(place, name), folder)
                for name in names:
                    (folder / name).write_text("what was here before\n")

            trial = Trial(command(*words.split()), names, prepare)
            found.append(as_found(words, tried(trial, commands, rng, words.split()[0])))
    return found


def as_found(words: str, tally: Tally) -> Found:
    return Found(f"crash: unflip {words.split()[0]}", f"{tally.kills} SIGKILL", str(tally), tally.kept)


def run(fits: int, reproduce: int, commands: int) -> list[Found]:
    rng = random.Random(0)
    return (killed_fits(fits, rng) if fits else []) + killed_commands(reproduce, commands, rng)


if __name__ == "__main__":
    main(run, SMALL, FULL)
