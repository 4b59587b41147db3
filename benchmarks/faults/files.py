"""Damaged and forged files: refused with `ValueError` or loaded as what they say, in bounded memory.

Random damage must be refused or change nothing. A forger computes checksums too: such a file must be refused,
or what is loaded must be, fact by fact and number by number, what the file says, and must not fail when it is
used. Cases run in a forked process under a limit on memory and a clock, so that a crash is one more broken
case.
"""

import io
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import tracemalloc
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.faults.hostile_files import (
    Case,
    content,
    contradictions,
    deep_recursion,
    flipped,
    forged_arrays,
    forged_facts,
    frame,
    kinds,
    nested,
    same,
    sealed,
    truncated,
)
from benchmarks.faults.hostile_zips import bomb, forged_archives
from benchmarks.faults.promise import Found, main
from unflip import _files

SMALL = {
    "flips": 250,
    "truncations": 250,
    "forged": 250,
    "unfolded": 10_000,
    "archives": 1,
    "fuzz": 0,
    "yardstick": 400,
}
FULL = {
    "flips": 10_000,
    "truncations": 10**6,
    "forged": 10**6,
    "unfolded": 500_000,
    "archives": 7,
    "fuzz": 100_000,
    "yardstick": 400,
}
BASE, FILE, HEADER = 50 * 10**6, 4, 50  # bytes of memory: so many, and times the file, and times its header
GUARD = 2 << 30  # what a case may ask for at all; it is reported as broken long before
SECONDS = 20  # of processor time for one case: other programs may be running
SENTENCE = 1000  # characters that a refusal may have
PRIVACY = {"epsilon": 1e-9, "delta": 1e-5, "rho": 50.0, "bound": 1.0, "releases": 1}  # far too cheap


@dataclass(frozen=True)
class Verdict:
    """What came of a case. broken: in which way, "" if the promise was kept."""

    end: str
    peak: float
    broken: str = ""


def trial(cases: list[Case], folder: Path) -> list[Verdict]:
    """Every case in a forked process; where that dies, the next goes on behind the case that killed it."""
    found: list[Verdict] = []
    while len(found) < len(cases):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            with open(writing, "w") as pipe:
                attend(cases[len(found) :], folder, pipe)
            os._exit(0)
        os.close(writing)
        with open(reading) as pipe:
            for line in pipe:
                found.append(Verdict(*json.loads(line)))
                if not len(found) % 2000:
                    print(f"{len(found)} of {len(cases)} cases", file=sys.stderr, flush=True)
        status = os.waitpid(child, 0)[1]
        if len(found) < len(cases):
            how = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit {status}"
            found.append(Verdict("died", 0.0, f"the process ended: {how}"))
    return found


def attend(cases: list[Case], folder: Path, pipe: Any) -> None:
    """Try each case and say at once what came of it."""
    warnings.simplefilter("ignore")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    for case in cases:
        verdict = tried(case, folder)
        print(json.dumps([verdict.end, verdict.peak, verdict.broken]), file=pipe, flush=True)


def tried(case: Case, folder: Path) -> Verdict:
    path, again = folder / "case.npz", folder / "again.npz"
    data = case.make()
    path.write_bytes(data)
    tracemalloc.start()
    try:
        with limits():
            loaded = case.kind.load(path)
    except Exception as error:
        end, loaded, problem = "refused", None, refusal(error, path)
    else:
        end, problem = "equal", ""
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    over = peak - BASE - FILE * len(data) - HEADER * min(header_size(data), 1 << 24)
    if over > 0:
        problem = problem or f"it took {peak / 1e6:.0f} MB for a file of {len(data) / 1e6:.1f} MB"
    if loaded is not None and not problem:
        problem = loaded_wrongly(case, loaded, again)
    return Verdict("broken" if problem else end, peak / 1e6, problem)


def refusal(error: Exception, path: Path) -> str:
    """What is wrong with a refusal."""
    said = str(error)
    if not isinstance(error, ValueError):
        return f"a stray {type(error).__name__}: {said[:200]}"
    if "MemoryError" in said or "Unable to allocate" in said:
        return f"it asked for memory: {said[:200]}"
    if len(said) > SENTENCE + len(str(path)) or not said.isprintable():
        return f"a message of {len(said)} characters, or of such that cannot be printed: {said[:200]!a}"
    return ""


def loaded_wrongly(case: Case, loaded: Any, again: Path) -> str:
    if case.says is None:
        return "it was loaded"
    try:
        case.kind.save(loaded, again)
        with deep_recursion():
            if not same(content(again.read_bytes()), case.says()):
                return "it was loaded altered"
        with suppress(ValueError):  # what cannot predict may say so
            case.kind.use(loaded)
    except Exception as error:
        return f"used, a stray {type(error).__name__}: {str(error)[:200]}"
    return ""


@contextmanager
def limits() -> Iterator[None]:
    """A clock, which kills, and a limit on memory beyond what the process has."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    statm = Path("/proc/self/statm")
    if statm.exists():
        held = int(statm.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + GUARD, before[1]))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, before)


def header_size(data: bytes) -> int:
    """How long the header is, as far as the start of the file tells."""
    return int.from_bytes(data[22:26], "little") if data[30:41] == b"header.json" else 0


def commands(sound: dict[str, bytes], folder: Path) -> tuple[int, list[str]]:
    """Commands on forged files: how many were run, and what was wrong with how they ended."""
    csv, model = folder / "rows.csv", folder / "model.npz"
    frame().to_csv(csv, index=False)
    facts, arrays = content(sound["TableModel"])
    hostile = {
        "cut": sound["TableModel"][:-100],
        "kept": sealed("model", facts | {"table": facts["table"] | {"kept": [99]}}, arrays),
        "a bomb": bomb(_files.HEADER),
        "deep": sealed("model", facts | {"history": nested(950)}, arrays),
        "a huge count": forged_count(sound["KernelModel"]),
        "an escape": sealed("\x1b[2J", facts, arrays),
        "a budget": sealed("model", facts | {"moments": facts["moments"] | {"privacy": PRIVACY}}, arrays),
    }
    ways = {
        "predict": [model, csv],
        "merge": [model, model, "--out", folder / "out.npz"],
        "forget": [model, csv, "--out", folder / "out.npz"],
        "export": [model, "--json", "-"],
    }
    wrong = []
    for what, data in hostile.items():
        model.write_bytes(data)
        for command, arguments in ways.items():
            code, said = called(command, *map(str, arguments))
            one = said.startswith("unflip: ") and len(said.splitlines()) == 1 and said.strip().isprintable()
            if code != 2 or not one or len(said) > SENTENCE or (folder / "out.npz").exists():
                wrong.append(f"{command} with {what}: exit {code}, {said[:200]!a}")
    return len(hostile) * len(ways), wrong


def forged_count(data: bytes) -> bytes:
    facts, arrays = content(data)
    return sealed("kernel model", facts | {"counts": {"no": 10**400}}, arrays)


def called(*arguments: str) -> tuple[Any, str]:
    """The exit code and stderr of a command, run in this process."""
    from unflip.cli import main as command

    before, said = sys.argv, io.StringIO()
    sys.argv = ["unflip", *arguments]
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(said):
            command()
    except SystemExit as left:
        return left.code or 0, said.getvalue()
    except Exception as error:
        return "none", f"{type(error).__name__}: {error}"
    finally:
        sys.argv = before
    return 0, said.getvalue()


def safetensors_altered(number: int) -> str:
    """How many flipped files safetensors loads altered."""
    if find_spec("safetensors") is None:
        return "safetensors is not installed"
    from safetensors.numpy import load, save

    rng = np.random.default_rng(0)
    arrays = {"counts": np.ones(2), "sums": rng.normal(size=(2, 8)), "origin": np.zeros(8)}
    whole, altered = save(arrays), 0
    for _ in range(number):
        damaged = bytearray(whole)
        damaged[int(rng.integers(len(whole)))] ^= 1 << int(rng.integers(8))
        try:
            found = load(bytes(damaged))
        except Exception:
            continue
        exact = found.keys() == arrays.keys() and all(
            found[name].dtype == array.dtype
            and found[name].shape == array.shape
            and found[name].tobytes() == array.tobytes()
            for name, array in arrays.items()
        )
        altered += not exact
    return f"safetensors loads {altered} of {number} flipped files altered"


def fuzzed(runs: int) -> Found | None:
    """What atheris found in so many executions; None if none were asked for."""
    if not runs:
        return None
    promise = "files, fuzzed with atheris"
    if find_spec("atheris") is None:
        return Found(promise, "0 executions", "atheris is not installed", False)
    command = [sys.executable, "-m", "benchmarks.faults.fuzz_files", str(runs)]
    with tempfile.TemporaryDirectory() as folder:  # atheris leaves without clearing up
        done = subprocess.run(
            command,
            env=os.environ | {"TMPDIR": folder},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    count = re.search(r"Done (\d+) runs in (\d+) second", done.stdout)
    covered = re.findall(r"cov: (\d+)", done.stdout)
    executed = int(count[1]) if count else 0
    kept = done.returncode == 0 and executed >= runs
    said = f"{covered[-1] if covered else 0} edges covered, " + (
        "nothing found" if kept else done.stdout[-600:]
    )
    return Found(promise, f"{executed} executions", " ".join(said.split()).replace("|", "/"), kept)


def summary(promise: str, cases: list[Case], verdicts: list[Verdict], more: str = "") -> Found:
    ends = Counter(verdict.end for verdict in verdicts)
    broken = [(case, verdict) for case, verdict in zip(cases, verdicts, strict=True) if verdict.broken]
    for case, verdict in broken:
        print(f"{case.kind.name}, {case.name}: {verdict.broken}", file=sys.stderr)
    result = f"{ends['refused']} refused, {ends['equal']} loaded equal, {len(broken)} broken"
    result += f", at most {max((v.peak for v in verdicts), default=0):.0f} MB of memory"
    if broken:
        result += f"; the first: {broken[0][0].kind.name}, {broken[0][0].name}: {broken[0][1].broken}"
    size = f"{len(cases)} files of {len({case.kind.name for case in cases})} kinds"
    return Found(promise, size, (result + more).replace("|", "/"), not broken)


def spread(cases: list[Case], most: int) -> list[Case]:
    """At most so many of them, from all places."""
    return cases[:: max(1, -(-len(cases) // most))]


def run(
    flips: int, truncations: int, forged: int, unfolded: int, archives: int, fuzz: int, yardstick: int
) -> list[Found]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        canary = folder / "code_was_run"
        known = kinds(folder)
        damage = [c for k, kind in enumerate(known) for c in flipped(kind, -(-flips // len(known)), k)]
        cut = [c for kind in known for c in truncated(kind, -(-truncations // len(known)))]
        content = spread([c for kind in known for c in (*forged_facts(kind), *forged_arrays(kind))], forged)
        content += [c for kind in known for c in contradictions(kind)]
        zips = [c for kind in known[-archives:] for c in forged_archives(kind, canary, unfolded)]
        found = []
        for promise, cases in (
            ("files with flipped bits and bursts", damage),
            ("files cut short", cut),
            ("forged facts and arrays, right checksum", content),
            ("forged headers, zip tricks and pickles", zips),
        ):
            print(f"{promise}: {len(cases)}", file=sys.stderr, flush=True)
            more = f"; {safetensors_altered(yardstick)}" if cases is damage else ""
            found.append(summary(promise, cases, trial(cases, folder), more))
        ran, pickles = canary.exists(), sum(case.name.startswith("pickle") for case in zips)
        said = "their code was run" if ran else "their code was not run"
        found.append(Found("no code in a file is run", f"{pickles} files with pickles", said, not ran))
        number, wrong = commands({kind.name: kind.data for kind in known}, folder)
        said = f"{number - len(wrong)} ended with exit 2 and one sentence" + "".join(
            f"; {w}" for w in wrong[:3]
        )
        found.append(
            Found("commands on forged files", f"{number} commands", said.replace("|", "/"), not wrong)
        )
    return found + [row for row in (fuzzed(fuzz),) if row]


if __name__ == "__main__":
    main(run, SMALL, FULL)
